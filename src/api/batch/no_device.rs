//! Why a device carries out no lanes. Knows no device.

use thiserror::Error;

/// Why there is no such device, or why it carries out no lanes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NoDevice {
    #[error("this build of Reviver reaches no device but the processor: the feature `gpu` adds the others")]
    Build,
    /// A shader makes the adjoint of one loss 1.
    #[cfg(feature = "gpu")]
    #[error("devices differentiate single losses, and seeds were given")]
    Seeds,
    #[cfg(feature = "gpu")]
    #[error("{0}")]
    Device(#[from] reviver_batch::BatchError),
}
