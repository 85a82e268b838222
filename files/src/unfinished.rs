//! The temporary files that are being written now, for a process that ends in the middle of it, because memory is refused say.
//! Notes and removal take no memory. What isn't noted here, because there are too many or their paths are too long, is
//! removed by the next one that writes into the folder.

use std::path::Path;
use std::sync::Mutex;

/// Files that can be noted at a time.
const FILES: usize = 8;
/// Bytes of a path that can be noted, with a 0 behind it.
const BYTES: usize = 1024;

/// A path that ends at its first 0; none where it begins with that.
static NOTED: [Mutex<[u8; BYTES]>; FILES] = [const { Mutex::new([0; BYTES]) }; FILES];

/// A file that is noted as unfinished until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Noted(Option<&'static Mutex<[u8; BYTES]>>);

/// Notes a file that was just created.
pub(crate) fn note(path: &Path) -> Noted {
    let path = path.as_os_str().as_encoded_bytes();
    if path.is_empty() || path.len() >= BYTES {
        return Noted(None);
    }
    for place in &NOTED {
        if let Ok(mut noted) = place.try_lock()
            && noted.first() == Some(&0)
            && let Some(there) = noted.get_mut(..path.len())
        {
            there.copy_from_slice(path);
            return Noted(Some(place));
        }
    }
    Noted(None)
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some(mut noted) = self.0.and_then(|place| place.lock().ok()) {
            noted.fill(0);
        }
    }
}

/// Removes the files that are unfinished, for a process that ends now. Neither allocates nor waits for a lock.
#[cfg(unix)]
pub fn remove_unfinished() {
    use std::ffi::CStr;

    for place in &NOTED {
        if let Ok(noted) = place.try_lock()
            && let Ok(path) = CStr::from_bytes_until_nul(&*noted)
            && !path.is_empty()
        {
            let _ = rustix::fs::unlink(path);
        }
    }
}

/// A file that is open can't be removed here.
#[cfg(not(unix))]
pub fn remove_unfinished() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_noted_until_they_are_finished() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..FILES + 1).map(|n| folder.path().join(n.to_string())).collect();
        paths.iter().for_each(|path| std::fs::write(path, "").unwrap());
        let mut notes: Vec<Noted> = paths.iter().map(|path| note(path)).collect();
        assert!(notes.pop().is_some_and(|last| last.0.is_none()), "there are places for {FILES}");
        // One is finished.
        notes.remove(0);
        remove_unfinished();
        let left: Vec<bool> = paths.iter().map(|path| path.exists()).collect();
        let expected = |n| cfg!(not(unix)) || n == 0 || n == FILES;
        assert_eq!(left, (0..=FILES).map(expected).collect::<Vec<_>>());
        drop(notes);
        assert!(note(&folder.path().join("x".repeat(BYTES))).0.is_none());
    }
}
