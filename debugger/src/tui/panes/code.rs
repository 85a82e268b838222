//! The code pane: source lines with breakpoints and their hits, the last executed and the next instruction,
//! and brackets that join each `br` with its `from`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use reviver_vm::Travel;

use super::calls::{call, short_value};
use super::text::{Pen, mark_cursor, mark_found};
use super::{Context, Pane, PaneSpot};
use crate::columns::width;
use crate::format::times;
use crate::listing::{Line, is_label};
use crate::view::code::{self, Bracket, BracketPart, CodeLine, CodePane};
use crate::view::stack::selected;

/// The code pane: the source text with its marks.
pub struct CodeWidget;

impl Pane for CodeWidget {
    fn title(&self, context: &Context<'_>) -> String {
        let file = context.session.listing().files().get(context.choices.file as usize);
        let name = file.map_or("", |file| file.name.as_str());
        // An included file is shown with its path, because several files may have the same name. The path of
        // the main file is omitted.
        let name = if context.choices.file > 0 { Some(name) } else { name.rsplit('/').next() };
        format!("code {}", name.unwrap_or_default()).trim_end().to_owned()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let first = number_of(context.scroll.top);
        let pane = code::code(context.session, context.choices.file, first, context.area.height.into());
        let gutter = Gutter::new(context, &pane);
        for (line, row) in pane.lines.iter().zip(context.area.rows()) {
            draw_line(context, &gutter, line, row, buffer);
        }
    }

    fn items(&self, context: &Context<'_>) -> usize {
        let file = context.session.listing().files().get(context.choices.file as usize);
        file.map_or(0, |file| file.lines.len())
    }

    fn spot(&self, context: &Context<'_>, item: usize) -> Option<PaneSpot> {
        let line = Line { file: context.choices.file, line: number_of(item) };
        (item < self.items(context)).then_some(PaneSpot::Line(line))
    }

    fn opens(&self) -> Option<&'static str> {
        Some("toggle break @")
    }

    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        let file = context.session.listing().files().get(context.choices.file as usize)?;
        file.lines.get(item).cloned()
    }
}

/// Returns the line number of an item: items count from 0, lines from 1.
fn number_of(item: usize) -> u32 {
    u32::try_from(item).unwrap_or(u32::MAX).saturating_add(1)
}

/// Minimum pane width for brackets, in columns.
const LEAST_FOR_BRACKETS: u16 = 30;

/// Minimum pane width for execution counts, in columns.
const LEAST_FOR_COUNTS: u16 = 56;

/// Data that determines what is drawn to the left of the text in each row.
struct Gutter {
    /// Number of digits of a line number.
    digits: usize,
    /// Width of the execution counts in columns; 0 if no counts are shown.
    counts: usize,
    /// Number of bracket columns.
    columns: usize,
    /// The line of the instruction that has trapped, if the session is at a trap.
    trap: Option<Line>,
    /// The first line of the selected frame's procedure, and the text of the frame's call with its arguments.
    /// `None` if main's frame is selected.
    call: Option<(Line, String)>,
}

impl Gutter {
    fn new(context: &Context<'_>, pane: &CodePane) -> Gutter {
        let columns = pane.lines.iter().flat_map(|line| &line.brackets).map(|b| b.column + 1).max();
        let has_room = context.area.width >= LEAST_FOR_BRACKETS;
        let trap = context.session.trap().map(|trap| context.session.listing().line(trap.at));
        let digits = pane.total.to_string().len();
        let most = pane.lines.iter().filter_map(|line| line.count).max().unwrap_or(0);
        let shows_counts = most > 0 && context.area.width >= LEAST_FOR_COUNTS;
        let counts = if shows_counts { width(&times(most)) } else { 0 };
        let frame = selected(context.session).filter(|frame| !frame.arguments.is_empty());
        let call = frame.map(|frame| (frame.head, call(&frame)));
        Gutter { digits, counts, columns: columns.filter(|_| has_room).unwrap_or(0), trap, call }
    }
}

fn draw_line(context: &Context<'_>, gutter: &Gutter, line: &CodeLine, row: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    let mut pen = Pen::new(row, buffer);
    match line.breakpoints.first() {
        Some(_) if line.breakpoints.iter().any(|point| point.enabled) => pen.write("●", theme.breakpoint),
        Some(_) => pen.write("○", theme.breakpoint_off),
        None => pen.skip(1),
    };
    match context.session.facing() {
        _ if !line.is_executed => pen.skip(1),
        Travel::Forward => pen.write("↓", theme.forward),
        Travel::Backward => pen.write("↑", theme.backward),
    };
    let is_trap = gutter.trap == Some(Line { file: context.choices.file, line: line.line });
    match line {
        _ if is_trap => pen.write("×", theme.trap),
        CodeLine { is_next: true, .. } => pen.write("►", theme.next),
        CodeLine { is_call: true, .. } => pen.write("▷", theme.label),
        _ => pen.skip(1),
    };
    pen.write(&format!("{:>1$} ", line.line, gutter.digits), theme.dim);
    if gutter.counts > 0 {
        let count = line.count.filter(|count| *count > 0).map_or(String::new(), times);
        pen.write(&format!("{count:>0$} ", gutter.counts), theme.bracket);
    }
    let hits: u64 = line.breakpoints.iter().map(|point| point.hits).sum();
    match hits {
        0 => &mut pen,
        1 => pen.right("1 hit", 12, theme.breakpoint),
        _ => pen.right(&format!("{hits} hits"), 12, theme.breakpoint),
    };
    match &gutter.call {
        Some((head, call)) if *head == (Line { file: context.choices.file, line: line.line }) => {
            let least = gutter.columns + 3 + width(line.text.trim_end());
            pen.right(call, least, theme.mark);
        }
        _ => draw_detail(context, gutter, line, &mut pen),
    }
    draw_brackets(context, line, gutter.columns, &mut pen);
    draw_text(context, line, &mut pen);
    if line.is_next {
        buffer.set_style(row, theme.next);
    }
    mark_found(context, row, buffer);
    if line.line == number_of(context.scroll.cursor) {
        let number = Rect { x: row.x.saturating_add(3), width: gutter.digits as u16, ..row };
        mark_cursor(context, row, number, buffer);
    }
}

