//! The rows against what the manual says of them, by computations that share no code with them.

mod bytes;
mod cards;
mod derivatives;
mod dual;
mod edges;
mod formulas;
mod integers;
mod jets;
mod lifted;
#[cfg(feature = "mutants")]
mod mutants;
mod names;
mod numbers;
mod points;
mod precise;
mod reals;
#[path = "../elementary/series.rs"]
mod series;
mod systems;
mod updates;

/// What the series are computed with.
mod real {
    pub use crate::precise::{PRECISION, Real, int};
}
