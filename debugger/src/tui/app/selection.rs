//! The selected cell. It stays selected while frames open and close, although its row and its name may change. If
//! the cell has no name in the current frame, it stays selected, and no other cell is selected instead.

use super::App;
use crate::memory::{Cell, Target};
use crate::tui::panes::{PaneKind, PaneSpot, Selected};
use crate::view::cells;

/// The panes in which cells can be selected.
const KINDS: [PaneKind; 2] = [PaneKind::Cells, PaneKind::Arrays];

impl App {
    /// Returns the item under a pane's cursor. Returns `None` if the pane's selected cell has no name in the
    /// current frame.
    pub(super) fn spot(&self, kind: PaneKind) -> Option<PaneSpot> {
        let context = self.context(kind)?;
        let is_lost = self.choices.lost(kind).is_some();
        if is_lost { None } else { kind.pane().spot(&context, context.scroll.cursor) }
    }

    /// Returns the name of the cell that was selected last, in either pane.
    pub(super) fn selected_cell(&self) -> Option<String> {
        match self.spot(self.panes.latest(&KINDS)?)? {
            PaneSpot::Cell(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the name of the selected cell, or the reason why there is none.
    pub(super) fn selected_name(&self) -> Result<String, String> {
        let lost = self.panes.latest(&KINDS).and_then(|kind| self.choices.lost(kind));
        match (self.selected_cell(), lost) {
            (Some(cell), _) => Ok(cell),
            (None, Some(name)) => Err(format!("`{name}` is selected, but has no name in this frame")),
            (None, None) => {
                Err("no cell is selected: choose one in the cells pane or the arrays pane".to_owned())
            }
        }
    }

    /// Selects the cell under a pane's cursor.
    pub(super) fn select(&mut self, kind: PaneKind) {
        if !KINDS.contains(&kind) {
            return;
        }
        let selected = self.under_cursor(kind);
        self.choices.selected.remove(&kind);
        self.choices.selected.extend(selected.map(|selected| (kind, selected)));
    }

    /// If no cell is selected in the pane that was used last, selects the cell under that pane's cursor, as the
    /// target of a command.
    pub(super) fn select_default(&mut self) {
        if let Some(kind) = self.panes.latest(&KINDS)
            && !self.choices.selected.contains_key(&kind)
        {
            self.select(kind);
        }
    }

    fn under_cursor(&self, kind: PaneKind) -> Option<Selected> {
        let context = self.context(kind)?;
        let PaneSpot::Cell(name) = kind.pane().spot(&context, context.scroll.cursor)? else { return None };
        let session = context.session;
        let cell = Cell { adjoint: false, ..session.cell(&name).ok()? };
        let target = session.memory().target(session.state(), cell);
        Some(Selected { name, target, has_row: true })
    }

    /// Moves the cursors to the selected cells. A selected cell may now be in the other pane: if an element of an
    /// array was passed as an argument, it is a scalar in the called procedure. Then the selection changes to the
    /// other pane.
    pub(super) fn keep_selected(&mut self) {
        for kind in KINDS {
            let Some(selected) = self.choices.selected.get(&kind).cloned() else { continue };
            let has_row = self.put_cursor(kind, selected.target);
            let moves = selected.has_row && !has_row && self.panes.latest(&KINDS) == Some(kind);
            let other =
                KINDS.into_iter().find(|other| *other != kind && self.has_item(*other, selected.target));
            if let (true, Some(other)) = (moves, other) {
                self.choices.selected.remove(&kind);
                self.choose(other, &selected.name, selected.target);
                if self.panes.focus() == kind {
                    self.panes.set_focus(other);
                }
            } else if let Some(selected) = self.choices.selected.get_mut(&kind) {
                selected.has_row = has_row;
            }
        }
    }

    /// Selects the cell to which a name refers in the selected frame, if a pane shows the cell.
    pub(super) fn select_named(&mut self, name: &str) {
        let Some(session) = self.session() else { return };
        let Ok(cell) = session.cell(name) else { return };
        let target = session.memory().target(session.state(), Cell { adjoint: false, ..cell });
        if let Some(kind) = KINDS.into_iter().find(|kind| self.has_item(*kind, target)) {
            self.choose(kind, name, target);
        }
    }

    /// Selects a cell in a pane that shows it, and brings the pane to the front.
    fn choose(&mut self, kind: PaneKind, name: &str, target: Target) {
        let selected = Selected { name: name.to_owned(), target, has_row: true };
        self.choices.selected.insert(kind, selected);
        self.put_cursor(kind, target);
        self.panes.raise(kind);
    }

    fn has_item(&self, kind: PaneKind, target: Target) -> bool {
        self.place_of(kind, target).is_some()
    }

    /// Moves a pane's cursor to a cell. Returns false if the pane doesn't show the cell.
    fn put_cursor(&mut self, kind: PaneKind, target: Target) -> bool {
        let Some((array, item)) = self.place_of(kind, target) else { return false };
        if array.is_some() {
            self.choices.array = array;
        }
        self.panes.set_cursor(kind, item);
        true
    }

    /// Shows the array element that the last step wrote or, if the step wrote none, the element that it read. Does
    /// nothing if the user has selected an element or focused the arrays pane.
    pub(super) fn follow_elements(&mut self) {
        let kind = PaneKind::Arrays;
        if self.choices.selected.contains_key(&kind) || self.panes.focus() == kind {
            return;
        }
        let Some(session) = self.session() else { return };
        let mut touches: Vec<_> =
            self.footprint.iter().filter_map(|touch| Some((!touch.written, touch.cell?))).collect();
        touches.sort_by_key(|(is_read, _)| *is_read);
        let cells = touches.into_iter().map(|(_, cell)| Cell { adjoint: false, ..cell });
        let targets: Vec<Target> = cells.map(|cell| session.memory().target(session.state(), cell)).collect();
        if let Some((array, item)) = targets.into_iter().find_map(|target| self.place_of(kind, target)) {
            self.choices.array = array;
            self.panes.look_at(kind, item);
        }
    }

    /// Returns the item of a cell in a pane, and for the arrays pane also the name of the array that contains
    /// the cell.
    fn place_of(&self, kind: PaneKind, target: Target) -> Option<(Option<String>, usize)> {
        let context = self.context(kind)?;
        let session = context.session;
        let cell = session.memory().resolve(session.state(), target)?;
        if kind == PaneKind::Cells {
            return Some((None, crate::tui::panes::cells::item_of(&context, cell)?));
        }
        // A cell may be in several arrays, under different names. The array that is shown now is preferred.
        let mut arrays = cells::cells(session, &[]).arrays;
        arrays.sort_by_key(|array| Some(&array.name) != self.choices.array.as_ref());
        arrays.into_iter().find_map(|array| {
            let number = session.array(&array.name).ok()?.number(cell)?;
            Some((Some(array.name), usize::try_from(number).ok()?))
        })
    }
}
