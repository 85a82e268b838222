//! The folders of a class, as they are named: what is no folder, or can't be read, is skipped with a note.

use std::fs;
use std::path::{Path, PathBuf};

use crate::course::place::CourseFolder;
use crate::course::set::Exercise;
use crate::failure::{Exit, Failure, Fallible, counted};
use crate::{read, streams};

/// The folders that can be graded, and how many were skipped.
pub struct Folders {
    pub folders: Vec<CourseFolder>,
    pub skipped: Skipped,
}

/// The number of named things that were skipped.
pub struct Skipped(usize);

/// Extensions of archives.
const ARCHIVES: [&str; 8] = ["zip", "tar", "gz", "tgz", "7z", "rar", "xz", "bz2"];

impl Folders {
    /// # Errors
    /// There is nothing of a name, or nothing that can be graded.
    pub fn of(paths: &[PathBuf], exercises: &[Exercise]) -> Fallible<Folders> {
        if let Some(path) = paths.iter().find(|path| path.symlink_metadata().is_err()) {
            return Err(Failure::usage(format_args!("there is no folder {}", read::shown(path))));
        }
        let mut folders = Vec::new();
        let mut skipped = 0;
        for path in paths {
            let name = read::shown(path);
            if let Some(why) = unusable(path) {
                streams::complain(&format!("note: {name} is skipped: {why}\n"));
                skipped += 1;
                continue;
            }
            let folder = CourseFolder { path: path.clone() };
            if !folder.has_any(exercises) {
                let inner = inside(path, exercises);
                let inner =
                    inner.map_or_else(String::new, |inner| format!("; there are in {}", read::shown(&inner)));
                streams::complain(&format!("note: there are no exercises in {name}{inner}\n"));
            }
            folders.push(folder);
        }
        Ok(Folders { folders, skipped: Skipped(skipped) })
    }
}

impl Skipped {
    /// # Errors
    /// Something was skipped.
    pub fn verdict(&self) -> Fallible {
        match self.0 {
            0 => Ok(()),
            skipped => {
                let message = format!(
                    "{} skipped, which aren't folders that can be read",
                    counted(skipped, "argument")
                );
                Err(Failure::spelled(Exit::Check, message, ""))
            }
        }
    }
}

/// Why a path isn't graded.
fn unusable(path: &Path) -> Option<String> {
    if path.is_dir() {
        return fs::read_dir(path).err().map(|error| format!("it can't be read: {error}"));
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let is_archive = extension.is_some_and(|extension| ARCHIVES.contains(&&*extension));
    Some(match (is_archive, path.exists()) {
        (true, _) => "it is an archive: unpack it, and name its folder".to_owned(),
        (false, true) => "it is a file: name the folder of exercises".to_owned(),
        (false, false) => "it is a link that leads nowhere".to_owned(),
    })
}

/// A folder in a folder that has exercises, as archives are unpacked.
fn inside(path: &Path, exercises: &[Exercise]) -> Option<PathBuf> {
    let entries = fs::read_dir(path).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.is_dir()).find(|path| CourseFolder { path: path.clone() }.has_any(exercises))
}
