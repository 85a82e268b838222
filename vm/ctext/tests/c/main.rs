//! Compares C text with the interpreter, in both directions and for gradients. States, statuses, steps and counters
//! must be the same to the last bit. Without a C compiler the tests are skipped with a note.

mod fixed_point;
mod recursions;
mod runs;
mod seeds;
mod statements;
mod warnings;
