//! Grades of a class, as tables and as GitHub Classroom tests. The input is the JSON of the grading processes.

use std::path::Path;

use reviver_escape::csv_cell;
use serde_json::{Map, Value as Json, json};

use super::json_values::Object;
use crate::course::score::Score;
use crate::course::set::Exercise;
use crate::failure::{Failure, Fallible};

/// Folder with the grades of its exercises.
#[derive(Clone, Debug)]
pub struct GradedFolder {
    pub name: String,
    pub grades: Vec<Json>,
}

impl GradedFolder {
    fn sum(&self, member: &str) -> u64 {
        self.grades.iter().filter_map(|grade| grade.get(member)?.as_u64()).fold(0, u64::saturating_add)
    }

    fn passed(&self) -> usize {
        self.grades.iter().filter(|grade| text(grade, "state") == "passed").count()
    }

    /// Formats the totals: "ada: 1 of 37 passed, 11 of 402 points".
    pub fn summary(&self) -> String {
        let (passed, of) = (self.passed(), self.grades.len());
        let (points, most) = (self.sum("points"), self.sum("max_points"));
        format!("{}: {passed} of {of} passed, {points} of {most} points\n", self.name)
    }
}

/// Returns a member of a grade as text; empty if there is none.
fn text(grade: &Json, member: &str) -> String {
    match grade.get(member) {
        Some(Json::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn seconds(grade: &Json) -> String {
    let seconds = grade.get("seconds").and_then(Json::as_f64).unwrap_or_default();
    format!("{seconds:.3}")
}

/// Layout of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradeTable {
    /// A row for each exercise of each folder.
    Exercises,
    /// A row for each folder, in Moodle's import format.
    Moodle,
}

/// Columns of the table by exercise.
pub const COLUMNS: &str = "folder,exercise,state,met,asked,points,max_points,reason,seconds";
/// First columns of the table by folder.
pub const MOODLE_COLUMNS: &str = "Identifier,Full name,Username,Grade,Maximum grade,Feedback comments";

impl GradeTable {
    /// Returns the header line.
    ///
    /// # Errors
    /// The line can't be encoded.
    pub fn head(self, exercises: &[Exercise]) -> Fallible<Vec<u8>> {
        match self {
            GradeTable::Exercises => rows([COLUMNS.split(',').map(str::to_owned).collect()]),
            GradeTable::Moodle => {
                let columns = MOODLE_COLUMNS.split(',').map(str::to_owned);
                rows([columns.chain(exercises.iter().map(|exercise| exercise.name.clone())).collect()])
            }
        }
    }

    /// Returns the rows of a folder.
    ///
    /// # Errors
    /// The rows can't be encoded.
    pub fn rows(self, folder: &GradedFolder) -> Fallible<Vec<u8>> {
        match self {
            GradeTable::Exercises => rows(folder.grades.iter().map(|grade| {
                let member = |name: &str| text(grade, name);
                vec![
                    folder.name.clone(),
                    member("name"),
                    member("state"),
                    member("met"),
                    member("asked"),
                    member("points"),
                    member("max_points"),
                    member("reason"),
                    seconds(grade),
                ]
            })),
            GradeTable::Moodle => rows([moodle(folder)]),
        }
    }
}

/// Returns a row for Moodle. Moodle names a folder `Full Name_12345_assignsubmission_file`, and the participant
/// `Participant 12345` in its grading worksheet. Any other folder name is a user name.
fn moodle(folder: &GradedFolder) -> Vec<String> {
    let name = Path::new(&folder.name)
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let (identifier, full, user) = match participant(&name) {
        Some((full, number)) => (format!("Participant {number}"), full.to_owned(), String::new()),
        None => (String::new(), String::new(), name.clone()),
    };
    let begun = folder.grades.iter().filter(|grade| text(grade, "state") == "failed");
    let remarks = begun.map(|grade| {
        let reason = text(grade, "reason");
        format!("{}: {}/{} lines, {reason}", text(grade, "name"), text(grade, "met"), text(grade, "asked"))
    });
    let remarks: Vec<String> = remarks.collect();
    let (points, most) = (folder.sum("points").to_string(), folder.sum("max_points").to_string());
    let row = [identifier, full, user, points, most, remarks.join("; ")];
    row.into_iter().chain(folder.grades.iter().map(|grade| text(grade, "points"))).collect()
}

/// Returns the full name and number in a Moodle folder name.
fn participant(name: &str) -> Option<(&str, &str)> {
    let (before, _) = name.split_once("_assignsubmission_")?;
    let (full, number) = before.rsplit_once('_')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((full, number))
}

fn rows(rows: impl IntoIterator<Item = Vec<String>>) -> Fallible<Vec<u8>> {
    let unwritten = |error: csv::Error| Failure::load(format_args!("can't write the table: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row.iter().map(|field| csv_cell(field).into_owned())).map_err(unwritten)?;
    }
    let table = writer.into_inner();
    table.map_err(|error| Failure::load(format_args!("can't write the table: {}", error.error())))
}

/// Returns folders with their grades as a JSON object.
pub fn class(graded: &[GradedFolder]) -> Object<'static> {
    let folder = |folder: &GradedFolder| {
        let mut members = Map::new();
        members.insert("folder".into(), folder.name.clone().into());
        members.insert("passed".into(), folder.passed().into());
        members.insert("of".into(), folder.grades.len().into());
        members.insert("points".into(), folder.sum("points").into());
        members.insert("max_points".into(), folder.sum("max_points").into());
        members.insert("exercises".into(), folder.grades.iter().cloned().collect());
        Json::Object(members)
    };
    let mut object = Object::default();
    object.insert("folders", graded.iter().map(folder).collect::<Json>());
    object
}

/// Returns the text of GitHub Classroom's `autograding.json`: one test for each exercise, with its points and a timeout
/// in minutes. If `graded` is given, each test also has the folder's outcome: status, score and message.
pub fn classroom<'e>(
    exercises: impl Iterator<Item = (&'e Exercise, Score)>,
    minutes: u32,
    graded: Option<&GradedFolder>,
) -> String {
    let tests = exercises.enumerate().map(|(n, (exercise, score))| {
        let mut test = Map::new();
        test.insert("name".into(), format!("{}. {}", exercise.number, exercise.title).into());
        test.insert("setup".into(), "".into());
        test.insert("run".into(), format!("reviver course check {}", exercise.number).into());
        test.insert("input".into(), "".into());
        test.insert("output".into(), "".into());
        test.insert("comparison".into(), "included".into());
        test.insert("timeout".into(), minutes.into());
        test.insert("points".into(), score.most.into());
        if let Some(grade) = graded.and_then(|folder| folder.grades.get(n)) {
            let is_passed = text(grade, "state") == "passed";
            test.insert("status".into(), if is_passed { "pass" } else { "fail" }.into());
            test.insert("score".into(), grade.get("points").cloned().unwrap_or_else(|| 0.into()));
            let what = grade.get("hint").and_then(|hint| hint.get("what")?.as_str().map(str::to_owned));
            test.insert("message".into(), what.unwrap_or_else(|| text(grade, "reason")).into());
        }
        Json::Object(test)
    });
    format!("{:#}\n", json!({ "tests": tests.collect::<Json>() }))
}
