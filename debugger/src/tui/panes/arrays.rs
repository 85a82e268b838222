//! The arrays pane. If there is room, the pane shows several arrays below each other, otherwise a part of one
//! array. A row has as many elements as fit. The items of the pane are the elements of the chosen array.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_isa::names::adjoint_name;

use super::cells::{
    ADJOINT, adjoint_style, chosen as chosen_name, shared, signed, touch, without_missing_cell,
};
use super::text::{Pen, mark_cursor, remark};
use super::{Context, Pane, PaneKind, PaneSpot};
use crate::columns::width;
use crate::memory::{Cell, Storage};
use crate::view::cells::{self, ArrayFacts};

/// The arrays pane, which shows the elements of arrays in a grid.
pub struct ArraysWidget;

impl Pane for ArraysWidget {
    fn array_at(&self, context: &Context<'_>, place: Position) -> Option<String> {
        let context = &without_missing_cell(context, PaneKind::Arrays, None);
        let grids = stacked(context).filter(|_| context.area.contains(place))?;
        array_at(context, &grids, place).map(|(name, _)| name)
    }

    fn title(&self, context: &Context<'_>) -> String {
        let Some((facts, number, count)) = chosen(context) else { return "arrays".to_owned() };
        if let Some(grids) = stacked(context) {
            return if grids.len() == count {
                "arrays".to_owned()
            } else {
                format!("{} of {count} arrays", grids.len())
            };
        }
        let which = if count > 1 { format!(" ({number} of {count})") } else { String::new() };
        format!("array {}{which}", declared(&facts))
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let context = &without_missing_cell(context, PaneKind::Arrays, Some(buffer));
        let Some(grid) = Grid::new(context) else { return remark(context, "no arrays here", buffer) };
        let is_here = context.choices.lost(PaneKind::Arrays).is_none();
        let cursor = is_here.then_some(context.scroll.cursor);
        match stacked(context) {
            Some(grids) => draw_all(context, &grids, &grid.facts.name, cursor, buffer),
            None => {
                let rows = self.scrolled(context);
                if rows != context.area {
                    grid.draw_heading(context, "", context.area, buffer);
                }
                for (line, row) in (context.scroll.top..).zip(rows.rows()) {
                    grid.draw_row(context, line, cursor, row, buffer);
                }
            }
        }
    }

    fn items(&self, context: &Context<'_>) -> usize {
        chosen(context).map_or(0, |(facts, ..)| facts.shape.cells() as usize)
    }

    fn columns(&self, context: &Context<'_>) -> usize {
        Grid::new(context).map_or(1, |grid| grid.columns)
    }

    /// Returns the area without the heading of the adjoints. Only a single array that is shown with adjoints has
    /// such a heading.
    fn scrolled(&self, context: &Context<'_>) -> Rect {
        let has_heading = context.area.height > 1 && stacked(context).is_none();
        match Grid::new(context).filter(|grid| has_heading && grid.adjoint > 0) {
            Some(_) => Rect { y: context.area.y + 1, height: context.area.height - 1, ..context.area },
            None => context.area,
        }
    }

    fn spot(&self, context: &Context<'_>, item: usize) -> Option<PaneSpot> {
        let (facts, ..) = chosen(context)?;
        let array = cells::array(context.session, &[], &facts.name, item as u64, 1).ok()?;
        array.elements.into_iter().next().map(|element| PaneSpot::Cell(chosen_name(context, element)))
    }

    fn opens(&self) -> Option<&'static str> {
        Some("why @")
    }

    fn item_at(&self, context: &Context<'_>, place: Position) -> Option<usize> {
        let grid = Grid::new(context).filter(|_| context.area.contains(place))?;
        let column = usize::from(place.x - context.area.x).checked_sub(grid.label)? / grid.pitch();
        let row = match stacked(context) {
            Some(grids) => array_at(context, &grids, place).filter(|(n, _)| *n == grid.facts.name)?.1,
            None => context.scroll.top + usize::from(place.y.checked_sub(self.scrolled(context).y)?),
        };
        let item = row.checked_mul(grid.columns)? + column;
        (column < grid.columns && item < self.items(context)).then_some(item)
    }

    fn is_adjoint_at(&self, context: &Context<'_>, place: Position) -> bool {
        let Some(grid) = Grid::new(context).filter(|grid| grid.adjoint > 0) else { return false };
        let behind = usize::from(place.x.saturating_sub(context.area.x)).checked_sub(grid.label);
        behind.is_some_and(|columns| columns % grid.pitch() > grid.value)
    }
}

/// Returns the chosen array, its number counted from 1, and the number of arrays.
fn chosen(context: &Context<'_>) -> Option<(ArrayFacts, usize, usize)> {
    let arrays = cells::cells(context.session, &[]).arrays;
    let wanted = context.choices.array.as_deref();
    let number = arrays.iter().position(|array| Some(array.name.as_str()) == wanted).unwrap_or(0);
    let count = arrays.len();
    arrays.into_iter().nth(number).map(|facts| (facts, number + 1, count))
}

