//! Histories: what is kept so that a lossy step can be undone bit for bit.
//!
//! Steps that lie away from step 0 in the direction of travel *record*; steps toward it *restore*.
//! So one stack serves forward runs and backward ones, and it is empty at step 0. Integer and
//! fixed-point programs without irreversible instructions never record anything.

use reviver_isa::instruction::Class;
use serde::{Deserialize, Serialize};

use crate::state::Counters;

/// The interface between the interpreter and a history.
pub trait History {
    /// False where nothing is ever recorded: the interpreter then omits all asking.
    const ACTIVE: bool;

    /// Records what a cell held before the step over `interval` (between two steps) changed it.
    fn record(&mut self, interval: i64, cell: Kept);

    /// Takes the latest record if it belongs to this interval.
    fn take(&mut self, interval: i64) -> Option<Kept>;
}

/// The old content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub class: Class,
    pub cell: u32,
    pub bits: u64,
    /// Bits that this counted as erased, or as discarded.
    pub erased: u32,
    pub discarded: u32,
}

impl Kept {
    /// Puts the old content back and takes back what was counted.
    pub fn restore(&self, ints: &mut [i64], reals: &mut [u64], counters: &mut Counters) {
        let (cell, bits) = (self.cell as usize, self.bits);
        match self.class {
            Class::Int => ints.get_mut(cell).into_iter().for_each(|int| *int = bits as i64),
            Class::Real => reals.get_mut(cell).into_iter().for_each(|real| *real = bits),
        }
        // Records can come from a file, so what they claim to have counted may exceed the count.
        counters.erased_bits = counters.erased_bits.saturating_sub(u64::from(self.erased));
        counters.discarded_bits = counters.discarded_bits.saturating_sub(u64::from(self.discarded));
    }
}

/// Keeps nothing: going back is only ever the execution of inverses.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHistory;

impl History for NoHistory {
    const ACTIVE: bool = false;

    fn record(&mut self, _interval: i64, _cell: Kept) {}

    fn take(&mut self, _interval: i64) -> Option<Kept> {
        None
    }
}

/// Residues of float updates and vacancies, and the old values of erased cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Residues {
    records: Vec<(i64, Kept)>,
}

impl Residues {
    /// Memory that the records take.
    pub fn bytes(&self) -> usize {
        self.records.len() * size_of::<(i64, Kept)>()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl History for Residues {
    const ACTIVE: bool = true;

    fn record(&mut self, interval: i64, cell: Kept) {
        self.records.push((interval, cell));
    }

    fn take(&mut self, interval: i64) -> Option<Kept> {
        match self.records.last() {
            Some((recorded, _)) if *recorded == interval => self.records.pop().map(|(_, cell)| cell),
            _ => None,
        }
    }
}
