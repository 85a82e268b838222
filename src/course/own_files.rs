//! Files that a graded program may include: the files of the student's folder, except solutions of the course.

use std::cell::Cell;
use std::path::Path;

use reviver_assembler::below::FolderFiles;
use reviver_assembler::files::Files;

use super::set::{Exercise, SOLUTION};
use super::words::same_words;

/// Files of a student's folder, as seen by a graded program.
pub struct OwnFiles<'a> {
    folder: &'a FolderFiles,
    exercises: &'a [Exercise],
    was_refused: Cell<bool>,
}

impl<'a> OwnFiles<'a> {
    pub fn new(folder: &'a FolderFiles, exercises: &'a [Exercise]) -> OwnFiles<'a> {
        OwnFiles { folder, exercises, was_refused: Cell::new(false) }
    }

    /// Returns true if an include was refused: a file outside the student's folder, or a solution of the course.
    pub fn was_refused(&self) -> bool {
        self.was_refused.get()
    }

    fn is_solution(&self, path: &str, bytes: &[u8]) -> bool {
        let is_named_so = Path::new(path)
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.eq_ignore_ascii_case(SOLUTION));
        let text = String::from_utf8_lossy(bytes);
        is_named_so || self.exercises.iter().any(|exercise| same_words(&text, &exercise.solution))
    }

    fn refuse(&self, why: String) -> Result<(String, Vec<u8>), String> {
        self.was_refused.set(true);
        Err(why)
    }
}

impl Files for OwnFiles<'_> {
    fn read(&self, path: &str, from: &str) -> Result<(String, Vec<u8>), String> {
        if let Some(why) = self.folder.refusal(path, from) {
            return self.refuse(why);
        }
        let (name, bytes) = self.folder.read(path, from)?;
        // A link could hide a solution behind another name, so the resolved name is checked, too.
        if self.is_solution(path, &bytes) || self.is_solution(&name, &bytes) {
            return self.refuse(format!(
                "`{path}` is a solution of the course, and a graded program must not include it"
            ));
        }
        Ok((name, bytes))
    }

    fn path(&self, name: &str, from: &str) -> String {
        self.folder.path(name, from)
    }
}
