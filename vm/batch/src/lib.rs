//! Programs at very many inputs at once, on a device that wgpu reaches: each becomes one compute shader, of which an invocation is a lane.
//!
//! | module | what it is |
//! |---|---|
//! | `device_lanes` | a program's lanes on a device: all that others need |
//! | `lanes` | what is asked of each lane, and from there to a shader |
//! | `forms`, `journey` | the forms that lanes go through, and all of a lane's way as one |
//! | `cells`, `ends`, `words` | what lanes keep in memory, what is asked where they arrive, and words that lie side by side |
//! | `graph`, `switches`, `structure`, `statements` | from graphs of blocks to statements of a language without goto |
//! | `text`, `operations` | how a lane is written, and each operation on values |
//! | `shader` | what the text of a shader and whoever dispatches it agree on |
//! | `adapters`, `info`, `device` | which devices there are, what is known of each, and one that was opened |
//! | `probe` | what a device gets right |
//! | `lowering` | the text of a shader for devices without 64-bit integers, or whose drivers may rewrite sums |
//! | `valid`, `spirv`, `loops`, `code` | from there to what the device is given, and how long its helpers' loops are |
//! | `passthrough`, `float_controls` | where it is given that, and what it says of floats then: the files with unsafe code |
//! | `dispatch` | lanes carried out |
//! | `error`, `no_shader` | why a batch isn't carried out |

mod adapters;
mod cells;
mod code;
mod device;
mod device_lanes;
mod dispatch;
mod ends;
mod error;
mod float_controls;
mod forms;
mod graph;
mod info;
mod journey;
mod lanes;
mod loops;
mod lowering;
mod no_shader;
mod operations;
mod passthrough;
mod probe;
mod ready;
mod shader;
mod spirv;
mod statements;
mod structure;
mod switches;
#[cfg(test)]
mod testing;
mod text;
#[cfg(test)]
mod trials;
mod valid;
mod words;

pub use adapters::Adapters;
pub use device::{BatchDevice, DeviceNumbers};
pub use device_lanes::DeviceLanes;
pub use dispatch::{LaneStatus, LanesRun};
pub use error::BatchError;
pub use float_controls::FloatControls;
pub use info::DeviceInfo;
pub use lanes::{AskedNumber, LaneWay, LanesRequest, ShaderCell};
pub use no_shader::NoShader;
pub use probe::Probe;
