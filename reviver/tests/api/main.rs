//! Tests of the library for Rust programs.

mod agreement;
mod batches;
mod examples;
mod gradients;
mod levels;
mod refusals;
mod runs;
mod seeds;
mod shows;
mod support;
