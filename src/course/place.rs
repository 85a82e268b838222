//! Where somebody works on exercises: a folder with a folder for each, or one of these.

use std::fs;
use std::path::{Path, PathBuf};

use super::set::{Exercise, START};

/// A folder of exercises.
#[derive(Clone, Debug)]
pub struct CourseFolder {
    /// As it was named.
    pub path: PathBuf,
}

impl CourseFolder {
    /// The folder of exercises that a path means, and the exercise, if it is the folder of one.
    pub fn of<'e>(path: &Path, exercises: &'e [Exercise]) -> (CourseFolder, Option<&'e Exercise>) {
        let whole = fs::canonicalize(path).ok();
        let name = whole.as_ref().and_then(|whole| whole.file_name()).and_then(|name| name.to_str());
        let inside = exercises.iter().find(|exercise| Some(&*exercise.name) == name);
        match inside.filter(|_| path.join(START).exists()) {
            Some(exercise) => (CourseFolder { path: around(path, exercise) }, Some(exercise)),
            None => (CourseFolder { path: path.to_owned() }, None),
        }
    }

    /// Where the program lies that somebody works on.
    pub fn program(&self, exercise: &Exercise) -> PathBuf {
        self.file(exercise, START)
    }

    /// A file of an exercise.
    pub fn file(&self, exercise: &Exercise, file: &str) -> PathBuf {
        plain(&self.path).join(&exercise.name).join(file)
    }

    /// Whether there is anything of the course in it.
    pub fn has_any(&self, exercises: &[Exercise]) -> bool {
        exercises.iter().any(|exercise| self.program(exercise).exists())
    }
}

/// The folder that the folder of an exercise is in, as somebody would name it.
fn around(path: &Path, exercise: &Exercise) -> PathBuf {
    let is_named = path.file_name().is_some_and(|name| name == &*exercise.name);
    match path.parent().filter(|_| is_named) {
        Some(parent) if parent == Path::new("") => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => plain(path).join(".."),
    }
}

/// A folder in front of a name: of the present one nobody wants to read `./`.
fn plain(folder: &Path) -> &Path {
    if folder == Path::new(".") { Path::new("") } else { folder }
}
