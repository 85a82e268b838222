//! The windows of procedures: which numbers the operands of each step have there, how its elements are found,
//! and which of its cells have to be told apart. Knows no state.

use std::collections::HashMap;

use super::alias::{is_or_may_meet, may_meet};
use crate::op::{self, Op, Place, Spot, Term};
use crate::window::{COUNT_BITS, Entry, Indexing};

/// The windows of a program, while its code is resolved.
pub(super) struct Windows<'a> {
    places: &'a [Place],
    /// The address of the constant 0, which is the index cell of an index without one.
    zero: u32,
    procedures: Vec<Numbers>,
    indexings: Vec<Indexing>,
}

/// The entries of one procedure's window.
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

    fn of_spot(&mut self, spot: Spot) -> u32 {
        self.of(match spot {
            Spot::Absolute(cell) => Entry::Fixed(cell),
            Spot::Frame(class, offset) => Entry::Frame(class, offset),
            Spot::Parameter(n) => Entry::Base(n),
        })
    }
}

impl<'a> Windows<'a> {
    pub fn new(places: &'a [Place], procedures: usize, zero: u32) -> Windows<'a> {
        Windows { places, zero, procedures: vec![Numbers::default(); procedures], indexings: Vec::new() }
    }

    /// The entries of each procedure's window, none where it needs no window; and how elements are found.
    pub fn finish(self) -> (Vec<Vec<Entry>>, Vec<Indexing>) {
        (self.procedures.into_iter().map(|numbers| numbers.entries).collect(), self.indexings)
    }

    /// Whether an operand of a step is an adjoint.
    pub fn names_adjoint(&self, op: &Op) -> bool {
        (0..3).any(|n| matches!(place_of(self.places, op, n), Place::AdjointOf(_)))
    }

    /// Gives the first `count` operands of a step their numbers, if any of them is found only in a call.
    pub fn number(&mut self, procedure: usize, op: &mut Op, count: usize) {
        if op.flags & op::ANY_DYNAMIC == 0 {
            return;
        }
        let Some(numbers) = self.procedures.get_mut(procedure) else { return };
        let places = [0, 1, 2].map(|n| place_of(self.places, op, n));
        op.guards = guards(op.guards, &places);
        let first = self.indexings.len() as u32;
        let mut slots = [0; 3];
        for (n, slot) in slots.iter_mut().enumerate().take(count) {
            let mut finder = Finder {
                numbers: &mut *numbers,
                indexings: &mut self.indexings,
                zero: self.zero,
                operand: n as u8,
            };
            *slot = finder.place(places[n]);
        }
        (op.a, op.b) = (slots[0], slots[1]);
        // Of a branch half the third is where it lands.
        if count == 3 {
            op.c = slots[2];
        }
        op.indices = first << COUNT_BITS | (self.indexings.len() as u32 - first);
        op.flags &= !op::ANY_DYNAMIC;
    }
}

/// The place of an operand.
fn place_of(places: &[Place], op: &Op, n: usize) -> Place {
    let operand = [op.a, op.b, op.c][n];
    let dynamic = if op.flags & op::DYNAMIC[n] == 0 { None } else { places.get(operand as usize) };
    dynamic.copied().unwrap_or(Place::Scalar(Spot::Absolute(operand)))
}

/// Those of a step's guards that may fail.
fn guards(wanted: u8, places: &[Place; 3]) -> u8 {
    let [a, b, c] = places;
    let pairs = [(op::DISTINCT_AB, a, b), (op::DISTINCT_AC, a, c), (op::DISTINCT_BC, b, c)];
    let pairs = pairs.into_iter().filter(|(_, one, other)| may_meet(one, other)).map(|(guard, ..)| guard);
    let is_index = |target: &Place| {
        let cells = places.iter().flat_map(Place::terms).filter_map(|term| term.cell);
        cells.map(Place::Scalar).any(|cell| is_or_may_meet(target, &cell))
    };
    let targets = [(op::NO_INDEX_A, a), (op::NO_INDEX_B, b)];
    let targets = targets.into_iter().filter(|(_, target)| is_index(target)).map(|(guard, _)| guard);
    wanted & pairs.chain(targets).fold(0, |all, guard| all | guard)
}

/// Finds the number of one operand in the window.
struct Finder<'n> {
    numbers: &'n mut Numbers,
    indexings: &'n mut Vec<Indexing>,
    zero: u32,
    operand: u8,
}

/// The length of an array, and the distance of its elements.
struct Size {
    length: u32,
    stride: u32,
    /// Whether both are numbers of the window.
    of_parameter: bool,
}

impl Finder<'_> {
    fn place(&mut self, place: Place) -> u32 {
        let known = |length, stride| Size { length, stride, of_parameter: false };
        match place {
            Place::Scalar(spot) => self.numbers.of_spot(spot),
            Place::Vector { base: base @ Spot::Parameter(n), term, .. } => {
                let base = self.numbers.of_spot(base);
                let [length, stride] =
                    [Entry::Length(n), Entry::Stride(n)].map(|entry| self.numbers.of(entry));
                self.index(base, Size { length, stride, of_parameter: true }, (0, term))
            }
            Place::Vector { base, length, term } => {
                let base = self.numbers.of_spot(base);
                self.index(base, known(length, 1), (0, term))
            }
            Place::Matrix { base, rows, columns, row, column } => {
                let base = self.numbers.of_spot(base);
                let row = self.index(base, known(rows, columns), (0, row));
                self.index(row, known(columns, 1), (1, column))
            }
            // A step that names an adjoint has no numbers.
            Place::AdjointOf(_) => 0,
        }
    }

    /// An index from a base on: the number of what is found.
    fn index(&mut self, base: u32, size: Size, (dimension, term): (u8, Term)) -> u32 {
        let out = self.numbers.of(Entry::Found(self.operand));
        let cell = match term.cell {
            Some(spot) => self.numbers.of_spot(spot),
            None => self.numbers.of(Entry::Fixed(self.zero)),
        };
        let Size { length, stride, of_parameter } = size;
        let (offset, operand) = (term.offset, self.operand);
        let indexing = Indexing { out, base, cell, length, stride, of_parameter, offset, operand, dimension };
        self.indexings.push(indexing);
        out
    }
}
