//! Which pane is where: from the size of the screen to slots. A slot shows one of its panes, the others
//! are tabs in its heading. Draws nothing.

use ratatui::layout::{Constraint, Layout, Rect};

use super::panes::PaneKind::{self, *};

/// A part of the screen for one of several panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// With the heading, which is its first row.
    pub area: Rect,
    pub panes: &'static [PaneKind],
    /// Whether a border separates it from what is to its left.
    pub has_border: bool,
}

impl Slot {
    /// The heading's row; empty if there is no room.
    pub fn heading(&self) -> Rect {
        Rect { height: self.area.height.min(1), ..self.inside() }
    }

    /// What is left for the pane.
    pub fn body(&self) -> Rect {
        let inside = self.inside();
        let heading = inside.height.min(1);
        Rect { y: inside.y + heading, height: inside.height - heading, ..inside }
    }

    fn inside(&self) -> Rect {
        let border = u16::from(self.has_border && self.area.width > 0);
        Rect { x: self.area.x + border, width: self.area.width - border, ..self.area }
    }
}

/// The screen, divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    pub slots: Vec<Slot>,
    /// The status line, and below it the command line or the last message.
    pub status: Rect,
    pub prompt: Rect,
}

/// From this size on there is more than one pane.
const COMPACT: (u16, u16) = (80, 24);
const ROOMY: (u16, u16) = (120, 40);
const WIDE: (u16, u16) = (170, 40);

/// Divides a screen of this size. With `zoomed`, one pane gets all of it.
pub fn divide(size: Rect, zoomed: bool) -> Screen {
    let [body, status, prompt] =
        Layout::vertical([Constraint::Fill(1), Constraint::Max(1), Constraint::Max(1)]).areas(size);
    let fits = |(width, height)| size.width >= width && size.height >= height && !zoomed;
    let slots = match () {
        () if fits(WIDE) => wide(body),
        () if fits(ROOMY) => roomy(body),
        () if fits(COMPACT) => compact(body),
        () => vec![slot(body, &PaneKind::ALL)],
    };
    Screen { slots, status, prompt }
}

fn slot(area: Rect, panes: &'static [PaneKind]) -> Slot {
    Slot { area, panes, has_border: false }
}

fn beside(area: Rect, panes: &'static [PaneKind]) -> Slot {
    Slot { area, panes, has_border: true }
}

/// Code over the card, cells beside them, the timeline below.
fn compact(body: Rect) -> Vec<Slot> {
    let [upper, timeline] = Layout::vertical([Constraint::Fill(1), Constraint::Length(5)]).areas(body);
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Percentage(40)]).areas(upper);
    let [code, card] = Layout::vertical([Constraint::Fill(1), Constraint::Length(6)]).areas(left);
    vec![
        slot(code, &[Code, Inverse]),
        beside(right, &[Cells, Arrays, Calls, Tapes, Messages]),
        slot(card, &[Card, Failure]),
        slot(timeline, &[Timeline]),
    ]
}

/// As before, with the arrays below the cells and a slot for the rest.
fn roomy(body: Rect) -> Vec<Slot> {
    let [upper, timeline] = Layout::vertical([Constraint::Fill(1), Constraint::Length(8)]).areas(body);
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Percentage(40)]).areas(upper);
    let [code, card] = Layout::vertical([Constraint::Fill(1), Constraint::Length(9)]).areas(left);
    let thirds = [Constraint::Fill(3), Constraint::Fill(2), Constraint::Length(9)];
    let [cells, arrays, rest] = Layout::vertical(thirds).areas(right);
    vec![
        slot(code, &[Code, Inverse]),
        beside(cells, &[Cells]),
        beside(arrays, &[Arrays]),
        slot(card, &[Card, Failure]),
        beside(rest, &[Calls, Tapes, Messages]),
        slot(timeline, &[Timeline]),
    ]
}

/// With the inverse program beside the program.
fn wide(body: Rect) -> Vec<Slot> {
    let [upper, timeline] = Layout::vertical([Constraint::Fill(1), Constraint::Length(10)]).areas(body);
    let thirds = [Constraint::Fill(1), Constraint::Fill(1), Constraint::Percentage(32)];
    let [left, middle, right] = Layout::horizontal(thirds).areas(upper);
    let halves = [Constraint::Fill(1), Constraint::Length(9)];
    let [code, card] = Layout::vertical(halves).areas(left);
    let [inverse, calls] = Layout::vertical(halves).areas(middle);
    let thirds = [Constraint::Fill(3), Constraint::Fill(2), Constraint::Length(9)];
    let [cells, arrays, messages] = Layout::vertical(thirds).areas(right);
    vec![
        slot(code, &[Code]),
        beside(inverse, &[Inverse]),
        beside(cells, &[Cells]),
        beside(arrays, &[Arrays]),
        slot(card, &[Card, Failure]),
        beside(calls, &[Calls, Tapes]),
        beside(messages, &[Messages]),
        slot(timeline, &[Timeline]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pane_has_a_place_at_every_size() {
        for (width, height) in
            [(0, 0), (1, 1), (40, 10), (80, 24), (119, 60), (120, 40), (170, 40), (400, 200)]
        {
            let screen = divide(Rect::new(0, 0, width, height), false);
            for pane in PaneKind::ALL {
                let slots = screen.slots.iter().filter(|slot| slot.panes.contains(&pane)).count();
                assert_eq!(slots, 1, "{pane:?} at {width}×{height}");
            }
            let whole = Rect::new(0, 0, width, height);
            for slot in &screen.slots {
                assert_eq!(slot.area.intersection(whole).area(), slot.area.area());
                assert_eq!(slot.body().intersection(slot.area).area(), slot.body().area());
            }
        }
    }

    #[test]
    fn slots_do_not_overlap() {
        for (width, height) in [(80, 24), (120, 40), (200, 60)] {
            let slots = divide(Rect::new(0, 0, width, height), false).slots;
            for (n, slot) in slots.iter().enumerate() {
                assert!(slots[..n].iter().all(|other| !other.area.intersects(slot.area)));
            }
        }
    }
}
