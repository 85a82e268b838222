//! The cells pane: scalar globals, registers, and scalars of the selected frame, with the effects of the last
//! step.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::Style;
use reviver_isa::instruction::Base;

use super::text::{Pen, mark_cursor, mark_found, remark};
use super::{Context, Pane, PaneKind, PaneSpot};
use crate::columns::width;
use crate::memory::Cell;
use crate::view::cells::{self, AdjointView, CellView};

/// The cells pane: scalars with their values and adjoints.
pub struct CellsWidget;

impl Pane for CellsWidget {
    fn title(&self, _: &Context<'_>) -> String {
        "cells".to_owned()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let context = &listed(context, Some(buffer));
        let items = items(context);
        if items.is_empty() {
            return remark(context, "no scalars here: see the arrays pane", buffer);
        }
        let columns = CellColumns::new(&items, context.area.width.into());
        for (row, area) in rows(context, &items).into_iter().zip(context.area.rows()) {
            match row {
                CellRow::Heading(heading) => {
                    draw_heading(context, &columns, heading, area, buffer);
                }
                CellRow::Item(n, item) => {
                    draw_item(context, &columns, item, area, buffer);
                    mark_found(context, area, buffer);
                    if n == context.scroll.cursor && context.choices.lost(PaneKind::Cells).is_none() {
                        mark_item(context, &columns, item, area, buffer);
                    }
                }
            }
        }
    }

    fn items(&self, context: &Context<'_>) -> usize {
        items(context).len()
    }

    fn hidden(&self, context: &Context<'_>) -> (usize, usize) {
        let (context, items) = (listed(context, None), items(context));
        let rows = rows(&context, &items);
        let mut seen =
            rows.iter().filter_map(|row| if let CellRow::Item(n, _) = row { Some(*n) } else { None });
        match (seen.next(), seen.next_back()) {
            (Some(first), last) => (first, items.len() - 1 - last.unwrap_or(first)),
            (None, _) => (0, items.len()),
        }
    }

    fn spot(&self, context: &Context<'_>, item: usize) -> Option<PaneSpot> {
        let item = items(context).into_iter().nth(item)?;
        (!item.is_hidden).then(|| PaneSpot::Cell(chosen(context, item.cell)))
    }

    fn opens(&self) -> Option<&'static str> {
        Some("why @")
    }

    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        let Item { cell, .. } = items(context).into_iter().nth(item)?;
        Some(format!("{} {}", cell.name, cell.value))
    }

    fn item_at(&self, context: &Context<'_>, place: Position) -> Option<usize> {
        let context = &listed(context, None);
        let items = items(context);
        let row = context.area.contains(place).then(|| usize::from(place.y - context.area.y))?;
        match rows(context, &items).into_iter().nth(row)? {
            CellRow::Item(n, _) => Some(n),
            CellRow::Heading(_) => None,
        }
    }

    fn is_adjoint_at(&self, context: &Context<'_>, place: Position) -> bool {
        let columns = CellColumns::new(&items(context), context.area.width.into());
        columns.adjoint > 0 && usize::from(place.x.saturating_sub(context.area.x)) >= columns.adjoints_at()
    }
}

/// Returns the index of the item that shows a cell. If several items show the cell, prefers the item under the
/// cursor, then the first item. Items that commands can't name are ignored.
pub fn item_of(context: &Context<'_>, cell: Cell) -> Option<usize> {
    let items = items(context);
    let is_it = |item: &Item| item.cell.cell == cell && !item.is_hidden;
    let stays = items.get(context.scroll.cursor).is_some_and(is_it);
    if stays { Some(context.scroll.cursor) } else { items.iter().position(is_it) }
}

/// Returns a copy of the context whose area is the part for the items. The displayed expressions are above this
/// part. If the selected cell has no name in the current frame, a notice is below it. If there is a buffer, draws
/// the expressions and the notice.
fn listed<'a>(context: &Context<'a>, mut buffer: Option<&mut Buffer>) -> Context<'a> {
    let context = without_missing_cell(context, PaneKind::Cells, buffer.as_deref_mut());
    let displayed = &context.choices.displayed;
    if displayed.is_empty() {
        return context;
    }
    let rows =
        u16::try_from(displayed.len()).unwrap_or(u16::MAX).saturating_add(1).min(context.area.height / 2);
    let [above, area] = Layout::vertical([Constraint::Length(rows), Constraint::Fill(1)]).areas(context.area);
    if let Some(buffer) = buffer {
        let lines = displayed.iter().map(|text| (text.as_str(), context.theme.mark));
        let lines = std::iter::once(("displayed", context.theme.heading)).chain(lines);
        for ((text, style), row) in lines.zip(above.rows()) {
            Pen::new(row, buffer).write(text, style);
        }
    }
    Context { area, ..context }
}

