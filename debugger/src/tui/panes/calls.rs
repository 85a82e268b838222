//! The calls pane: the open procedures, innermost first. The selected procedure is marked. A sign shows for each
//! procedure the direction in which it runs.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text::{Pen, cut_number, mark_cursor, mark_found};
use super::{Context, Pane, PaneSpot};
use crate::view::stack::{FrameView, frames};

/// The pane of the open calls, innermost first.
pub struct CallsWidget;

impl Pane for CallsWidget {
    fn title(&self, context: &Context<'_>) -> String {
        match context.session.state().calls.len() {
            0 => "calls".to_owned(),
            open => format!("calls: {open} open"),
        }
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let top = context.scroll.top;
        let visible = frames(context.session, top, context.area.height.into());
        let columns = CallColumns::new(context);
        for ((n, frame), row) in (top..).zip(&visible).zip(context.area.rows()) {
            draw_frame(context, frame, &columns, row, buffer);
            mark_found(context, row, buffer);
            if n == context.scroll.cursor {
                let number = Rect { x: row.x.saturating_add(columns.mark), width: columns.digits, ..row };
                mark_cursor(context, row, number, buffer);
            }
        }
    }

    fn items(&self, context: &Context<'_>) -> usize {
        context.session.state().calls.len() + 1
    }

    fn spot(&self, context: &Context<'_>, item: usize) -> Option<PaneSpot> {
        (item < self.items(context)).then_some(PaneSpot::Frame(item))
    }

    fn opens(&self) -> Option<&'static str> {
        Some("frame @")
    }

    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        frames(context.session, item, 1).first().map(call)
    }
}

/// Widths of the columns before the names.
struct CallColumns {
    /// Width of the mark of the selected frame; 0 if there is only one frame.
    mark: u16,
    /// Width of the frame numbers.
    digits: u16,
}

impl CallColumns {
    fn new(context: &Context<'_>) -> CallColumns {
        let open = context.session.state().calls.len();
        CallColumns { mark: u16::from(open > 0), digits: open.to_string().len() as u16 }
    }
}

fn draw_frame(
    context: &Context<'_>,
    frame: &FrameView,
    columns: &CallColumns,
    row: Rect,
    buffer: &mut Buffer,
) {
    let theme = context.theme;
    let mut pen = Pen::new(row, buffer);
    let mark = if frame.is_selected { "►" } else { "" };
    pen.column(mark, columns.mark.into(), theme.label);
    pen.write(&format!("{:>1$} ", frame.number, usize::from(columns.digits)), theme.dim);
    match frame.inverted {
        true => pen.write("← ", theme.backward),
        false => pen.write("→ ", theme.forward),
    };
    let line = match context.session.next_instruction() {
        None if frame.number == 0 => "the end".to_owned(),
        _ => context.session.listing().name(frame.line),
    };
    pen.right(&line, 10, theme.dim);
    let call = call(frame);
    let (name, arguments) = call.split_at(frame.procedure.len().min(call.len()));
    pen.write(name, theme.label).write(arguments, theme.text);
}

/// Maximum width of a value, in columns.
const MOST_FOR_VALUE: usize = 10;

/// Renders the call of a frame with shortened arguments.
pub(super) fn call(frame: &FrameView) -> String {
    frame.call(short_value)
}

/// Shortens a value to a few columns.
pub(super) fn short_value(value: &str) -> String {
    cut_number(value, MOST_FOR_VALUE).into_owned()
}
