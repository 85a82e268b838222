//! Exercises and grades: text for users, JSON objects for programs. Grades nothing.

use std::fmt::Write as _;
use std::path::Path;

use reviver_assembler::render::render;
use serde_json::{Map, Value as Json};

use super::json_values::Object;
use super::tests::{LineStyle, line, line_object, program_diagnostics};
use crate::course::grading::{ExerciseState, Grade};
use crate::course::hints::{ExerciseHint, FittingHint};
use crate::course::place::CourseFolder;
use crate::course::score::Score;
use crate::course::set::Exercise;
use crate::course::similar::SimilarPair;
use crate::read::{shown, typed};

/// Lists the exercises, for a student who has no folder of exercises yet.
pub fn offered(exercises: &[Exercise]) -> String {
    let mut text = String::new();
    for exercise in exercises {
        let _ = writeln!(text, "{:>3}  {}  ({})", exercise.number, exercise.title, exercise.chapter);
    }
    text.push_str("\n`reviver course start DIR` copies the exercises into a folder\n");
    text
}

/// Lists the exercises with their states.
pub fn list(folder: &CourseFolder, grades: &[Grade]) -> String {
    let mut text = String::new();
    for Grade { exercise, state, .. } in grades {
        let word = match state {
            ExerciseState::Untouched => "",
            known => known.name(),
        };
        let _ =
            writeln!(text, "{:>3}  {word:<7}  {}  ({})", exercise.number, exercise.title, exercise.chapter);
    }
    let _ = writeln!(text, "\n{}", passed_of(grades));
    let open =
        grades.iter().find(|grade| !matches!(grade.state, ExerciseState::Passed | ExerciseState::Missing));
    if let Some(Grade { exercise, .. }) = open {
        text.push_str(&invitation(folder, exercise));
    }
    text
}

fn passed_of(grades: &[Grade]) -> String {
    format!("{} of {} passed", passed(grades), grades.len())
}

fn passed(grades: &[Grade]) -> usize {
    grades.iter().filter(|grade| grade.state == ExerciseState::Passed).count()
}

/// Returns the command that grades an exercise of a folder.
fn check(folder: &CourseFolder, exercise: &Exercise) -> String {
    match folder.path == Path::new(".") {
        true => format!("reviver course check {}", exercise.number),
        false => format!("reviver course check {} {}", exercise.number, typed(&folder.path)),
    }
}

fn invitation(folder: &CourseFolder, next: &Exercise) -> String {
    let task = shown(&folder.file(next, "task.md"));
    format!("next: {}, {task}; `{}` grades it\n", next.title, check(folder, next))
}

/// Formats the grade of one exercise, with the hint that fits. `more` is the number of further parts of the hint to
/// show.
pub fn one(folder: &CourseFolder, grade: &Grade, next: Option<&Exercise>, more: u8) -> String {
    let style = LineStyle::of_output();
    let Exercise { number, title, .. } = grade.exercise;
    let Some(tested) = &grade.tested else {
        let missing = || format!("there is no {}\n", shown(&folder.program(grade.exercise)));
        return format!("{number}. {title}: {}", grade.unreadable.clone().unwrap_or_else(missing));
    };
    let reported = match grade.state {
        ExerciseState::Passed => "passed",
        ExerciseState::Untouched => "not begun yet",
        ExerciseState::Missing | ExerciseState::Failed => "not passed yet",
    };
    let mut text = format!("{number}. {title}: {reported}\n");
    if tested.program.module.is_none() {
        text.push_str(&render(&tested.program.sources, &tested.program.diagnostics, style.colors));
    } else {
        tested.lines.iter().for_each(|assessed| text.push_str(&line(assessed, "", style)));
    }
    if let Some(FittingHint { hint, .. }) = grade.hint {
        let _ = write!(text, "\n{}", hinted(hint, more, "  ", style));
    } else if let Some(next) = next {
        text.push_str(&invitation(folder, next));
    }
    text
}

/// Formats the grades of all exercises, one per line, with hints for those in progress.
pub fn all(folder: &CourseFolder, grades: &[Grade], more: u8) -> String {
    let mut text = String::new();
    for grade in grades {
        let Exercise { number, title, .. } = grade.exercise;
        let _ = writeln!(text, "{number:>3}  {:<9}  {title}", grade.state.name());
        if let Some(unreadable) = &grade.unreadable {
            let _ = write!(text, "                {unreadable}");
        }
        if let Some(FittingHint { hint, .. }) = grade.hint.filter(|_| grade.state == ExerciseState::Failed) {
            text.push_str(&hinted(hint, more, "                ", LineStyle::of_output()));
        }
    }
    let _ = writeln!(text, "\n{}", passed_of(grades));
    if let Some(Grade { exercise, .. }) = grades.iter().find(|grade| grade.state == ExerciseState::Failed) {
        let _ = writeln!(text, "`{}` explains the first failure", check(folder, exercise));
    } else if let Some(next) = grades.iter().find(|grade| grade.state == ExerciseState::Untouched) {
        text.push_str(&invitation(folder, next.exercise));
    }
    text
}