/// Returns a copy of the context whose area is the part for the items. If the selected cell has no name in the
/// current frame, a notice below this part says so. If there is a buffer, draws the notice.
pub(super) fn without_missing_cell<'a>(
    context: &Context<'a>,
    kind: PaneKind,
    buffer: Option<&mut Buffer>,
) -> Context<'a> {
    let Some(name) = context.choices.lost(kind).filter(|_| context.area.height > 1) else { return *context };
    let [area, last] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(context.area);
    if let Some(buffer) = buffer {
        Pen::new(last, buffer).write(&format!("{name}: not in this frame"), context.theme.warning);
    }
    Context { area, ..*context }
}

/// Returns the name of a cell. If adjoints are selected and the cell has an adjoint, returns the name of the
/// adjoint.
pub(super) fn chosen(context: &Context<'_>, cell: CellView) -> String {
    match cell.adjoint {
        Some(adjoint) if context.choices.adjoint => adjoint.name,
        _ => cell.name,
    }
}

/// A cell and the name of its section, for example "globals".
struct Item {
    section: String,
    cell: CellView,
    /// True for a global that is hidden by a cell of the frame with the same name.
    is_hidden: bool,
}

fn items(context: &Context<'_>) -> Vec<Item> {
    let pane = cells::cells(context.session, context.footprint);
    let procedure = pane.procedure;
    let sections = [
        ("globals".to_owned(), pane.globals, true),
        ("registers".to_owned(), pane.registers, true),
        (format!("parameters of {procedure}"), pane.parameters, false),
        (format!("ancillas of {procedure}"), pane.ancillas, false),
    ];
    let mut items = Vec::new();
    for (section, cells, are_global) in sections {
        items.extend(cells.into_iter().map(|cell| {
            let is_hidden = are_global && !names_global(context, &cell.name);
            Item { section: section.clone(), cell, is_hidden }
        }));
    }
    items
}

/// The content of a row.
enum CellRow<'a> {
    Heading(&'a str),
    /// The index of an item, and the item.
    Item(usize, &'a Item),
}

/// Returns the visible rows. The scroll position counts items without headings, so the cursor might be below the
/// last visible row. In that case, the first rows are omitted until the cursor is visible.
fn rows<'a>(context: &Context<'_>, items: &'a [Item]) -> Vec<CellRow<'a>> {
    let height = usize::from(context.area.height);
    let mut first = context.scroll.top;
    loop {
        let rows = rows_from(items, first, height);
        let last =
            rows.iter().rev().find_map(|row| if let CellRow::Item(n, _) = row { Some(*n) } else { None });
        if last.is_none_or(|last| last >= context.scroll.cursor || first >= context.scroll.cursor) {
            return rows;
        }
        first += 1;
    }
}

fn rows_from(items: &[Item], first: usize, height: usize) -> Vec<CellRow<'_>> {
    let mut rows = Vec::new();
    let mut section = first.checked_sub(1).and_then(|before| items.get(before)).map(|item| &item.section);
    for (n, item) in items.iter().enumerate().skip(first).take(height) {
        if section != Some(&item.section) {
            rows.push(CellRow::Heading(&item.section));
        }
        section = Some(&item.section);
        rows.push(CellRow::Item(n, item));
    }
    rows.truncate(height);
    rows
}

fn names_global(context: &Context<'_>, name: &str) -> bool {
    let session = context.session;
    matches!(session.memory().base(session.state(), session.depth(), name), Some(Base::Global(_)))
}

/// Widths of the columns of names, values and, if shown, adjoints.
struct CellColumns {
    name: usize,
    value: usize,
    adjoint: usize,
}

impl CellColumns {
    fn new(items: &[Item], room: usize) -> CellColumns {
        let widest = |text: &dyn Fn(&CellView) -> Option<String>| {
            items.iter().filter_map(|item| text(&item.cell)).map(|text| width(&text)).max().unwrap_or(0)
        };
        let name = widest(&|cell| Some(cell.name.clone())).min(room / 2);
        let value = widest(&|cell| Some(signed(&cell.value)));
        let adjoint = widest(&|cell| cell.adjoint.as_ref().map(|adjoint| signed(&adjoint.value)));
        let (value, adjoint) = shared(value, adjoint, room.saturating_sub(name + SIGN + 2));
        CellColumns { name, value, adjoint }
    }

    /// Returns the column at which the values begin, counted from the left edge of the pane.
    fn values_at(&self) -> usize {
        SIGN + self.name + 1
    }

    fn adjoints_at(&self) -> usize {
        self.values_at() + self.value + 1
    }
}

