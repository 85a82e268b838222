//! Rendering of views as text: code, cells, calls, the instruction card.

use std::fmt::Write as _;

use reviver_isa::module::Shape;

use super::RenderedText;
use crate::columns::width;
use crate::command::table::InstructionLine;
use crate::format::times;
use crate::outcome::ValueRow;
use crate::view::card::CardView;
use crate::view::cells::{ArrayView, CellView, CellsPane};
use crate::view::code::{Bracket, BracketPart, CodeLine, CodePane};
use crate::view::stack::{ArgumentView, FrameView};

/// Maximum width of the instruction column, in columns of the terminal. After a wider instruction, the statement
/// isn't aligned with the other statements.
const WIDEST_INSTRUCTION: usize = 36;

impl RenderedText<'_> {
    pub(super) fn code(&mut self, pane: &CodePane) {
        let columns = pane.lines.iter().flat_map(|line| &line.brackets).map(|b| b.column + 1).max();
        if pane.is_included {
            line!(self, "{}:", pane.file);
        }
        let count = |line: &CodeLine| line.count.filter(|count| *count > 0).map_or(String::new(), times);
        let widest = pane.lines.iter().map(|line| count(line).chars().count()).max().unwrap_or(0);
        for line in &pane.lines {
            let drawn = brackets(line, columns.unwrap_or(0));
            let marker = match line {
                CodeLine { is_next: true, .. } => "=>",
                CodeLine { is_call: true, .. } => " >",
                CodeLine { is_executed: true, .. } => " -",
                _ => "  ",
            };
            let point = match line.breakpoints.first() {
                Some(point) if point.enabled => "*",
                Some(_) => "o",
                None => " ",
            };
            let counted = if widest > 0 { format!("{:>widest$} ", count(line)) } else { String::new() };
            let text = format!("{point}{marker} {:>4} {counted}{drawn} {}", line.line, line.text);
            line!(self, "{}", text.trim_end());
        }
    }

    /// Renders lines with their execution counts in front.
    pub(super) fn counts(&mut self, lines: &[CodeLine]) {
        let text = |line: &CodeLine| line.count.unwrap_or(0).to_string();
        let widest = lines.iter().map(|line| text(line).len()).max().unwrap_or(0);
        for line in lines {
            let marker = if line.is_next { "=>" } else { "  " };
            line!(self, "{:>widest$} {marker} {:>4}  {}", text(line), line.line, line.text.trim_end());
        }
    }

    /// Renders instructions with their statements next to them.
    pub(super) fn instructions(&mut self, list: &[InstructionLine]) {
        let widest = list.iter().map(|line| width(&line.text)).max().unwrap_or(0).min(WIDEST_INSTRUCTION);
        for InstructionLine { at, text, line, words, is_next } in list {
            let marker = if *is_next { "=>" } else { "  " };
            let blanks = " ".repeat(widest.saturating_sub(width(text)));
            let words = words.as_ref().map_or(String::new(), |words| format!(": {words}"));
            line!(self, "{marker} {at:>5}  {text}{blanks}  ; {line}{words}");
        }
    }

    pub(super) fn frame(&mut self, frame: &FrameView) {
        let arguments: Vec<String> = frame.arguments.iter().map(argument).collect();
        let inverted = if frame.inverted { " inverted" } else { "" };
        let (number, name) = (frame.number, &frame.procedure);
        let (arguments, text) = (arguments.join(", "), &frame.instruction);
        let line = self.session.listing().name(frame.line);
        line!(self, "#{number} {name}({arguments}){inverted} at `{text}` ({line})");
    }

    pub(super) fn cells(&mut self, pane: &CellsPane) {
        let lists = [&pane.globals, &pane.registers, &pane.parameters, &pane.ancillas];
        if pane.arrays.is_empty() && lists.iter().all(|list| list.is_empty()) {
            line!(self, "there are no cells");
        }
        lists.into_iter().flatten().for_each(|cell| self.cell(cell));
        for array in &pane.arrays {
            let shape = match array.shape {
                Shape::Matrix(rows, columns) => format!("{rows}, {columns}"),
                shape => shape.cells().to_string(),
            };
            line!(self, "{}[{shape}]: {}", array.name, array.class.name());
        }
    }

    fn cell(&mut self, cell: &CellView) {
        let what = match (&cell.other, cell.written, cell.read) {
            (Some(other), ..) => format!("  (was {other})"),
            (None, true, _) => "  (written)".to_owned(),
            (None, false, true) => "  (read)".to_owned(),
            (None, false, false) => String::new(),
        };
        let adjoint = cell.adjoint.as_ref().map_or(String::new(), |adjoint| {
            let was = adjoint.other.as_ref().map_or(String::new(), |other| format!("  (was {other})"));
            format!("    {} = {}{was}", adjoint.name, adjoint.value)
        });
        line!(self, "{} = {}{what}{adjoint}", cell.name, cell.value);
    }

    pub(super) fn array(&mut self, array: &ArrayView) {
        for cell in &array.elements {
            self.cell(cell);
        }
        let shown = array.first.saturating_add(array.elements.len() as u64);
        let left = array.facts.shape.cells().saturating_sub(shown);
        if left > 0 {
            line!(self, "… and {left} more");
        }
    }

    pub(super) fn row(&mut self, row: &ValueRow) {
        let more = if row.total > row.next.len() { ", …" } else { "" };
        match row.total {
            0 => line!(self, "{}: empty", row.name),
            total => line!(self, "{}: {total}, next {}{more}", row.name, row.next.join(", ")),
        }
    }

    pub(super) fn card(&mut self, view: &CardView) {
        let end = if view.is_end { "the end, after " } else { "" };
        line!(self, "{end}{} ({})", view.instruction, self.session.listing().name(view.line));
        let mut last = None;
        for (topic, text) in view.lines(&str::to_owned) {
            let name = if last == Some(topic) { "" } else { topic.name() };
            line!(self, "  {name:<9} {}", text.formula);
            text.numbers.iter().for_each(|numbers| line!(self, "  {:<9} {numbers}", ""));
            last = Some(topic);
        }
    }
}

/// Renders an argument of a call. If the passed cell has another name than the parameter, both names are
/// shown.
fn argument(argument: &ArgumentView) -> String {
    let ArgumentView { name, stands_for, value } = argument;
    match value {
        Some(value) if name != stands_for && value != stands_for => format!("{name}={value} ({stands_for})"),
        _ => argument.text(),
    }
}

/// Renders the brackets of a line from left to right, outermost first. An arrow marks the target of a taken
/// branch.
fn brackets(line: &CodeLine, columns: usize) -> String {
    let part = |column: usize| {
        let bracket = line.brackets.iter().find(|bracket: &&Bracket| bracket.column == column);
        match bracket.map(|bracket| bracket.part) {
            None => ' ',
            Some(BracketPart::Top) => '┌',
            Some(BracketPart::Middle) => '│',
            Some(BracketPart::Bottom) => '└',
        }
    };
    let touches = line.brackets.iter().find(|bracket| bracket.part != BracketPart::Middle);
    let end = touches.map_or(' ', |bracket| if bracket.is_br { '─' } else { '>' });
    (0..columns).rev().map(part).chain([end]).collect()
}
