//! Devices that one can choose from. Carries out nothing.

use std::sync::Arc;

use super::cpu::Cpu;
use super::device::LaneDevice;
#[cfg(feature = "gpu")]
use super::gpu;
use super::no_device::NoDevice;
use super::probes::{KeepsNothing, ProbeKeeper};

/// A device of one's choice. A copy is another name for the same one.
#[derive(Clone, Debug)]
pub struct Device(pub(super) Arc<dyn LaneDevice>);

impl Device {
    /// All cores of this machine.
    pub fn cpu() -> Device {
        Device(Arc::new(Cpu::all()))
    }

    /// So many threads of this machine: at least one, at most 1024, and fewer where the system starts no more.
    pub fn cpu_with(threads: usize) -> Device {
        Device(Arc::new(Cpu::new(threads)))
    }

    /// The graphics processor that is best for most batches; a driver that only stands in for one where there is no other.
    ///
    /// # Errors
    /// There is none, it computes inexactly or lacks what programs need, or this build reaches none.
    pub fn gpu() -> Result<Device, NoDevice> {
        Device::named("gpu")
    }

    /// The device of this name: `cpu`, `gpu`, `auto`, or a part of the name of a graphics processor that only one has.
    ///
    /// # Errors
    /// There is none, or several; and as [`Device::gpu`].
    pub fn named(name: &str) -> Result<Device, NoDevice> {
        Device::known(name, &KeepsNothing)
    }

    /// The device of a name as [`Device::named`] has it, which isn't asked again what it gets right where that was kept.
    ///
    /// # Errors
    /// As [`Device::named`].
    #[cfg_attr(not(feature = "gpu"), expect(unused_variables, reason = "there is nothing to keep"))]
    pub fn known(name: &str, keeper: &dyn ProbeKeeper) -> Result<Device, NoDevice> {
        match name {
            "cpu" => Ok(Device::cpu()),
            #[cfg(feature = "gpu")]
            "auto" => Ok(match gpu::real(keeper) {
                Some(gpu) => Device(Arc::new(gpu::Auto::new(gpu))),
                None => Device::cpu(),
            }),
            #[cfg(feature = "gpu")]
            "gpu" => gpu::best(keeper).map(|gpu| Device(Arc::new(gpu))),
            #[cfg(feature = "gpu")]
            name => gpu::named(name, keeper).map(|gpu| Device(Arc::new(gpu))),
            #[cfg(not(feature = "gpu"))]
            "auto" => Ok(Device::cpu()),
            #[cfg(not(feature = "gpu"))]
            _ => Err(NoDevice::Build),
        }
    }

    /// What is best for most batches: a graphics processor where there is a real one, and the cores of this machine for whatever that can't
    /// carry out.
    pub fn auto() -> Device {
        Device::named("auto").unwrap_or_default()
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        self.0.name()
    }
}

impl Default for Device {
    /// The cores of this machine, which carry out every program.
    fn default() -> Device {
        Device::cpu()
    }
}
