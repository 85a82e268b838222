//! Histories: what is kept so that a lossy step can be undone bit for bit.
//!
//! Steps that lie away from step 0 in the direction of travel *record*; steps toward it *restore*.
//! So one stack serves forward runs and backward ones, and it is empty at step 0. Integer and
//! fixed-point programs without irreversible instructions never record anything.

use serde::{Deserialize, Serialize};

use crate::lanes::Lanes;
use crate::state::{Counters, State};

/// The interface between the interpreter and a history.
pub trait History<B> {
    /// False where nothing is ever recorded: the interpreter then omits all asking.
    const ACTIVE: bool;

    /// Records what a cell held before the step over `interval` (between two steps) changed it.
    fn record(&mut self, interval: i64, cell: Kept<B>);

    /// The latest record if it belongs to this interval.
    fn latest(&self, interval: i64) -> Option<Kept<B>>;

    /// Takes the latest record if it belongs to this interval.
    fn take(&mut self, interval: i64) -> Option<Kept<B>>;
}

/// The kinds of cells whose content can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Slot {
    Int,
    Real,
    /// The adjoint of the real cell of this number.
    Adjoint,
    /// The adjoint of the entry of a stack or tape that undoing the step puts back.
    Entry,
}

/// The old content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept<B = u64> {
    pub slot: Slot,
    pub cell: u32,
    pub bits: B,
    /// Whether the step was made in gradient mode: its records then hold every adjoint that it changed.
    pub gradient: bool,
    pub cost: Cost,
}

/// What losing a cell's content was counted as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Bits erased on purpose.
    pub erased: u32,
    /// Bits of a float that was vacated within the tolerance.
    pub discarded: u32,
    /// Adjoints dropped: 0 or 1.
    pub drops: u32,
}

impl Cost {
    pub fn charge(self, counters: &mut Counters) {
        counters.erased_bits += u64::from(self.erased);
        counters.discarded_bits += u64::from(self.discarded);
        counters.drops += u64::from(self.drops);
    }

    /// Takes back what was counted. Records can come from a file, so what they claim may exceed the count.
    pub fn refund(self, counters: &mut Counters) {
        counters.erased_bits = counters.erased_bits.saturating_sub(u64::from(self.erased));
        counters.discarded_bits = counters.discarded_bits.saturating_sub(u64::from(self.discarded));
        counters.drops = counters.drops.saturating_sub(u64::from(self.drops));
    }
}

/// The cells of a state, as instructions on cells change them.
pub(crate) struct Cells<'a, B> {
    pub ints: &'a mut [i64],
    pub reals: &'a mut [B],
    /// As many as there are reals, or none where nothing needs them.
    pub adjoints: &'a mut [B],
}

impl<B> Cells<'_, B> {
    /// The same cells, lent on.
    pub fn reborrow(&mut self) -> Cells<'_, B> {
        Cells { ints: self.ints, reals: self.reals, adjoints: self.adjoints }
    }
}

impl<B: Lanes> Kept<B> {
    /// Puts the old content back and takes back what was counted.
    pub(crate) fn restore(&self, cells: &mut Cells<B>, counters: &mut Counters) {
        let (cell, bits) = (self.cell as usize, self.bits);
        match self.slot {
            Slot::Int => cells.ints.get_mut(cell).into_iter().for_each(|int| *int = bits.word() as i64),
            Slot::Real => cells.reals.get_mut(cell).into_iter().for_each(|real| *real = bits),
            Slot::Adjoint => cells.adjoints.get_mut(cell).into_iter().for_each(|adjoint| *adjoint = bits),
            // Taken by the move itself; a record that comes from elsewhere changes nothing.
            Slot::Entry => {}
        }
        self.cost.refund(counters);
    }
}

impl<B: Lanes> State<B> {
    /// The cells beside what is counted.
    pub(crate) fn cells(&mut self) -> (Cells<'_, B>, &mut Counters) {
        let State { ints, reals, adjoints, counters, .. } = self;
        let adjoints = adjoints.as_mut().map_or(&mut [][..], |adjoints| &mut adjoints.cells);
        (Cells { ints, reals, adjoints }, counters)
    }
}

/// Keeps nothing: going back is only ever the execution of inverses.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHistory;

impl<B> History<B> for NoHistory {
    const ACTIVE: bool = false;

    fn record(&mut self, _interval: i64, _cell: Kept<B>) {}

    fn latest(&self, _interval: i64) -> Option<Kept<B>> {
        None
    }

    fn take(&mut self, _interval: i64) -> Option<Kept<B>> {
        None
    }
}

/// Residues of float updates and vacancies, the old values of erased cells, and dropped adjoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Residues<B = u64> {
    records: Vec<(i64, Kept<B>)>,
}

impl<B> Default for Residues<B> {
    fn default() -> Self {
        Residues { records: Vec::new() }
    }
}

impl<B> Residues<B> {
    /// Memory that the records take.
    pub fn bytes(&self) -> usize {
        self.records.len() * size_of::<(i64, Kept<B>)>()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl<B: Copy> History<B> for Residues<B> {
    const ACTIVE: bool = true;

    fn record(&mut self, interval: i64, cell: Kept<B>) {
        self.records.push((interval, cell));
    }

    fn latest(&self, interval: i64) -> Option<Kept<B>> {
        self.records.last().filter(|(recorded, _)| *recorded == interval).map(|(_, cell)| *cell)
    }

    fn take(&mut self, interval: i64) -> Option<Kept<B>> {
        let latest = self.latest(interval)?;
        self.records.pop();
        Some(latest)
    }
}

/// A history that may be missing, where asking costs little compared with the arithmetic.
impl<B: Copy> History<B> for Option<&mut Residues<B>> {
    const ACTIVE: bool = true;

    fn record(&mut self, interval: i64, cell: Kept<B>) {
        if let Some(residues) = self {
            residues.record(interval, cell);
        }
    }

    fn latest(&self, interval: i64) -> Option<Kept<B>> {
        self.as_ref().and_then(|residues| residues.latest(interval))
    }

    fn take(&mut self, interval: i64) -> Option<Kept<B>> {
        self.as_mut().and_then(|residues| residues.take(interval))
    }
}
