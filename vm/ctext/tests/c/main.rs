//! Compares C text with the interpreter: the same states, statuses, steps and counters, to the last bit, in both
//! directions and for gradients. Without a C compiler the tests are skipped with a note.

mod fixed_point;
mod recursions;
mod runs;
mod seeds;
mod statements;
mod warnings;
