//! The calls pane: the open procedures, the innermost first, and which way the machine runs them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text::{Pen, mark_cursor, mark_found};
use super::{Context, Pane, Spot};
use crate::view::stack::{FrameView, frames};

pub struct Calls;

impl Pane for Calls {
    fn title(&self, context: &Context<'_>) -> String {
        match context.session.state().calls.len() {
            0 => "calls".to_owned(),
            open => format!("calls: {open} open"),
        }
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let top = context.scroll.top;
        let visible = frames(context.session, top, context.area.height.into());
        let digits = context.session.state().calls.len().to_string().len();
        for ((n, frame), row) in (top..).zip(&visible).zip(context.area.rows()) {
            draw_frame(context, frame, digits, row, buffer);
            mark_found(context, row, buffer);
            if n == context.scroll.cursor {
                mark_cursor(context, row, Rect { width: digits as u16, ..row }, buffer);
            }
        }
    }

    fn items(&self, context: &Context<'_>) -> usize {
        context.session.state().calls.len() + 1
    }

    fn spot(&self, context: &Context<'_>, item: usize) -> Option<Spot> {
        frames(context.session, item, 1).first().map(|frame| Spot::Line(frame.line))
    }

    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        frames(context.session, item, 1)
            .first()
            .map(|frame| format!("{}({})", frame.procedure, arguments(frame)))
    }
}

fn draw_frame(context: &Context<'_>, frame: &FrameView, digits: usize, row: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    let mut pen = Pen::new(row, buffer);
    pen.write(&format!("{:>digits$} ", frame.depth), theme.dim);
    match frame.inverted {
        true => pen.write("← ", theme.backward),
        false => pen.write("→ ", theme.forward),
    };
    let is_innermost = frame.depth == context.session.state().calls.len();
    let line = match context.session.next_instruction() {
        None if is_innermost => "the end".to_owned(),
        _ => context.session.listing().name(frame.line),
    };
    pen.right(&line, 10, theme.dim);
    pen.write(&frame.procedure, theme.label);
    pen.write(&format!("({})", arguments(frame)), theme.text);
}

/// What the parameters stand for: those that have another name than what they stand for say so.
fn arguments(frame: &FrameView) -> String {
    let argument = |(name, cell): &(String, String)| match name == cell {
        true => name.clone(),
        false => format!("{name}: {cell}"),
    };
    frame.arguments.iter().map(argument).collect::<Vec<_>>().join(", ")
}
