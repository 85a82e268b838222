//! Runs by forms, and by native code, stop where runs by the interpreter stop: at any budget, at a trap however late, and where something is
//! shown; and they come to the same state. So do runs that leave checks out, over numbers that lose nothing.

mod budgets;
mod checks;
mod depth;
mod machines;
mod places;
mod rounds;
mod texts;
mod unchecked;
