//! Machine tests through text, on every engine: laws, oracle, exhaustive proofs, shipped programs, gradients, images,
//! states, calls. They don't need the command `reviver`; only the tests of calls need its library.
//! `cargo test --workspace --test machine laws::` runs those of one file.

mod calls;
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
