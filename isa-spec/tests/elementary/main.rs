//! The elementary functions of floats against 320-bit numbers, and the constants that they use.
//!
//! The page `docs/functions.md` contains the measured errors, see `page.rs`.

mod analysis;
mod angles;
mod constants;
mod edges;
mod errors;
mod fit;
mod page;
mod real;
mod series;
mod subject;
