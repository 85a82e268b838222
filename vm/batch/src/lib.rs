//! Programs at very many inputs at once, on a device.
//!
//! | module | what it is |
//! |---|---|
//! | `shader` | what the text of a shader and whoever dispatches it agree on |
//! | `adapters`, `device` | which devices there are, and one that was opened |
//! | `probe` | what a device gets right |
//! | `spirv`, `loops` | from the text of a shader to what the device is given, and how long its helpers' loops are |
//! | `passthrough` | where it is given that, the one file with unsafe code |
//! | `dispatch` | lanes carried out |
//! | `operations` | how each operation on values is written |
//! | `error` | why a batch isn't carried out |

mod adapters;
mod device;
mod dispatch;
mod error;
mod loops;
mod operations;
mod passthrough;
mod probe;
mod ready;
mod shader;
mod spirv;
#[cfg(test)]
mod testing;

pub use adapters::{Adapters, DeviceInfo};
pub use device::{Device, Numbers};
pub use dispatch::{LaneStatus, LanesRun};
pub use error::BatchError;
pub use probe::Probe;
