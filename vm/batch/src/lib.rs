//! Programs at very many inputs at once, on a device.

// Until a form is written as a shader, nobody asks for these.
#[cfg_attr(not(test), allow(dead_code))]
mod operations;
#[allow(dead_code)]
mod shader;
