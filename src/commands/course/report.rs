//! `reviver course report`: grades the folders of a class, each in a separate process, and writes a table.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::folders::Folders;
use crate::cli::CourseReport;
use crate::course::children::{self, ChildLimits};
use crate::course::grading::USUAL;
use crate::course::hidden::HiddenTests;
use crate::course::place::CourseFolder;
use crate::course::score::Score;
use crate::course::set::{Exercise, exercises};
use crate::failure::{self, Failure, Fallible};
use crate::output::grades::{GradeTable, GradedFolder, class, classroom};
use crate::write::OutputTarget;
use crate::{kinds, output, read, streams};

pub fn run(options: &CourseReport, json: bool) -> Fallible {
    let exercises = exercises()?;
    check(options, json)?;
    let Folders { folders, skipped } = Folders::of(&options.folders, exercises)?;
    let hidden = options
        .grading_options
        .hidden
        .as_deref()
        .map(|path| HiddenTests::read(path, exercises))
        .transpose()?;
    if let Some(hidden) = &hidden {
        hidden.check(exercises, options.grading_options.running)?;
    }
    let class_grading = ClassGrading { options, exercises, hidden: hidden.as_ref() };
    if options.classroom {
        return class_grading.classroom(&folders, skipped.verdict());
    }
    let table = if options.moodle { GradeTable::Moodle } else { GradeTable::Exercises };
    let mut rows = match json && options.output.is_none() {
        true => None,
        false => Some(GrowingTable::begin(options, table.head(exercises)?)?),
    };
    let mut graded = Vec::new();
    let mut stopped = Ok(());
    for folder in &folders {
        match class_grading.grade(folder) {
            Ok(folder) => {
                if let Some(rows) = &mut rows {
                    rows.add(&table.rows(&folder)?)?;
                }
                // Summaries would mix with a table on standard output, so they are printed only if the table goes to
                // a file.
                if options.output.is_some() && !json {
                    streams::print(&folder.summary())?;
                }
                graded.push(folder);
            }
            Err(failure) => {
                stopped = Err(failure);
                break;
            }
        }
    }
    let verdict = failure::all([stopped, skipped.verdict()]);
    match json {
        true => {
            streams::print_with(|out| output::object(class(&graded), &verdict, out))?;
            verdict.map_err(Failure::reported)
        }
        false => verdict,
    }
}

/// Refuses options that contradict each other.
fn check(options: &CourseReport, json: bool) -> Fallible {
    if json && options.output.as_deref() == Some(Path::new("-")) {
        let failure = Failure::usage("`--json` and `-o -` would both write to standard output");
        return Err(
            failure.help("give `-o` the name of a file, or leave `-o` out to print only the JSON object")
        );
    }
    if json && options.classroom {
        return Err(Failure::usage("`--classroom` prints a JSON object already").help("leave `--json` out"));
    }
    if options.classroom && options.folders.len() > 1 {
        let failure = Failure::usage("`--classroom` takes at most one folder");
        return Err(failure
            .help("name no folder to print only the tests, or one folder to add its results to the tests"));
    }
    Ok(())
}

/// Table of grades. The file is rewritten as a whole after each folder, so at any time it is a complete table.
struct GrowingTable<'o> {
    path: &'o Path,
    kind: &'static reviver_files::FileKind,
    force: bool,
    text: Vec<u8>,
}

impl<'o> GrowingTable<'o> {
    fn begin(options: &'o CourseReport, head: Vec<u8>) -> Fallible<GrowingTable<'o>> {
        let path = options.output.as_deref().unwrap_or(Path::new("-"));
        let mut table =
            GrowingTable { path, kind: &kinds::GRADES, force: options.force.force, text: Vec::new() };
        table.add(&head)?;
        Ok(table)
    }

    fn add(&mut self, rows: &[u8]) -> Fallible {
        match OutputTarget::new(self.path, self.kind, self.force)? {
            OutputTarget::Printed => streams::print_document(rows),
            target @ OutputTarget::File(_) => {
                self.text.extend_from_slice(rows);
                target.write(&self.text)
            }
        }
    }
}

/// Options for grading the folders of a class.
struct ClassGrading<'o> {
    options: &'o CourseReport,
    exercises: &'static [Exercise],
    hidden: Option<&'o HiddenTests>,
}

impl ClassGrading<'_> {
    fn grade(&self, folder: &CourseFolder) -> Fallible<GradedFolder> {
        let limits = self.options.limits;
        let child = ChildLimits {
            time: Duration::from_secs(limits.limit_time.get().into()),
            output: limits.limit_output,
        };
        let failed = |n: usize, reason, took| {
            let known =
                self.exercises.get(n).map(|exercise| output::course::asked(exercise, self.asked(exercise)));
            children::failed(known.unwrap_or_default(), reason, took)
        };
        let command = |from: usize| self.command(&folder.path, from);
        let grades = children::grades(self.exercises.len(), child, command, failed)?;
        Ok(GradedFolder { name: read::shown(&folder.path), grades })
    }

    /// Returns the number of expectations and the maximum points of an exercise, including a teacher's hidden
    /// expectations.
    fn asked(&self, exercise: &Exercise) -> Score {
        let hidden = self.hidden.and_then(|hidden| hidden.of(exercise)).map(|hidden| &hidden.expectations);
        Score::asked(std::iter::once(&exercise.expectations).chain(hidden))
    }

    /// Returns the arguments of the child process that grades a folder. `from` is the index of the first exercise to
    /// grade.
    fn command(&self, folder: &Path, from: usize) -> Vec<OsString> {
        let CourseReport { grading_options, limits, .. } = self.options;
        let mut arguments: Vec<OsString> = ["course", "grade", "--from"].map(OsString::from).to_vec();
        arguments.push(from.to_string().into());
        let mut option = |name: &str, value: OsString| {
            let mut argument = OsString::from(format!("--{name}="));
            argument.push(value);
            arguments.push(argument);
        };
        option("limit-memory", limits.limit_memory.to_string().into());
        option("limit-instructions", limits.limit_instructions.to_string().into());
        let limits = grading_options.running.limits(USUAL);
        option("max-steps", limits.max_steps.to_string().into());
        option("memory", limits.max_bytes.to_string().into());
        option("engine", grading_options.running.engine.name().into());
        if let Some(hidden) = &grading_options.hidden {
            option("hidden", hidden.clone().into());
        }
        arguments.push("--".into());
        arguments.push(PathBuf::from(folder).into());
        arguments
    }

    fn classroom(&self, folders: &[CourseFolder], verdict: Fallible) -> Fallible {
        let graded = folders.first().map(|folder| self.grade(folder)).transpose()?;
        let minutes = self.options.limits.limit_time.get().div_ceil(60);
        let exercises = self.exercises.iter().map(|exercise| (exercise, self.asked(exercise)));
        let text = classroom(exercises, minutes, graded.as_ref());
        let path = self.options.output.as_deref().unwrap_or(Path::new("-"));
        OutputTarget::new(path, &kinds::CLASSROOM, self.options.force.force)?.write(text.as_bytes())?;
        verdict
    }
}
