//! Runs by the SSA evaluator and by native code stop where interpreted runs stop, in the same state: at any budget, at
//! a trap at any time, and at a `show`. So do unchecked runs over exact numbers.

mod budgets;
mod checks;
mod depth;
mod machines;
mod places;
mod texts;
mod unchecked;
mod unrolling;
