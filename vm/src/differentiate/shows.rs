//! The values that `show` shows in the sweeps of a derivative. Sweeps are repeated: for each direction of a Hessian, or with a history
//! where one diverged. Here is known how far values were shown, so each is passed on once, in the order of the sweeps.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::program::Program;
use crate::room;
use crate::shown::{NotShown, ShowSink, ShownValue};
use crate::state::shown_mark::ShownMark;

/// Passes on the values that the sweeps of one derivative show.
#[derive(Debug)]
pub struct Shows {
    sink: Arc<dyn ShowSink>,
    progress: Mutex<ShowProgress>,
}

#[derive(Debug, Default)]
struct ShowProgress {
    /// How far the values are passed on: of the forward sweep, and of the reverse sweep of `output`.
    mark: ShownMark,
    /// The place of the last output whose reverse sweep began.
    output: usize,
    /// Values of a reverse sweep that isn't verified yet, with the marks behind them.
    waiting: Vec<(ShownMark, ShownValue)>,
}

/// Upper bound on the values that wait for the end of a reverse sweep. A sweep that shows more passes them on unverified.
const MOST_WAITING: usize = 1 << 16;

impl Shows {
    pub fn new(sink: Arc<dyn ShowSink>) -> Shows {
        Shows { sink, progress: Mutex::default() }
    }

    fn progress(&self) -> MutexGuard<'_, ShowProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mark that a sweep begins with, whose state has a mark of its own.
    pub(super) fn begin(&self, own: ShownMark) -> ShownMark {
        let mut progress = self.progress();
        progress.mark.step = progress.mark.step.max(own.step);
        ShownMark { step: progress.mark.step, ..own }
    }

    /// The same of the reverse sweep of an output, by its place. Values of a sweep that is repeated wait no more.
    pub(super) fn begin_reverse(&self, output: usize, own: ShownMark) -> ShownMark {
        let mut progress = self.progress();
        progress.waiting.clear();
        match output.cmp(&progress.output) {
            Ordering::Less => return ShownMark { rule_step: ShownMark::SILENT.rule_step, ..own },
            Ordering::Equal => progress.mark.rule_step = progress.mark.rule_step.min(own.rule_step),
            Ordering::Greater => (progress.output, progress.mark.rule_step) = (output, own.rule_step),
        }
        ShownMark { rule_step: progress.mark.rule_step, ..own }
    }

    /// Passes on a value of the forward sweep; the mark is the one behind it.
    ///
    /// # Errors
    /// The sink can't take it.
    pub(super) fn forward(
        &self,
        program: &Program,
        mark: ShownMark,
        shown: ShownValue,
    ) -> Result<(), NotShown> {
        self.progress().mark.step = mark.step;
        self.sink.show(program, shown)
    }

    /// Passes on a value of a reverse sweep; where the sweep may yet turn out to have diverged (`waits`), at its end.
    ///
    /// # Errors
    /// The sink can't take it.
    pub(super) fn reverse(
        &self,
        program: &Program,
        mark: ShownMark,
        shown: ShownValue,
        waits: bool,
    ) -> Result<(), NotShown> {
        if waits && self.waits(mark, shown) {
            return Ok(());
        }
        self.settle(program)?;
        self.progress().mark.rule_step = mark.rule_step;
        self.sink.show(program, shown)
    }

    /// Whether a value waits: there is room for it.
    fn waits(&self, mark: ShownMark, shown: ShownValue) -> bool {
        let waiting = &mut self.progress().waiting;
        let has_room = waiting.len() < MOST_WAITING && room::more(waiting, 1).is_ok();
        if has_room {
            waiting.push((mark, shown));
        }
        has_room
    }

    /// Passes on what waits.
    ///
    /// # Errors
    /// The sink can't take it.
    pub(super) fn settle(&self, program: &Program) -> Result<(), NotShown> {
        let mut progress = self.progress();
        let waiting = std::mem::take(&mut progress.waiting);
        waiting.into_iter().try_for_each(|(mark, shown)| {
            progress.mark.rule_step = mark.rule_step;
            self.sink.show(program, shown)
        })
    }
}
