//! Devices that one can choose from. Carries out nothing.

use std::sync::Arc;

use super::cpu::Cpu;
use super::device::LaneDevice;

/// A device of one's choice. A copy is another name for the same one.
#[derive(Clone, Debug)]
pub struct Device(pub(super) Arc<dyn LaneDevice>);

impl Device {
    /// All cores of this machine.
    pub fn cpu() -> Device {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Device::cpu_with(cores)
    }

    /// So many threads of this machine; at least one.
    pub fn cpu_with(threads: usize) -> Device {
        Device(Arc::new(Cpu::new(threads)))
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        self.0.name()
    }
}

impl Default for Device {
    /// The one that is best for most batches here.
    fn default() -> Device {
        Device::cpu()
    }
}
