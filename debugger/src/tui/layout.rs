//! Which pane is where: from the size of the screen to slots. A slot shows one of its panes, the others
//! are tabs in its heading. Draws nothing.

use ratatui::layout::{Constraint, Layout, Rect};

use super::panes::PaneKind::{self, *};

/// A part of the screen for one of several panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenSlot {
    /// With the heading, which is its first row.
    pub area: Rect,
    pub panes: Vec<PaneKind>,
    /// Whether a border separates it from what is to its left.
    pub has_border: bool,
}

impl ScreenSlot {
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

/// Which part of the screen is whose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DividedScreen {
    pub slots: Vec<ScreenSlot>,
    /// Where a tour is read, above the panes; empty where none is under way.
    pub tour: Rect,
    /// What is left for the panes.
    pub panes: Rect,
    /// The keys that matter now, where there is room for them; below them the status line, and the command line or
    /// the last message.
    pub keys: Rect,
    pub status: Rect,
    pub prompt: Rect,
}

/// From this size on there is more than one pane.
const COMPACT: (u16, u16) = (80, 24);
const ROOMY: (u16, u16) = (120, 40);
const WIDE: (u16, u16) = (170, 40);

/// Rows of a tour: its heading, three for the page, and two for the last step.
const TOUR: u16 = 6;
/// Rows of the card beside it, with its heading.
const CARD_ON_TOUR: u16 = 5;

/// What there is to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScreenContent {
    /// Rows that would show all scalars, and about as many as would show all arrays; 0 if the program has none.
    /// Both are the same in every call, so that nothing moves while calls come and go.
    pub cells: u16,
    pub arrays: u16,
    /// Whether it has several branches, which take a row below the time bar.
    pub has_branches: bool,
    /// Plots below the time bar.
    pub plots: u16,
    /// Whether an answer is walked: it gets more room than the card.
    pub has_answer: bool,
    /// Whether a tour is under way, which takes rows of all panes.
    pub has_tour: bool,
}

impl ScreenContent {
    /// Rows of the card, or of the answer in its place: as many as the code.
    fn card(self, rows: u16) -> Constraint {
        // Without what the instruction's documentation says: the tour tells it.
        let rows = if self.has_tour { rows.min(CARD_ON_TOUR) } else { rows };
        if self.has_answer { Constraint::Percentage(50) } else { Constraint::Length(rows) }
    }

    /// Rows for the tour on a screen of this height: never so many that no pane has any left.
    fn tour(self, height: u16) -> u16 {
        if self.has_tour { TOUR.min(height / 3) } else { 0 }
    }

    /// Rows of the timeline: its heading, events, the bar, the steps, and what is below, where a plot gets so
    /// many rows if all that fits into `most` rows.
    fn timeline(self, rows_per_plot: u16, most: u16) -> Constraint {
        let plots = self.plots.saturating_mul(rows_per_plot);
        Constraint::Length(plots.saturating_add(4 + u16::from(self.has_branches)).min(most))
    }
}

/// Divides a screen of this size. With `zoomed`, one pane gets all of it.
pub fn divide(size: Rect, zoomed: bool, content: ScreenContent) -> DividedScreen {
    let [keys, status, prompt] = bottom(size);
    let rows = [Constraint::Length(content.tour(size.height)), Constraint::Fill(1)];
    let [tour, body] = Layout::vertical(rows).areas(above(size));
    let fits = |(width, height)| size.width >= width && size.height >= height && !zoomed;
    let slots = match () {
        () if fits(WIDE) => wide(body, content),
        () if fits(ROOMY) => roomy(body, content),
        () if fits(COMPACT) => compact(body, content),
        () => vec![slot(body, &[&PaneKind::ALL])],
    };
    DividedScreen { slots, tour, panes: body, keys, status, prompt }
}

/// The last rows: the keys, the status line, and below it the command line or the last message. Each is empty where
/// there is no room; the keys go first.
pub fn bottom(size: Rect) -> [Rect; 3] {
    let keys = u16::from(size.height >= COMPACT.1);
    let rows = [Constraint::Fill(1), Constraint::Max(keys), Constraint::Max(1), Constraint::Max(1)];
    let [_, keys, status, prompt] = Layout::vertical(rows).areas(size);
    [keys, status, prompt]
}

/// What is above them.
pub fn above(size: Rect) -> Rect {
    let used = bottom(size).iter().map(|row| row.height).sum::<u16>().max(2);
    Rect { height: size.height.saturating_sub(used), ..size }
}

