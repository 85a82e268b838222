//! The laboratory: what the tests of this repository share. It generates programs, states the laws
//! that must hold for them, shrinks programs that break one, and damages bytes on purpose.
//!
//! Programs go through the assembler as text, so that a law is about the whole way from text to
//! state. Nothing that users run depends on this crate.

pub mod c_programs;
pub mod calls;
pub mod campaign;
pub mod corners;
pub mod coverage;
pub mod damage;
pub mod engine;
pub mod fuzz;
pub mod generate;
pub mod known;
pub mod laws;
pub mod pairing;
pub mod rng;
pub mod run;
pub mod shrink;
pub mod specimens;
pub mod subject;
pub mod tree;
