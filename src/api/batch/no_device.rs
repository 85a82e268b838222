//! Why a device carries out no lanes. Knows no device.

use thiserror::Error;

/// Why there is no such device, or why it carries out no lanes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NoDevice {
    #[error("this build of Reviver reaches no device but the processor: the feature `gpu` adds the others")]
    Build,
    #[cfg(feature = "gpu")]
    #[error("{0}")]
    Device(#[from] reviver_batch::BatchError),
}
