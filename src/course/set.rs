//! The embedded exercises, read from a folder of the sources at build time.

use std::sync::OnceLock;

use include_dir::{Dir, include_dir};
use reviver_assembler::files::FilesInMemory;
use reviver_expectations::expected::Expectations;

use super::hints::{self, ExerciseHint};
use crate::failure::{Failure, Fallible};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/course/exercises");

/// File that the student edits.
pub const START: &str = "start.rasm";
const TASK: &str = "task.md";
/// File with a sample solution.
pub const SOLUTION: &str = "solution.rasm";
/// File with the expectations that grade the exercise.
pub const EXPECTED: &str = "expect.txt";
const HINTS: &str = "hints.toml";
/// Files that only teachers get.
const TEACHERS: [&str; 3] = [SOLUTION, EXPECTED, HINTS];

/// Exercise of the course.
#[derive(Debug)]
pub struct Exercise {
    pub number: u32,
    /// Name of the exercise's folder: `03-or-forgets`.
    pub name: String,
    pub title: String,
    /// Part of the book that the exercise belongs to: `Chapter 1`.
    pub chapter: String,
    pub start: String,
    pub solution: String,
    pub expectations: Expectations,
    pub hints: Vec<ExerciseHint>,
    /// All embedded files of the exercise, by name.
    files: Vec<(String, &'static [u8])>,
}

impl Exercise {
    /// Returns the files that are copied for a student, without solution, expectations and hints.
    pub fn for_students(&self) -> impl Iterator<Item = (&str, &'static [u8])> {
        self.files().filter(|(name, _)| !TEACHERS.contains(name))
    }

    /// Returns the files that are copied for a teacher: everything except the student's initial program.
    pub fn for_teachers(&self) -> impl Iterator<Item = (&str, &'static [u8])> {
        self.files().filter(|(name, _)| *name != START)
    }

    fn files(&self) -> impl Iterator<Item = (&str, &'static [u8])> {
        self.files.iter().map(|(name, bytes)| (&**name, *bytes))
    }

    /// Returns the embedded files, to resolve references in expectations.
    pub fn references(&self) -> FilesInMemory {
        self.files.iter().fold(FilesInMemory::new(), |files, (name, bytes)| files.with(name, *bytes))
    }

    /// Returns true if an argument names this exercise: `3`, `03` or its name.
    pub fn is_called(&self, argument: &str) -> bool {
        // Shells complete names of folders with `./` and `/`.
        let name = argument.trim_start_matches("./").trim_end_matches('/');
        name.parse() == Ok(self.number) || name == self.name
    }
}

/// Returns all exercises, in order.
///
/// # Errors
/// An embedded exercise is invalid.
pub fn exercises() -> Fallible<&'static [Exercise]> {
    static EXERCISES: OnceLock<Vec<Exercise>> = OnceLock::new();
    if let Some(exercises) = EXERCISES.get() {
        return Ok(exercises);
    }
    let mut read = EMBEDDED.dirs().map(exercise).collect::<Fallible<Vec<Exercise>>>()?;
    read.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(EXERCISES.get_or_init(|| read))
}

fn exercise(folder: &'static Dir<'static>) -> Fallible<Exercise> {
    let name = folder.path().to_string_lossy().into_owned();
    let text = |file: &str| {
        let contents = folder.get_file(folder.path().join(file)).and_then(|file| file.contents_utf8());
        contents.ok_or_else(|| broken(&name, file, &"it doesn't exist, or isn't a text"))
    };
    let number = name.split('-').next().and_then(|number| number.parse().ok());
    let task = text(TASK)?;
    let files = folder.files().filter_map(|file| {
        let name = file.path().file_name()?.to_str()?;
        Some((name.to_owned(), file.contents()))
    });
    Ok(Exercise {
        number: number.ok_or_else(|| broken(&name, TASK, &"its folder has no number"))?,
        title: title(task).ok_or_else(|| {
            broken(&name, TASK, &"its first line isn't a title such as `# 3. Three in a ring`")
        })?,
        chapter: chapter(task)
            .ok_or_else(|| broken(&name, TASK, &"it has no line that begins with `Chapter`"))?,
        start: text(START)?.to_owned(),
        solution: text(SOLUTION)?.to_owned(),
        expectations: Expectations::of(EXPECTED, text(EXPECTED)?),
        hints: hints::parse(text(HINTS)?).map_err(|error| broken(&name, HINTS, &error))?,
        files: files.collect(),
        name,
    })
}

/// Returns the title in the first line, without the number.
fn title(task: &str) -> Option<String> {
    let heading = task.lines().next()?.strip_prefix("# ")?;
    heading.split_once(". ").map(|(_, title)| title.to_owned())
}

/// Returns the line that begins with `Chapter`, up to the first comma or full stop.
fn chapter(task: &str) -> Option<String> {
    let line = task.lines().find(|line| line.starts_with("Chapter"))?;
    line.split([',', '.']).next().map(str::to_owned)
}

/// Failure for an invalid embedded exercise.
fn broken(exercise: &str, file: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::load(format_args!("the course in this program is broken: {exercise}/{file}: {why}"))
}
