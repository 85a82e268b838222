//! The elementary functions of the floats against numbers of 320 bits, and the constants that they are made of.
//!
//! `REVIVER_CAMPAIGN=1000000 cargo test -p reviver-isa --release --test elementary errors -- --nocapture` tries so many arguments of each
//! function, and prints the table.

mod angles;
mod constants;
mod edges;
mod errors;
mod fit;
mod real;
mod series;
mod subject;
