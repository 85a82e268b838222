//! Errors of device selection and of devices that can't execute a batch.

use thiserror::Error;

/// Reason why a requested device doesn't exist, or why it can't execute the lanes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NoDevice {
    /// A build without the feature `gpu`.
    #[error("this build of Reviver has no GPU support: build it with the feature `gpu`, or choose `cpu`")]
    Build,
    /// A device that is missing, or can't execute the lanes.
    #[cfg(feature = "gpu")]
    #[error("{0}")]
    Device(#[from] reviver_batch::BatchError),
}
