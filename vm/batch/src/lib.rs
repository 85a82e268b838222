//! Programs at very many inputs at once, on a device.
mod shader;
mod statements;
mod structure;
