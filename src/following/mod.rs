//! Observed runs: the places to observe, the observed cells, and the recorded data. Printing and drawing
//! are done elsewhere.

pub mod cells;
pub mod log;
pub mod sampler;
