//! Tests the rows against the manual, by computations that share no code with the rows.

mod bytes;
mod cards;
mod derivatives;
mod dual;
mod edges;
mod formulas;
mod integers;
mod jets;
#[cfg(feature = "mutants")]
mod mutants;
mod names;
mod numbers;
mod points;
mod precise;
mod reals;
#[path = "../elementary/series.rs"]
mod series;
mod slopes;
mod systems;
mod taylor;
mod updates;

/// The numbers that the module `series` computes with.
mod real {
    pub use crate::precise::{PRECISION, Real, int};
}
