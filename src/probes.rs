//! Files with capability probes of devices, in the user's cache folder, one for each device and driver. All errors
//! are ignored: without a stored probe, the device is probed again.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use reviver::batch::probes::ProbeKeeper;
use reviver_files::{Content, Replaces, UsedFiles};
use xxhash_rust::xxh3::xxh3_64;

use crate::kinds;

/// Store of probes in a folder. Without a folder, nothing is stored.
#[derive(Clone, Debug)]
pub struct ProbeFiles(Option<PathBuf>);

impl Default for ProbeFiles {
    fn default() -> ProbeFiles {
        let folders = etcetera::choose_base_strategy().ok();
        ProbeFiles(folders.map(|folders| folders.cache_dir().join("reviver")))
    }
}

impl ProbeFiles {
    fn path(&self, device: &str) -> Option<PathBuf> {
        let name = format!("device-{:016x}.txt", xxh3_64(device.as_bytes()));
        self.0.as_ref().map(|folder| folder.join(name))
    }
}

impl ProbeKeeper for ProbeFiles {
    fn kept(&self, device: &str) -> Option<String> {
        // A new register is used, because the global register would forbid that this file is overwritten later.
        let bytes = UsedFiles::default().read(&self.path(device)?, Content::Text).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn keep(&self, device: &str, text: &str) {
        let Some(path) = self.path(device) else { return };
        if let Some(folder) = &self.0 {
            let _ = std::fs::create_dir_all(folder);
        }
        if let Ok(output) = UsedFiles::default().output(&path, Replaces::Kind(&kinds::PROBE)) {
            let _ = output.commit(text.as_bytes());
        }
    }
}
