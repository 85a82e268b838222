//! Background tasks. A command of the session may take long, so it runs on another thread, and the screen stays
//! responsive. A task owns the session while it runs, and returns the session at its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use reviver_vm::workers::detached;

use crate::answer::{AnswerRow, OpenQuestion};
use crate::command::{CommandError, Console, Outcome};
use crate::memory::Target;
use crate::outcome::Touch;
use crate::session::{MOST_COUNTED, Samples, SessionError};
use crate::view::card::{CardView, card};

/// Maximum number of time points that are visited to count lines, during playback and scrubbing.
const MOST_WHILE_PLAYING: u64 = 1 << 14;

/// A task for another thread, with the session that it uses.
#[derive(Debug)]
pub struct BackgroundTask {
    pub(super) console: Box<Console>,
    pub(super) task: Task,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    Command {
        line: String,
        /// True for the many small commands of playback and scrubbing, which the user didn't type.
        is_quiet: bool,
    },
    /// Computes the data of the views, without executing a command.
    Look,
    /// Samples the values of plotted cells.
    Sample { targets: Vec<Target>, steps: (i64, i64), columns: usize },
    /// Asks an open question of an answer. `number` is the index of the question's row, and `depth` the row's
    /// nesting level.
    Ask { question: OpenQuestion, number: usize, depth: usize },
}

/// The result of a background task, with the session.
#[derive(Debug)]
pub struct Done {
    pub(super) console: Box<Console>,
    pub(super) result: TaskResult,
    /// True if the task has moved the session to another time point.
    pub(super) has_moved: bool,
    /// The effects of the last step.
    pub(super) footprint: Vec<Touch>,
    /// The card of the next step.
    pub(super) card: Option<CardView>,
}

#[derive(Debug)]
pub(super) enum TaskResult {
    Command { line: String, is_quiet: bool, outcome: Result<Outcome, CommandError> },
    Looked,
    Sampled(Samples),
    Asked { number: usize, rows: Result<Vec<AnswerRow>, SessionError> },
}

impl BackgroundTask {
    /// Performs the task, which may take long. Setting the session's interrupt flag ends the task early.
    pub fn perform(mut self) -> Done {
        let before = self.console.session.time_point();
        let is_quiet = matches!(self.task, Task::Command { is_quiet: true, .. });
        let result = match self.task {
            Task::Command { line, is_quiet } => {
                let outcome = match is_quiet {
                    true => self.console.glide(&line),
                    false => self.console.execute(&line),
                };
                TaskResult::Command { line, is_quiet, outcome }
            }
            Task::Look => TaskResult::Looked,
            Task::Ask { question, number, depth } => {
                TaskResult::Asked { number, rows: question.ask(&mut self.console.session, depth) }
            }
            Task::Sample { targets, steps, columns } => TaskResult::Sampled(
                self.console.session.samples(&targets, steps, columns).unwrap_or_default(),
            ),
        };
        let has_moved = self.console.session.time_point() != before;
        let session = &mut self.console.session;
        session.count_lines(if is_quiet { MOST_WHILE_PLAYING } else { MOST_COUNTED });
        let footprint = session.footprint().to_vec();
        let card = card(&mut self.console.session);
        Done { console: self.console, result, has_moved, footprint, card }
    }

    /// Performs the task on another thread, or on this one if no thread can be started. The receiver gets the
    /// result of the task or, if the task panics, the payload of the panic.
    pub fn start(self) -> Receiver<thread::Result<Done>> {
        let (sender, receiver) = sync_channel(1);
        let work = move || {
            let done = catch_unwind(AssertUnwindSafe(|| self.perform()));
            // If the screen was closed, there is no receiver any more, and the result is dropped.
            let _ = sender.send(done);
        };
        detached("session", None, work);
        receiver
    }
}
