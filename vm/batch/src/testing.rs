//! The device that tests are carried out on, where there is one.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::adapters::Adapters;
use crate::device::BatchDevice;
use crate::lowering::{LoweredIntegers, LoweredResults, LoweredSingles, Lowering};
use crate::valid::names_wide_floats;

/// The device of `REVIVER_DEVICE`, by a part of its name. None where nobody names one, unless `REVIVER_NEEDS_DEVICE` says that there must be one:
/// then the best one, else whatever there is.
fn opened() -> Option<BatchDevice> {
    let named = std::env::var("REVIVER_DEVICE").ok();
    if named.is_none() && std::env::var_os("REVIVER_NEEDS_DEVICE").is_none() {
        eprintln!(
            "SKIPPED: no device is named. Set REVIVER_NEEDS_DEVICE=1, or REVIVER_DEVICE to a part of its name."
        );
        return None;
    }
    let all = Adapters::list();
    let named = named.map(|name| all.named(&name).unwrap());
    let which = named.or_else(|| all.auto()).or_else(|| all.infos().next());
    Some(all.open(which.expect("there is no device")).unwrap())
}

/// The device that tests share.
pub(crate) fn device() -> Option<BatchDevice> {
    static SHARED: OnceLock<Option<BatchDevice>> = OnceLock::new();
    SHARED.get_or_init(opened).clone()
}

/// The forms that the text of a shader has for devices.
pub(crate) fn lowerings(wgsl: &str) -> Vec<Lowering> {
    let integers: &[LoweredIntegers] = match names_wide_floats(wgsl) {
        true => &[LoweredIntegers::Native],
        false => &[LoweredIntegers::Native, LoweredIntegers::Pairs],
    };
    let results = [LoweredResults::Decorated, LoweredResults::Opaque];
    let of_one = |&integers: &LoweredIntegers| {
        results.map(|results| Lowering { integers, results, ..Lowering::PLAIN })
    };
    let mut all: Vec<Lowering> = integers.iter().flat_map(of_one).collect();
    if wgsl.contains("f32") {
        let furthest = all.last().map(|&last| Lowering { singles: LoweredSingles::Whole, ..last });
        all.extend(furthest);
    }
    all
}

/// The device that tests share, with the form that it is given shaders in, and with the one that is furthest from their text.
pub(crate) fn devices_for(wgsl: &str) -> Vec<BatchDevice> {
    let furthest = lowerings(wgsl).into_iter().next_back();
    let has_singles = wgsl.contains("f32");
    // Where a driver makes subnormal numbers 0 unless it is told not to, only the form is right that tells it.
    let is_right = |device: &BatchDevice| {
        let is_right = !has_singles || device.probe().f32_is_exact;
        if !is_right {
            eprintln!("SKIPPED: {:?}, in which the device has other floats of 32 bits", device.lowering());
        }
        is_right
    };
    device().into_iter().chain(furthest.and_then(device_with).filter(is_right)).collect()
}

/// The device that tests share, with a form that it is given shaders in. It is asked once.
pub(crate) fn device_with(lowering: Lowering) -> Option<BatchDevice> {
    static ASKED: Mutex<Vec<BatchDevice>> = Mutex::new(Vec::new());
    let device = device()?;
    let asked = &mut *ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = asked.iter().find(|device| device.lowering() == lowering).cloned();
    Some(found.unwrap_or_else(|| {
        let device = device.lowered(lowering).unwrap();
        asked.push(device.clone());
        device
    }))
}

/// A device that a test may destroy.
pub(crate) fn device_of_its_own() -> Option<BatchDevice> {
    let known = device()?.probe().clone();
    let all = Adapters::list();
    let info = device()?.info().clone();
    Some(all.open_with(&info, Some(known)).unwrap())
}
