//! A list of the temporary files that are being written. A process that ends early, for example because
//! memory is refused, removes the listed files. Adding and removing entries allocates no memory. A file isn't
//! listed if the list is full or the path of the file is too long. The next process that writes into the folder
//! of such a file removes the file.

use std::path::Path;
use std::sync::Mutex;

/// The capacity of the list, in files.
const FILES: usize = 8;
/// The capacity of an entry: bytes of a path, including the terminating 0.
const BYTES: usize = 1024;

/// The listed paths, each terminated by a 0; an entry that begins with 0 is free.
static NOTED: [Mutex<[u8; BYTES]>; FILES] = [const { Mutex::new([0; BYTES]) }; FILES];

/// A guard for an entry of the list; the entry is removed on drop. `None` if the file isn't listed.
#[derive(Debug, Default)]
pub(crate) struct Noted(Option<&'static Mutex<[u8; BYTES]>>);

/// Adds a file that was just created to the list. If the list has no room, the guard is empty.
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

/// Removes all listed files, for a process that ends now. Neither allocates nor waits for a lock.
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

/// Does nothing: this platform can't remove open files.
#[cfg(not(unix))]
pub fn remove_unfinished() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_registered_until_they_are_finished() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..FILES + 1).map(|n| folder.path().join(n.to_string())).collect();
        paths.iter().for_each(|path| std::fs::write(path, "").unwrap());
        let mut notes: Vec<Noted> = paths.iter().map(|path| note(path)).collect();
        assert!(notes.pop().is_some_and(|last| last.0.is_none()), "there are places for {FILES}");
        // The first file is finished.
        notes.remove(0);
        remove_unfinished();
        let left: Vec<bool> = paths.iter().map(|path| path.exists()).collect();
        let expected = |n| cfg!(not(unix)) || n == 0 || n == FILES;
        assert_eq!(left, (0..=FILES).map(expected).collect::<Vec<_>>());
        drop(notes);
        assert!(note(&folder.path().join("x".repeat(BYTES))).0.is_none());
    }
}
