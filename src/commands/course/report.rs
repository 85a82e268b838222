//! `reviver course report`: folders of exercises as lines of a table.

use std::path::Path;

use crate::cli::CourseReport;
use crate::course::grading::{Grade, grade};
use crate::course::place::CourseFolder;
use crate::course::set::exercises;
use crate::failure::{Failure, Fallible};
use crate::write::OutputTarget;
use crate::{kinds, output, read, streams};

pub fn run(options: &CourseReport, json: bool) -> Fallible {
    let exercises = exercises()?;
    if json && options.output.as_deref() == Some(Path::new("-")) {
        let failure = Failure::usage("`--json` and `-o -` would both be standard output");
        return Err(failure.help(
            "`-o grades.csv` writes the table into a file besides; without `-o` there is the object alone",
        ));
    }
    let graded = graded(options)?;
    if !json || options.output.is_some() {
        let table = output::course::table(exercises, &graded)?;
        let path = options.output.as_deref().unwrap_or(Path::new("-"));
        OutputTarget::new(path, &kinds::GRADES, options.force.force)?.write(&table)?;
    }
    match json {
        true => streams::print_with(|out| output::object(output::course::class(&graded), &Ok(()), out)),
        false => Ok(()),
    }
}

/// Each folder with the grades of its exercises.
fn graded(options: &CourseReport) -> Fallible<Vec<(String, Vec<Grade>)>> {
    let exercises = exercises()?;
    let folder = |path: &Path| {
        if !path.is_dir() {
            return Err(Failure::usage(format_args!("there is no folder {}", read::shown(path))));
        }
        let folder = CourseFolder { path: path.to_owned() };
        let name = read::shown(path);
        if !folder.has_any(exercises) {
            streams::complain(&format!("note: there are no exercises in {name}\n"));
        }
        let grades = exercises.iter().map(|exercise| grade(&folder, exercise, options.running));
        Ok((name, grades.collect::<Fallible<Vec<Grade>>>()?))
    };
    options.folders.iter().map(|path| folder(path)).collect()
}
