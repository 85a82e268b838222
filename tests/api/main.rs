//! The library that a Rust program calls Reviver by.

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