/// Renders an array like its declaration: `A[6]`, `M[2, 3]`.
fn declared(facts: &ArrayFacts) -> String {
    match facts.shape {
        Shape::Matrix(rows, columns) => format!("{}[{rows}, {columns}]", facts.name),
        shape => format!("{}[{}]", facts.name, shape.cells()),
    }
}

/// Returns the layouts of several arrays that fit below each other, one of which is the chosen array. Returns
/// `None` if only one array fits.
fn stacked(context: &Context<'_>) -> Option<Vec<Grid>> {
    let (_, number, count) = chosen(context)?;
    // If all arrays up to the chosen one fit, start with the first array; otherwise start with the chosen one.
    let mut starts = [0, number - 1].into_iter().filter(|_| count > 1);
    starts.find_map(|start| {
        let grids = fitting(context, start);
        (grids.len() > 1 && start + grids.len() >= number).then_some(grids)
    })
}

/// Returns the layouts of as many arrays as fit, beginning with the array of index `start`. Above each array is its
/// name.
fn fitting(context: &Context<'_>, start: usize) -> Vec<Grid> {
    let mut left = usize::from(context.area.height);
    let mut grids = Vec::new();
    for facts in cells::cells(context.session, &[]).arrays.into_iter().skip(start) {
        // Each array needs at least two rows: its name and one row of elements.
        let Some(grid) = Some(facts).filter(|_| left > 1).and_then(|facts| Grid::of(context, facts)) else {
            break;
        };
        match left.checked_sub(grid.rows().saturating_add(1)) {
            Some(rest) => left = rest,
            None => break,
        }
        grids.push(grid);
    }
    grids
}

/// Returns each array with the row of its name.
fn starts(grids: &[Grid]) -> impl Iterator<Item = (usize, &Grid)> {
    grids.iter().scan(0, |row, grid| {
        let start = *row;
        *row += grid.rows() + 1;
        Some((start, grid))
    })
}

/// Returns the array at a position, and the row within that array.
fn array_at(context: &Context<'_>, grids: &[Grid], place: Position) -> Option<(String, usize)> {
    let row = usize::from(place.y.checked_sub(context.area.y)?);
    let found = starts(grids).find(|(start, grid)| (start + 1..=start + grid.rows()).contains(&row));
    found.map(|(start, grid)| (grid.facts.name.clone(), row - start - 1))
}

fn draw_all(context: &Context<'_>, grids: &[Grid], chosen: &str, cursor: Option<usize>, buffer: &mut Buffer) {
    let mut rows = context.area.rows();
    for grid in grids {
        if let Some(row) = rows.next() {
            grid.draw_heading(context, &declared(&grid.facts), row, buffer);
        }
        let cursor = cursor.filter(|_| grid.facts.name == chosen);
        for (line, row) in (0..grid.rows()).zip(&mut rows) {
            grid.draw_row(context, line, cursor, row, buffer);
        }
    }
}

/// The layout of an array's elements.
struct Grid {
    facts: ArrayFacts,
    /// Width of a row's label, in columns.
    label: usize,
    /// Width of a value, in columns. A sign is to the left of each value, and a blank to its right.
    value: usize,
    /// Width of the adjoint after the value, in columns; 0 if adjoints aren't shown.
    adjoint: usize,
    /// Number of elements in a row.
    columns: usize,
}

/// Preferred numbers of elements in a row, for arrays other than matrices.
const ROUND: [usize; 7] = [20, 10, 8, 5, 4, 2, 1];

impl Grid {
    fn new(context: &Context<'_>) -> Option<Grid> {
        let (facts, ..) = chosen(context)?;
        Grid::of(context, facts)
    }

    fn of(context: &Context<'_>, facts: ArrayFacts) -> Option<Grid> {
        let storage = context.session.array(&facts.name).ok()?;
        let last = facts.shape.cells().saturating_sub(1);
        let label = width(&row_label(facts.shape, last)) + 1;
        let room = usize::from(context.area.width).saturating_sub(label);
        let shows_adjoints = storage.class() == Class::Real && cells::shows_adjoints(context.session);
        let adjoint = if shows_adjoints { widest(context, storage, Cell::adjoint) + 1 } else { 0 };
        let value = widest(context, storage, Some);
        let (value, adjoint) = shared(value, adjoint, room.saturating_sub(2));
        let value = value.min(room.saturating_sub(2)).max(1);
        let fitting = room / (value + adjoint + 2);
        let columns = match facts.shape {
            Shape::Matrix(_, columns) if (1..=fitting).contains(&(columns as usize)) => columns as usize,
            shape if shape.cells() <= fitting as u64 => (shape.cells() as usize).max(1),
            _ => ROUND.into_iter().find(|columns| *columns <= fitting).unwrap_or(1),
        };
        Some(Grid { facts, label, value, adjoint, columns })
    }

