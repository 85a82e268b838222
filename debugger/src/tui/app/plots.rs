//! Which cells are plotted, and when their values are asked for anew. Sampling costs a run, so it waits
//! until the user rests, and ends as soon as the user goes on.

use std::time::Duration;

use super::errand::Task;
use super::messages::Tone;
use super::{App, Effect};
use crate::session::{Sample, Session};
use crate::timeline::LineNumber;
use crate::tui::panes::{MOST_PLOTS, PaneKind};

/// How long nothing must happen before cells are sampled.
pub(super) const REST: Duration = Duration::from_millis(200);

/// Of which line and which steps of it there are samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Plotted {
    known: Option<(LineNumber, (i64, i64))>,
}

/// The history must have grown by this part for new samples.
const GROWTH: i64 = 50;

impl App {
    /// Plots the selected cell, or no more.
    pub(super) fn plot(&mut self) {
        let Some(name) = self.selected_cell() else {
            return self.say(Tone::Note, "no cell is selected: choose one in the cells or the arrays");
        };
        let Some(session) = self.session() else { return };
        let target = session.cell(&name).map(|cell| session.memory().target(session.state(), cell));
        let cells = &mut self.choices.plots.cells;
        match target {
            Ok(target) => match cells.iter().position(|(_, plotted)| *plotted == target) {
                Some(n) => drop(cells.remove(n)),
                None if cells.len() < MOST_PLOTS => cells.push((name, target)),
                None => {
                    return self.say(Tone::Note, &format!("no more than {MOST_PLOTS} cells can be plotted"));
                }
            },
            Err(error) => return self.say(Tone::Error, &error.to_string()),
        }
        self.choices.plots.samples.clear();
        self.plotted.known = None;
    }

    /// Whether the plot shows another history than the current one.
    pub(super) fn needs_samples(&self, session: &Session) -> bool {
        let (first, last) = session.timeline().branch().extent();
        if self.choices.plots.cells.is_empty() || first == last {
            return false;
        }
        self.plotted.known.is_none_or(|(line, (known_first, known_last))| {
            let known = known_last.saturating_sub(known_first);
            let grown = last.saturating_sub(first).saturating_sub(known);
            line != session.moment().line || grown > known / GROWTH
        })
    }

    /// Has the plotted cells sampled, if that is due.
    pub(super) fn sample(&mut self) -> Option<Effect> {
        let session = self.session()?;
        if !self.needs_samples(session) {
            return None;
        }
        let extent = session.timeline().branch().extent();
        let targets = self.choices.plots.cells.iter().map(|(_, target)| *target).collect();
        // Two for a column, which is as fine as dots in a cell of the screen are.
        let count = 2 * usize::from(self.panes.area(PaneKind::Timeline).width.max(1));
        self.send(Task::Sample { targets, extent, count })
    }

    /// Takes samples; they are too few if the user went on meanwhile.
    pub(super) fn sampled(&mut self, samples: Vec<Sample>, extent: (i64, i64), count: usize) {
        let Some(session) = self.session() else { return };
        let line = session.moment().line;
        if samples.len() >= count {
            self.plotted.known = Some((line, extent));
            self.choices.plots.samples = samples;
        }
    }
}