/// Draws details of the next instruction at the right end of its line: the arguments of a call, or the instruction
/// itself. If there is too little room after the statement, draws only the number of the instruction within its
/// line, such as `2/5`.
fn draw_detail(context: &Context<'_>, gutter: &Gutter, line: &CodeLine, pen: &mut Pen<'_>) {
    let statement = line.text.split(';').next().unwrap_or_default().replace('\t', "    ");
    let least = gutter.columns + 3 + width(statement.trim_end());
    // The text of the line contains the name of the called procedure, so only the arguments are shown.
    let call = context.card.filter(|_| line.is_next).and_then(|card| card.call(&short_value));
    let given = call.as_deref().and_then(|call| call.find('(').and_then(|at| call.get(at..)));
    if let Some(given) = given.filter(|given| width(given) + least <= pen.room()) {
        pen.right(given, least, context.theme.mark);
        return;
    }
    let Some(detail) = &line.detail else { return };
    let text = detail.text();
    let (number, total) = detail.part;
    match width(&text) + least <= pen.room() {
        true => pen.right(&text, least, context.theme.dim),
        false if total > 1 => pen.right(&format!("{number}/{total}"), 12, context.theme.dim),
        false => pen,
    };
}

/// Draws the brackets of a line from left to right, outermost first. If the next step takes a branch to this line,
/// an arrow leads from the bracket to the text.
fn draw_brackets(context: &Context<'_>, line: &CodeLine, columns: usize, pen: &mut Pen<'_>) {
    if columns == 0 {
        return;
    }
    // A bracket that begins or ends on this line. A horizontal line leads from this bracket to the text.
    let mut horizontal: Option<&Bracket> = None;
    for column in (0..columns).rev() {
        let bracket = line.brackets.iter().find(|bracket| bracket.column == column);
        let crossing = horizontal.is_some();
        if let Some(touching) = bracket.filter(|bracket| bracket.part != BracketPart::Middle) {
            horizontal = Some(horizontal.filter(|horizontal| horizontal.is_current).unwrap_or(touching));
        }
        let sign = match (bracket.map(|bracket| bracket.part), crossing) {
            (None, false) => " ",
            (None, true) => "─",
            (Some(BracketPart::Top), false) => "┌",
            (Some(BracketPart::Top), true) => "┬",
            (Some(BracketPart::Middle), false) => "│",
            (Some(BracketPart::Middle), true) => "┼",
            (Some(BracketPart::Bottom), false) => "└",
            (Some(BracketPart::Bottom), true) => "┴",
        };
        pen.write(sign, bracket_style(context, bracket.or(horizontal)));
    }
    let lands = line.brackets.iter().any(|bracket| bracket.part != BracketPart::Middle && !bracket.is_br);
    match horizontal {
        Some(horizontal) => {
            pen.write(if lands { "►" } else { "─" }, bracket_style(context, Some(horizontal)))
        }
        None => pen.skip(1),
    };
    pen.skip(1);
}

fn bracket_style(context: &Context<'_>, bracket: Option<&Bracket>) -> Style {
    let is_current = bracket.is_some_and(|bracket| bracket.is_current);
    if is_current { context.theme.bracket_here } else { context.theme.bracket }
}

/// Draws the label, the statement and the comment of a line.
fn draw_text(context: &Context<'_>, line: &CodeLine, pen: &mut Pen<'_>) {
    let theme = context.theme;
    let statement_style = if line.is_executed { theme.executed } else { theme.text };
    let text = line.text.replace('\t', "    ");
    let (statement, comment) = text.split_at(text.find(';').unwrap_or(text.len()));
    let (label, statement) = statement.split_at(label_length(statement));
    pen.write(label, theme.label);
    // Blanks at the end are dropped; otherwise an ellipsis could show that blanks are cut.
    let statement = if comment.is_empty() { statement.trim_end() } else { statement };
    pen.write(statement, statement_style).write(comment, theme.dim);
}

/// Returns the length in bytes of a statement's label, including the colon; 0 if there is none.
fn label_length(statement: &str) -> usize {
    match statement.split_once(':') {
        Some((label, _)) if is_label(label) => label.len() + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_distinguished_from_declarations() {
        assert_eq!(label_length("top:    from  again, a != 0"), 4);
        assert_eq!(label_length("  a$1: neg x"), 6);
        assert_eq!(label_length(".inout x: real"), 0);
        assert_eq!(label_length("        add a, b"), 0);
        assert_eq!(label_length(":"), 0);
    }
}
