//! The events above the timeline bar: at most one sign per column. The name of a mark is next to the mark's sign.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::columns::width;
use crate::session::EventKind;
use crate::tui::panes::Context;
use crate::tui::panes::text::Pen;
use crate::tui::theme::Theme;
use crate::view::timeline::Column;

/// Returns true if there are events above the bar.
pub(super) fn has_events(columns: &[Column]) -> bool {
    columns.iter().any(|column| event(column).is_some())
}

/// Returns the sign of an event. Calls are drawn in the bar itself, all other events above it.
fn sign(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Trap => "×",
        EventKind::Stop => "●",
        EventKind::Mark => "▼",
        EventKind::Fence => "|",
        EventKind::Fork => "Y",
        EventKind::Call => "├┤",
    }
}

fn style(kind: EventKind, theme: &Theme) -> Style {
    match kind {
        EventKind::Trap => theme.trap,
        EventKind::Stop => theme.breakpoint,
        EventKind::Mark => theme.mark,
        EventKind::Fence => theme.fence,
        EventKind::Fork => theme.fork,
        EventKind::Call => theme.bar,
    }
}

/// The events in one column of the bar: all of one kind, or of several kinds. They determine the sign above the
/// column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnEvents {
    One(EventKind),
    Several,
}

impl ColumnEvents {
    fn sign(self) -> &'static str {
        match self {
            ColumnEvents::One(kind) => sign(kind),
            ColumnEvents::Several => "◆",
        }
    }

    fn style(self, theme: &Theme) -> Style {
        match self {
            ColumnEvents::One(kind) => style(kind, theme),
            ColumnEvents::Several => theme.mark,
        }
    }
}

/// Returns the legend of all signs that occur, including calls.
pub(super) fn legend(columns: &[Column]) -> String {
    let is_there = |kind: &EventKind| columns.iter().any(|column| has(column, *kind));
    let kinds = EventKind::ALL.into_iter().filter(is_there);
    let kinds: String = kinds.map(|kind| format!("  {} {}", sign(kind), kind.name())).collect();
    let several = columns.iter().any(|column| event(column) == Some(ColumnEvents::Several));
    kinds + if several { "  ◆ several" } else { "" }
}

/// Returns true if a column has an event of a kind.
fn has(column: &Column, kind: EventKind) -> bool {
    match kind {
        EventKind::Trap => column.trap,
        EventKind::Stop => !column.points.is_empty(),
        EventKind::Mark => !column.marks.is_empty(),
        EventKind::Fence => column.fence,
        EventKind::Fork => !column.forks.is_empty(),
        EventKind::Call => !column.calls.none(),
    }
}

/// Returns the sign above a column. A trap is the most important event. Marks, fences and forks, which the user
/// sets, are next. A stop is shown only in a column without marks, fences and forks: the user usually sets these
/// where a run has stopped.
fn event(column: &Column) -> Option<ColumnEvents> {
    if column.trap {
        return Some(ColumnEvents::One(EventKind::Trap));
    }
    let mut put =
        [EventKind::Mark, EventKind::Fence, EventKind::Fork].into_iter().filter(|k| has(column, *k));
    match (put.next(), put.next()) {
        (Some(kind), None) => Some(ColumnEvents::One(kind)),
        (Some(_), Some(_)) => Some(ColumnEvents::Several),
        (None, _) => has(column, EventKind::Stop).then_some(ColumnEvents::One(EventKind::Stop)),
    }
}

/// Draws the signs above the columns of the bar, and the names of marks.
pub(super) fn draw(context: &Context<'_>, columns: &[Column], label: Rect, bar: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    Pen::new(label, buffer).write("events", theme.dim);
    for (x, column) in (bar.x..bar.right()).zip(columns) {
        let Some(event) = event(column) else { continue };
        Pen::new(Rect { x, width: 1, ..bar }, buffer).write(event.sign(), event.style(theme));
    }
    // The name of a mark is written to the right of its sign, if there is room.
    for (n, column) in columns.iter().enumerate() {
        let Some(name) = column.marks.first() else { continue };
        let next = columns.iter().skip(n + 1).position(|column| event(column).is_some());
        let room = next.unwrap_or(columns.len() - n - 1);
        if width(name) < room {
            let x = bar.x + n as u16 + 1;
            Pen::new(Rect { x, width: room as u16, ..bar }, buffer).write(name, theme.mark);
        }
    }
}
