//! Executes a program for very many inputs at once on a device that wgpu can reach. Each program becomes one compute
//! shader. A *lane* is one run of the program with its own inputs, and one invocation of the shader.
//!
//! | module | contents |
//! |---|---|
//! | `device_lanes` | a program's lanes on a device: the entry point for other crates |
//! | `lanes` | the request for each lane, and its translation to a shader |
//! | `functions`, `lane_run` | the SSA function that lanes execute, and its cells as values |
//! | `cells`, `ends`, `words`, `tables` | memory of a lane, checks and results at the end of its run, runs of adjacent words, cells of the start |
//! | `graph`, `irreducible_loops`, `structure`, `statements` | control-flow graphs as statements of a language without `goto` |
//! | `emitter`, `operations` | emitter of a lane's WGSL, and of each operation on values |
//! | `shader` | interface between a shader's text and the code that dispatches it |
//! | `adapters`, `info`, `device` | device discovery, properties of a device before it is opened, an opened device |
//! | `probe` | capability probe: which results of a device have the right bits |
//! | `lowering` | rewrites WGSL for devices without 64-bit integers, and for drivers that may rearrange sums |
//! | `valid`, `spirv`, `loops`, `code` | validation, SPIR-V output, bounds on the loops of helper functions, device-ready code |
//! | `passthrough`, `float_controls` | the files with unsafe code: SPIR-V passthrough, and Vulkan's float control properties |
//! | `dispatch` | execution of lanes |
//! | `error`, `no_shader` | reasons why a device doesn't execute a batch |

#![deny(missing_docs)]

mod adapters;
mod cells;
mod code;
mod device;
mod device_lanes;
mod dispatch;
mod emitter;
mod ends;
mod error;
mod float_controls;
mod functions;
mod graph;
mod info;
mod irreducible_loops;
mod lane_run;
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
mod tables;
#[cfg(test)]
mod testing;
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
pub use lanes::{LaneRunKind, LanesRequest, RequestedNumber, ShaderCell};
pub use no_shader::NoShader;
pub use probe::Probe;
