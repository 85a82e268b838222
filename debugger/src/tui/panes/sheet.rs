//! A sheet of labelled texts, as the card and the failure show them: labels to the left, texts broken
//! between words to the right of them. Its items are the rows. A pane that is one says what is on it.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use super::text::{Pen, mark_found};
use super::{Context, Pane};
use crate::columns::wrapped;

/// A pane that consists of one sheet.
pub trait OneSheet {
    fn title(&self, context: &Context<'_>) -> String;
    fn sheet(&self, context: &Context<'_>) -> Sheet;

    /// See [`Pane::is_there`].
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

/// A label and a text, which is wrapped beside it.
pub struct SheetRow {
    label: &'static str,
    text: String,
    style: Style,
}

impl SheetRow {
    /// What a search sees.
    pub fn text(&self) -> String {
        format!("{} {}", self.label, self.text)
    }
}

/// The rows so far.
pub struct Sheet {
    room: usize,
    pub rows: Vec<SheetRow>,
}

/// Columns of labels.
const LABEL: usize = 10;

impl Sheet {
    pub fn new(context: &Context<'_>) -> Sheet {
        Sheet { room: usize::from(context.area.width), rows: Vec::new() }
    }

    /// Columns of a text.
    pub fn text_room(&self) -> usize {
        self.room.saturating_sub(LABEL)
    }

    /// A text behind a label. The rows below its first one have none.
    pub fn field(&mut self, label: &'static str, text: &str, style: Style) {
        for (n, text) in wrapped(text, self.text_room()).into_iter().enumerate() {
            self.rows.push(SheetRow { label: if n == 0 { label } else { "" }, text, style });
        }
    }

    /// Draws the rows from the context's scroll on.
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
