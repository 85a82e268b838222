//! Background tasks of the session. Commands may take long, so they run on another thread, and the screen
//! stays responsive meanwhile. A task takes the session with it and returns it.

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

/// Maximum number of time points visited to count lines while the session plays or is scrubbed.
const MOST_WHILE_PLAYING: u64 = 1 << 14;

/// A background task, together with the session that it works on.
#[derive(Debug)]
pub struct BackgroundTask {
    pub(super) console: Box<Console>,
    pub(super) task: Task,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    Command {
        line: String,
        /// True if the user didn't type the line: playback and scrubbing execute many small commands.
        is_quiet: bool,
    },
    /// No command: only the views are computed.
    Look,
    /// Sample values for the plots.
    Sample { targets: Vec<Target>, steps: (i64, i64), columns: usize },
    /// Ask an open question of an answer; `number` and `depth` are those of its row.
    Ask { question: OpenQuestion, number: usize, depth: usize },
}

/// The result of a background task, with the session.
#[derive(Debug)]
pub struct Done {
    pub(super) console: Box<Console>,
    pub(super) result: TaskResult,
    /// True if the session is at another time point than before.
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
    /// Performs the task. May take long; the session's interrupt flag ends it early.
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

    /// Performs the task on a separate thread, or on the current one if no thread can be started. The
    /// receiver gets the result, or the panic payload of the thread.
    pub fn start(self) -> Receiver<thread::Result<Done>> {
        let (sender, receiver) = sync_channel(1);
        let work = move || {
            let done = catch_unwind(AssertUnwindSafe(|| self.perform()));
            // If the screen is closed, nothing receives the result, and it is dropped.
            let _ = sender.send(done);
        };
        detached("session", None, work);
        receiver
    }
}
