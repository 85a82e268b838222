//! The picture of several memory graphs, one below the other, with one legend.

use crate::canvas::{Canvas, code_width};
use crate::document::Words;
use crate::memory_graph::{MemoryGraph, MemoryMark, NOTE, draw_mark};
use crate::palette::Ink;

const MARGIN: f64 = 24.0;

/// Returns the graphs as an SVG document. The title names the file.
pub fn svg(file: &str, graphs: &[MemoryGraph]) -> String {
    let mut canvas = Canvas::default();
    let (mut y, mut widest) = (MARGIN, 0.0_f64);
    for graph in graphs {
        let (width, height) = graph.draw(&mut canvas, (MARGIN, y));
        (y, widest) = (y + height + MARGIN, widest.max(width));
    }
    let (width, height) = draw_legend(&mut canvas, (MARGIN, y));
    let description: String = graphs.iter().map(MemoryGraph::words).collect();
    let words = Words { title: format!("{file}: memory"), description: description.trim_end().to_owned() };
    canvas.document(&words, (widest.max(width) + 2.0 * MARGIN, y + height + MARGIN))
}

/// Draws the legend with its top left corner at the given point. Returns the width and the height of the drawing.
fn draw_legend(canvas: &mut Canvas, (left, top): (f64, f64)) -> (f64, f64) {
    let mark = |changes, reads| MemoryMark { line: 0, changes, reads };
    let marks = [
        (mark(true, false), false, "changes the cell"),
        (mark(false, true), false, "reads the cell"),
        (mark(true, true), false, "changes and reads: different cells of an array, or a call"),
        (
            mark(true, false),
            true,
            "grey and dashed: statements that cancel each other; the note names the other one",
        ),
    ];
    let y = |n: usize| top + 20.0 * n as f64 + 10.0;
    for (n, (mark, is_cancelled, text)) in marks.into_iter().enumerate() {
        canvas.path(&[(left + 12.0, y(n) - 10.0), (left + 12.0, y(n) + 10.0)], Ink::Text);
        draw_mark(canvas, (left + 12.0, y(n)), mark, is_cancelled);
        canvas.text((left + 34.0, y(n)), text, NOTE);
    }
    for x in [left + 10.0, left + 14.0] {
        canvas.path(&[(x, y(4) - 8.0), (x, y(4) + 8.0)], Ink::Text);
    }
    canvas.text((left + 34.0, y(4)), "a double line is an array, a stack or a tape", NOTE);
    canvas.rectangle((left + 2.0, y(5) - 7.0), (20.0, 14.0), Ink::Ground, Ink::Faint);
    canvas.text(
        (left + 34.0, y(5)),
        "a frame is a statement with a body, drawn once even if it runs often",
        NOTE,
    );
    (34.0 + code_width(marks[3].2, NOTE.size), 120.0)
}
