//! Heading of a slot: the title of the front pane and the tabs of the hidden panes, shortened to fit.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::App;
use crate::columns::width;
use crate::tui::layout::ScreenSlot;
use crate::tui::panes::PaneKind;
use crate::tui::panes::text::cut;

/// Minimum width, in columns, to which the title of the front pane is shortened.
const LEAST_FOR_TITLE: usize = 10;

impl App {
    /// Draws the heading, and stores the areas of its tabs for mouse clicks.
    pub(super) fn draw_heading(&mut self, slot: &ScreenSlot, front: PaneKind, buffer: &mut Buffer) {
        let area = slot.heading();
        let Some(context) = self.context(front) else { return };
        let is_there = |kind: &PaneKind| *kind == front || kind.pane().is_there(&context);
        let kinds: Vec<PaneKind> = slot.panes.iter().copied().filter(is_there).collect();
        let more = more(front.pane().hidden(&context));
        let room = usize::from(area.width).saturating_sub(width(&more));
        let labels = labels(&kinds, front, &front.pane().title(&context), room);
        let theme = &self.theme;
        let front_style = if context.is_focused { theme.heading_focused } else { theme.heading };
        let (mut row, mut tabs) = (area, Vec::new());
        for (kind, label) in labels {
            let style = if kind == front { front_style } else { theme.tab };
            let columns = u16::try_from(width(&label)).unwrap_or(u16::MAX).min(row.width);
            Span::styled(cut(&label, row.width.into()), style).render(row, buffer);
            tabs.push((Rect { width: columns, ..row }, kind));
            row = Rect { x: row.x + columns, width: row.width - columns, ..row };
        }
        Span::styled("─".repeat(usize::from(row.width)), theme.border).render(row, buffer);
        Line::styled(more, front_style).right_aligned().render(area, buffer);
        self.panes.tabs.extend(tabs);
    }
}

/// Returns the text that shows how many rows are hidden above and below the visible ones.
fn more((above, below): (usize, usize)) -> String {
    let sign = |sign: char, rows: usize| if rows > 0 { format!(" {sign}{rows}") } else { String::new() };
    let text = sign('▲', above) + &sign('▼', below);
    if text.is_empty() { text } else { text + " " }
}

/// Returns the labels of a heading's panes that fit into `room` columns. If there is too little room, first
/// the names of hidden panes are shortened, then the title of the front pane. Then the first panes are
/// dropped, but never the front one.
fn labels(kinds: &[PaneKind], front: PaneKind, title: &str, room: usize) -> Vec<(PaneKind, String)> {
    let spacious = |kind: PaneKind| (kind, format!(" {} ", if kind == front { title } else { kind.name() }));
    let labels: Vec<_> = kinds.iter().map(|kind| spacious(*kind)).collect();
    if columns(&labels) <= room {
        return labels;
    }
    let tight = |kind: PaneKind, title: &str| {
        (kind, format!(" {}", if kind == front { title } else { kind.short_name() }))
    };
    let bare: Vec<_> = kinds.iter().map(|kind| tight(*kind, "")).collect();
    // One column remains for a blank after the last label.
    let left = room.saturating_sub(columns(&bare) + 1).max(LEAST_FOR_TITLE);
    let title = cut(title, left);
    let mut labels: Vec<_> = kinds.iter().map(|kind| tight(*kind, &title)).collect();
    let seen = |labels: &[(PaneKind, String)]| {
        let last = labels.iter().position(|(kind, _)| *kind == front).unwrap_or_default();
        columns(&labels[..=last.min(labels.len() - 1)])
    };
    while labels.len() > 1 && labels.first().is_some_and(|(kind, _)| *kind != front) && seen(&labels) > room {
        labels.remove(0);
    }
    labels.last_mut().into_iter().for_each(|(_, label)| label.push(' '));
    labels
}

/// Returns the total width of labels, in columns.
fn columns(labels: &[(PaneKind, String)]) -> usize {
    labels.iter().map(|(_, label)| width(label)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use PaneKind::{Arrays, Calls, Cells, Messages, Tapes};

    fn heading(front: PaneKind, title: &str, room: usize) -> String {
        let kinds = [Cells, Arrays, Calls, Tapes, Messages];
        let labels = labels(&kinds, front, title, room);
        cut(&labels.into_iter().map(|(_, label)| label).collect::<String>(), room).into_owned()
    }

    #[test]
    fn tab_titles_are_shortened_to_the_width() {
        assert_eq!(heading(Cells, "cells", 40), " cells  arrays  calls  tapes  messages ");
        assert_eq!(heading(Cells, "cells", 31), " cells arr calls tape msg ");
        assert_eq!(heading(Calls, "calls: 4 open", 34), " cells arr calls: 4 open tape msg ");
        assert_eq!(heading(Calls, "calls: 4 open", 31), " cells arr calls: 4 … tape msg ");
        assert_eq!(heading(Messages, "messages", 21), " calls tape messages ");
        assert_eq!(heading(Cells, "cells", 9), " cells a…");
    }
}
