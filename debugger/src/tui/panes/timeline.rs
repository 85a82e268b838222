//! The timeline pane: a bar over the steps of the branch, with the branch's events. Below the bar are plots of
//! cells over the same steps. The items of the pane are the bar's columns.

mod events;
mod plots;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use self::events::has_events;
use super::text::Pen;
use super::{Context, Pane, PaneSpot};
use crate::columns::width;
use crate::scale::{chosen_step, column_of};
use crate::timeline::{Fork, SpanEnd};
use crate::view::timeline::{self, Column, TimelinePane};

/// The timeline pane: events, the bar, plots and branches.
pub struct TimelineWidget;

impl Pane for TimelineWidget {
    fn title(&self, context: &Context<'_>) -> String {
        let bar = Areas::new(context.area).bar;
        let pane = shown(context, bar);
        let line = match context.session.time_point().branch {
            0 => "timeline".to_owned(),
            line => format!("timeline, branch {line}"),
        };
        let line = line + &part(&pane);
        // If some plots can't be shown, a notice about these plots replaces the legend.
        let used = Rows::new(context.area.height, has_events(&pane.columns)).axis + 1;
        let used = used + u16::from(pane.forks.len() > 1);
        let missing = plots::missing(context, context.area.height.saturating_sub(used));
        line + &missing + &events::legend(&pane.columns)
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let areas = Areas::new(context.area);
        let pane = shown(context, areas.bar);
        let rows = Rows::new(context.area.height, has_events(&pane.columns));
        for (n, y) in (0..).zip(context.area.rows().map(|row| row.y)) {
            let (label, bar) = areas.row(y);
            match n {
                _ if Some(n) == rows.events => events::draw(context, &pane.columns, label, bar, buffer),
                _ if n == rows.bar => draw_bar(context, &pane, label, bar, buffer),
                _ if n == rows.axis => draw_axis(context, &pane, label, bar, buffer),
                _ => {}
            }
        }
        let used = rows.axis + 1;
        let below = Rect {
            y: context.area.y.saturating_add(used),
            height: context.area.height.saturating_sub(used),
            ..context.area
        };
        let below = draw_forks(context, &pane.forks, below, buffer);
        plots::draw(context, Areas::new(below), buffer);
    }

    fn items(&self, context: &Context<'_>) -> usize {
        usize::from(Areas::new(context.area).bar.width)
    }

    fn columns(&self, context: &Context<'_>) -> usize {
        self.items(context).max(1)
    }

    fn spot(&self, context: &Context<'_>, item: usize) -> Option<PaneSpot> {
        let extent = context.choices.shown(context.session);
        Some(PaneSpot::Step(chosen_step(extent, item, self.items(context))))
    }

    fn opens(&self) -> Option<&'static str> {
        Some("goto @")
    }

    fn item_at(&self, context: &Context<'_>, place: Position) -> Option<usize> {
        let bar = Areas::new(context.area).bar;
        let column = place.x.saturating_sub(bar.x).min(bar.width.checked_sub(1)?);
        context.area.contains(place).then_some(column.into())
    }
}

/// Returns the number of the bar's columns in an area.
pub fn columns(area: Rect) -> usize {
    Areas::new(area).bar.width.max(1).into()
}

/// Width of the label column, in columns of the terminal.
const LABEL: u16 = 12;
/// Minimum pane width, in columns, at which the label column is drawn.
const LEAST_FOR_LABELS: u16 = 50;

/// The areas of the labels, on the left, and of the bar, on the right.
#[derive(Clone, Copy)]
struct Areas {
    label: Rect,
    bar: Rect,
}

impl Areas {
    fn new(area: Rect) -> Areas {
        let label = if area.width >= LEAST_FOR_LABELS { LABEL } else { 0 };
        let bar = Rect { x: area.x + label, width: area.width - label, ..area };
        Areas { label: Rect { width: label.saturating_sub(1), ..area }, bar }
    }

    fn row(self, y: u16) -> (Rect, Rect) {
        let row = |area: Rect| Rect { y, height: 1, ..area };
        (row(self.label), row(self.bar))
    }

    /// Returns the areas of the n-th row.
    fn nth(self, n: u16) -> Option<(Rect, Rect)> {
        (n < self.bar.height).then(|| self.row(self.bar.y + n))
    }
}

/// The row numbers of events, bar and step numbers. If there is only one row, it contains the bar.
struct Rows {
    events: Option<u16>,
    bar: u16,
    axis: u16,
}

impl Rows {
    fn new(height: u16, has_events: bool) -> Rows {
        let events = (has_events && height >= 2).then_some(0);
        let bar = u16::from(events.is_some());
        Rows { events, bar, axis: bar + 1 }
    }
}

/// Returns the data of the bar, for as many columns as its area has.
fn shown(context: &Context<'_>, bar: Rect) -> TimelinePane {
    timeline::timeline(context.session, context.choices.shown(context.session), bar.width.into())
}

/// Returns the shown range of steps as text. The text is empty if the whole branch is shown.
fn part(pane: &TimelinePane) -> String {
    let ((from, to), (first, last)) = (pane.shown, pane.span.steps());
    if pane.shown == pane.span.steps() { String::new() } else { format!(" {from}..{to} of {first}..{last}") }
}

