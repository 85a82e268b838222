//! The tapes pane: both tapes and both stacks. The values of a tape or stack are listed from the end at which
//! instructions add or remove values.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text::{Pen, cut};
use super::{Context, Pane};
use crate::columns::{width, wrapped};
use crate::outcome::ValueRow;
use crate::view::stack::rows;

/// The tapes pane: both stacks and both tapes, with the values that instructions can access next.
pub struct TapesWidget;

impl Pane for TapesWidget {
    fn title(&self, _: &Context<'_>) -> String {
        "tapes".to_owned()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let area = context.area;
        let rows = rows(context.session, usize::from(area.width) * usize::from(area.height) / 2 + 1);
        let names = rows.iter().map(|row| width(&row.name) + 1).max().unwrap_or(0).clamp(NAME, WIDEST_NAME);
        // Each tape and each stack gets the same number of rows.
        let share = (area.height / rows.len() as u16).max(1);
        for (n, (row, end)) in (0..).zip(rows.iter().zip(["next", "last", "top", "top"])) {
            let y = area.y.saturating_add(n * share);
            draw_row(
                context,
                row,
                (names, end),
                Rect { y, height: share, ..area }.intersection(area),
                buffer,
            );
        }
    }
}

/// Minimum pane width for values next to the name; in narrower panes values are below it.
const LEAST_FOR_VALUES: u16 = 50;

/// Draws a tape or a stack; `names` is the width of the name column.
fn draw_row(
    context: &Context<'_>,
    row: &ValueRow,
    (names, end): (usize, &str),
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = context.theme;
    let is_below = area.width < LEAST_FOR_VALUES && area.height > 1;
    let style = if row.total == 0 { theme.dim } else { theme.text };
    let end = if row.total == 0 { String::new() } else { format!("{end}:") };
    for place in area.rows().take(1) {
        Pen::new(place, buffer)
            .column(&cut(&row.name, names - 1), names, style)
            .column(&counted(row), COUNT, style)
            .write(&end, theme.dim);
    }
    let indent = if is_below { 2 } else { names + COUNT + END };
    let values = inner(area, indent as u16, u16::from(is_below));
    let lines = wrapped(&row.next.join(" "), usize::from(values.width));
    let is_cut = lines.len() > usize::from(values.height) || row.next.len() < row.total;
    for (n, (place, line)) in (1..).zip(values.rows().zip(&lines)) {
        let more = if is_cut && n == values.height { " …" } else { "" };
        Pen::new(place, buffer).write(&format!("{line}{more}"), theme.text);
    }
}

/// Maximum width of the name column; longer names are cut.
const WIDEST_NAME: usize = 22;
/// Minimum width of a name, in columns.
const NAME: usize = 15;
/// Width of the number of values, in columns.
const COUNT: usize = 11;
/// Width of the label of the first value, in columns.
const END: usize = 6;

/// Removes columns from the left and rows from the top of an area.
fn inner(area: Rect, columns: u16, rows: u16) -> Rect {
    let (columns, rows) = (columns.min(area.width), rows.min(area.height));
    Rect { x: area.x + columns, y: area.y + rows, width: area.width - columns, height: area.height - rows }
}

fn counted(row: &ValueRow) -> String {
    match row.total {
        0 => "empty".to_owned(),
        1 => "1 value".to_owned(),
        total => format!("{total} values"),
    }
}
