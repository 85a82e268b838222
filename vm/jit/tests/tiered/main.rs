//! The SSA evaluator and native code stop runs where the interpreter stops them, in the same state: at any budget, at a
//! trap at any time, and at a `show`. Unchecked runs over exact numbers do so, too.

mod budgets;
mod checks;
mod depth;
mod machines;
mod places;
mod texts;
mod unchecked;
mod unrolling;
