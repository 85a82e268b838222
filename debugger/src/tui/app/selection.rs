//! Which cell is selected. It stays the same cell while frames come and go: its row moves, its name may be
//! another, and where it has none it is still the selected one, and nothing else is.

use super::App;
use crate::memory::Cell;
use crate::tui::panes::{PaneKind, PaneSpot, Selected};
use crate::view::cells;

/// The panes in which cells are selected.
const KINDS: [PaneKind; 2] = [PaneKind::Cells, PaneKind::Arrays];

impl App {
    /// What lies under a pane's cursor.
    pub(super) fn spot(&self, kind: PaneKind) -> Option<PaneSpot> {
        let context = self.context(kind)?;
        let is_lost = self.choices.lost(kind).is_some();
        if is_lost { None } else { kind.pane().spot(&context, context.scroll.cursor) }
    }

    /// The name of the cell that was selected last, in whichever pane.
    pub(super) fn selected_cell(&self) -> Option<String> {
        match self.spot(self.panes.latest(&KINDS)?)? {
            PaneSpot::Cell(name) => Some(name),
            _ => None,
        }
    }

    /// The same, or why there is none.
    pub(super) fn selected_name(&self) -> Result<String, String> {
        let lost = self.panes.latest(&KINDS).and_then(|kind| self.choices.lost(kind));
        match (self.selected_cell(), lost) {
            (Some(cell), _) => Ok(cell),
            (None, Some(name)) => Err(format!("`{name}` is selected, and has no name here")),
            (None, None) => Err("no cell is selected: choose one in the cells or the arrays".to_owned()),
        }
    }

    /// Takes the cell under a pane's cursor for the selected one.
    pub(super) fn select(&mut self, kind: PaneKind) {
        if !KINDS.contains(&kind) {
            return;
        }
        let selected = self.under_cursor(kind);
        self.choices.selected.remove(&kind);
        self.choices.selected.extend(selected.map(|selected| (kind, selected)));
    }

    /// The same for what is about to be acted on, if nobody has selected a cell before.
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

    /// Puts the cursors where the selected cells are now.
    pub(super) fn keep_selected(&mut self) {
        for kind in KINDS {
            let place = self.place_of_selected(kind);
            let Some(selected) = self.choices.selected.get_mut(&kind) else { continue };
            selected.has_row = place.is_some();
            let Some((array, item)) = place else { continue };
            if array.is_some() {
                self.choices.array = array;
            }
            self.panes.set_cursor(kind, item);
        }
    }

    /// The item that is the selected cell of a pane, and in the arrays the array that it is in.
    fn place_of_selected(&self, kind: PaneKind) -> Option<(Option<String>, usize)> {
        let context = self.context(kind)?;
        let session = context.session;
        let target = self.choices.selected.get(&kind)?.target;
        let cell = session.memory().resolve(session.state(), target)?;
        if kind == PaneKind::Cells {
            return Some((None, crate::tui::panes::cells::item_of(&context, cell)?));
        }
        // The array that is shown comes first: a cell may be in several, by other names.
        let mut arrays = cells::cells(session, &[]).arrays;
        arrays.sort_by_key(|array| Some(&array.name) != self.choices.array.as_ref());
        arrays.into_iter().find_map(|array| {
            let number = session.array(&array.name).ok()?.number(cell)?;
            Some((Some(array.name), usize::try_from(number).ok()?))
        })
    }
}