/// Formats the first `more + 1` parts of a hint.
fn hinted(hint: &ExerciseHint, more: u8, indent: &str, style: LineStyle) -> String {
    let parts = [("what", hint.what.clone()), ("where", hint.place.clone()), ("read", lesson(&hint.lesson))];
    let known = parts.into_iter().take(usize::from(more) + 1);
    let mut text: String =
        known.map(|(word, said)| style.folded(&format!("{indent}{word:<5}  {said}"))).collect();
    match more {
        0 => text.push_str(&format!("{indent}       `--more` says where to look\n")),
        1 => text.push_str(&format!("{indent}       `--more --more` says what to read\n")),
        _ => {}
    }
    text
}

/// Formats a chapter reference, with the command to read it.
fn lesson(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    match file.split('-').next().and_then(|number| number.parse::<u32>().ok()) {
        Some(number) => format!("chapter {number} of the book: `reviver course read {number}`"),
        None => path.to_owned(),
    }
}

/// Returns the exercises as a JSON object.
pub fn set(exercises: &[Exercise]) -> Object<'static> {
    let mut object = Object::default();
    object.insert(
        "exercises",
        exercises.iter().map(|exercise| Json::Object(named(exercise))).collect::<Json>(),
    );
    object
}

fn named(exercise: &Exercise) -> Map<String, Json> {
    let mut members = Map::new();
    members.insert("number".into(), exercise.number.into());
    members.insert("name".into(), exercise.name.clone().into());
    members.insert("title".into(), exercise.title.clone().into());
    members.insert("chapter".into(), exercise.chapter.clone().into());
    members
}

/// Returns the grades as a JSON object.
pub fn members(grades: &[Grade]) -> Object<'static> {
    let mut object = Object::default();
    object.insert("passed", passed(grades));
    object.insert("of", grades.len());
    object.insert("exercises", grades.iter().map(graded).collect::<Json>());
    object
}

/// Returns the JSON members of an exercise that are the same for all students: names, number of lines, points.
pub fn asked(exercise: &Exercise, score: Score) -> Map<String, Json> {
    let mut members = named(exercise);
    members.insert("asked".into(), score.asked.into());
    members.insert("max_points".into(), score.most.into());
    members
}

fn graded_members(grade: &Grade) -> Map<String, Json> {
    let mut members = asked(grade.exercise, grade.score);
    members.insert("state".into(), grade.state.name().into());
    members.insert("met".into(), grade.score.met.into());
    members.insert("points".into(), grade.score.points.into());
    if let Some(reason) = grade.reason {
        members.insert("reason".into(), reason.name().into());
    }
    if let Some(FittingHint { number, hint }) = grade.hint {
        let mut reported = Map::new();
        if let Some(number) = number {
            reported.insert("number".into(), number.into());
        }
        reported.insert("what".into(), hint.what.clone().into());
        reported.insert("where".into(), hint.place.clone().into());
        reported.insert("lesson".into(), hint.lesson.clone().into());
        members.insert("hint".into(), Json::Object(reported));
    }
    if let Some(unreadable) = &grade.unreadable {
        members.insert("unreadable".into(), unreadable.trim_end().into());
    }
    if let Some(tested) = &grade.tested {
        if tested.program.module.is_none() {
            members.insert("diagnostics".into(), program_diagnostics(tested));
        }
        let (own, hidden) = tested.lines.split_at(grade.hidden_from.min(tested.lines.len()));
        members.insert("expectations".into(), own.iter().map(line_object).collect());
        if !hidden.is_empty() {
            members.insert("hidden".into(), hidden.iter().map(line_object).collect());
        }
    }
    members.insert("seconds".into(), grade.took.as_secs_f64().into());
    members
}

/// Returns a grade as a JSON object.
pub fn graded(grade: &Grade) -> Json {
    Json::Object(graded_members(grade))
}

/// Lists pairs of equal programs, one per line.
pub fn similar_lines(folders: &[CourseFolder], pairs: &[SimilarPair]) -> String {
    let mut text = String::new();
    for SimilarPair { folders: (one, other), exercise, own_words } in pairs {
        let name = |n: usize| folders.get(n).map_or_else(String::new, |folder| shown(&folder.path));
        let _ = writeln!(
            text,
            "{}  {}  {}  ({own_words} words more than the start program)",
            name(*one),
            name(*other),
            exercise.name
        );
    }
    if pairs.is_empty() {
        text.push_str("no two programs are equal up to names and layout\n");
    }
    text
}

/// Returns pairs of equal programs as a JSON object.
pub fn similar(folders: &[CourseFolder], pairs: &[SimilarPair]) -> Object<'static> {
    let name = |n: usize| folders.get(n).map_or_else(String::new, |folder| shown(&folder.path));
    let pair = |pair: &SimilarPair| {
        let mut members = Map::new();
        members.insert("folders".into(), [name(pair.folders.0), name(pair.folders.1)].into_iter().collect());
        members.insert("exercise".into(), pair.exercise.name.clone().into());
        members.insert("own_words".into(), pair.own_words.into());
        Json::Object(members)
    };
    let mut object = Object::default();
    object.insert("pairs", pairs.iter().map(pair).collect::<Json>());
    object
}
