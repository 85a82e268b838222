//! Mouse handling. A click selects a pane or a tab and moves a cursor, and dragging on the timeline bar travels in
//! time.

use ratatui::layout::{Position, Rect};

use super::background::Task;
use super::{App, Effect, SessionPlace};
use crate::command::screen::ScreenAction;
use crate::tui::event::{Gesture, Mouse};
use crate::tui::panes::{PaneKind, PaneSpot};

/// Number of lines that one notch of the wheel scrolls.
const NOTCH: isize = 3;

impl App {
    pub(super) fn point(&mut self, mouse: Mouse) -> Option<Effect> {
        if matches!(self.engine, SessionPlace::Broken(_)) {
            return None;
        }
        self.is_stale = true;
        match mouse.gesture {
            Gesture::Press => self.press(mouse.place, false),
            Gesture::DoublePress => self.press(mouse.place, true),
            Gesture::Drag if self.scrubs => self.scrub(mouse.place),
            Gesture::Drag => None,
            Gesture::Release => {
                self.scrubs = false;
                None
            }
            Gesture::ScrollUp => self.wheel(mouse.place, true),
            Gesture::ScrollDown => self.wheel(mouse.place, false),
        }
    }

    fn press(&mut self, place: Position, is_double: bool) -> Option<Effect> {
        if self.overlay.take().is_some() {
            return None;
        }
        if let Some(kind) = self.panes.tab_at(place) {
            self.panes.set_focus(kind);
            return None;
        }
        let kind = self.panes.pane_at(place)?;
        let was_focused = self.panes.focus() == kind;
        self.panes.set_focus(kind);
        if kind == PaneKind::Timeline {
            self.scrubs = true;
            return self.scrub(place);
        }
        if let Some(array) = self.context(kind).and_then(|context| kind.pane().array_at(&context, place)) {
            self.choices.array = Some(array);
        }
        let context = self.context(kind)?;
        let item = kind.pane().item_at(&context, place)?;
        let is_selected = self.choices.lost(kind).is_none() && context.scroll.cursor == item;
        let adjoint = kind.pane().is_adjoint_at(&context, place);
        if is_double && was_focused && is_selected && self.choices.adjoint == adjoint {
            return self.act(ScreenAction::Open);
        }
        if matches!(kind, PaneKind::Cells | PaneKind::Arrays) {
            self.choices.adjoint = adjoint;
        }
        self.panes.set_cursor(kind, item);
        self.select(kind);
        None
    }

    /// Travels to the step at the mouse position. If the user drags the mouse outside the timeline, the nearest
    /// step is used.
    fn scrub(&mut self, place: Position) -> Option<Effect> {
        let context = self.context(PaneKind::Timeline)?;
        let pane = PaneKind::Timeline.pane();
        let item = pane.item_at(&context, nearest(context.area, place)?)?;
        match pane.spot(&context, item)? {
            PaneSpot::Step(step) if step != context.session.step_number() => {
                self.player.pause();
                self.send(Task::Command { line: format!("goto {step}"), is_quiet: true })
            }
            _ => None,
        }
    }

    fn wheel(&mut self, place: Position, up: bool) -> Option<Effect> {
        if let Some(overlay) = &mut self.overlay {
            overlay.scroll(up, NOTCH.unsigned_abs());
            return None;
        }
        let kind = self.panes.pane_at(place)?;
        let context = self.context(kind)?;
        if kind == PaneKind::Timeline {
            let column = kind.pane().item_at(&context, place)?;
            return self.zoom_at(column, up);
        }
        let pane = kind.pane();
        let seen = (pane.items(&context), pane.columns(&context), pane.scrolled(&context).height);
        let rows = if up { -NOTCH } else { NOTCH };
        self.panes.scroll_view(kind, rows, seen);
        self.select(kind);
        None
    }
}

/// Returns the position in an area that is nearest to `place`, or `None` for an empty area.
fn nearest(area: Rect, place: Position) -> Option<Position> {
    let x = place.x.clamp(area.x, area.right().checked_sub(1)?.max(area.x));
    let y = place.y.clamp(area.y, area.bottom().checked_sub(1)?.max(area.y));
    (!area.is_empty()).then_some(Position { x, y })
}
