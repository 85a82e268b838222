//! A circuit: a wire for each bit, gates from left to right. A dot is a control, a crossed circle flips its wire, crosses exchange two.
//! Knows no instruction.

use crate::canvas::{Canvas, Letters, Side, code_width};
use crate::document::Words;
use crate::palette::Ink;

/// Gates on wires.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circuit {
    pub words: Words,
    pub wires: Vec<Wire>,
    pub gates: Vec<Gate>,
}

/// A wire, and what is written at its ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    pub start: String,
    pub end: String,
}

/// What happens to wires, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Flips the target where all controls are 1: a NOT without any, a CNOT with one, a Toffoli gate with two.
    Flip {
        controls: Vec<usize>,
        target: usize,
    },
    Exchange {
        first: usize,
        second: usize,
    },
}

const ROW: f64 = 44.0;
const COLUMN: f64 = 46.0;
const LABEL: Letters = Letters { ink: Ink::Text, size: 15.0, side: Side::End, is_code: true };

impl Gate {
    fn wires(&self) -> Vec<usize> {
        match self {
            Gate::Flip { controls, target } => controls.iter().copied().chain([*target]).collect(),
            Gate::Exchange { first, second } => vec![*first, *second],
        }
    }

    /// The topmost and the lowest wire.
    fn span(&self) -> (usize, usize) {
        let wires = self.wires();
        (wires.iter().copied().min().unwrap_or(0), wires.iter().copied().max().unwrap_or(0))
    }
}

impl Circuit {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut canvas = Canvas::default();
        let widest = |end: fn(&Wire) -> &str| {
            self.wires.iter().map(|wire| code_width(end(wire), LABEL.size)).fold(10.0, f64::max)
        };
        let (before, behind) = (widest(|wire| &wire.start), widest(|wire| &wire.end));
        let columns = self.columns();
        let count = columns.iter().max().map_or(0, |last| last + 1);
        let (left, top) = (before + 34.0, 36.0);
        let right = left + COLUMN * (count as f64 + 0.5);
        let y = |wire: usize| top + ROW * wire as f64;
        for (n, wire) in self.wires.iter().enumerate() {
            canvas.path(&[(left, y(n)), (right, y(n))], Ink::Text);
            canvas.text((left - 10.0, y(n)), &wire.start, LABEL);
            canvas.text((right + 10.0, y(n)), &wire.end, Letters { side: Side::Start, ..LABEL });
        }
        for (gate, column) in self.gates.iter().zip(&columns) {
            draw_gate(&mut canvas, gate, left + COLUMN * (*column as f64 + 0.75), y);
        }
        let size = (right + behind + 34.0, top + ROW * self.wires.len() as f64);
        canvas.document(&self.words, size)
    }

    /// The column of each gate: as far to the left as the gates before it on the same wires allow.
    pub fn columns(&self) -> Vec<usize> {
        let mut free = vec![0; self.wires.len()];
        let mut columns = Vec::new();
        for gate in &self.gates {
            let (first, last) = gate.span();
            let span = free.iter_mut().skip(first).take(last + 1 - first);
            let column = span.map(|free| *free).max().unwrap_or(0);
            free.iter_mut().skip(first).take(last + 1 - first).for_each(|free| *free = column + 1);
            columns.push(column);
        }
        columns
    }
}

fn draw_gate(canvas: &mut Canvas, gate: &Gate, x: f64, y: impl Fn(usize) -> f64) {
    let (first, last) = gate.span();
    if first < last {
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
        Gate::Exchange { first, second } => {
            for wire in [first, second] {
                let y = y(*wire);
                canvas.path(&[(x - 7.0, y - 7.0), (x + 7.0, y + 7.0)], Ink::Curve(0));
                canvas.path(&[(x - 7.0, y + 7.0), (x + 7.0, y - 7.0)], Ink::Curve(0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_move_left_but_never_past_each_other() {
        let flip = |controls: &[usize], target| Gate::Flip { controls: controls.to_vec(), target };
        let gates =
            vec![flip(&[0], 1), flip(&[2], 3), flip(&[0, 3], 1), Gate::Exchange { first: 3, second: 2 }];
        let circuit = Circuit { wires: vec![Wire::default(); 4], gates, ..Circuit::default() };
        assert_eq!(circuit.columns(), [0, 0, 1, 2]);
        let svg = circuit.svg();
        assert_eq!(svg.matches("rx=\"5\"").count(), 4, "a dot for each control");
        assert_eq!(svg.matches("rx=\"11\"").count(), 3, "a crossed circle for each target");
    }
}
