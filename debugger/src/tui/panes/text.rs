//! Writes rows of text. If a text is cut, it ends with an ellipsis, so that the user sees that text is missing.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use ratatui::widgets::Widget;
use reviver_escape as escape;

use super::Context;
use crate::columns::{width, wrapped};

/// Returns the text, in at most `most` columns. A longer text is cut and ends with an ellipsis.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if width(text) <= most {
        return Cow::Borrowed(text);
    }
    let Some(room) = most.checked_sub(1) else { return Cow::Borrowed("") };
    let mut used = 0;
    let fits = |c: &char| {
        used += width(c.encode_utf8(&mut [0; 4]));
        used <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    Cow::Owned(kept + "…")
}

/// Returns a number in at most `most` columns. A longer number loses digits, but keeps its exponent.
pub fn cut_number(text: &str, most: usize) -> Cow<'_, str> {
    match text.split_once('e') {
        Some((digits, exponent)) if width(text) > most => {
            let exponent = format!("e{exponent}");
            let digits = cut(digits, most.saturating_sub(width(&exponent)));
            Cow::Owned(cut(&format!("{digits}{exponent}"), most).into_owned())
        }
        _ => cut(text, most),
    }
}

/// A writer that fills a row from left to right.
pub struct Pen<'a> {
    buffer: &'a mut Buffer,
    /// The part of the row to the right of everything written so far.
    left: Rect,
}

impl Pen<'_> {
    pub fn new(row: Rect, buffer: &mut Buffer) -> Pen<'_> {
        Pen { buffer, left: Rect { height: row.height.min(1), ..row } }
    }

    /// Returns the number of empty columns.
    pub fn room(&self) -> usize {
        usize::from(self.left.width)
    }

    /// Writes a text, cut to the empty columns.
    pub fn write(&mut self, text: &str, style: Style) -> &mut Self {
        let text = escape::line(text);
        self.column(&text, width(&text), style)
    }

    /// Writes a text into a column of this width. The next text begins after the column.
    pub fn column(&mut self, text: &str, width: usize, style: Style) -> &mut Self {
        let text = &*escape::line(text);
        let width = width.min(self.room());
        let columns = u16::try_from(width).unwrap_or(u16::MAX);
        let area = Rect { width: columns, ..self.left };
        Span::styled(cut(text, width), style).render(area, self.buffer);
        self.left = Rect { x: self.left.x + columns, width: self.left.width - columns, ..self.left };
        self
    }

    /// Writes a number into a column of the given width.
    pub fn number(&mut self, text: &str, width: usize, style: Style) -> &mut Self {
        let room = width.min(self.room());
        self.column(&cut_number(text, room), width, style)
    }

    /// Leaves a number of columns empty.
    pub fn skip(&mut self, columns: usize) -> &mut Self {
        self.column("", columns, Style::new())
    }

    /// Writes a text at the right end of the row, if at least `least` columns remain to its left. Otherwise
    /// writes nothing.
    pub fn right(&mut self, text: &str, least: usize, style: Style) -> &mut Self {
        let text = &*escape::line(text);
        let Ok(columns) = u16::try_from(width(text)) else { return self };
        if columns > 0 && usize::from(columns) + least <= self.room() {
            let x = self.left.right() - columns;
            Span::styled(text, style).render(Rect { x, width: columns, ..self.left }, self.buffer);
            // One blank separates this text from the text to its left.
            self.left.width = self.left.width.saturating_sub(columns + 1);
        }
        self
    }
}

/// Draws a sentence in an empty pane.
pub fn remark(context: &Context<'_>, text: &str, buffer: &mut Buffer) {
    for (line, row) in wrapped(text, usize::from(context.area.width)).iter().zip(context.area.rows()) {
        Pen::new(row, buffer).write(line, context.theme.dim);
    }
}

/// Marks the item under the cursor. In the focused pane the whole row is marked, otherwise only the item's
/// name.
pub fn mark_cursor(context: &Context<'_>, row: Rect, name: Rect, buffer: &mut Buffer) {
    match context.is_focused {
        true => buffer.set_style(row, context.theme.cursor),
        false => buffer.set_style(name.intersection(row), context.theme.cursor_unfocused),
    }
}

/// Marks the occurrences of the search text in a row that has been drawn.
pub fn mark_found(context: &Context<'_>, row: Rect, buffer: &mut Buffer) {
    if let Some(wanted) = context.choices.search.as_deref() {
        mark(wanted, context.theme.found, row, buffer);
    }
}

/// Applies a style to every occurrence of `wanted`, which is in lower case, in a row that has been drawn.
pub fn mark(wanted: &str, style: Style, row: Rect, buffer: &mut Buffer) {
    if wanted.is_empty() {
        return;
    }
    let mut text = String::new();
    let mut places = Vec::new();
    for x in row.x..row.right() {
        let Some(cell) = buffer.cell((x, row.y)) else { continue };
        let lower = cell.symbol().to_lowercase();
        places.extend(std::iter::repeat_n(x, lower.len()));
        text.push_str(&lower);
    }
    for (start, found) in text.match_indices(wanted) {
        for &x in places.get(start..start + found.len()).unwrap_or_default() {
            buffer.set_style(Rect { x, width: 1, ..row }, style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_ends_with_an_ellipsis() {
        assert_eq!(cut("reverse", 7), "reverse");
        assert_eq!(cut("reverse", 4), "rev…");
        assert_eq!(cut("漢字漢字", 6), "漢字…");
        assert_eq!(cut("reverse", 1), "…");
        assert_eq!(cut("reverse", 0), "");
    }

    #[test]
    fn numbers_keep_their_exponents() {
        assert_eq!(cut_number("-5.425347222e-6", 15), "-5.425347222e-6");
        assert_eq!(cut_number("-5.425347222e-6", 9), "-5.42…e-6");
        assert_eq!(cut_number("0.114903", 6), "0.114…");
        assert_eq!(cut_number("5.42e-6", 2), "e…");
    }
}
