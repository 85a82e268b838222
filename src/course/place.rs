//! Location of a student's exercises. The user names either the folder that has a subfolder for each exercise, or one
//! of these subfolders.

use std::fs;
use std::path::{Path, PathBuf};

use super::set::{Exercise, START};

/// Folder of exercises, one subfolder each.
#[derive(Clone, Debug)]
pub struct CourseFolder {
    /// Path as the user gave it.
    pub path: PathBuf,
}

impl CourseFolder {
    /// Returns the folder of exercises that a path refers to. If the path is the folder of one exercise, returns that
    /// exercise too.
    pub fn of<'e>(path: &Path, exercises: &'e [Exercise]) -> (CourseFolder, Option<&'e Exercise>) {
        let whole = fs::canonicalize(path).ok();
        let name = whole.as_ref().and_then(|whole| whole.file_name()).and_then(|name| name.to_str());
        let inside = exercises.iter().find(|exercise| Some(&*exercise.name) == name);
        match inside.filter(|_| path.join(START).exists()) {
            Some(exercise) => (CourseFolder { path: around(path, exercise) }, Some(exercise)),
            None => (CourseFolder { path: path.to_owned() }, None),
        }
    }

    /// Returns the path of the student's program.
    pub fn program(&self, exercise: &Exercise) -> PathBuf {
        self.file(exercise, START)
    }

    /// Returns the path of an exercise's file.
    pub fn file(&self, exercise: &Exercise, file: &str) -> PathBuf {
        plain(&self.path).join(&exercise.name).join(file)
    }

    /// Returns true if the folder has any exercise of the course.
    pub fn has_any(&self, exercises: &[Exercise]) -> bool {
        exercises.iter().any(|exercise| self.program(exercise).exists())
    }
}

/// Returns the folder that contains an exercise's folder, as a user would write the path.
fn around(path: &Path, exercise: &Exercise) -> PathBuf {
    let is_named = path.file_name().is_some_and(|name| name == &*exercise.name);
    match path.parent().filter(|_| is_named) {
        Some(parent) if parent == Path::new("") => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => plain(path).join(".."),
    }
}

/// Returns a folder for use as a path prefix: empty for the current folder, to avoid `./`.
fn plain(folder: &Path) -> &Path {
    if folder == Path::new(".") { Path::new("") } else { folder }
}
