//! Zoom of the timeline bar and its plots: selects the part of the branch that they show.

use super::{App, Effect, PaneKind};
use crate::command::screen::TimeZoom;
use crate::scale::chosen_step;
use crate::tui::panes::timeline;

/// Factor by which `zoom in` and `zoom out` change the number of steps shown.
const FACTOR: i64 = 4;

impl App {
    /// Shows another part of the branch.
    pub(super) fn zoom_time(&mut self, zoom: TimeZoom) -> Option<Effect> {
        let session = self.session()?;
        let (whole, shown) = (session.timeline().span().steps(), self.choices.shown(session));
        let here = session.step_number().clamp(shown.0, shown.1);
        let wanted = match zoom {
            TimeZoom::Range(from, to) => (from.unwrap_or(whole.0), to.unwrap_or(whole.1)),
            TimeZoom::In => within(whole, around(shown, here, FACTOR, 1)),
            TimeZoom::Out => within(whole, around(shown, here, 1, FACTOR)),
            TimeZoom::Whole => whole,
        };
        let part = (wanted.0.max(whole.0), wanted.1.min(whole.1));
        if part.0 >= part.1 {
            let why = match zoom {
                TimeZoom::In => "the time bar can't show less than one step".to_owned(),
                _ => format!(
                    "the time bar has no steps {}..{}: it goes from {} to {}",
                    wanted.0, wanted.1, whole.0, whole.1
                ),
            };
            return self.note_why(&why);
        }
        self.choices.zoom = Some(part).filter(|part| *part != whole);
        None
    }

    /// Shows a smaller (`closer`) or a larger part of the branch, around the step of a column of the bar.
    pub(super) fn zoom_at(&mut self, column: usize, closer: bool) -> Option<Effect> {
        let context = self.context(PaneKind::Timeline)?;
        let (shown, columns) = (self.choices.shown(context.session), timeline::columns(context.area));
        let center = chosen_step(shown, column, columns);
        let (times, over) = if closer { (2, 1) } else { (1, 2) };
        let whole = context.session.timeline().span().steps();
        let (from, to) = within(whole, around(shown, center, times, over));
        match from < to {
            true => self.zoom_time(TimeZoom::Range(Some(from), Some(to))),
            false => None,
        }
    }

    /// If the shown part doesn't contain the present, moves the part so that the present is in its middle. The part
    /// keeps its length.
    pub(super) fn follow_in_time(&mut self) {
        let Some(session) = self.session() else { return };
        let (whole, here) = (session.timeline().span().steps(), session.step_number());
        let Some((from, to)) = self.choices.zoom.filter(|(from, to)| !(*from..=*to).contains(&here)) else {
            return;
        };
        let width = to.saturating_sub(from);
        let start = here.saturating_sub(width / 2);
        self.choices.zoom = Some(within(whole, (start, start.saturating_add(width))));
    }
}

/// Moves a range into `whole`. The range keeps its length unless it is longer than `whole`.
fn within(whole: (i64, i64), (from, to): (i64, i64)) -> (i64, i64) {
    let width = to.saturating_sub(from);
    let start = from.clamp(whole.0, whole.1.saturating_sub(width).max(whole.0));
    (start, start.saturating_add(width).min(whole.1))
}

/// Multiplies the length of a range by `over / times`. `step` keeps its relative position in the range.
fn around((from, to): (i64, i64), step: i64, times: i64, over: i64) -> (i64, i64) {
    let scaled = |distance: i64| {
        i64::try_from(i128::from(distance) * i128::from(over) / i128::from(times)).unwrap_or(i64::MAX)
    };
    let (before, behind) = (step.saturating_sub(from), to.saturating_sub(step));
    (step.saturating_sub(scaled(before)), step.saturating_add(scaled(behind)))
}
