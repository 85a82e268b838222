//! Fibonacci pair: an integer loop with checked join conditions. This module depends on no machine.

use std::hint::black_box;

/// Iterations of the Fibonacci loop.
const ROUNDS: i64 = 1_000_000;

/// Runs the loop of `fibonacci.rasm`, with join conditions checked.
pub fn run() {
    let (mut n, mut a, mut b) = (black_box(ROUNDS), black_box(0i64), black_box(1i64));
    assert!(a == 0, "the loop is entered from above");
    while n != 0 {
        a = a.wrapping_add(b);
        std::mem::swap(&mut a, &mut b);
        n -= 1;
        // After a jump back, the join's condition must hold.
        if a == 0 {
            panic!("the condition of the join is false after a jump");
        }
    }
    black_box((a, b));
}
