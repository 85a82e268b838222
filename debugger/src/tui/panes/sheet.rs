//! A sheet of labelled texts, for the card and failure panes. Labels are on the left, and texts are wrapped
//! to their right. The items are the rows.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use super::text::{Pen, mark_found};
use super::{Context, Pane};
use crate::columns::wrapped;

/// A pane that consists of one sheet.
pub trait OneSheet {
    fn title(&self, context: &Context<'_>) -> String;
    fn sheet(&self, context: &Context<'_>) -> Sheet;

    /// Returns true if the pane has content, as in [`Pane::is_there`].
    fn is_there(&self, context: &Context<'_>) -> bool {
        let _ = context;
        true
    }
}

impl<P: OneSheet> Pane for P {
    fn title(&self, context: &Context<'_>) -> String {
        OneSheet::title(self, context)
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        self.sheet(context).draw(context, buffer);
    }

    fn is_there(&self, context: &Context<'_>) -> bool {
        OneSheet::is_there(self, context)
    }

    fn items(&self, context: &Context<'_>) -> usize {
        self.sheet(context).rows.len()
    }

    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        self.sheet(context).rows.get(item).map(SheetRow::text)
    }
}

/// A row of a sheet: a label, and the piece of the text that is in this row.
pub struct SheetRow {
    label: &'static str,
    text: String,
    style: Style,
}

impl SheetRow {
    /// Returns the text of the row for searches.
    pub fn text(&self) -> String {
        format!("{} {}", self.label, self.text)
    }
}

/// A sheet that is being filled.
pub struct Sheet {
    room: usize,
    pub rows: Vec<SheetRow>,
}

/// Width of the labels, in columns.
const LABEL: usize = 10;

impl Sheet {
    pub fn new(context: &Context<'_>) -> Sheet {
        Sheet { room: usize::from(context.area.width), rows: Vec::new() }
    }

    /// Returns the number of columns that are available for texts.
    pub fn text_room(&self) -> usize {
        self.room.saturating_sub(LABEL)
    }

    /// Adds a label and a text, which is wrapped. Only the first row has the label.
    pub fn field(&mut self, label: &'static str, text: &str, style: Style) {
        for (n, text) in wrapped(text, self.text_room()).into_iter().enumerate() {
            self.rows.push(SheetRow { label: if n == 0 { label } else { "" }, text, style });
        }
    }

    /// Draws the rows from the scroll position on.
    pub fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let visible = self.rows.iter().enumerate().skip(context.scroll.top);
        for ((n, line), row) in visible.zip(context.area.rows()) {
            let mut pen = Pen::new(row, buffer);
            pen.column(line.label, LABEL, context.theme.dim).write(&line.text, line.style);
            mark_found(context, row, buffer);
            if context.is_focused && n == context.scroll.cursor {
                buffer.set_style(row, context.theme.cursor);
            }
        }
    }
}
