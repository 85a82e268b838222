//! Which devices there are, and what each was found to do. Carries out no lanes.

#[cfg(feature = "gpu")]
use reviver_batch::{Adapters, DeviceInfo};

#[cfg(feature = "gpu")]
use super::gpu;
use super::probes::ProbeKeeper;
use crate::api::engine::native_code;

/// A device that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDevice {
    /// What it is chosen by.
    pub name: String,
    pub kind: DeviceKind,
    /// What it was found to do: questions with their answers.
    pub answers: Vec<(String, String)>,
    /// Why it carries out no lanes, if it doesn't.
    pub unusable: Option<String>,
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// The cores of this machine.
    Processor,
    Graphics,
    /// A driver that stands in for a graphics processor.
    Software,
}

impl DeviceKind {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            DeviceKind::Processor => "processor",
            DeviceKind::Graphics => "graphics",
            DeviceKind::Software => "software",
        }
    }
}

/// All devices that there are, the processor first. Each is opened and asked, which takes a moment, and what it answers is kept.
pub fn devices(keeper: &dyn ProbeKeeper) -> Vec<ListedDevice> {
    std::iter::once(processor()).chain(others(keeper)).collect()
}

#[cfg(feature = "gpu")]
fn others(keeper: &dyn ProbeKeeper) -> Vec<ListedDevice> {
    let adapters = Adapters::list();
    adapters.infos().map(|info| graphics(&adapters, info, keeper)).collect()
}

/// This build reaches none.
#[cfg(not(feature = "gpu"))]
fn others(_: &dyn ProbeKeeper) -> Vec<ListedDevice> {
    Vec::new()
}

/// The cores of this machine, for which no driver is loaded.
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
