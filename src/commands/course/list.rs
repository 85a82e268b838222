//! `reviver course`: lists the exercises, and marks those that are passed in the current folder.

use std::path::Path;

use crate::cli::TestRunning;
use crate::course::grading::{Grade, Grading};
use crate::course::place::CourseFolder;
use crate::course::set::exercises;
use crate::failure::Fallible;
use crate::{output, streams};

pub fn run(json: bool) -> Fallible {
    let exercises = exercises()?;
    let (folder, _) = CourseFolder::of(Path::new("."), exercises);
    if !folder.has_any(exercises) {
        return match json {
            true => streams::print_with(|out| output::object(output::course::set(exercises), &Ok(()), out)),
            false => streams::print(&output::course::offered(exercises)),
        };
    }
    let grading = Grading::usual(TestRunning::default());
    let grades = exercises.iter().map(|exercise| grading.grade(&folder, exercise));
    let grades: Vec<Grade> = grades.collect::<Fallible<_>>()?;
    match json {
        true => streams::print_with(|out| output::object(output::course::members(&grades), &Ok(()), out)),
        false => streams::print(&output::course::list(&folder, &grades)),
    }
}
