//! The device that tests are carried out on, where there is one.

use std::io::Write;
use std::sync::OnceLock;

use crate::adapters::Adapters;
use crate::device::BatchDevice;

/// A device of the test's own, or the one that all share: `REVIVER_DEVICE` by name, else the best one, else whatever there is.
fn opened() -> Option<BatchDevice> {
    let all = Adapters::list();
    let named = std::env::var("REVIVER_DEVICE").ok().map(|name| all.named(&name).unwrap());
    let which = named.or_else(|| all.auto()).or_else(|| all.infos().next());
    let Some(which) = which else {
        assert!(std::env::var_os("REVIVER_NEEDS_DEVICE").is_none(), "there is no device");
        // Not by `eprintln`, of which the harness shows nothing where tests succeed.
        let skipped = "SKIPPED: there is no device. Set REVIVER_NEEDS_DEVICE=1 to make this a failure.\n";
        std::io::stderr().write_all(skipped.as_bytes()).unwrap();
        return None;
    };
    Some(all.open(which).unwrap())
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
