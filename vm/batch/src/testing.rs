//! The device that tests are carried out on, where there is one.

use std::sync::OnceLock;

use crate::adapters::Adapters;
use crate::device::BatchDevice;

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

/// A device that a test may destroy.
pub(crate) fn device_of_its_own() -> Option<BatchDevice> {
    let known = device()?.probe().clone();
    let all = Adapters::list();
    let info = device()?.info().clone();
    Some(all.open_with(&info, Some(known)).unwrap())
}
