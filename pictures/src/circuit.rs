//! Circuit diagrams: one wire for each cell, with gates in order of execution from left to right. A dot is a
//! control. A crossed circle inverts its wire if all controls of the gate are 1. Two crosses on a line exchange
//! two wires. Every other statement is a box. This module depends on no program.

use crate::canvas::{Canvas, Letters, Side, code_width, cut};
use crate::document::Words;
use crate::palette::Ink;

/// A circuit diagram: its wires and the gates on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circuit {
    /// The title and the description.
    pub words: Words,
    /// The wires from top to bottom.
    pub wires: Vec<Wire>,
    /// The gates in order of execution.
    pub gates: Vec<Gate>,
}

/// A wire, with the labels at its two ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    /// The label at the left end.
    pub start: String,
    /// The label at the right end.
    pub end: String,
}

/// A gate. Its wires are indices into [`Circuit::wires`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Flips the target if all controls are 1. Without a control this is a NOT gate, with one control a CNOT gate,
    /// and with two controls a Toffoli gate.
    Flip {
        /// The wires that must be 1.
        controls: Vec<usize>,
        /// The wire that is flipped.
        target: usize,
    },
    /// Exchanges the values of two wires.
    Exchange {
        /// One of the two wires.
        first: usize,
        /// The other one of the two wires.
        second: usize,
    },
    /// Any other statement, as a box with the statement's text. The box covers all wires from the first to the
    /// last one that the statement uses. Unused wires between these two are drawn through the box.
    Box {
        /// The text of the statement.
        text: String,
        /// The wires that the statement uses.
        wires: Vec<usize>,
    },
}

/// Assigns gates to columns, in order of execution. Each gate gets the leftmost column that is to the right of all
/// earlier gates on its wires.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The first free column of each wire.
    free: Vec<usize>,
}

impl Placement {
    /// Returns the column of the next gate, and marks the column as used for all wires that the gate spans.
    pub fn place(&mut self, gate: &Gate) -> usize {
        let (first, last) = gate.span();
        if self.free.len() <= last {
            self.free.resize(last + 1, 0);
        }
        let span = self.free.get_mut(first..=last).unwrap_or_default();
        let column = span.iter().copied().max().unwrap_or(0);
        span.fill(column + 1);
        column
    }
}

const ROW: f64 = 44.0;
const COLUMN: f64 = 46.0;
const LABEL: Letters = Letters { ink: Ink::Text, size: 15.0, side: Side::End, is_code: true };

impl Gate {
    fn wires(&self) -> Vec<usize> {
        match self {
            Gate::Flip { controls, target } => controls.iter().copied().chain([*target]).collect(),
            Gate::Exchange { first, second } => vec![*first, *second],
            Gate::Box { wires, .. } => wires.clone(),
        }
    }

    /// Returns the topmost and the lowest wire of the gate.
    fn span(&self) -> (usize, usize) {
        let wires = self.wires();
        (wires.iter().copied().min().unwrap_or(0), wires.iter().copied().max().unwrap_or(0))
    }
}

impl Circuit {
    /// Returns the circuit as an SVG document.
    pub fn svg(&self) -> String {
        let mut canvas = Canvas::default();
        let widest = |end: fn(&Wire) -> &str| {
            self.wires.iter().map(|wire| code_width(end(wire), LABEL.size)).fold(10.0, f64::max)
        };
        let (before, behind) = (widest(|wire| &wire.start), widest(|wire| &wire.end));
        let columns = self.columns();
        let edges = self.edges(&columns);
        let (left, top) = (before + 34.0, 36.0);
        let right = left + COLUMN * 0.5 + edges.last().copied().unwrap_or(0.0);
        let y = |wire: usize| top + ROW * wire as f64;
        for (n, wire) in self.wires.iter().enumerate() {
            canvas.path(&[(left, y(n)), (right, y(n))], Ink::Text);
            canvas.text((left - 10.0, y(n)), &wire.start, LABEL);
            canvas.text((right + 10.0, y(n)), &wire.end, Letters { side: Side::Start, ..LABEL });
        }
        for (gate, column) in self.gates.iter().zip(&columns) {
            let edge = |n: usize| edges.get(n).copied().unwrap_or(0.0);
            let middle = (edge(*column) + edge(column + 1)) / 2.0;
            draw_gate(&mut canvas, gate, left + COLUMN * 0.25 + middle, y);
        }
        let size = (right + behind + 34.0, top + ROW * self.wires.len() as f64);
        canvas.document(&self.words, size)
    }

    /// Returns the column number of each gate, in the order of the gates; 0 is the leftmost column.
    pub fn columns(&self) -> Vec<usize> {
        let mut placement = Placement::default();
        self.gates.iter().map(|gate| placement.place(gate)).collect()
    }

