//! The students' folders that a command grades, from its arguments. An argument that isn't a readable folder is
//! skipped with a note.

use std::fs;
use std::path::{Path, PathBuf};

use crate::course::place::CourseFolder;
use crate::course::set::Exercise;
use crate::failure::{Exit, Failure, Fallible, counted};
use crate::{read, streams};

/// Folders that can be graded, and the count of skipped paths.
pub struct Folders {
    pub folders: Vec<CourseFolder>,
    pub skipped: Skipped,
}

/// Number of arguments that were skipped because they aren't readable folders.
pub struct Skipped(usize);

/// File extensions of archives.
const ARCHIVES: [&str; 8] = ["zip", "tar", "gz", "tgz", "7z", "rar", "xz", "bz2"];

impl Folders {
    /// Selects the folders that can be graded.
    ///
    /// # Errors
    /// A path doesn't exist, or there is no folder to grade.
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
                let inner = inner.map_or_else(String::new, |inner| {
                    format!("; the exercises are in {}", read::shown(&inner))
                });
                streams::complain(&format!("note: there are no exercises in {name}{inner}\n"));
            }
            folders.push(folder);
        }
        Ok(Folders { folders, skipped: Skipped(skipped) })
    }
}

impl Skipped {
    /// Returns the verdict on skipped paths: a failure if any path was skipped, so that the exit code shows it.
    pub fn verdict(&self) -> Fallible {
        match self.0 {
            0 => Ok(()),
            skipped => {
                let message = format!(
                    "{} skipped: only folders that can be read are used",
                    counted(skipped, "argument")
                );
                Err(Failure::spelled(Exit::Check, message, ""))
            }
        }
    }
}

/// Returns the reason why a path can't be graded, or `None` if it can.
fn unusable(path: &Path) -> Option<String> {
    if path.is_dir() {
        return fs::read_dir(path).err().map(|error| format!("it can't be read: {error}"));
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let is_archive = extension.is_some_and(|extension| ARCHIVES.contains(&&*extension));
    Some(match (is_archive, path.exists()) {
        (true, _) => "it is an archive: unpack it, and name its folder".to_owned(),
        (false, true) => "it is a file: name the folder of exercises".to_owned(),
        (false, false) => "it is a link to a path that doesn't exist".to_owned(),
    })
}

/// Returns a subfolder that contains exercises, if there is one. Unpacked archives often have such an extra level.
fn inside(path: &Path, exercises: &[Exercise]) -> Option<PathBuf> {
    let entries = fs::read_dir(path).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.is_dir()).find(|path| CourseFolder { path: path.clone() }.has_any(exercises))
}
