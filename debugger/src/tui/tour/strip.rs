//! The strip in which a tour is read: its heading with the keys that turn pages, the words of the page, and what the
//! last step was. It lies above the panes, and hides none of them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::reading::Tour;
use crate::columns::hanging;
use crate::tui::keys::KeyMap;
use crate::tui::panes::text::Pen;
use crate::tui::theme::Theme;

/// Rows of a page.
const PAGE: usize = 3;

/// Columns that stay empty at the left.
const MARGIN: usize = 1;

/// Columns that the heading keeps before the keys are left out.
const LEAST_FOR_HEADING: usize = 24;

/// Draws the strip. What has no room is left out: what the step was goes first.
pub fn draw(tour: &Tour, keys: &KeyMap, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let room = usize::from(area.width).saturating_sub(2 * MARGIN);
    let mut rows = area.rows();
    if let Some(row) = rows.next() {
        buffer.set_style(row, theme.status);
        let mut pen = Pen::new(row, buffer);
        pen.right(&format!("{} ", Tour::ways(keys)), LEAST_FOR_HEADING, Style::new());
        pen.skip(MARGIN).write(&tour.heading(), Style::new());
    }
    let page = tour.words(keys).rows(room);
    let told = hanging(&tour.told, room);
    // A page that has fewer rows leaves the others to a step that has much to tell.
    let left_for_it = usize::from(area.height).saturating_sub(1 + PAGE);
    let spare = PAGE.saturating_sub(page.len()).min(told.len().saturating_sub(left_for_it));
    let mut page = page.into_iter();
    for row in rows.by_ref().take(PAGE - spare) {
        let mut pen = Pen::new(row, buffer);
        pen.skip(MARGIN);
        for (text, is_key) in page.next().into_iter().flatten() {
            pen.write(&text, if is_key { theme.active } else { theme.text });
        }
    }
    for (row, text) in rows.zip(told) {
        Pen::new(row, buffer).skip(MARGIN).write(&text, theme.changed);
    }
}
