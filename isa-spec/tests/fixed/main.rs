//! The fixed-point functions against an independent high-precision library, and their
//! promises that need no oracle.
//!
//! `cargo test --test fixed -- --nocapture` prints the worst error of each function.

mod binary;
mod conversions;
mod inputs;
mod oracle;
mod promises;
mod rotations;
mod unary;
