//! Storage of capability probes between processes. Probing a device takes a moment, which is noticeable in short
//! batches. This module reads no files.

/// Store for capability probes. The library uses a stored probe only if device, driver and probe version match;
/// otherwise it probes the device again.
pub trait ProbeKeeper {
    /// Returns the stored probe of a device. `device` names the device and its driver.
    fn kept(&self, device: &str) -> Option<String>;

    /// Stores the probe of a device, replacing an earlier one.
    fn keep(&self, device: &str, text: &str);
}

/// Store that keeps no probes.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepsNothing;

impl ProbeKeeper for KeepsNothing {
    fn kept(&self, _device: &str) -> Option<String> {
        None
    }

    fn keep(&self, _device: &str, _text: &str) {}
}
