//! The device on which tests run, if there is one.

use std::cell::RefCell;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::adapters::Adapters;
use crate::device::BatchDevice;
use crate::lowering::{LoweredIntegers, LoweredResults, LoweredSingles, Lowering};
use crate::valid::names_wide_floats;

/// Opens the device with a name that contains the value of `REVIVER_DEVICE`. If only `REVIVER_NEEDS_DEVICE` is set,
/// opens the default device, or the first listed device if there is no default device. If neither variable is set,
/// returns `None`.
fn opened() -> Option<BatchDevice> {
    let named = std::env::var("REVIVER_DEVICE").ok();
    if named.is_none() && std::env::var_os("REVIVER_NEEDS_DEVICE").is_none() {
        eprintln!(
            "SKIPPED: no device is named. Set REVIVER_NEEDS_DEVICE=1, or set REVIVER_DEVICE to a part of a device's name."
        );
        return None;
    }
    let all = Adapters::list();
    let named = named.map(|name| all.named(&name).unwrap());
    let which = named.or_else(|| all.auto()).or_else(|| all.infos().next());
    Some(all.open(which.expect("no device was found")).unwrap())
}

/// A device with its lowerings. A device compiles its shaders one after another, so each running test has its own
/// device. After the test, later tests reuse the device.
struct TestDevice {
    plain: BatchDevice,
    /// The same device with other lowerings. Each lowering is probed only once.
    lowered: Vec<BatchDevice>,
}

/// The opened devices that no running test uses.
static IDLE: Mutex<Vec<TestDevice>> = Mutex::new(Vec::new());

/// The device of a test, until its thread ends.
struct OwnDevice(Option<TestDevice>);

impl Drop for OwnDevice {
    fn drop(&mut self) {
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).extend(self.0.take());
    }
}

thread_local! {
    static OWN: RefCell<OwnDevice> = RefCell::new(OwnDevice(taken()));
}

/// Returns an idle device. If no device is idle, opens a new device, which reuses the capability probe of the first
/// device.
fn taken() -> Option<TestDevice> {
    static FIRST: OnceLock<Option<BatchDevice>> = OnceLock::new();
    if let Some(idle) = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop() {
        return Some(idle);
    }
    let mut is_first = false;
    let first = FIRST.get_or_init(|| {
        is_first = true;
        opened()
    });
    let plain = if is_first { first.clone() } else { first.as_ref().map(another) };
    plain.map(|plain| TestDevice { plain, lowered: Vec::new() })
}

fn another(like: &BatchDevice) -> BatchDevice {
    Adapters::list().open_with(like.info(), Some(like.probe().clone())).unwrap()
}

/// Returns the device of the calling test.
pub(crate) fn device() -> Option<BatchDevice> {
    OWN.with_borrow(|own| own.0.as_ref().map(|own| own.plain.clone()))
}

/// Returns the lowerings that are tested with a shader.
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

/// Returns the device of the calling test with two lowerings: the device's own lowering, and the lowering that changes
/// the shader most.
pub(crate) fn devices_for(wgsl: &str) -> Vec<BatchDevice> {
    let furthest = lowerings(wgsl).into_iter().next_back();
    let has_singles = wgsl.contains("f32");
    // If a driver flushes subnormal numbers to 0 by default, only lowerings that preserve them are exact.
    let is_right = |device: &BatchDevice| {
        let is_right = !has_singles || device.probe().f32_is_exact;
        if !is_right {
            eprintln!("SKIPPED: {:?}, with which 32-bit floats of the device are inexact", device.lowering());
        }
        is_right
    };
    device().into_iter().chain(furthest.and_then(device_with).filter(is_right)).collect()
}

/// Returns the device of the calling test with a given lowering.
pub(crate) fn device_with(lowering: Lowering) -> Option<BatchDevice> {
    OWN.with_borrow_mut(|own| {
        let own = own.0.as_mut()?;
        if let Some(found) = own.lowered.iter().find(|device| device.lowering() == lowering) {
            return Some(found.clone());
        }
        let device = own.plain.lowered(lowering).unwrap();
        own.lowered.push(device.clone());
        Some(device)
    })
}

/// Returns a device that a test may destroy.
pub(crate) fn separate_device() -> Option<BatchDevice> {
    device().as_ref().map(another)
}
