//! The elementary functions of the floats against numbers of 320 bits, and the constants that they are made of.
//!
//! What is found is held to the page `docs/functions.md`, see `page.rs`.

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
