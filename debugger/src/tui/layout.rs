//! Screen layout: divides the screen into slots, depending on its size. A slot shows one of its panes. The heading
//! of the slot has a tab for each of its hidden panes.

use ratatui::layout::{Constraint, Layout, Rect};

use super::panes::PaneKind::{self, *};

/// A part of the screen that shows one of several panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenSlot {
    /// The area of the slot; its first row is the heading.
    pub area: Rect,
    /// The panes of the slot as tabs; at least one.
    pub panes: Vec<PaneKind>,
    /// True if a border separates the slot from its left neighbour.
    pub has_border: bool,
}

impl ScreenSlot {
    /// Returns the row of the heading; empty if there is no room.
    pub fn heading(&self) -> Rect {
        Rect { height: self.area.height.min(1), ..self.inside() }
    }

    /// Returns the area of the pane, below the heading.
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

/// The areas into which the screen is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DividedScreen {
    /// The slots, which share the area `panes`.
    pub slots: Vec<ScreenSlot>,
    /// The area of the tour, above the panes; empty without a tour.
    pub tour: Rect,
    /// The area of all panes.
    pub panes: Rect,
    /// The key bar; empty if there is no room for it.
    pub keys: Rect,
    /// The status line below the key bar; empty if there is no room for it.
    pub status: Rect,
    /// The last row: the prompt or the last message.
    pub prompt: Rect,
}

/// Minimum sizes, in columns and rows, of the layouts that show more than one pane at a time.
const COMPACT: (u16, u16) = (80, 24);
const ROOMY: (u16, u16) = (120, 40);
const WIDE: (u16, u16) = (170, 40);

/// Rows of a tour: its heading, three for the page, and two for the last step.
const TOUR: u16 = 6;
/// Rows of the card during a tour, including its heading.
const CARD_ON_TOUR: u16 = 5;

/// The content that determines the layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScreenContent {
    /// Number of rows that the scalars need. It doesn't depend on the open calls, so that the layout doesn't
    /// change with them.
    pub cells: u16,
    /// Estimated number of rows that the arrays need; 0 if the program has no arrays.
    pub arrays: u16,
    /// True if there are several branches; then the timeline needs a row for them below its bar.
    pub has_branches: bool,
    /// Number of plots below the timeline bar.
    pub plots: u16,
    /// True if an answer is shown, which gets more room than the card.
    pub has_answer: bool,
    /// True during a tour, which takes rows from all panes.
    pub has_tour: bool,
}

impl ScreenContent {
    /// Returns the constraint for the height of the card. If there is an answer, it replaces the card and gets half
    /// of the height.
    fn card(self, rows: u16) -> Constraint {
        // During a tour, the card omits the instruction's documentation, because the tour describes the step.
        let rows = if self.has_tour { rows.min(CARD_ON_TOUR) } else { rows };
        if self.has_answer { Constraint::Percentage(50) } else { Constraint::Length(rows) }
    }

    /// Returns the number of rows of the tour: at most a third of the screen's height, and 0 without a tour.
    fn tour(self, height: u16) -> u16 {
        if self.has_tour { TOUR.min(height / 3) } else { 0 }
    }

    /// Returns the constraint for the height of the timeline, at most `most` rows. It has rows for the
    /// heading, events, the bar, step numbers and branches, and `rows_per_plot` rows for each plot.
    fn timeline(self, rows_per_plot: u16, most: u16) -> Constraint {
        let plots = self.plots.saturating_mul(rows_per_plot);
        Constraint::Length(plots.saturating_add(4 + u16::from(self.has_branches)).min(most))
    }
}

/// Divides a screen of this size. If `zoomed`, a single slot contains all panes.
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

/// Returns the areas of the key bar, of the status line, and of the prompt or last message. On small screens
/// some of them are empty; the key bar is dropped first.
pub fn bottom(size: Rect) -> [Rect; 3] {
    let keys = u16::from(size.height >= COMPACT.1);
    let rows = [Constraint::Fill(1), Constraint::Max(keys), Constraint::Max(1), Constraint::Max(1)];
    let [_, keys, status, prompt] = Layout::vertical(rows).areas(size);
    [keys, status, prompt]
}

/// Returns the area above the key bar, the status line and the prompt.
pub fn above(size: Rect) -> Rect {
    let used = bottom(size).iter().map(|row| row.height).sum::<u16>().max(2);
    Rect { height: size.height.saturating_sub(used), ..size }
}

// Groups of panes that share a slot in every layout. In smaller layouts, several groups share a slot.
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

/// Layout of a small screen: code above the card, cells to their right, the timeline below.
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

/// Layout of a larger screen: like [`compact`], with a separate slot for the other panes.
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

/// Constraints that divide an area into its last eight rows and the rest.
const LAST_EIGHT: [Constraint; 2] = [Constraint::Fill(1), Constraint::Length(8)];

/// Minimum height, in rows, of a column that has separate slots for cells and arrays.
const LEAST_FOR_BOTH: u16 = 10;

/// Adds the slot for the cells and, if there are arrays and there is room, another one for the arrays. The
/// panes in `others` share the slot of the cells.
fn add_cells(slots: &mut Vec<ScreenSlot>, column: Rect, content: ScreenContent, others: &[&[PaneKind]]) {
    if content.arrays == 0 || column.height < LEAST_FOR_BOTH {
        slots.push(beside(column, &[&[SCALARS, ELEMENTS], others].concat()));
        return;
    }
    // Each slot has a heading. The arrays get the rows that the cells don't need, and at least two fifths of all
    // rows.
    let left = column.height.saturating_sub(content.cells.saturating_add(1));
    let height = content.arrays.saturating_add(1).min(left.max(column.height / 5 * 2));
    let [cells, arrays] = Layout::vertical([Constraint::Fill(1), Constraint::Length(height)]).areas(column);
    slots.extend([beside(cells, &[&[SCALARS], others].concat()), beside(arrays, &[ELEMENTS])]);
}

/// Layout of a wide screen, with the inverse program next to the program.
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
