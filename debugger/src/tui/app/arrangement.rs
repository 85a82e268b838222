//! Arrangement of the panes: the focused pane, the visible pane of each slot, and the positions of the
//! cursors.

use std::collections::BTreeMap;

use ratatui::layout::{Position, Rect};

use crate::tui::layout::{self, DividedScreen, ScreenContent, ScreenSlot};
use crate::tui::panes::{PaneKind, Scroll};

/// The panes as the user has arranged them.
#[derive(Clone, Debug)]
pub struct Arrangement {
    /// Every pane once, in the order of use; the focused one is last.
    recent: Vec<PaneKind>,
    scrolls: BTreeMap<PaneKind, Scroll>,
    pub zoomed: bool,
    screen: DividedScreen,
    /// The tabs in headings, with the areas where they were drawn.
    pub tabs: Vec<(Rect, PaneKind)>,
}

impl Arrangement {
    pub fn new() -> Arrangement {
        let recent = PaneKind::ALL.into_iter().rev().collect();
        let screen = layout::divide(Rect::ZERO, false, ScreenContent::default());
        Arrangement { recent, scrolls: BTreeMap::new(), zoomed: false, screen, tabs: Vec::new() }
    }

    /// Divides a screen of this size into slots.
    pub fn fit(&mut self, size: Rect, content: ScreenContent) {
        self.screen = layout::divide(size, self.zoomed, content);
        self.tabs.clear();
    }

    pub fn screen(&self) -> &DividedScreen {
        &self.screen
    }

    pub fn focus(&self) -> PaneKind {
        self.recent.last().copied().unwrap_or(PaneKind::Code)
    }

    pub fn set_focus(&mut self, kind: PaneKind) {
        self.recent.retain(|other| *other != kind);
        self.recent.push(kind);
    }

    /// Brings a pane to the front of its slot. The pane gets the focus only if the focused pane is in the same
    /// slot, because the focused pane is then hidden.
    pub fn raise(&mut self, kind: PaneKind) {
        let focus = self.focus();
        let hides = self.slot_of(kind).is_some_and(|slot| slot.panes.contains(&focus));
        self.set_focus(kind);
        // If all panes share a single slot, the focused pane stays in front.
        if !hides || self.screen.slots.len() == 1 {
            self.set_focus(focus);
        }
    }

    /// Makes a pane the least recently used one, so that it is hidden if its slot has another pane.
    pub fn lower(&mut self, kind: PaneKind) {
        self.recent.retain(|other| *other != kind);
        self.recent.insert(0, kind);
    }

    /// Returns true if a pane is the visible one in its slot.
    pub fn in_front(&self, kind: PaneKind) -> bool {
        self.slot_of(kind).is_some_and(|slot| self.front(slot) == Some(kind))
    }

    /// Returns the visible pane of a slot.
    pub fn front(&self, slot: &ScreenSlot) -> Option<PaneKind> {
        self.latest(&slot.panes)
    }

    /// Returns the most recently used pane of those in `kinds`.
    pub fn latest(&self, kinds: &[PaneKind]) -> Option<PaneKind> {
        self.recent.iter().rev().copied().find(|kind| kinds.contains(kind))
    }

    fn slot_of(&self, kind: PaneKind) -> Option<&ScreenSlot> {
        self.screen.slots.iter().find(|slot| slot.panes.contains(&kind))
    }

    /// Returns the area of a pane without its heading. A hidden pane has the area of its slot.
    pub fn area(&self, kind: PaneKind) -> Rect {
        self.slot_of(kind).map_or(Rect::ZERO, ScreenSlot::body)
    }

    pub fn is_seen(&self, kind: PaneKind) -> bool {
        self.slot_of(kind).is_some_and(|slot| self.front(slot) == Some(kind) && !slot.body().is_empty())
    }

    pub fn scroll(&self, kind: PaneKind) -> Scroll {
        self.scrolls.get(&kind).copied().unwrap_or_default()
    }

    pub fn set_scroll(&mut self, kind: PaneKind, scroll: Scroll) {
        self.scrolls.insert(kind, scroll);
    }

    /// Moves a cursor to an item. The pane scrolls as little as necessary to show the item.
    pub fn set_cursor(&mut self, kind: PaneKind, cursor: usize) {
        let scroll = self.scrolls.entry(kind).or_default();
        *scroll = Scroll { cursor, has_context: false, ..*scroll };
    }

