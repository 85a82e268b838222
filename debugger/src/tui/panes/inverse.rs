//! The inverse program as text, with the statement that undoes the next instruction, where the text
//! leaves no doubt which one that is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text::{Pen, mark_cursor, mark_found, remark};
use super::{Context, Pane};
use crate::listing::spell;

pub struct Inverse;

impl Pane for Inverse {
    fn title(&self, _: &Context<'_>) -> String {
        "inverse program".to_owned()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let lines = match context.session.listing().inverse() {
            Ok(lines) => lines,
            Err(why) => return remark(context, &format!("There is no inverse program. {why}"), buffer),
        };
        let counterpart = counterpart(context, lines);
        let digits = lines.len().to_string().len();
        // Unless somebody reads in it, the pane goes along with the program.
        let along = counterpart.filter(|_| !context.is_focused);
        let top = along.map_or(context.scroll.top, |line| {
            let most = lines.len().saturating_sub(usize::from(context.area.height));
            line.saturating_sub(usize::from(context.area.height / 2)).min(most)
        });
        let visible = lines.iter().enumerate().skip(top);
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

/// The line that undoes the next instruction, if just one line could.
fn counterpart(context: &Context<'_>, lines: &[String]) -> Option<usize> {
    let at = context.session.next_instruction()?;
    // Procedures stay as they are in an inverse program; main is turned round.
    let is_main = context.session.program().procedure_of(at) == 0;
    let wanted = words(&spell(context.session.program(), at, is_main));
    let mut fitting = lines.iter().enumerate().filter(|(_, line)| words(statement(line)) == wanted);
    let (found, _) = fitting.next()?;
    fitting.next().is_none().then_some(found)
}

/// A line without its comment and its label.
fn statement(line: &str) -> &str {
    let line = line.split(';').next().unwrap_or_default();
    line.split_once(':').map_or(line, |(_, statement)| statement)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