    /// Returns the left edges of the columns, and at the end the right edge of the last column. A column is
    /// as wide as the longest text of its boxes.
    fn edges(&self, columns: &[usize]) -> Vec<f64> {
        let count = columns.iter().max().map_or(0, |last| last + 1);
        let mut widths = vec![COLUMN; count];
        for (gate, column) in self.gates.iter().zip(columns) {
            if let (Gate::Box { text, .. }, Some(width)) = (gate, widths.get_mut(*column)) {
                *width = width.max(box_width(text) + 12.0);
            }
        }
        let mut edge = 0.0;
        let ends = widths.into_iter().map(|width| {
            edge += width;
            edge
        });
        std::iter::once(0.0).chain(ends).collect()
    }
}

/// The style of the text in a box.
const INSIDE: Letters = Letters { ink: Ink::Text, size: 13.0, side: Side::Middle, is_code: true };
/// Maximum number of characters of the text in a box; a longer text is cut.
const LONGEST_TEXT: usize = 40;

fn box_width(text: &str) -> f64 {
    code_width(&cut(text, LONGEST_TEXT), INSIDE.size) + 16.0
}

fn draw_gate(canvas: &mut Canvas, gate: &Gate, x: f64, y: impl Fn(usize) -> f64) {
    let (first, last) = gate.span();
    if first < last && !matches!(gate, Gate::Box { .. }) {
        canvas.path(&[(x, y(first)), (x, y(last))], Ink::Curve(0));
    }
    match gate {
        Gate::Flip { controls, target } => {
            for control in controls {
                canvas.ellipse((x, y(*control)), (5.0, 5.0), Ink::Curve(0), Ink::Curve(0));
            }
            let y = y(*target);
            canvas.ellipse((x, y), (11.0, 11.0), Ink::Ground, Ink::Curve(0));
            canvas.path(&[(x - 11.0, y), (x + 11.0, y)], Ink::Curve(0));
            canvas.path(&[(x, y - 11.0), (x, y + 11.0)], Ink::Curve(0));
        }
        Gate::Box { text, wires } => draw_box(canvas, text, wires, x, y),
        Gate::Exchange { first, second } => {
            for wire in [first, second] {
                let y = y(*wire);
                canvas.path(&[(x - 7.0, y - 7.0), (x + 7.0, y + 7.0)], Ink::Curve(0));
                canvas.path(&[(x - 7.0, y + 7.0), (x + 7.0, y - 7.0)], Ink::Curve(0));
            }
        }
    }
}

fn draw_box(canvas: &mut Canvas, text: &str, wires: &[usize], x: f64, y: impl Fn(usize) -> f64) {
    let (Some(first), Some(last)) = (wires.first(), wires.last()) else { return };
    let (left, width) = (x - box_width(text) / 2.0, box_width(text));
    let (top, bottom) = (y(*first) - 15.0, y(*last) + 15.0);
    canvas.rectangle((left, top), (width, bottom - top), Ink::Ground, Ink::Curve(0));
    let passing: Vec<usize> = (*first..=*last).filter(|wire| !wires.contains(wire)).collect();
    for wire in &passing {
        canvas.path(&[(left, y(*wire)), (left + width, y(*wire))], Ink::Text);
    }
    // If no unused wire passes through the box, the text is between the first two wires. Otherwise the text is at
    // the first wire, where no wire is drawn through the box.
    let middle = if passing.is_empty() { (top + bottom) / 2.0 } else { y(*first) };
    canvas.text((x, middle), &cut(text, LONGEST_TEXT), INSIDE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_move_left_without_passing_each_other() {
        let flip = |controls: &[usize], target| Gate::Flip { controls: controls.to_vec(), target };
        let gates =
            vec![flip(&[0], 1), flip(&[2], 3), flip(&[0, 3], 1), Gate::Exchange { first: 3, second: 2 }];
        let circuit = Circuit { wires: vec![Wire::default(); 4], gates, ..Circuit::default() };
        assert_eq!(circuit.columns(), [0, 0, 1, 2]);
        let svg = circuit.svg();
        assert_eq!(svg.matches("rx=\"5\"").count(), 4, "a dot for each control");
        assert_eq!(svg.matches("rx=\"11\"").count(), 3, "a crossed circle for each target");
    }

    #[test]
    fn boxes_fit_their_texts_and_skip_other_wires() {
        let boxed =
            |wires: &[usize]| Gate::Box { text: "add x, y * 100 + z".to_owned(), wires: wires.to_vec() };
        let circuit =
            |gates: Vec<Gate>| Circuit { wires: vec![Wire::default(); 4], gates, ..Circuit::default() };
        assert_eq!(circuit(vec![boxed(&[0, 2]), boxed(&[1]), boxed(&[3])]).columns(), [0, 1, 0]);
        let lines = |circuit: &Circuit| circuit.svg().matches("<polyline").count();
        assert_eq!(lines(&circuit(vec![boxed(&[0, 1])])), 4, "the wires alone");
        assert_eq!(lines(&circuit(vec![boxed(&[0, 2, 3])])), 5, "and one that passes");
        let width =
            |gates: Vec<Gate>| *circuit(gates.clone()).edges(&circuit(gates).columns()).last().unwrap();
        assert!(width(vec![boxed(&[0])]) > 2.0 * COLUMN);
    }
}
