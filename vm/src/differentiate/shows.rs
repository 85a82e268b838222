//! Values that `show` shows in the sweeps of a derivative. Sweeps are repeated: for each direction of a Hessian, or
//! with a history after a sweep diverged. This module records the step up to which values were shown, so that each
//! value is passed on once, in the order of the sweeps.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::allocation;
use crate::program::Program;
use crate::shown::{NotShown, ShowSink, ShownValue};
use crate::state::shown_mark::ShownMark;

/// Receiver that passes on the values shown by the sweeps of one derivative.
#[derive(Debug)]
pub struct Shows {
    sink: Arc<dyn ShowSink>,
    progress: Mutex<ShowProgress>,
}

#[derive(Debug, Default)]
struct ShowProgress {
    /// Mark up to which values were passed on. The mark covers the forward sweep, and the reverse sweep of `output`.
    mark: ShownMark,
    /// Greatest index of an output whose reverse sweep has begun.
    output: usize,
    /// Values of a reverse sweep that isn't verified yet, each with the mark after it.
    waiting: Vec<(ShownMark, ShownValue)>,
}

/// Maximum number of values that wait for the end of a reverse sweep. If a sweep shows more values, they are passed on
/// before the sweep is verified.
const MOST_WAITING: usize = 1 << 16;

impl Shows {
    /// Creates a receiver for one derivative, from which `sink` gets each value once.
    pub fn new(sink: Arc<dyn ShowSink>) -> Shows {
        Shows { sink, progress: Mutex::default() }
    }

    fn progress(&self) -> MutexGuard<'_, ShowProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the mark with which a sweep begins, so that values that were passed on aren't shown again. `own` is the
    /// mark of the sweep's initial state.
    pub(super) fn begin(&self, own: ShownMark) -> ShownMark {
        let mut progress = self.progress();
        progress.mark.step = progress.mark.step.max(own.step);
        ShownMark { step: progress.mark.step, ..own }
    }

    /// Returns the mark with which the reverse sweep of an output begins. If this repeats a diverged sweep, the waiting
    /// values of the diverged sweep are discarded.
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

    /// Passes on a value of the forward sweep. `mark` is the mark after the value.
    ///
    /// # Errors
    /// The sink rejects the value.
    pub(super) fn forward(
        &self,
        program: &Program,
        mark: ShownMark,
        shown: ShownValue,
    ) -> Result<(), NotShown> {
        self.progress().mark.step = mark.step;
        self.sink.show(program, shown)
    }

    /// Passes on a value of a reverse sweep. If the sweep may still turn out to have diverged (`waits`), the value
    /// waits until the sweep ends.
    ///
    /// # Errors
    /// The sink rejects the value.
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

    /// Queues a value; returns false if there is no space for it.
    fn waits(&self, mark: ShownMark, shown: ShownValue) -> bool {
        let waiting = &mut self.progress().waiting;
        let has_room = waiting.len() < MOST_WAITING && allocation::more(waiting, 1).is_ok();
        if has_room {
            waiting.push((mark, shown));
        }
        has_room
    }

    /// Passes on all waiting values.
    ///
    /// # Errors
    /// The sink rejects a value.
    pub(super) fn settle(&self, program: &Program) -> Result<(), NotShown> {
        let mut progress = self.progress();
        let waiting = std::mem::take(&mut progress.waiting);
        waiting.into_iter().try_for_each(|(mark, shown)| {
            progress.mark.rule_step = mark.rule_step;
            self.sink.show(program, shown)
        })
    }
}
