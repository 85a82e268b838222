//! Memory-oriented computational graphs, as in the NiLang paper (Liu and Zhao, "Differentiate everything with a
//! reversible embedded domain-specific language", 2020). Each cell or array is one vertical line, because statements
//! change memory in place. Each statement is a row: a box on the lines that it changes, and a dot on the lines that it
//! reads. Statements that cancel each other are grey and dashed. This module depends on no program.

use std::ops::RangeInclusive;

use crate::canvas::{Canvas, Letters, Side, code_width, cut};
use crate::memory_words::{cancelled_rows, notes};
use crate::palette::Ink;

/// The graph of one procedure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryGraph {
    /// The name of the procedure.
    pub name: String,
    /// The lines from left to right.
    pub lines: Vec<MemoryLine>,
    /// The statements in the order of the text.
    pub rows: Vec<MemoryRow>,
    /// The frames around the rows of loops and other statements with bodies.
    pub frames: Vec<MemoryFrame>,
    /// The pairs of statements that cancel each other.
    pub pairs: Vec<Cancellation>,
}

/// A line: a cell, an array, a stack or a tape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLine {
    /// The name, drawn above the line.
    pub name: String,
    /// True for several cells, whose line is double.
    pub is_array: bool,
    /// The rows in which a local variable exists; empty if the cell exists in the whole procedure.
    pub lives: Vec<RangeInclusive<usize>>,
}

/// A row: a statement, or a word that delimits bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryRow {
    /// The text of the statement.
    pub text: String,
    /// The number of indentation steps.
    pub depth: usize,
    /// The marks on the lines, from left to right.
    pub marks: Vec<MemoryMark>,
}

/// The mark of a statement on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryMark {
    /// The index of the line.
    pub line: usize,
    /// True if the statement changes the cell, or a cell of the array.
    pub changes: bool,
    /// True if the statement reads the cell, or another cell of the array.
    pub reads: bool,
}

/// A frame around a statement with bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFrame {
    /// The rows in the frame.
    pub rows: RangeInclusive<usize>,
    /// The number of frames around this frame.
    pub depth: usize,
}

/// A statement and the later statement that undoes it, each with the rows in its frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cancellation {
    /// The rows of the earlier statement.
    pub first: RangeInclusive<usize>,
    /// The rows of the later statement.
    pub second: RangeInclusive<usize>,
}

/// Maximum number of characters of a statement's text; a longer text is cut.
pub(crate) const LONGEST_TEXT: usize = 44;
/// Maximum number of characters of a line's name; a longer name is cut.
pub(crate) const LONGEST_NAME: usize = 14;
/// Minimum number of rows of a graph whose names are repeated below the lines.
const LONG: usize = 16;

const ROW: f64 = 24.0;
const INDENT: f64 = 18.0;
const TITLE: Letters = Letters { ink: Ink::Text, size: 15.0, side: Side::Start, is_code: false };
const CODE: Letters = Letters { ink: Ink::Text, size: 13.0, side: Side::Start, is_code: true };
pub(crate) const NOTE: Letters = Letters { ink: Ink::Faint, size: 12.0, side: Side::Start, is_code: false };

/// The positions of a graph's parts.
struct Layout {
    left: f64,
    top: f64,
    /// The left end of texts that aren't indented.
    text: f64,
    /// The horizontal positions of the lines.
    lines: Vec<f64>,
    /// The right end of the innermost frames.
    right: f64,
    /// The maximum depth of frames, plus 1.
    frames: usize,
    /// The left end of notes.
    note: f64,
    width: f64,
}

impl Layout {
    fn new(graph: &MemoryGraph, (left, top): (f64, f64)) -> Layout {
        let number = code_width(&graph.rows.len().to_string(), NOTE.size);
        let text = left + number + 22.0;
        let end = |row: &MemoryRow| indent(row.depth) + code_width(&cut(&row.text, LONGEST_TEXT), CODE.size);
        let mut x = text + graph.rows.iter().map(end).fold(60.0, f64::max) + 14.0;
        let place = |line: &MemoryLine| {
            let width = (code_width(&cut(&line.name, LONGEST_NAME), CODE.size) + 14.0).max(30.0);
            x += width;
            x - width / 2.0
        };
        let lines: Vec<f64> = graph.lines.iter().map(place).collect();
        let frames = graph.frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(0);
        let right = x + 4.0;
        let note = right + INSET * frames as f64 + 10.0;
        let longest =
            notes(graph).iter().flatten().map(|note| code_width(note, NOTE.size)).fold(0.0, f64::max);
        Layout { left, top, text, lines, right, frames, note, width: note + longest - left }
    }

    fn x(&self, line: usize) -> f64 {
        self.lines.get(line).copied().unwrap_or(self.right)
    }

    fn y(&self, row: usize) -> f64 {
        self.top + 74.0 + ROW * row as f64
    }
}

/// The distance between the right ends of nested frames.
const INSET: f64 = 5.0;

fn indent(depth: usize) -> f64 {
    INDENT * depth as f64
}

