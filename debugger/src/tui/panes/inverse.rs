//! The inverse pane: the text of the inverse program, with a mark at the line that undoes the next
//! instruction.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text::{Pen, mark_cursor, mark_found, remark};
use super::{Context, Pane};
use crate::view::code::counterpart;

/// The inverse pane, which shows the text of the inverse program.
pub struct InverseWidget;

impl Pane for InverseWidget {
    fn title(&self, _: &Context<'_>) -> String {
        "inverse program".to_owned()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let lines = match context.session.listing().inverse() {
            Ok(lines) => lines,
            Err(why) => return remark(context, &format!("There is no inverse program. {why}"), buffer),
        };
        let counterpart = counterpart(context.session);
        let digits = lines.len().to_string().len();
        let visible = lines.iter().enumerate().skip(context.scroll.top);
        for ((n, line), row) in visible.zip(context.area.rows()) {
            let is_counterpart = counterpart == Some(n);
            let mut pen = Pen::new(row, buffer);
            pen.write(if is_counterpart { "◄" } else { " " }, context.theme.backward);
            pen.write(&format!("{:>digits$} ", n + 1), context.theme.dim);
            let line = line.replace('\t', "    ");
            let (statement, comment) = line.split_at(line.find(';').unwrap_or(line.len()));
            pen.write(statement, context.theme.text).write(comment, context.theme.dim);
            if is_counterpart {
                buffer.set_style(row, context.theme.next);
            }
            mark_found(context, row, buffer);
            if n == context.scroll.cursor {
                let number = Rect { x: row.x.saturating_add(1), width: digits as u16, ..row };
                mark_cursor(context, row, number, buffer);
            }
        }
    }

    fn items(&self, context: &Context<'_>) -> usize {
        context.session.listing().inverse().map_or(0, <[String]>::len)
    }

    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        context.session.listing().inverse().ok()?.get(item).cloned()
    }
}
