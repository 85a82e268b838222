//! The exercises, which are part of the program: a folder of the sources, read as it was built.

use std::sync::OnceLock;

use include_dir::{Dir, include_dir};
use reviver_assembler::files::FilesInMemory;
use reviver_expectations::expected::Expectations;

use super::hints::{self, ExerciseHint};
use crate::failure::{Failure, Fallible};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/course/exercises");

/// The file that somebody works on.
pub const START: &str = "start.rasm";
const TASK: &str = "task.md";
/// One way to do it.
pub const SOLUTION: &str = "solution.rasm";
/// The lines that it is graded by.
pub const EXPECTED: &str = "expect.txt";
const HINTS: &str = "hints.toml";
/// The files that no student gets.
const TEACHERS: [&str; 3] = [SOLUTION, EXPECTED, HINTS];

/// An exercise.
#[derive(Debug)]
pub struct Exercise {
    pub number: u32,
    /// The folder's: `03-or-forgets`.
    pub name: String,
    pub title: String,
    /// The part of the book that it belongs to: `Chapter 1`.
    pub chapter: String,
    pub start: String,
    pub solution: String,
    pub expectations: Expectations,
    pub hints: Vec<ExerciseHint>,
    /// All of its files by their names.
    files: Vec<(String, &'static [u8])>,
}

impl Exercise {
    /// The files that are copied for a student: none that tells how it is done.
    pub fn for_students(&self) -> impl Iterator<Item = (&str, &'static [u8])> {
        self.files().filter(|(name, _)| !TEACHERS.contains(name))
    }

    /// The files that are copied for a teacher: those that no student gets, and what they are run with.
    pub fn for_teachers(&self) -> impl Iterator<Item = (&str, &'static [u8])> {
        self.files().filter(|(name, _)| *name != START)
    }

    fn files(&self) -> impl Iterator<Item = (&str, &'static [u8])> {
        self.files.iter().map(|(name, bytes)| (&**name, *bytes))
    }

    /// Its files as they are in the program, for what its expectations name.
    pub fn references(&self) -> FilesInMemory {
        self.files.iter().fold(FilesInMemory::new(), |files, (name, bytes)| files.with(name, *bytes))
    }

    /// Whether an argument means it: `3`, `03` or its name.
    pub fn is_called(&self, argument: &str) -> bool {
        // Shells complete the name of a folder, with what is around it.
        let name = argument.trim_start_matches("./").trim_end_matches('/');
        name.parse() == Ok(self.number) || name == self.name
    }
}

/// All exercises, in their order.
///
/// # Errors
/// Something is wrong with one that this program was built with.
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
        contents.ok_or_else(|| broken(&name, file, &"it isn't there, or is no text"))
    };
    let number = name.split('-').next().and_then(|number| number.parse().ok());
    let task = text(TASK)?;
    let files = folder.files().filter_map(|file| {
        let name = file.path().file_name()?.to_str()?;
        Some((name.to_owned(), file.contents()))
    });
    Ok(Exercise {
        number: number.ok_or_else(|| broken(&name, TASK, &"its folder has no number"))?,
        title: title(task)
            .ok_or_else(|| broken(&name, TASK, &"it has no title, as in `# 3. Three in a ring`"))?,
        chapter: chapter(task).ok_or_else(|| broken(&name, TASK, &"it doesn't say its chapter"))?,
        start: text(START)?.to_owned(),
        solution: text(SOLUTION)?.to_owned(),
        expectations: Expectations::of(EXPECTED, text(EXPECTED)?),
        hints: hints::parse(text(HINTS)?).map_err(|error| broken(&name, HINTS, &error))?,
        files: files.collect(),
        name,
    })
}

/// The first line, without its number.
fn title(task: &str) -> Option<String> {
    let heading = task.lines().next()?.strip_prefix("# ")?;
    heading.split_once(". ").map(|(_, title)| title.to_owned())
}

/// What stands in front of the first comma or full stop of the line that begins with the word.
fn chapter(task: &str) -> Option<String> {
    let line = task.lines().find(|line| line.starts_with("Chapter"))?;
    line.split([',', '.']).next().map(str::to_owned)
}

/// The program was built with an exercise that is none.
fn broken(exercise: &str, file: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::load(format_args!("the course in this program is broken: {exercise}/{file}: {why}"))
}
