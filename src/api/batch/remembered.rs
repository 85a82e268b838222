//! What devices were found to do, kept in the user's cache from one process to the next: asking takes about a second where a device is software.
//! A file that isn't there, can't be read, or is of another driver only means that the device is asked. Knows no lane.

use std::fs;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use reviver_batch::{Adapters, BatchDevice, BatchError, DeviceInfo, Probe};
use xxhash_rust::xxh3::xxh3_64;

/// Opens a device, and asks it only if nobody has before.
pub(super) fn opened(adapters: &Adapters, info: &DeviceInfo) -> Result<BatchDevice, BatchError> {
    let file = file(info);
    let text = file.as_deref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let device = adapters.open_with(info, Probe::from_text(&text))?;
    let found = device.probe().to_text();
    if let Some(file) = file.filter(|_| found != text) {
        // Whoever can't keep it asks again the next time.
        let _ = keep(&file, &found);
    }
    Ok(device)
}

/// Where what is known of a device is kept.
fn file(info: &DeviceInfo) -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    let which = format!("{}\n{}\n{}", info.name, info.address, info.driver);
    let name = format!("device-{:016x}.txt", xxh3_64(which.as_bytes()));
    Some(folders.cache_dir().join("reviver").join(name))
}

/// Writes a file that appears whole, whoever else writes it.
fn keep(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let own = file.with_extension(format!("{}.new", std::process::id()));
    let kept = fs::write(&own, text).and_then(|()| fs::rename(&own, file));
    if kept.is_err() {
        let _ = fs::remove_file(&own);
    }
    kept
}
