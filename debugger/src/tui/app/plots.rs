//! Plotted cells, and updates of their samples. Sampling takes a run over the branch, so it starts when the
//! user is idle, and is interrupted when the user continues.

use std::time::Duration;

use super::background::Task;
use super::{App, Effect};
use crate::command::Outcome;
use crate::session::{Samples, Session};
use crate::timeline::BranchNumber;
use crate::tui::panes::{PaneKind, timeline};
use crate::view::plot::Plot;

/// Time without input after which cells are sampled.
pub(super) const REST: Duration = Duration::from_millis(200);

/// The branch and the steps to which the samples belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Plotted {
    known: Option<(BranchNumber, (i64, i64))>,
    /// The range that the timeline bar showed when the cells were sampled.
    shown: (i64, i64),
    /// True if `shown` was only a part of the branch.
    is_part: bool,
}

/// Samples are updated when the number of known steps has grown by more than the fraction 1 / `GROWTH`.
const GROWTH: i64 = 50;

impl App {
    /// Updates the list of plotted cells. If the outcome is that of a `plot` command, also stores its samples.
    pub(super) fn plotted(&mut self, outcome: &Outcome) {
        self.take_plots();
        if let Outcome::Plot(Plot { samples, .. }) = outcome {
            self.sampled(samples.clone());
        }
    }

    /// Updates the list of plotted cells.
    pub(super) fn take_plots(&mut self) {
        let Some(console) = self.console() else { return };
        if self.choices.plots.cells != console.plots() {
            self.choices.plots.cells = console.plots().to_vec();
            self.choices.plots.samples = Samples::default();
            self.plotted.known = None;
        }
    }

    /// Drops the samples if they are of another branch than the current one.
    pub(super) fn forget_samples(&mut self) {
        let branch = self.session().map(|session| session.time_point().branch);
        if self.plotted.known.is_some_and(|(known, _)| Some(known) != branch) {
            self.plotted.known = None;
            self.choices.plots.samples = Samples::default();
        }
    }

    /// Returns true if the samples are out of date.
    pub(super) fn needs_samples(&self, session: &Session) -> bool {
        let (first, last) = session.timeline().branch().extent();
        if self.choices.plots.cells.is_empty() || first == last {
            return false;
        }
        // Samples of the whole branch may be slightly out of date. Samples of a part of the branch must be of
        // exactly the part that is shown.
        let shows_part = self.choices.zoom.is_some() || self.plotted.is_part;
        if shows_part && self.plotted.shown != self.choices.shown(session) {
            return true;
        }
        self.plotted.known.is_none_or(|(branch, (known_first, known_last))| {
            let known = known_last.saturating_sub(known_first);
            let grown = last.saturating_sub(first).saturating_sub(known);
            branch != session.time_point().branch || grown > known / GROWTH
        })
    }

    /// Starts sampling the plotted cells, if their samples are out of date.
    pub(super) fn sample(&mut self) -> Option<Effect> {
        let session = self.session()?;
        if !self.needs_samples(session) {
            return None;
        }
        let steps = self.choices.shown(session);
        let targets = self.choices.plots.cells.iter().map(|(_, target)| *target).collect();
        let columns = timeline::columns(self.panes.area(PaneKind::Timeline));
        self.send(Task::Sample { targets, steps, columns })
    }

    /// Stores samples, unless the sampling was interrupted.
    pub(super) fn sampled(&mut self, samples: Samples) {
        let Some(session) = self.session() else { return };
        let extent = session.timeline().branch().extent();
        if samples.is_whole {
            let (shown, is_part) = (self.choices.shown(session), self.choices.zoom.is_some());
            self.plotted = Plotted { known: Some((session.time_point().branch, extent)), shown, is_part };
            self.choices.plots.samples = samples;
        }
    }
}
