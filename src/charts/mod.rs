//! Data of pictures, derived from programs: flow charts, call trees, circuits. Drawing is done elsewhere.

pub mod calls;
pub mod circuit;
pub mod flow;
mod wiring;
