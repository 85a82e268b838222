//! Data of pictures, derived from programs: flow charts, call trees, memory graphs, circuits. Another crate draws the
//! pictures.

pub mod calls;
pub mod circuit;
pub mod flow;
pub mod memory;
mod wiring;
