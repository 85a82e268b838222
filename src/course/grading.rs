//! Grading of exercises against the embedded expectations, which students can't edit, and against a teacher's hidden
//! expectations.

use std::path::Path;
use std::time::{Duration, Instant};

use reviver_assembler::below::FolderFiles;
use reviver_assembler::files::Files;
use reviver_assembler::limits::AssemblyLimits;
use reviver_expectations::assessment::{AssessedLine, Mismatch, NO_GARBAGE};
use reviver_expectations::expected::Expectations;
use reviver_expectations::settings::TestLimits;

use super::hidden::{HiddenTest, HiddenTests};
use super::hints::{Attempt, FittingHint, fitting};
use super::own_files::OwnFiles;
use super::place::CourseFolder;
use super::score::{FailureReason, Score};
use super::set::{Exercise, exercises};
use super::words::same_words;
use crate::cli::TestRunning;
use crate::failure::{Failure, Fallible};
use crate::read;
use crate::testing::tested::{Runs, TestedFile, TestedText, tested};

/// Default limits for a run of an exercise.
pub const USUAL: TestLimits = TestLimits {
    max_steps: 10_000_000,
    max_bytes: 256 << 20,
    assembly: AssemblyLimits { copied_instructions: 100_000 },
};

/// State of a student's exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExerciseState {
    /// There is no program file.
    Missing,
    /// The program is the initial one, apart from comments and layout.
    Untouched,
    Failed,
    Passed,
}

impl ExerciseState {
    /// Returns the state as one word for tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            ExerciseState::Missing => "missing",
            ExerciseState::Untouched => "untouched",
            ExerciseState::Failed => "failed",
            ExerciseState::Passed => "passed",
        }
    }
}

/// Grade of one exercise.
#[derive(Debug)]
pub struct Grade {
    pub exercise: &'static Exercise,
    pub state: ExerciseState,
    pub score: Score,
    /// Reason why the exercise isn't passed.
    pub reason: Option<FailureReason>,
    /// Test results; `None` if there is no program.
    pub tested: Option<TestedFile>,
    /// Index of the first hidden expectation in the lines of `tested`. A teacher's hidden expectations follow those of
    /// the exercise.
    pub hidden_from: usize,
    /// Reason why an existing program can't be read.
    pub unreadable: Option<String>,
    /// Hint that fits the attempt, if the exercise isn't passed.
    pub hint: Option<FittingHint<'static>>,
    pub took: Duration,
}

/// Options for grading exercises.
#[derive(Clone, Copy, Debug)]
pub struct Grading<'h> {
    pub running: TestRunning,
    pub usual: TestLimits,
    /// Expectations of a teacher, hidden from students.
    pub hidden: Option<&'h HiddenTests>,
}

impl Grading<'_> {
    /// Returns the options of `course check`, by which students grade their own work: no hidden expectations.
    pub fn usual(running: TestRunning) -> Grading<'static> {
        Grading { running, usual: USUAL, hidden: None }
    }

    /// Grades the program of an exercise.
    ///
    /// # Errors
    /// The requested engine isn't available.
    pub fn grade(&self, folder: &CourseFolder, exercise: &'static Exercise) -> Fallible<Grade> {
        let begun = Instant::now();
        let graded = self.graded(folder, exercise)?;
        Ok(Grade { took: begun.elapsed(), ..graded })
    }

    fn graded(&self, folder: &CourseFolder, exercise: &'static Exercise) -> Fallible<Grade> {
        let path = folder.program(exercise);
        let hidden = self.hidden.and_then(|hidden| hidden.of(exercise));
        let sets =
            || std::iter::once(&exercise.expectations).chain(hidden.map(|hidden| &hidden.expectations));
        let ungraded = Grade {
            exercise,
            state: ExerciseState::Missing,
            score: Score::asked(sets()),
            reason: None,
            tested: None,
            hidden_from: exercise.expectations.lines.len(),
            unreadable: None,
            hint: None,
            took: Duration::ZERO,
        };
        // A dangling link counts as existing.
        if path.symlink_metadata().is_err() {
            return Ok(ungraded);
        }
        let (text, files) = match text(folder, &path) {
            Ok(text) => text.apart(),
            // One student's unreadable file doesn't stop the grading of the others.
            Err(failure) => {
                let (state, reason) = (ExerciseState::Failed, Some(FailureReason::Unreadable));
                return Ok(Grade { state, reason, unreadable: Some(failure.message), ..ungraded });
            }
        };
        let is_start = same_words(&text, &exercise.start);
        let own = OwnFiles::new(&files, exercises()?);
        let tested = self.tested((read::name(&path), text), &own, exercise, hidden)?;
        let lines: Vec<_> = sets().flat_map(|set| &set.lines).zip(&tested.lines).collect();
        let state = match tested.is_met() {
            true => ExerciseState::Passed,
            false if is_start => ExerciseState::Untouched,
            false => ExerciseState::Failed,
        };
        let score = match state {
            ExerciseState::Passed => ungraded.score.full(),
            ExerciseState::Untouched | ExerciseState::Missing => ungraded.score,
            ExerciseState::Failed => ungraded.score.of(&lines),
        };
        let reason = (state == ExerciseState::Failed).then(|| match tested.program.module {
            _ if own.was_refused() => Some(FailureReason::CheatingInclude),
            None => Some(FailureReason::of_text(tested.program.errors())),
            Some(_) => FailureReason::of_lines(&lines),
        });
        let hint = match state {
            ExerciseState::Passed => None,
            _ => fitting(&exercise.hints, &attempt(&tested, is_start, reason.flatten())),
        };
        Ok(Grade { state, score, reason: reason.flatten(), tested: Some(tested), hint, ..ungraded })
    }

    /// Tests a text against the expectations of the exercise and the teacher.
    fn tested(
        &self,
        (name, text): (String, String),
        own: &OwnFiles<'_>,
        exercise: &Exercise,
        hidden: Option<&HiddenTest>,
    ) -> Fallible<TestedFile> {
        let references = exercise.references();
        let runs = Runs { running: self.running, usual: self.usual, heeds_signals: false };
        let mut sets: Vec<(&Expectations, &dyn Files)> = vec![(&exercise.expectations, &references)];
        sets.extend(hidden.map(|hidden| (&hidden.expectations, &hidden.files as &dyn Files)));
        tested(name, text, own, &sets, &runs)
    }
}

/// Reads a program, which must be a regular file inside the folder of exercises.
fn text(folder: &CourseFolder, path: &Path) -> Fallible<TestedText> {
    let within = FolderFiles::new(read::files(), &folder.path)
        .map_err(|error| Failure::load(format_args!("can't read {}: {error}", read::shown(&folder.path))))?;
    // A path outside the folder is refused only if the file exists. Otherwise reading it reports the missing file.
    if path.exists() && !within.contains(path) {
        let name = read::shown(path);
        return Err(Failure::load(format_args!(
            "{name} is a link to a place outside of the folder of exercises"
        )));
    }
    // Reading anything but a regular file might block forever.
    if path.exists() && !path.is_file() {
        return Err(Failure::load(format_args!("{} isn't a regular file", read::shown(path))));
    }
    TestedText::read(path)
}

/// Returns the facts about an attempt by which a hint is chosen.
fn attempt(tested: &TestedFile, is_start: bool, reason: Option<FailureReason>) -> Attempt {
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
        has_only_garbage: missed().next().is_some() && missed().all(|line| has_only_garbage(&line)),
        words: tested.program.words.clone(),
        is_start,
        reason,
    }
}
