//! What devices were found to compute rightly, for whoever keeps it from one process to the next: asking a device takes a moment, which
//! short batches notice. Knows no file.

/// Keeps texts about devices. What it gives back is believed if it is about the same device with the same driver, and if the same questions were
/// asked then; else the device is asked anew.
pub trait ProbeKeeper {
    /// What was kept for a device, by its name with that of its driver.
    fn kept(&self, device: &str) -> Option<String>;

    /// Keeps a text, in place of the one that it had for this device.
    fn keep(&self, device: &str, text: &str);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepsNothing;

impl ProbeKeeper for KeepsNothing {
    fn kept(&self, _device: &str) -> Option<String> {
        None
    }

    fn keep(&self, _device: &str, _text: &str) {}
}
