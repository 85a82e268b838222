//! `reviver course grade`: grades one folder of exercises in a separate process, for `report`.

use reviver_assembler::limits::AssemblyLimits;
use reviver_expectations::settings::TestLimits;

use crate::cli::CourseGrade;
use crate::course::children::confine;
use crate::course::grading::{Grading, USUAL};
use crate::course::hidden::HiddenTests;
use crate::course::place::CourseFolder;
use crate::course::set::exercises;
use crate::failure::Fallible;
use crate::{output, streams};

pub fn run(options: &CourseGrade) -> Fallible {
    confine(options.limits.limit_memory);
    let exercises = exercises()?;
    let hidden = options
        .grading_options
        .hidden
        .as_deref()
        .map(|path| HiddenTests::read(path, exercises))
        .transpose()?;
    let assembly = AssemblyLimits { copied_instructions: options.limits.limit_instructions };
    let usual = TestLimits { assembly, ..USUAL };
    let grading = Grading { running: options.grading_options.running, usual, hidden: hidden.as_ref() };
    let folder = CourseFolder { path: options.folder.clone() };
    for exercise in exercises.iter().skip(options.from) {
        let grade = grading.grade(&folder, exercise)?;
        streams::print_json(&output::course::graded(&grade))?;
    }
    Ok(())
}
