//! Runs that somebody looks on: where it is looked, which cells are looked at, and what is kept of them. Prints and draws nothing.

pub mod ancillas;
pub mod cells;
pub mod follow;
pub mod log;
pub mod sampler;
pub mod trace;
