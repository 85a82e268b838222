//! The machine's tests through the text: laws, the oracle, exhaustive programs, shipped programs, gradients,
//! images, states, on every engine, and calls. They don't need the program `reviver`, and only the tests of calls need its library.
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
