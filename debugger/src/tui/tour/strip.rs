//! The strip that shows the tour above the panes: a heading with keys, the words of the page, and the
//! description of the last step. The strip has its own rows, so it covers no pane.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::reading::Tour;
use crate::columns::hanging;
use crate::tui::keys::KeyMap;
use crate::tui::panes::text::Pen;
use crate::tui::theme::Theme;

/// Number of rows for the words of a page.
const PAGE: usize = 3;

/// Number of empty columns at each side.
const MARGIN: usize = 1;

/// Minimum width of the heading, in columns. If less would remain, the keys beside the heading are dropped.
const LEAST_FOR_HEADING: usize = 24;

/// Draws the strip. If there is no room, the description of the last step is dropped first.
pub fn draw(tour: &Tour, keys: &KeyMap, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let room = usize::from(area.width).saturating_sub(2 * MARGIN);
    let mut rows = area.rows();
    if let Some(row) = rows.next() {
        buffer.set_style(row, theme.status);
        let mut pen = Pen::new(row, buffer);
        pen.right(&format!("{} ", Tour::navigation_keys(keys)), LEAST_FOR_HEADING, Style::new());
        pen.skip(MARGIN).write(&tour.heading(), Style::new());
    }
    let page = tour.words(keys).rows(room);
    let reported = hanging(&tour.reported, room);
    // If the page needs fewer than `PAGE` rows, the description of the step gets the remaining rows.
    let left_for_it = usize::from(area.height).saturating_sub(1 + PAGE);
    let spare = PAGE.saturating_sub(page.len()).min(reported.len().saturating_sub(left_for_it));
    let mut page = page.into_iter();
    for row in rows.by_ref().take(PAGE - spare) {
        let mut pen = Pen::new(row, buffer);
        pen.skip(MARGIN);
        for (text, is_key) in page.next().into_iter().flatten() {
            pen.write(&text, if is_key { theme.active } else { theme.text });
        }
    }
    for (row, text) in rows.zip(reported) {
        Pen::new(row, buffer).skip(MARGIN).write(&text, theme.changed);
    }
}
