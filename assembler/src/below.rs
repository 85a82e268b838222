//! Access to the files of one folder, for untrusted programs. Included files must be in the folder or below
//! it, also after links are resolved. This module checks paths; the implementation of [`Files`] for the disk
//! reads the files.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use reviver_files::{UsedFiles, folder};

use crate::files::Files;

/// A folder, with a record of the files read from it.
#[derive(Clone, Debug)]
pub struct FolderFiles {
    used: UsedFiles,
    /// The canonical path of the folder, in which links are resolved.
    folder: PathBuf,
}

impl FolderFiles {
    /// Returns the files of a folder, which are registered as inputs when they are read.
    ///
    /// # Errors
    /// Returns an error if the folder doesn't exist.
    pub fn new(used: &UsedFiles, folder: &Path) -> io::Result<FolderFiles> {
        Ok(FolderFiles { used: used.clone(), folder: fs::canonicalize(folder)? })
    }

    /// Returns true if a path leads into the folder or below it after links are resolved.
    pub fn contains(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|whole| whole.starts_with(&self.folder))
    }
}

impl FolderFiles {
    /// Returns a message if an include must not be read, because its path leads out of the folder; otherwise
    /// `None`.
    #[must_use]
    pub fn refusal(&self, path: &str, from: &str) -> Option<String> {
        let is_below = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(path).components().all(is_below) {
            return Some(format!(
                "`{path}` is outside of the program's folder: only files in that folder can be included"
            ));
        }
        let wanted = folder(Path::new(from)).join(path);
        // A missing file isn't refused here; reading it fails.
        (fs::symlink_metadata(&wanted).is_ok() && !self.contains(&wanted)).then(|| {
            format!("`{path}` is a link to a file outside of the program's folder: only files in that folder can be included")
        })
    }
}

impl Files for FolderFiles {
    fn read(&self, path: &str, from: &str) -> Result<(String, Vec<u8>), String> {
        self.refusal(path, from).map_or_else(|| Files::read(&self.used, path, from), Err)
    }

    fn path(&self, name: &str, from: &str) -> String {
        Files::path(&self.used, name, from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a folder next to a file outside of it.
    fn folders() -> (reviver_files::Scratch, PathBuf) {
        let outside = reviver_files::Scratch::new().unwrap();
        let inside = outside.path("inside");
        fs::create_dir_all(inside.join("deeper")).unwrap();
        for name in ["secret.rasm", "inside/own.rasm", "inside/deeper/more.rasm"] {
            fs::write(outside.path(name), "; text\n").unwrap();
        }
        (outside, inside)
    }

    #[test]
    fn files_of_the_folder_and_below_are_read() {
        let (_outside, inside) = folders();
        let files = FolderFiles::new(&UsedFiles::default(), &inside).unwrap();
        let program = inside.join("program.rasm").display().to_string();
        for path in ["own.rasm", "./own.rasm", "deeper/more.rasm"] {
            assert_eq!(files.read(path, &program).unwrap().1, b"; text\n", "{path}");
        }
        assert!(files.read("nowhere.rasm", &program).unwrap_err().contains("there is no file"));
    }

    #[test]
    fn no_other_files_are_read() {
        let (outside, inside) = folders();
        let files = FolderFiles::new(&UsedFiles::default(), &inside).unwrap();
        let program = inside.join("program.rasm").display().to_string();
        let absolute = outside.path("secret.rasm").display().to_string();
        for path in ["../secret.rasm", "deeper/../../secret.rasm", "deeper/../own.rasm", &absolute] {
            let error = files.read(path, &program).unwrap_err();
            assert!(error.contains("is outside of the program's folder"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_out() {
        let (outside, inside) = folders();
        let files = FolderFiles::new(&UsedFiles::default(), &inside).unwrap();
        let program = inside.join("program.rasm").display().to_string();
        std::os::unix::fs::symlink(outside.path("secret.rasm"), inside.join("file.rasm")).unwrap();
        std::os::unix::fs::symlink(outside.path("."), inside.join("folder")).unwrap();
        std::os::unix::fs::symlink(inside.join("own.rasm"), inside.join("deeper/link.rasm")).unwrap();
        for path in ["file.rasm", "folder/secret.rasm"] {
            let error = files.read(path, &program).unwrap_err();
            assert!(error.contains("is a link to a file outside of the program's folder"), "{error}");
        }
        assert!(files.read("deeper/link.rasm", &program).is_ok(), "a link that stays inside");
    }
}
