//! Data of pictures, derived from programs: flow charts, call trees, circuits. Another crate draws the pictures.

pub mod calls;
pub mod circuit;
pub mod flow;
mod wiring;
