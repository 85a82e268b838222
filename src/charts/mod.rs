//! From programs to what pictures of them show: flow charts, call trees, circuits. Draws nothing.

pub mod calls;
pub mod circuit;
pub mod flow;
mod wiring;
