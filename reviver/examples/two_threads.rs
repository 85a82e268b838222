//! Two threads call one compiled program, each in its own workspace; a backward run recovers the inputs.
//!
//! `cargo run -p reviver --example two_threads`

use std::thread;

use reviver::{EngineChoice, Executable, assemble};

/// Program for the n-th Fibonacci number and the next one.
const FIBONACCI: &str = include_str!("../../programs/fib.rasm");

/// Returns the sum of the Fibonacci numbers with the indices of a range.
fn summed(program: &Executable, range: std::ops::Range<i64>) -> Result<i64, reviver::Error> {
    let (n, a) = (program.ints("n")?, program.ints("a")?);
    let mut call = program.workspace()?;
    let mut sum = 0;
    for given in range {
        call.give_ints(n, &[given])?;
        call.run()?;
        sum += call.int(a)?;
    }
    Ok(sum)
}

pub fn main() -> Result<(), reviver::Error> {
    let program = assemble("fib.rasm", FIBONACCI)?.compile(EngineChoice::Auto)?;
    let (low, high) = thread::scope(|threads| {
        let low = threads.spawn(|| summed(&program, 0..30));
        let high = summed(&program, 30..60);
        (low.join().expect("the thread doesn't panic"), high)
    });
    let sum = low? + high?;
    println!("the first 60 Fibonacci numbers are {sum} together");

    // F₀ + F₁ + … + F₅₉ = F₆₁ - 1. A backward run finds the index of the number F₆₁.
    let mut call = program.workspace()?;
    let (n, a, b) = (program.ints("n")?, program.ints("a")?, program.ints("b")?);
    call.give_ints(n, &[61])?;
    call.run()?;
    let (found, next) = (call.int(a)?, call.int(b)?);
    assert_eq!(sum, found - 1);
    call.give_result_ints(a, &[found])?;
    call.give_result_ints(b, &[next])?;
    call.run_back()?;
    println!("{found} is the Fibonacci number {}", call.int(n)?);
    assert_eq!(call.int(n)?, 61);
    Ok(())
}
