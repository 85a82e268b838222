//! Observed runs: the places to observe, the observed cells, and the recorded data. Other modules print and draw the
//! data.

pub mod cells;
pub mod log;
pub mod sampler;
