//! Tests the fixed-point functions against an independent high-precision library, and guarantees that need no
//! oracle.
//!
//! `cargo test --test fixed -- --nocapture` prints the worst error of each function.

mod binary;
mod conversions;
mod inputs;
mod oracle;
mod promises;
mod rotations;
#[path = "../elementary/series.rs"]
#[allow(dead_code)]
mod series;
mod unary;

/// The numbers that the module `series` computes with.
mod real {
    pub use crate::oracle::{PRECISION, Real, int};
}
