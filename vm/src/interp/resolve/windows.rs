//! Construction of windows. A window lists the addresses of a procedure's operands in one call (see
//! `vm/src/interp/window.rs`). This module assigns an entry of the window to each operand, and describes how array
//! elements are located. The module reads no state.

use std::collections::HashMap;

use reviver_flow::{Anchor, ArrayElement, ArrayIndex, Flow, Locus, Matrix, Step};

use crate::interp::window::{Entry, Indexing, Lookup};

/// Builder of the windows of all procedures. A window lists the addresses of a procedure's operands in one call.
pub(super) struct Windows<'f> {
    flow: &'f Flow,
    /// The address of the constant 0. If an index is a constant, this address is used as the address of the index cell.
    zero: u32,
    procedures: Vec<Numbers>,
    indexings: Vec<Indexing>,
}

/// The window entries of one procedure, and their numbers.
#[derive(Clone, Default)]
struct Numbers {
    entries: Vec<Entry>,
    numbers: HashMap<Entry, u32>,
}

impl Numbers {
    fn of(&mut self, entry: Entry) -> u32 {
        let Numbers { entries, numbers } = self;
        *numbers.entry(entry).or_insert_with(|| {
            entries.push(entry);
            entries.len() as u32 - 1
        })
    }

    fn of_anchor(&mut self, anchor: Anchor) -> u32 {
        self.of(match anchor {
            Anchor::Constant(cell) | Anchor::Fixed(cell) => Entry::Fixed(cell),
            Anchor::Frame(class, offset) => Entry::Frame(class, offset),
            Anchor::Parameter(n) => Entry::Base(n),
        })
    }
}

impl<'f> Windows<'f> {
    pub fn new(flow: &'f Flow, procedures: usize) -> Windows<'f> {
        let zero = flow.layout().pool_ints_start;
        Windows { flow, zero, procedures: vec![Numbers::default(); procedures], indexings: Vec::new() }
    }

    /// Returns the window entries of each procedure (empty if the procedure needs no window), and the indexings of all
    /// steps.
    pub fn finish(self) -> (Vec<Vec<Entry>>, Vec<Indexing>) {
        (self.procedures.into_iter().map(|numbers| numbers.entries).collect(), self.indexings)
    }

    /// Returns the window indices of a step's operands, and the lookup that the step needs first.
    pub fn number(&mut self, procedure: usize, step: &Step) -> Option<([u32; 3], Lookup)> {
        let numbers = self.procedures.get_mut(procedure)?;
        let first = self.indexings.len();
        let mut operands = [0; 3];
        for (n, operand) in operands.iter_mut().enumerate() {
            let locus = step
                .slots
                .get(n)
                .map_or(Some(Locus::Cell(Anchor::Constant(self.zero))), |slot| self.flow.locus(slot))?;
            let mut finder = Finder {
                numbers: &mut *numbers,
                indexings: &mut self.indexings,
                zero: self.zero,
                operand: n as u8,
            };
            *operand = finder.locus(locus);
        }
        let count = (self.indexings.len() - first) as u8;
        Some((operands, Lookup { first: first as u32, count, guards: step.guards }))
    }
}

/// The translation of one operand to its window index.
struct Finder<'n> {
    numbers: &'n mut Numbers,
    indexings: &'n mut Vec<Indexing>,
    zero: u32,
    operand: u8,
}

/// The window indices of an array's length and stride.
struct Size {
    length: u32,
    stride: u32,
}

/// Returns the entries for the number of rows and of columns of a matrix.
fn of_matrix(matrix: Matrix) -> (Entry, Entry) {
    match (matrix.base, matrix.size) {
        (Anchor::Parameter(n), _) => (Entry::Length(n), Entry::Stride(n)),
        (_, size) => {
            let (rows, columns) = size.unwrap_or((0, 0));
            (Entry::Fixed(rows), Entry::Fixed(columns))
        }
    }
}

impl Finder<'_> {
    fn locus(&mut self, locus: Locus) -> u32 {
        match locus {
            Locus::Cell(anchor) => self.numbers.of_anchor(anchor),
            Locus::Element(element) => self.element(element),
        }
    }

    fn element(&mut self, element: ArrayElement) -> u32 {
        let base = self.numbers.of_anchor(element.base());
        match element {
            ArrayElement::Vector { base: Anchor::Parameter(n), index, .. } => {
                let size = self.size([Entry::Length(n), Entry::Stride(n)]);
                self.index(base, size, (0, index))
            }
            ArrayElement::Vector { length, index, .. } => {
                let size = self.size([Entry::Fixed(length.unwrap_or(0)), Entry::Fixed(1)]);
                self.index(base, size, (0, index))
            }
            ArrayElement::Matrix { matrix, row, column } => {
                let (rows, columns) = of_matrix(matrix);
                let size = self.size([rows, columns]);
                let row = self.index(base, size, (0, row));
                let size = self.size([columns, Entry::Fixed(1)]);
                self.index(row, size, (1, column))
            }
        }
    }

    fn size(&mut self, entries: [Entry; 2]) -> Size {
        let [length, stride] = entries.map(|entry| self.numbers.of(entry));
        Size { length, stride }
    }

    /// Adds an indexing, which computes the address of an element from the address in window entry `base`. Returns the
    /// index of the window entry that receives the result.
    fn index(&mut self, base: u32, size: Size, (dimension, subscript): (u8, ArrayIndex)) -> u32 {
        let out = self.numbers.of(Entry::Found(self.operand));
        let cell = self.numbers.of_anchor(subscript.cell.unwrap_or(Anchor::Constant(self.zero)));
        let Size { length, stride } = size;
        let (offset, operand) = (subscript.offset, self.operand);
        let indexing = Indexing { out, base, cell, length, stride, offset, operand, dimension };
        self.indexings.push(indexing);
        out
    }
}
