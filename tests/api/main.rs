//! The library that a Rust program calls Reviver by.

mod agreement;
mod examples;
mod gradients;
mod refusals;
mod runs;
mod support;