// The panes in groups that no layout divides; where there is less room, several groups share a place.
const PROGRAM: &[PaneKind] = &[Code];
const BACKWARD: &[PaneKind] = &[Inverse];
const SCALARS: &[PaneKind] = &[Cells];
const ELEMENTS: &[PaneKind] = &[Arrays];
const STACKS: &[PaneKind] = &[Calls, Tapes];
const SAID: &[PaneKind] = &[Messages];
const STEP: &[PaneKind] = &[Card, Failure, Answer];
const TIME: &[PaneKind] = &[Timeline];

fn slot(area: Rect, groups: &[&[PaneKind]]) -> ScreenSlot {
    ScreenSlot { area, panes: groups.concat(), has_border: false }
}

fn beside(area: Rect, groups: &[&[PaneKind]]) -> ScreenSlot {
    ScreenSlot { has_border: true, ..slot(area, groups) }
}

/// Code over the card, cells beside them, the timeline below.
fn compact(body: Rect, content: ScreenContent) -> Vec<ScreenSlot> {
    let [upper, timeline] = Layout::vertical([Constraint::Fill(1), content.timeline(2, 8)]).areas(body);
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Percentage(40)]).areas(upper);
    let [code, card] = Layout::vertical([Constraint::Fill(1), content.card(7)]).areas(left);
    let mut slots = vec![slot(code, &[PROGRAM, BACKWARD])];
    add_cells(&mut slots, right, content, &[STACKS, SAID]);
    slots.push(slot(card, &[STEP]));
    slots.push(slot(timeline, &[TIME]));
    slots
}

/// As before, with a slot for the rest.
fn roomy(body: Rect, content: ScreenContent) -> Vec<ScreenSlot> {
    let [upper, timeline] = Layout::vertical([Constraint::Fill(1), content.timeline(2, 10)]).areas(body);
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Percentage(40)]).areas(upper);
    let [code, card] = Layout::vertical([Constraint::Fill(1), content.card(9)]).areas(left);
    let mut slots = vec![slot(code, &[PROGRAM, BACKWARD])];
    let [cells, rest] = Layout::vertical(LAST_EIGHT).areas(right);
    add_cells(&mut slots, cells, content, &[]);
    slots.push(slot(card, &[STEP]));
    slots.push(beside(rest, &[STACKS, SAID]));
    slots.push(slot(timeline, &[TIME]));
    slots
}

/// All but the last eight rows, and these.
const LAST_EIGHT: [Constraint; 2] = [Constraint::Fill(1), Constraint::Length(8)];

/// Rows of a column in which cells and arrays have room for both.
const LEAST_FOR_BOTH: u16 = 10;

/// Adds the cells, and the arrays below them if there are any, and room. The panes of other groups share the place
/// of the cells.
fn add_cells(slots: &mut Vec<ScreenSlot>, column: Rect, content: ScreenContent, others: &[&[PaneKind]]) {
    if content.arrays == 0 || column.height < LEAST_FOR_BOTH {
        slots.push(beside(column, &[&[SCALARS, ELEMENTS], others].concat()));
        return;
    }
    // Both have a heading. The arrays get what the cells leave, and two fifths in any case.
    let left = column.height.saturating_sub(content.cells.saturating_add(1));
    let height = content.arrays.saturating_add(1).min(left.max(column.height / 5 * 2));
    let [cells, arrays] = Layout::vertical([Constraint::Fill(1), Constraint::Length(height)]).areas(column);
    slots.extend([beside(cells, &[&[SCALARS], others].concat()), beside(arrays, &[ELEMENTS])]);
}

/// With the inverse program beside the program.
fn wide(body: Rect, content: ScreenContent) -> Vec<ScreenSlot> {
    let [upper, timeline] = Layout::vertical([Constraint::Fill(1), content.timeline(3, 11)]).areas(body);
    let thirds = [Constraint::Fill(1), Constraint::Fill(1), Constraint::Percentage(32)];
    let [left, middle, right] = Layout::horizontal(thirds).areas(upper);
    let halves = [Constraint::Fill(1), Constraint::Length(9)];
    let [code, card] = Layout::vertical([Constraint::Fill(1), content.card(9)]).areas(left);
    let [inverse, calls] = Layout::vertical(halves).areas(middle);
    let mut slots = vec![slot(code, &[PROGRAM]), beside(inverse, &[BACKWARD])];
    let [cells, messages] = Layout::vertical(LAST_EIGHT).areas(right);
    add_cells(&mut slots, cells, content, &[]);
    slots.push(slot(card, &[STEP]));
    slots.push(beside(calls, &[STACKS]));
    slots.push(beside(messages, &[SAID]));
    slots.push(slot(timeline, &[TIME]));
    slots
}
