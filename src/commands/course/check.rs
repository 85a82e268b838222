//! `reviver course check`: grades one exercise or all, and shows the hint that fits.

use std::path::Path;

use reviver_assembler::suggest::nearest;

use crate::cli::CourseCheck;
use crate::course::grading::{ExerciseState, Grade, Grading};
use crate::course::place::CourseFolder;
use crate::course::set::{Exercise, START, exercises};
use crate::failure::{Exit, Failure, Fallible};
use crate::{output, read, streams};

pub fn run(options: &CourseCheck, json: bool) -> Fallible {
    let exercises = exercises()?;
    let (folder, wanted) = wanted(options, exercises)?;
    if !folder.has_any(exercises) {
        let here = read::shown(&options.folder);
        let failure = Failure::usage(format_args!("there are no exercises in {here}"));
        return Err(failure.help("copy the exercises into a folder with `reviver course start DIR`"));
    }
    let chosen = exercises.iter().filter(|exercise| wanted.is_none_or(|wanted| wanted.name == exercise.name));
    let grading = Grading::usual(options.running);
    let grades = chosen.map(|exercise| grading.grade(&folder, exercise)).collect::<Fallible<Vec<Grade>>>()?;
    let verdict = verdict(&grades);
    if json {
        streams::print_with(|out| output::object(output::course::members(&grades), &verdict, out))?;
        return verdict.map_err(Failure::reported);
    }
    streams::print_styled(&match (wanted, &grades[..]) {
        (Some(_), [one]) => output::course::one(&folder, one, next(exercises, one), options.more),
        _ => output::course::all(&folder, &grades, options.more),
    })?;
    verdict
}

/// Returns the folder of exercises, and the exercise that the argument names; `None` for all exercises.
fn wanted<'e>(
    options: &CourseCheck,
    exercises: &'e [Exercise],
) -> Fallible<(CourseFolder, Option<&'e Exercise>)> {
    let (folder, inside) = CourseFolder::of(&options.folder, exercises);
    let Some(argument) = &options.exercise else { return Ok((folder, inside)) };
    if let Some(exercise) = exercises.iter().find(|exercise| exercise.is_called(argument)) {
        return Ok((folder, Some(exercise)));
    }
    // Shells complete an argument to a path, possibly to the path of the exercise's file.
    let path = Path::new(argument);
    let path = if path.ends_with(START) { path.parent().unwrap_or(path) } else { path };
    let path = if path == Path::new("") { Path::new(".") } else { path };
    match CourseFolder::of(path, exercises) {
        (folder, Some(exercise)) => Ok((folder, Some(exercise))),
        (_, None) => Err(unknown(exercises, argument)),
    }
}

fn unknown(exercises: &[Exercise], argument: &str) -> Failure {
    let failure = Failure::usage(format_args!("there is no exercise `{argument}`"));
    let path = Path::new(argument);
    if (CourseFolder { path: path.to_owned() }).has_any(exercises) {
        let typed = read::typed(path);
        return failure.help(format_args!(
            "{typed} is a folder of exercises: write the number of an exercise before it, as in `reviver course check 1 {typed}`; in the folder, `reviver course check` grades all exercises"
        ));
    }
    let names = || exercises.iter().map(|exercise| &*exercise.name);
    // A part of the name is enough for a suggestion.
    let part = || names().find(|name| name.contains(&*argument.to_lowercase()));
    match nearest(argument, names()).or_else(part) {
        Some(near) => failure.help(format_args!("did you mean `{near}`?")),
        None => failure.help(
            "write the number of the exercise before the folder: `reviver course check 3 DIR`; `reviver course` lists the exercises",
        ),
    }
}

/// Returns the exercise that follows the graded one, to suggest it.
fn next<'e>(exercises: &'e [Exercise], grade: &Grade) -> Option<&'e Exercise> {
    exercises.iter().find(|exercise| exercise.number > grade.exercise.number)
}

fn verdict(grades: &[Grade]) -> Fallible {
    let passed = grades.iter().filter(|grade| grade.state == ExerciseState::Passed).count();
    match (passed, grades.len()) {
        (passed, all) if passed == all => Ok(()),
        (_, 1) => Err(Failure::spelled(Exit::Check, "not passed", "")),
        (passed, all) => Err(Failure::spelled(Exit::Check, format!("{passed} of {all} passed"), "")),
    }
}
