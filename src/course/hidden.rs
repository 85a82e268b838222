//! Hidden expectations, which a teacher adds to the expectations of exercises. All files are read and parsed before
//! grading begins.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use reviver_assembler::below::FolderFiles;
use reviver_assembler::files::Files;
use reviver_expectations::assessment::Mismatch;
use reviver_expectations::expected::Expectations;
use reviver_expectations::settings::TestLimits;
use reviver_files::folder;

use super::set::{EXPECTED, Exercise, SOLUTION};
use crate::cli::TestRunning;
use crate::failure::{Failure, Fallible};
use crate::output::tests::reported;
use crate::read;
use crate::testing::tested::{Runs, tested};

/// Hidden expectations of a folder, by exercise number.
#[derive(Debug, Default)]
pub struct HiddenTests {
    tests: BTreeMap<u32, HiddenTest>,
}

/// Hidden expectations of an exercise.
#[derive(Debug)]
pub struct HiddenTest {
    path: PathBuf,
    pub expectations: Expectations,
    /// Files in the folder of the expectations, for example reference programs.
    pub files: FolderFiles,
}

impl HiddenTests {
    /// Reads a folder. Each exercise has a file `NAME.txt`, or `NAME/expect.txt` with references in the same folder.
    /// `NAME` is the exercise's name or number.
    ///
    /// # Errors
    /// A file belongs to no exercise, or a line isn't a valid expectation.
    pub fn read(path: &Path, exercises: &[Exercise]) -> Fallible<HiddenTests> {
        let unreadable = |error: std::io::Error| {
            let failure =
                Failure::usage(format_args!("can't read the folder {}: {error}", read::shown(path)));
            failure.help(
                "give `--hidden` a folder with a file for each exercise, for example `01-swap-two-cells.txt`",
            )
        };
        let mut tests = BTreeMap::new();
        let entries = fs::read_dir(path).map_err(unreadable)?;
        let mut found =
            entries.map(|entry| Ok(entry.map_err(unreadable)?.path())).collect::<Fallible<Vec<_>>>()?;
        found.sort();
        for entry in found {
            let Some((name, file)) = named(&entry) else { continue };
            let Some(exercise) = exercises.iter().find(|exercise| exercise.is_called(&name)) else {
                let failure =
                    Failure::usage(format_args!("{}: no exercise is called `{name}`", read::shown(&entry)));
                return Err(failure.help("name the file after the exercise, or after its number (`1.txt`); `reviver course` lists the exercises"));
            };
            let test = HiddenTest::read(file)?;
            if let Some(other) = tests.insert(exercise.number, test) {
                let message = format!(
                    "{} and {} are both for exercise {}",
                    read::shown(&other.path),
                    read::shown(&entry),
                    exercise.number
                );
                return Err(Failure::usage(message).help("join them into one file"));
            }
        }
        match tests.is_empty() {
            true => Err(Failure::usage(format_args!("{} has no expectations", read::shown(path))).help(
                "name a file after each exercise: `01-swap-two-cells.txt`, or `01-swap-two-cells/expect.txt`",
            )),
            false => Ok(HiddenTests { tests }),
        }
    }

    pub fn of(&self, exercise: &Exercise) -> Option<&HiddenTest> {
        self.tests.get(&exercise.number)
    }

    /// Checks each set of hidden expectations against a correct program: a `solution.rasm` next to the expectations,
    /// or else the exercise's own solution.
    pub fn check(&self, exercises: &[Exercise], running: TestRunning) -> Fallible {
        for exercise in exercises {
            if let Some(test) = self.of(exercise) {
                test.check(exercise, running)?;
            }
        }
        Ok(())
    }
}

/// Returns the exercise name and the file of expectations for a folder entry; `None` for an entry without expectations.
fn named(entry: &Path) -> Option<(String, PathBuf)> {
    if entry.is_dir() {
        let file = entry.join(EXPECTED);
        return file.exists().then(|| Some((entry.file_name()?.to_str()?.to_owned(), file)))?;
    }
    let is_text = entry.extension().is_some_and(|extension| extension == "txt");
    let name = entry.file_stem().and_then(|name| name.to_str()).filter(|_| is_text)?;
    Some((name.to_owned(), entry.to_owned()))
}

impl HiddenTest {
    fn read(path: PathBuf) -> Fallible<HiddenTest> {
        let text = read::text(&path).map_err(Failure::into_usage)?;
        let expectations = Expectations::of(&read::name(&path), &text);
        let broken = expectations.lines.iter().find_map(|line| Some((line, line.read.as_ref().err()?)));
        if let Some((line, error)) = broken {
            let place = format!("{}:{}", read::shown(&path), line.line);
            return Err(Failure::usage(format_args!("{place}: `{}`: {error}", line.text))
                .help("docs/test.md describes the lines that a file of expectations can have"));
        }
        if expectations.lines.is_empty() {
            let failure = Failure::usage(format_args!("{} has no expectations", read::shown(&path)));
            return Err(failure.help("add a line like `;! run n=10 -> a=55`"));
        }
        let files = FolderFiles::new(read::files(), folder(&path)).map_err(|error| {
            Failure::usage(format_args!("can't read the folder of {}: {error}", read::shown(&path)))
        })?;
        Ok(HiddenTest { path, expectations, files })
    }

    fn check(&self, exercise: &Exercise, running: TestRunning) -> Fallible {
        let own = folder(&self.path).join(SOLUTION);
        let has_own = own.exists() && self.path.ends_with(EXPECTED);
        let (name, text) = match has_own {
            true => (read::name(&own), read::text(&own).map_err(Failure::into_usage)?),
            false => (SOLUTION.to_owned(), exercise.solution.clone()),
        };
        let references = exercise.references();
        let files: &dyn Files = if has_own { &self.files } else { &references };
        let runs = Runs { running, usual: TestLimits::default(), heeds_signals: false };
        let tested = tested(name, text, files, &[(&self.expectations, &self.files)], &runs)?;
        let missed = tested.lines.iter().find_map(|line| Some((line, line.misses().first()?)));
        match missed {
            None => Ok(()),
            Some((line, miss)) => Err(self.refused(exercise, (line.line, &line.text), miss)),
        }
    }

    /// Failure for a hidden expectation that the correct program doesn't meet.
    fn refused(&self, exercise: &Exercise, (number, line): (usize, &str), miss: &Mismatch) -> Failure {
        let place = read::shown(&self.path);
        let message = format!(
            "{place}:{number}: the solution of `{}` doesn't meet `{line}`: {}",
            exercise.name,
            reported(miss)
        );
        Failure::usage(message).help(format_args!(
            "correct the line; if your task differs from the exercise of the course, write the expectations of your task to `{}/{EXPECTED}`, and a program that meets them all to `{}/{SOLUTION}`",
            exercise.name, exercise.name
        ))
    }
}
