//! Programs at very many inputs at once, on a device.
mod cells;
mod ends;
mod forms;
mod journey;
mod lanes;
mod no_shader;
mod operations;
mod shader;
mod statements;
mod structure;
mod text;
mod words;

pub use lanes::{LaneCell, LaneWay, LanesRequest};
pub use no_shader::NoShader;

#[cfg(test)]
mod trials;
