//! Test laboratory, shared by the tests of this repository. It generates random programs, defines laws that every
//! program satisfies, and shrinks programs that violate a law. It also damages bytes, for tests of decoders.
//!
//! Programs pass through the assembler as text, so laws cover the whole path from text to state. No user code depends
//! on this crate.

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
