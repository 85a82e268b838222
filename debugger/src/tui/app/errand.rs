//! What the session is sent away to do: commands may take long, so they run elsewhere, and the screen
//! stays alive meanwhile. An errand takes the session along and brings it back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use reviver_vm::workers::apart;

use crate::answer::{AnswerRow, OpenQuestion};
use crate::command::{CommandError, Console, Outcome};
use crate::memory::Target;
use crate::outcome::Touch;
use crate::session::{MOST_COUNTED, Samples, SessionError};
use crate::view::card::{CardView, card};

/// Moments that are looked at to count how often lines were come to while the session plays, or is dragged.
const MOST_WHILE_PLAYING: u64 = 1 << 14;

/// Something to be done, with the session to do it on.
#[derive(Debug)]
pub struct Errand {
    pub(super) console: Box<Console>,
    pub(super) task: Task,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    Command {
        line: String,
        /// Whether nobody typed it: playing makes many small steps, and so does dragging.
        is_quiet: bool,
    },
    /// Nothing: it is looked at where it is.
    Look,
    /// Values for the plot.
    Sample { targets: Vec<Target>, steps: (i64, i64), columns: usize },
    /// What an answer has left open, at one of its rows, which is so deep.
    Ask { question: OpenQuestion, number: usize, depth: usize },
}

/// The session, back from an errand.
#[derive(Debug)]
pub struct Done {
    pub(super) console: Box<Console>,
    pub(super) result: TaskResult,
    /// Whether the session is at another moment than before.
    pub(super) has_moved: bool,
    /// What the last step did.
    pub(super) footprint: Vec<Touch>,
    /// What the next step does.
    pub(super) card: Option<CardView>,
}

#[derive(Debug)]
pub(super) enum TaskResult {
    Command { line: String, is_quiet: bool, outcome: Result<Outcome, CommandError> },
    Looked,
    Sampled(Samples),
    Asked { number: usize, rows: Result<Vec<AnswerRow>, SessionError> },
}

impl Errand {
    /// Does it. May take long; the session's interrupt flag ends it.
    pub fn perform(mut self) -> Done {
        let before = self.console.session.moment();
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
        let has_moved = self.console.session.moment() != before;
        let session = &mut self.console.session;
        session.count_lines(if is_quiet { MOST_WHILE_PLAYING } else { MOST_COUNTED });
        let footprint = session.footprint().to_vec();
        let card = card(&mut self.console.session);
        Done { console: self.console, result, has_moved, footprint, card }
    }

    /// Does it on a thread of its own, or on this one where the system starts no thread. What comes back when it is done is
    /// [`Done`], or what the thread panicked with.
    pub fn start(self) -> Receiver<thread::Result<Done>> {
        let (sender, receiver) = sync_channel(1);
        let work = move || {
            let done = catch_unwind(AssertUnwindSafe(|| self.perform()));
            // Nobody waits any more if the screen is gone: then the result is of no use.
            let _ = sender.send(done);
        };
        apart("session", None, work);
        receiver
    }
}