    /// Moves a cursor to an item, and scrolls so that rows before and after the item are visible, too. For items
    /// that the program has chosen, not for cursor movements of the user.
    pub fn look_at(&mut self, kind: PaneKind, cursor: usize) {
        let scroll = self.scrolls.entry(kind).or_default();
        *scroll = Scroll { cursor, has_context: true, ..*scroll };
    }

    /// Returns the visible pane at a position. Returns `None` if the position is in a heading.
    pub fn pane_at(&self, place: Position) -> Option<PaneKind> {
        let slot = self.screen.slots.iter().find(|slot| slot.body().contains(place))?;
        self.front(slot)
    }

    /// Scrolls a pane by `rows` rows. The other parameters are the numbers of the pane's items, columns and
    /// visible rows. The cursor moves to another item only if the item under the cursor would become invisible.
    pub fn scroll_view(
        &mut self,
        kind: PaneKind,
        rows: isize,
        (items, columns, height): (usize, usize, u16),
    ) {
        let (height, columns) = (usize::from(height).max(1), columns.max(1));
        let Scroll { cursor, top, .. } = self.scroll(kind);
        let most = items.div_ceil(columns).saturating_sub(height);
        let top = top.saturating_add_signed(rows).min(most);
        let row = (cursor / columns).clamp(top, top + height - 1);
        let cursor = (row * columns + cursor % columns).min(items.saturating_sub(1));
        self.set_scroll(kind, Scroll { cursor, top, has_context: false });
    }

    pub fn tab_at(&self, place: Position) -> Option<PaneKind> {
        self.tabs.iter().find(|(area, _)| area.contains(place)).map(|(_, kind)| *kind)
    }
}

/// Number of rows before and after the cursor that are its context.
const CONTEXT: usize = 4;

impl Scroll {
    /// Returns the scroll position at which the cursor and its context are visible, without empty rows after the
    /// last item. If the cursor's row is visible already, or if no context is needed, the pane scrolls as little as
    /// possible. Otherwise the cursor is centered.
    pub fn revealed(self, items: usize, columns: usize, height: usize) -> Scroll {
        let (columns, height) = (columns.max(1), height.max(1));
        let cursor = self.cursor.min(items.saturating_sub(1));
        let row = cursor / columns;
        let most = items.div_ceil(columns).saturating_sub(height);
        let middle = (height - 1) / 2;
        let was_seen = (self.top..self.top.saturating_add(height)).contains(&row);
        let context = match (self.has_context, was_seen) {
            (false, _) => 0,
            (true, true) => CONTEXT.min(middle),
            (true, false) => middle,
        };
        let least = (row + context + 1).saturating_sub(height);
        let top = self.top.min(row.saturating_sub(context)).max(least).min(most);
        Scroll { cursor, top, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_always_seen() {
        for items in 0..20 {
            for columns in 1..4 {
                for height in 0..6 {
                    let places = [(0, 0), (3, 9), (19, 0), (usize::MAX, usize::MAX)];
                    for ((cursor, top), has_context) in
                        places.into_iter().flat_map(|p| [(p, false), (p, true)])
                    {
                        let scroll = Scroll { cursor, top, has_context }.revealed(items, columns, height);
                        let row = scroll.cursor / columns;
                        assert!(scroll.cursor < items.max(1));
                        assert!((scroll.top..scroll.top + height.max(1)).contains(&row));
                    }
                }
            }
        }
    }

    #[test]
    fn the_current_line_has_context() {
        let top =
            |cursor: usize, top: usize| Scroll { cursor, top, has_context: true }.revealed(100, 1, 20).top;
        // If the cursor is near the edge, the pane scrolls a little. If the cursor is further away, it is
        // centered.
        assert_eq!((top(12, 0), top(18, 0), top(22, 20)), (0, 3, 18));
        assert_eq!((top(50, 0), top(99, 0), top(1, 60)), (40, 80, 0));
    }

    #[test]
    fn raising_a_pane_keeps_the_focus_if_possible() {
        let mut panes = Arrangement::new();
        panes.fit(Rect::new(0, 0, 80, 24), ScreenContent::default());
        panes.set_focus(PaneKind::Cells);
        panes.raise(PaneKind::Failure);
        assert!(panes.is_seen(PaneKind::Failure) && panes.focus() == PaneKind::Cells);
        panes.set_focus(PaneKind::Card);
        panes.raise(PaneKind::Failure);
        assert_eq!(panes.focus(), PaneKind::Failure);
        panes.fit(Rect::new(0, 0, 60, 10), ScreenContent::default());
        panes.raise(PaneKind::Messages);
        assert!(panes.is_seen(PaneKind::Failure));
    }
}
