//! Benchmark of the call overhead: a tiny program, called repeatedly through the library. Run by
//! `cargo bench --bench calls`.

use std::hint::black_box;

use reviver::{EngineChoice, assemble};

use harness::clock::{Best, time};
use harness::measures::measures;

mod harness {
    pub mod clock;
    pub mod measures;
}

/// Program with fourteen cells and three steps.
const TEXT: &str = "
.inout x[8]: real
.out y[3]: real
.inout n
.var spare[2]
add.mul y[0], x[0], x[1]
add y[1], x[2]
add.mul y[0], x[7], x[7]
";

/// Number of calls in one timed part.
const CALLS: usize = 1000;

fn main() {
    let program = assemble("calls.rasm", TEXT).and_then(|text| text.compile(EngineChoice::Jit)).unwrap();
    let (x, y) = (program.reals("x").unwrap(), program.reals("y").unwrap());
    let loss = program.loss("y[0]").unwrap();
    assert!(program.is_native() && loss.is_native());
    let mut call = program.workspace().unwrap();
    let (point, mut values, mut slope) = ([0.5; 8], [0.0; 3], [0.0; 8]);
    let mut round = || {
        [
            time(|| (0..CALLS).for_each(|_| _ = black_box(call.run().unwrap()))),
            time(|| {
                (0..CALLS).for_each(|_| {
                    call.give_reals(x, black_box(&point)).unwrap();
                    call.run().unwrap();
                    call.reals(y, black_box(&mut values)).unwrap();
                });
            }),
            time(|| (0..CALLS).for_each(|_| _ = black_box(call.gradient(&loss).unwrap()))),
            time(|| {
                (0..CALLS).for_each(|_| {
                    black_box(call.gradient_at(&loss, x, black_box(&point), &mut slope).unwrap());
                });
            }),
        ]
    };
    let mut best = Best::none();
    best.round(round());
    if !measures() {
        return;
    }
    (0..200).for_each(|_| best.round(round()));
    println!("| call | ns |\n|---|---|");
    let names = ["a run", "inputs, a run, results", "a gradient", "inputs, a gradient, its components"];
    for (name, seconds) in names.into_iter().zip(best.seconds()) {
        println!("| {name} | {:.0} |", seconds * 1e9 / CALLS as f64);
    }
}