impl MemoryGraph {
    /// Draws the graph with its top left corner at the given point. Returns the width and the height of the drawing.
    pub fn draw(&self, canvas: &mut Canvas, corner: (f64, f64)) -> (f64, f64) {
        let layout = Layout::new(self, corner);
        canvas.text((layout.left, layout.top + 12.0), &self.name, TITLE);
        // An outer frame is drawn before the frames in it, because it covers the shapes below it.
        let mut frames: Vec<&MemoryFrame> = self.frames.iter().collect();
        frames.sort_by_key(|frame| frame.depth);
        frames.into_iter().for_each(|frame| draw_frame(canvas, &layout, frame));
        self.draw_leaders(canvas, &layout);
        for (n, line) in self.lines.iter().enumerate() {
            self.draw_line(canvas, &layout, (layout.x(n), line));
        }
        let (cancelled, notes) = (cancelled_rows(self), notes(self));
        for (n, row) in self.rows.iter().enumerate() {
            let is_cancelled = cancelled.get(n).copied().unwrap_or(false);
            let note = notes.get(n).cloned().flatten();
            draw_row(canvas, &layout, (n, row), is_cancelled, note.as_deref());
        }
        let names_below = if self.rows.len() >= LONG { ROW } else { 0.0 };
        (layout.width, layout.y(self.rows.len()) - layout.top + names_below)
    }

    /// Draws faint lines from the texts to their marks.
    fn draw_leaders(&self, canvas: &mut Canvas, layout: &Layout) {
        for (n, row) in self.rows.iter().enumerate() {
            let Some(mark) = row.marks.first() else { continue };
            let end = indent(row.depth) + code_width(&cut(&row.text, LONGEST_TEXT), CODE.size) + 4.0;
            let y = layout.y(n);
            canvas.path(&[(layout.text + end, y), (layout.x(mark.line), y)], Ink::Grid);
        }
    }

    fn draw_line(&self, canvas: &mut Canvas, layout: &Layout, (x, line): (f64, &MemoryLine)) {
        let (above, below) = (layout.y(0) - ROW, layout.y(self.rows.len()) - 4.0);
        let mut draw = |top: f64, bottom: f64, ink: Ink| {
            let offsets: &[f64] = if line.is_array { &[-2.0, 2.0] } else { &[0.0] };
            for offset in offsets {
                canvas.path(&[(x + offset, top), (x + offset, bottom)], ink);
            }
        };
        draw(above, below, if line.lives.is_empty() { Ink::Text } else { Ink::Grid });
        for rows in &line.lives {
            draw(layout.y(*rows.start()), layout.y(*rows.end()), Ink::Text);
        }
        let name = cut(&line.name, LONGEST_NAME);
        let letters = Letters { side: Side::Middle, ..CODE };
        canvas.text((x, above - 10.0), &name, letters);
        if self.rows.len() >= LONG {
            canvas.text((x, below + 12.0), &name, letters);
        }
    }
}

fn draw_frame(canvas: &mut Canvas, layout: &Layout, frame: &MemoryFrame) {
    let depth = frame.depth as f64;
    let left = layout.text + indent(frame.depth) - 8.0;
    let right = layout.right + INSET * layout.frames.saturating_sub(frame.depth) as f64;
    // Frames that end in the same row have different lower ends.
    let (top, bottom) =
        (layout.y(*frame.rows.start()) - 11.0, layout.y(*frame.rows.end()) + 11.0 - (depth * 1.5).min(3.0));
    canvas.rectangle((left, top), (right - left, bottom - top), Ink::Ground, Ink::Faint);
}

fn draw_row(
    canvas: &mut Canvas,
    layout: &Layout,
    (n, row): (usize, &MemoryRow),
    is_cancelled: bool,
    note: Option<&str>,
) {
    let y = layout.y(n);
    let ink = if is_cancelled { Ink::Faint } else { Ink::Text };
    let number = Letters { side: Side::End, ..NOTE };
    canvas.text((layout.text - 14.0, y), &(n + 1).to_string(), number);
    let text = cut(&row.text, LONGEST_TEXT);
    canvas.text((layout.text + indent(row.depth), y), &text, Letters { ink, ..CODE });
    if let [first, .., last] = &row.marks[..] {
        let ends = [(layout.x(first.line), y), (layout.x(last.line), y)];
        match is_cancelled {
            true => canvas.dashed_path(&ends, Ink::Faint),
            false => canvas.path(&ends, Ink::Curve(0)),
        }
    }
    for mark in &row.marks {
        draw_mark(canvas, (layout.x(mark.line), y), *mark, is_cancelled);
    }
    if let Some(note) = note {
        canvas.text((layout.note, y), note, NOTE);
    }
}

pub(crate) fn draw_mark(canvas: &mut Canvas, (x, y): (f64, f64), mark: MemoryMark, is_cancelled: bool) {
    let (corner, size) = ((x - 7.0, y - 7.0), (14.0, 14.0));
    let ink = if is_cancelled { Ink::Faint } else { Ink::Curve(0) };
    match (mark.changes, is_cancelled) {
        (true, true) => canvas.dashed_rectangle(corner, size, Ink::Ground, ink),
        (true, false) => canvas.rectangle(corner, size, Ink::Ground, ink),
        (false, _) => {}
    }
    if mark.reads {
        let radius = if mark.changes { 2.0 } else { 4.0 };
        canvas.ellipse((x, y), (radius, radius), ink, ink);
    }
}
