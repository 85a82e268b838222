//! Choice of a device by name. This module executes nothing.

use std::sync::Arc;

use super::cpu::Cpu;
use super::device::LaneDevice;
#[cfg(feature = "gpu")]
use super::gpu;
use super::no_device::NoDevice;
use super::probes::{KeepsNothing, ProbeKeeper};

/// Handle to an execution device. A clone refers to the same device.
#[derive(Clone, Debug)]
pub struct Device(pub(super) Arc<dyn LaneDevice>);

impl Device {
    /// Returns the CPU device with all cores.
    pub fn cpu() -> Device {
        Device(Arc::new(Cpu::all()))
    }

    /// Returns the CPU device with `threads` threads. The number is clamped to the range from 1 to 1024. If the system
    /// can't start that many threads, fewer run.
    pub fn cpu_with(threads: usize) -> Device {
        Device(Arc::new(Cpu::new(threads)))
    }

    /// Returns the GPU that is best for most batches; it is a software driver only if there is no hardware GPU.
    ///
    /// # Errors
    /// [`NoDevice`] if there is no GPU, if the GPU's arithmetic is inexact or a needed feature is missing, or if this
    /// build has no GPU support.
    pub fn gpu() -> Result<Device, NoDevice> {
        Device::named("gpu")
    }

    /// Returns the device called `name`: `cpu`, `gpu`, `auto`, or a part of a GPU's name that matches only one GPU.
    ///
    /// # Errors
    /// [`NoDevice`] if no device or several devices match; also in the cases in which [`Device::gpu`] fails.
    pub fn named(name: &str) -> Result<Device, NoDevice> {
        Device::known(name, &KeepsNothing)
    }

    /// Returns the device called `name`, as [`Device::named`] does. A capability probe that `keeper` has stored is
    /// reused, so the device needn't be probed again.
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

    /// Returns true if [`Device::named`] loads device drivers for this name. Loading is slow, and a faulty driver may
    /// end the process.
    pub fn loads_drivers(name: &str) -> bool {
        match name {
            "cpu" => false,
            #[cfg(feature = "gpu")]
            "auto" => gpu::may_exist(),
            _ => cfg!(feature = "gpu"),
        }
    }

    /// Returns the device that is best for most batches: a hardware GPU if there is one. Programs and lanes that the
    /// GPU can't execute run on the CPU.
    pub fn auto() -> Device {
        Device::named("auto").unwrap_or_default()
    }

    /// Returns the device's name.
    pub fn name(&self) -> &str {
        self.0.name()
    }
}

impl Default for Device {
    /// Returns the CPU device, which executes every program.
    fn default() -> Device {
        Device::cpu()
    }
}
