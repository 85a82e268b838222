//! The machine: verified programs, states, and the interpreter that moves a state through a program
//! in both directions. It prints nothing, reads no source text and does no I/O.

mod address;
pub mod checkpoint;
pub mod differentiate;
pub mod digest;
mod distinct;
pub mod drift;
mod engine;
pub mod explain;
pub mod garbage;
pub mod given;
pub mod history;
mod interp;
mod journal;
pub mod lanes;
mod layout;
pub mod lookup;
pub mod machine;
mod no_derivative;
pub mod notation;
mod op;
pub mod program;
pub mod reports;
mod resolve;
pub mod room;
pub mod state;
pub mod stops;
pub mod trap;
pub mod travel;
pub mod values;
pub mod watch;
mod window;

pub use machine::Machine;
pub use program::Program;
pub use state::State;
pub use trap::{Cause, Trap};
pub use travel::{Stop, Travel};
