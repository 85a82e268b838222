//! What somebody has made of an exercise: judged by the expectations that the program was built with, so that none of them can
//! be edited away.

use std::path::Path;

use reviver_assembler::below::FolderFiles;
use reviver_assembler::lexer::{Lexer, TokenKind};
use reviver_expectations::assessment::{AssessedLine, Mismatch, NO_GARBAGE};
use reviver_expectations::expected::unmarked;
use reviver_expectations::settings::TestLimits;

use super::hints::{Attempt, FittingHint, fitting};
use super::place::CourseFolder;
use super::set::Exercise;
use crate::cli::TestRunning;
use crate::failure::{Failure, Fallible};
use crate::read;
use crate::testing::tested::{Runs, TestedFile, TestedText};

/// What an exercise may take where nobody says otherwise.
const USUAL: TestLimits = TestLimits { max_steps: 10_000_000, max_bytes: 256 << 20 };

/// How far somebody has come with an exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExerciseState {
    /// There is no program.
    Missing,
    /// It is what it was at the start.
    Untouched,
    Failed,
    Passed,
}

impl ExerciseState {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            ExerciseState::Missing => "missing",
            ExerciseState::Untouched => "untouched",
            ExerciseState::Failed => "failed",
            ExerciseState::Passed => "passed",
        }
    }
}

/// An exercise, graded.
#[derive(Debug)]
pub struct Grade {
    pub exercise: &'static Exercise,
    pub state: ExerciseState,
    /// What was found; nothing where there is no program.
    pub tested: Option<TestedFile>,
    /// Why the program can't be read, where it is there.
    pub unreadable: Option<String>,
    /// The hint that fits, where it isn't passed.
    pub hint: Option<FittingHint<'static>>,
}

/// Grades the program of an exercise.
///
/// # Errors
/// There is no such engine here.
pub fn grade(folder: &CourseFolder, exercise: &'static Exercise, running: TestRunning) -> Fallible<Grade> {
    let path = folder.program(exercise);
    let ungraded = |state, unreadable| Grade { exercise, state, tested: None, unreadable, hint: None };
    // A link that leads nowhere is there, too.
    if path.symlink_metadata().is_err() {
        return Ok(ungraded(ExerciseState::Missing, None));
    }
    let text = match text(folder, &path) {
        Ok(text) => text,
        // One of a class doesn't keep the others from being graded.
        Err(failure) => return Ok(ungraded(ExerciseState::Failed, Some(failure.message))),
    };
    let is_start = means(&text.text).eq(means(&exercise.start));
    let runs = Runs { running, usual: USUAL };
    let tested = text.tested(&exercise.expectations, &exercise.references(), &runs)?;
    let state = match tested.is_met() {
        true => ExerciseState::Passed,
        false if is_start => ExerciseState::Untouched,
        false => ExerciseState::Failed,
    };
    let hint = match state {
        ExerciseState::Passed => None,
        _ => fitting(&exercise.hints, &attempt(&tested, is_start)),
    };
    Ok(Grade { exercise, state, tested: Some(tested), unreadable: None, hint })
}

/// The text of a program, which lies in the folder of exercises.
fn text(folder: &CourseFolder, path: &Path) -> Fallible<TestedText> {
    let within = FolderFiles::new(read::files(), &folder.path)
        .map_err(|error| Failure::load(format_args!("can't read {}: {error}", read::shown(&folder.path))))?;
    // Of what isn't there, reading says so.
    if path.exists() && !within.contains(path) {
        let name = read::shown(path);
        return Err(Failure::load(format_args!("{name} is a link out of the folder of exercises")));
    }
    // To read something else than a file may take for ever.
    if path.exists() && !path.is_file() {
        return Err(Failure::load(format_args!("{} is no file", read::shown(path))));
    }
    TestedText::read(path)
}

/// What hints are chosen by.
fn attempt(tested: &TestedFile, is_start: bool) -> Attempt {
    let misses = tested.lines.iter().flat_map(|line| line.misses());
    let traps = misses.filter_map(|miss| miss.trap.as_ref()).map(|trap| trap.message.clone());
    let errors = tested.program.errors().map(|error| error.message.clone());
    let missed = || tested.lines.iter().filter(|line| line.is_missed());
    let has_only_garbage = |line: &&AssessedLine| line.misses().iter().all(Mismatch::is_garbage);
    let is_about_garbage = |line: &&AssessedLine| line.text.starts_with(NO_GARBAGE);
    let failing = missed().filter(|line| !has_only_garbage(line) || is_about_garbage(line));
    Attempt {
        messages: traps.chain(errors).collect(),
        failing: failing.map(|line| line.text.clone()).collect(),
        is_program: tested.program.module.is_some(),
        has_only_garbage: missed().next().is_some() && missed().all(|line| has_only_garbage(&line)),
        words: tested.program.words.clone(),
        is_start,
    }
}

/// The words of a text, without its comments and its layout.
fn means(text: &str) -> impl Iterator<Item = &str> {
    let text = unmarked(text);
    let mut lexer = Lexer::new(text);
    let tokens = std::iter::from_fn(move || Some(lexer.token()).filter(|token| token.kind != TokenKind::End));
    let counts = |kind: TokenKind| !matches!(kind, TokenKind::Comment | TokenKind::Newline);
    tokens
        .filter(move |token| counts(token.kind))
        .filter_map(move |token| text.get(token.start as usize..token.end as usize))
}