fn draw_bar(context: &Context<'_>, pane: &TimelinePane, label: Rect, bar: Rect, buffer: &mut Buffer) {
    let (theme, columns) = (context.theme, &pane.columns);
    Pen::new(label, buffer).write("time", theme.dim);
    let outside = if pane.step < pane.shown.0 { 0 } else { columns.len() };
    let here = columns.iter().position(|column| column.is_here).unwrap_or(outside);
    for (n, x) in (bar.x..bar.right()).enumerate() {
        let (sign, style) = match columns.get(n) {
            Some(column) if column.is_here => (here_sign(column), theme.here),
            Some(column) if n < here => (past_sign(column), theme.text),
            Some(column) => (future_sign(column), theme.bar),
            None => continue,
        };
        let place = Rect { x, width: 1, ..bar };
        Pen::new(place, buffer).write(sign, style);
        if context.is_focused && n == context.scroll.cursor {
            buffer.set_style(place, theme.cursor);
        }
    }
}

/// Returns the character for the present in the timeline bar. The character has a crossbar if calls were entered or
/// left in this column.
fn here_sign(column: &Column) -> &'static str {
    if column.calls.none() { "┃" } else { "╂" }
}

/// Returns the character of the bar for a column before the present. A column in which calls were entered is an
/// opening bracket; a column in which calls were left is a closing bracket.
fn past_sign(column: &Column) -> &'static str {
    match (column.calls.entered, column.calls.left) {
        _ if !column.is_reached => "╍",
        (0, 0) => "━",
        (_, 0) => "┣",
        (0, _) => "┫",
        _ => "╋",
    }
}

/// Returns the character of the bar for a column after the present.
fn future_sign(column: &Column) -> &'static str {
    match (column.calls.entered, column.calls.left) {
        _ if !column.is_reached => "╌",
        (0, 0) => "─",
        (_, 0) => "├",
        (0, _) => "┤",
        _ => "┼",
    }
}

/// Draws the numbers of the first, the current and the last step below their columns.
fn draw_axis(context: &Context<'_>, pane: &TimelinePane, label: Rect, bar: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    Pen::new(label, buffer).write("step", theme.dim);
    let (first, last) = pane.shown;
    let last_text = match pane.span.end {
        _ if last < pane.span.last => last.to_string(),
        SpanEnd::Known => format!("{last} end"),
        SpanEnd::Reached => format!("{last}+"),
        SpanEnd::Expected => format!("~{last}"),
    };
    let first_text = first.to_string();
    let step = pane.step;
    let (room, here) = (usize::from(bar.width), column_of((first, last), step, bar.width.into()));
    let here_text = match step {
        // If the present is outside the shown range, an arrow points to the side on which it is.
        _ if step < first => format!("‹ {step}"),
        _ if step > last => format!("{step} ›"),
        _ if step == last => last_text.clone(),
        _ => step.to_string(),
    };
    let cursor = context.is_focused.then(|| chosen_step((first, last), context.scroll.cursor, room));
    let here_text = match cursor.filter(|cursor| *cursor != step) {
        Some(cursor) => format!("{here_text} (Enter: to {cursor})"),
        None => here_text,
    };
    let mut texts = vec![(0, first_text, theme.dim)];
    if step != last {
        texts.push((room.saturating_sub(width(&last_text)), last_text, theme.dim));
    }
    let size = width(&here_text);
    let outside = if step < first { 0 } else { room };
    let start = here.unwrap_or(outside).saturating_sub(size / 2).min(room.saturating_sub(size));
    let is_free = |(at, text, _): &(usize, String, Style)| *at + width(text) < start || start + size < *at;
    texts.retain(is_free);
    texts.push((start, here_text, theme.text));
    for (at, text, style) in texts {
        let x = bar.x.saturating_add(at as u16);
        Pen::new(Rect { x, ..bar }.intersection(bar), buffer).write(&text, style);
    }
}

/// Draws the branches, if there are several. Returns the remaining area.
fn draw_forks(context: &Context<'_>, forks: &[Fork], area: Rect, buffer: &mut Buffer) -> Rect {
    let has_room = area.height > u16::from(!context.choices.plots.cells.is_empty());
    if forks.len() < 2 || !has_room {
        return area;
    }
    let areas = Areas::new(area);
    let (label, row) = areas.row(area.y);
    Pen::new(label, buffer).write("branches", context.theme.dim);
    // The description of the current branch is first. The other branches are described only if all descriptions
    // fit.
    let (current, others): (Vec<&Fork>, Vec<&Fork>) = forks.iter().partition(|fork| fork.is_current);
    let columns: usize = forks.iter().map(|fork| width(&story(fork)) + 3).sum();
    let is_roomy = columns <= usize::from(row.width) + 3;
    let mut pen = Pen::new(row, buffer);
    for fork in current {
        pen.write(&story(fork), context.theme.fork).skip(3);
    }
    for fork in others {
        let text = if is_roomy { story(fork) } else { fork.branch.to_string() };
        pen.write(&text, context.theme.dim).skip(3);
    }
    Rect { y: area.y + 1, height: area.height - 1, ..area }
}

/// Describes how a branch began: its parent, the step, and the edits.
fn story(fork: &Fork) -> String {
    match fork.parent {
        None => format!("{} the program's own", fork.branch),
        Some(_) => format!("{} from step {}: {}", fork.branch, fork.step, fork.edits.join(", ")),
    }
}
