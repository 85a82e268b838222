//! The machine: verified programs, states, and the interpreter that moves a state through a program
//! in both directions. It prints nothing, reads no source text and does no I/O.

mod address;
mod engine;
pub mod history;
mod interp;
mod op;
pub mod program;
pub mod state;
mod structural;
pub mod trap;

pub use interp::{Stop, Travel};
pub use program::Program;
pub use state::State;
pub use trap::{Cause, Trap};
