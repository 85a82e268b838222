//! List of available devices with their capabilities. This module executes no lanes.

#[cfg(feature = "gpu")]
use reviver_batch::{Adapters, DeviceInfo};

#[cfg(feature = "gpu")]
use super::gpu;
use super::probes::ProbeKeeper;
use crate::engine::native_code;

/// An available device with its capability probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDevice {
    /// Name by which users choose the device.
    pub name: String,
    /// CPU, GPU or software driver.
    pub kind: DeviceKind,
    /// Capability probe: pairs of a question and the device's answer.
    pub answers: Vec<(String, String)>,
    /// Reason why the device can't execute lanes; `None` if it can.
    pub unusable: Option<String>,
}

/// Kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// The CPU cores of this machine.
    Processor,
    /// A GPU in hardware.
    Graphics,
    /// A software driver that emulates a GPU.
    Software,
}

impl DeviceKind {
    /// Returns the kind as one word.
    pub fn name(self) -> &'static str {
        match self {
            DeviceKind::Processor => "processor",
            DeviceKind::Graphics => "graphics",
            DeviceKind::Software => "software",
        }
    }
}

/// Returns all available devices, the CPU first. Opens and probes each device, which takes a moment. The probes are
/// stored with `keeper`.
pub fn devices(keeper: &dyn ProbeKeeper) -> Vec<ListedDevice> {
    std::iter::once(processor()).chain(others(keeper)).collect()
}

#[cfg(feature = "gpu")]
fn others(keeper: &dyn ProbeKeeper) -> Vec<ListedDevice> {
    let adapters = Adapters::list();
    adapters.infos().map(|info| graphics(&adapters, info, keeper)).collect()
}

/// Returns an empty list, because this build has no GPU support.
#[cfg(not(feature = "gpu"))]
fn others(_: &dyn ProbeKeeper) -> Vec<ListedDevice> {
    Vec::new()
}

/// Returns the entry of the CPU; loads no driver.
pub fn processor() -> ListedDevice {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let native = native_code().err().map_or_else(|| "yes".to_owned(), |why| format!("no: {why}"));
    let answers = vec![("cores".to_owned(), cores.to_string()), ("native code".to_owned(), native)];
    ListedDevice { name: "cpu".to_owned(), kind: DeviceKind::Processor, answers, unusable: None }
}

#[cfg(feature = "gpu")]
fn graphics(adapters: &Adapters, info: &DeviceInfo, keeper: &dyn ProbeKeeper) -> ListedDevice {
    let (answers, unusable) = match gpu::asked(adapters, info, keeper) {
        Ok(device) => (device.answers(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    ListedDevice {
        name: info.name.clone(),
        kind: if info.is_software { DeviceKind::Software } else { DeviceKind::Graphics },
        answers,
        unusable,
    }
}
