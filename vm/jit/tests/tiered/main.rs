//! The SSA evaluator and native code stop runs at the same position and in the same state as the interpreter: for any
//! budget, at a trap at any time, and at a `show`. The same is true for unchecked runs over exact numbers.

mod budgets;
mod checks;
mod depth;
mod machines;
mod places;
#[path = "../support/mod.rs"]
mod support;
mod texts;
mod unchecked;
mod unrolling;
