//! Which cells are plotted, and when their values are asked for anew. Sampling costs a run, so it waits
//! until the user rests, and ends as soon as the user goes on.

use std::time::Duration;

use super::errand::Task;
use super::{App, Effect};
use crate::command::Outcome;
use crate::session::{Samples, Session};
use crate::timeline::BranchNumber;
use crate::tui::panes::{PaneKind, timeline};
use crate::view::plot::Plot;

/// How long nothing must happen before cells are sampled.
pub(super) const REST: Duration = Duration::from_millis(200);

/// Of which branch and which steps of it there are samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Plotted {
    known: Option<(BranchNumber, (i64, i64))>,
    /// The steps that the time bar showed then.
    shown: (i64, i64),
    /// Whether that was a part of the branch.
    is_part: bool,
}

/// The history must have grown by this part for new samples.
const GROWTH: i64 = 50;

impl App {
    /// Takes over which cells are plotted, and samples of them if a command has made any.
    pub(super) fn plotted(&mut self, outcome: &Outcome) {
        self.take_plots();
        if let Outcome::Plot(Plot { samples, .. }) = outcome {
            self.sampled(samples.clone());
        }
    }

    /// Takes over which cells are plotted.
    pub(super) fn take_plots(&mut self) {
        let Some(console) = self.console() else { return };
        if self.choices.plots.cells != console.plots() {
            self.choices.plots.cells = console.plots().to_vec();
            self.choices.plots.samples = Samples::default();
            self.plotted.known = None;
        }
    }

    /// Forgets samples of another branch.
    pub(super) fn forget_samples(&mut self) {
        let branch = self.session().map(|session| session.moment().branch);
        if self.plotted.known.is_some_and(|(known, _)| Some(known) != branch) {
            self.plotted.known = None;
            self.choices.plots.samples = Samples::default();
        }
    }

    /// Whether the plot shows another history than the current one.
    pub(super) fn needs_samples(&self, session: &Session) -> bool {
        let (first, last) = session.timeline().branch().extent();
        if self.choices.plots.cells.is_empty() || first == last {
            return false;
        }
        // The whole branch may grow a little before it is sampled anew.
        let shows_part = self.choices.zoom.is_some() || self.plotted.is_part;
        if shows_part && self.plotted.shown != self.choices.shown(session) {
            return true;
        }
        self.plotted.known.is_none_or(|(branch, (known_first, known_last))| {
            let known = known_last.saturating_sub(known_first);
            let grown = last.saturating_sub(first).saturating_sub(known);
            branch != session.moment().branch || grown > known / GROWTH
        })
    }

    /// Has the plotted cells sampled, if that is due.
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

    /// Takes samples, unless the user went on meanwhile.
    pub(super) fn sampled(&mut self, samples: Samples) {
        let Some(session) = self.session() else { return };
        let extent = session.timeline().branch().extent();
        if samples.is_whole {
            let (shown, is_part) = (self.choices.shown(session), self.choices.zoom.is_some());
            self.plotted = Plotted { known: Some((session.moment().branch, extent)), shown, is_part };
            self.choices.plots.samples = samples;
        }
    }
}