/// Marks the item under the cursor. If the cell has an adjoint, also marks the value or the adjoint,
/// whichever is selected.
fn mark_item(context: &Context<'_>, columns: &CellColumns, item: &Item, row: Rect, buffer: &mut Buffer) {
    let part = |start: usize, width: usize| {
        let clamped = |columns: usize| u16::try_from(columns).unwrap_or(u16::MAX);
        Rect { x: row.x.saturating_add(clamped(start)), width: clamped(width), ..row }.intersection(row)
    };
    let name = part(SIGN, columns.name);
    if item.cell.adjoint.is_none() {
        return mark_cursor(context, row, name, buffer);
    }
    let column = match context.choices.adjoint {
        true => part(columns.adjoints_at(), columns.adjoint),
        false => part(columns.values_at(), columns.value),
    };
    [name, column].into_iter().for_each(|part| mark_cursor(context, part, part, buffer));
}

/// Width of the column that shows the effect of the last step.
const SIGN: usize = 2;

/// Divides `room` between two columns with the wanted widths `left` and `right`. If there is too little room, cuts
/// the two widths as little as possible.
pub(super) fn shared(left: usize, right: usize, room: usize) -> (usize, usize) {
    if right == 0 || left + right <= room {
        return (left, right);
    }
    let half = room / 2;
    match (left <= half, right <= half) {
        (true, _) => (left, room - left),
        (_, true) => (room - right, right),
        _ => (room - half, half),
    }
}

/// Draws the heading of a section and, if present, of the adjoint column.
fn draw_heading(context: &Context<'_>, columns: &CellColumns, heading: &str, row: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    let mut pen = Pen::new(row, buffer);
    let column = (SIGN + columns.name + columns.value + 3).min(pen.room().saturating_sub(width(ADJOINT)));
    if columns.adjoint > 0 && width(heading) < column {
        pen.column(heading, column, theme.heading).write(ADJOINT, theme.adjoint);
    } else {
        pen.write(heading, theme.heading);
    }
}

pub(super) const ADJOINT: &str = "adjoint";

fn draw_item(context: &Context<'_>, columns: &CellColumns, item: &Item, row: Rect, buffer: &mut Buffer) {
    let (theme, cell) = (context.theme, &item.cell);
    let (sign, style) = touch(context, cell);
    let mut pen = Pen::new(row, buffer);
    let sign = if cell.adjoint.as_ref().is_some_and(|adjoint| adjoint.changed) { "*" } else { sign };
    pen.column(sign, SIGN, style);
    pen.column(&cell.name, columns.name, if item.is_hidden { theme.dim } else { theme.text }).skip(1);
    pen.number(&signed(&cell.value), columns.value, style).skip(1);
    if let Some(adjoint) = &cell.adjoint {
        pen.number(&signed(&adjoint.value), columns.adjoint, adjoint_style(context, adjoint));
    } else {
        pen.skip(columns.adjoint);
    }
    pen.skip(if columns.adjoint > 0 { 2 } else { 1 });
    match (&cell.other, cell.adjoint.as_ref().and_then(|adjoint| adjoint.other.as_ref())) {
        (Some(value), Some(adjoint)) => pen.write(&format!("was {value}, adjoint {adjoint}"), theme.dim),
        (Some(value), None) => pen.write(&format!("was {value}"), theme.dim),
        (None, Some(adjoint)) => pen.write(&format!("adjoint was {adjoint}"), theme.dim),
        (None, None) if item.is_hidden => pen.write("shadowed", theme.dim),
        (None, None) => &mut pen,
    };
}

pub(super) fn adjoint_style(context: &Context<'_>, adjoint: &AdjointView) -> Style {
    match adjoint {
        AdjointView { changed: true, .. } => context.theme.changed,
        AdjointView { value, .. } if is_zero(value) => context.theme.dim,
        _ => context.theme.adjoint,
    }
}

fn is_zero(value: &str) -> bool {
    value.bytes().all(|digit| b"-0.".contains(&digit))
}

/// Returns a value with a blank before it if it has no sign, so that digits are aligned.
pub(super) fn signed(value: &str) -> String {
    if value.starts_with('-') { value.to_owned() } else { format!(" {value}") }
}

/// Returns a sign and a style for the effect of the last step on a cell. The step has changed the cell, written the
/// same value, or read the cell.
pub(super) fn touch(context: &Context<'_>, cell: &CellView) -> (&'static str, Style) {
    let theme = context.theme;
    match cell {
        CellView { changed: true, .. } => ("*", theme.changed),
        CellView { written: true, .. } => ("=", theme.written),
        CellView { read: true, .. } => ("›", theme.read),
        // A cell whose value is 0 is dimmed.
        CellView { value, .. } if is_zero(value) => ("", theme.dim),
        _ => ("", theme.text),
    }
}

#[cfg(test)]
mod tests {
    use super::shared;

    #[test]
    fn two_columns_share_the_rows() {
        assert_eq!(shared(5, 0, 3), (5, 0));
        assert_eq!(shared(5, 6, 11), (5, 6));
        assert_eq!(shared(20, 4, 14), (10, 4));
        assert_eq!(shared(4, 20, 14), (4, 10));
        assert_eq!(shared(20, 20, 15), (8, 7));
        assert_eq!(shared(20, 20, 0), (0, 0));
    }
}