    fn rows(&self) -> usize {
        usize::try_from(self.facts.shape.cells()).unwrap_or(usize::MAX).div_ceil(self.columns)
    }

    /// Returns the number of columns from an element to the next one in the same row.
    fn pitch(&self) -> usize {
        self.value + self.adjoint + 2
    }

    /// Draws the heading of an array. If adjoints are shown, also draws a heading above each column of
    /// adjoints.
    fn draw_heading(&self, context: &Context<'_>, heading: &str, area: Rect, buffer: &mut Buffer) {
        let row = Rect { height: 1, ..area };
        let theme = context.theme;
        Pen::new(row, buffer).write(heading, theme.heading);
        let own = adjoint_name(&self.facts.name);
        let text = if width(ADJOINT) < self.adjoint { ADJOINT } else { &own };
        let mut free = if heading.is_empty() { 0 } else { width(heading) + 1 };
        for column in (0..self.columns).filter(|_| self.adjoint > 0) {
            // The digits of a number begin one column after its sign.
            let start = (self.label + column * self.pitch() + self.value + 3).max(free);
            free = self.label + (column + 1) * self.pitch();
            let is_last = column + 1 == self.columns;
            let end = if is_last { usize::from(row.width) } else { free };
            let [x, end] = [start, end].map(|x| row.x.saturating_add(u16::try_from(x).unwrap_or(u16::MAX)));
            let place = Rect { x, width: end.saturating_sub(x), ..row }.intersection(row);
            Pen::new(place, buffer).write(text, theme.adjoint);
        }
    }

    /// Draws a row of elements, with the cursor if it is in the row.
    fn draw_row(
        &self,
        context: &Context<'_>,
        line: usize,
        cursor: Option<usize>,
        row: Rect,
        buffer: &mut Buffer,
    ) {
        let first = line.saturating_mul(self.columns);
        let name = &self.facts.name;
        let array = cells::array(context.session, context.footprint, name, first as u64, self.columns);
        let elements = array.map_or(Vec::new(), |array| array.elements);
        if elements.is_empty() {
            return;
        }
        let label = row_label(self.facts.shape, first as u64);
        let mut pen = Pen::new(row, buffer);
        pen.column(&label, self.label, context.theme.dim);
        for element in &elements {
            let (sign, style) = touch(context, element);
            pen.column(sign, 1, style).number(&signed(&element.value), self.value, style);
            match &element.adjoint {
                Some(adjoint) => {
                    let style = adjoint_style(context, adjoint);
                    pen.skip(1).number(&signed(&adjoint.value), self.adjoint.saturating_sub(1), style)
                }
                None => pen.skip(self.adjoint),
            };
            pen.skip(1);
        }
        let column = cursor.and_then(|cursor| cursor.checked_sub(first)).filter(|n| *n < elements.len());
        if let Some(column) = column {
            let (start, width) = match self.adjoint {
                0 => (0, self.pitch() - 1),
                // Mark either the sign and the value, or the adjoint after them.
                _ if context.choices.adjoint => (self.value + 1, self.adjoint),
                _ => (0, self.value + 1),
            };
            let x = row.x.saturating_add((self.label + column * self.pitch() + start) as u16);
            let cell = Rect { x, width: width as u16, ..row }.intersection(row);
            mark_cursor(context, cell, cell, buffer);
        }
    }
}

/// Returns the label of a row: the index of its first element.
fn row_label(shape: Shape, first: u64) -> String {
    match shape {
        Shape::Matrix(_, columns) => {
            let columns = u64::from(columns.max(1));
            format!("[{}, {}]", first / columns, first % columns)
        }
        _ => format!("[{first}]"),
    }
}

/// Maximum number of elements from which the column width is determined.
const SAMPLES: u64 = 256;

/// Returns a width, in columns, that is sufficient for most values of an array. The width is determined from
/// elements of the whole array. If it depended on the visible elements, scrolling would change the layout.
fn widest(context: &Context<'_>, storage: Storage, shown: impl Fn(Cell) -> Option<Cell>) -> usize {
    let (memory, state) = (context.session.memory(), context.session.state());
    let stride = (storage.cells() / SAMPLES).max(1) as usize;
    let near = 0..storage.cells().min(SAMPLES);
    let spread = (0..storage.cells()).step_by(stride).take(SAMPLES as usize);
    let cells = near.chain(spread).filter_map(|n| storage.cell(n)).filter_map(shown);
    let widest = cells.map(|cell| width(&signed(&memory.text(state, cell)))).max().unwrap_or(0);
    widest.next_multiple_of(2)
}
