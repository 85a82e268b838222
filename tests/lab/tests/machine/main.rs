//! Tests of the machine through program texts, on every engine: laws, oracle, exhaustive proofs, the repository's
//! programs, gradients, images, states, and calls. They don't need the command `reviver`; only the tests of calls
//! need its library.
//!
//! `cargo test --workspace --test machine laws::` runs the tests of one file.

mod calls;
mod classes;
mod constants;
mod every_row;
mod exhaustive;
mod fuzz_seeds;
mod gradients;
mod groups;
mod images;
mod inverses;
mod laws;
#[cfg(feature = "mutants")]
mod mutation;
mod oracle_agrees;
mod programs;
mod states;
mod threads;
