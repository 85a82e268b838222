//! The history as one step sees it: what the step loses is kept, what it lost is put back. Knows the
//! cells that change; knows no instruction.

use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};

use crate::history::{Cells, Cost, History, Kept, KeptSlot};
use crate::interp::address::ADJOINT;
use crate::state::Counters;
use crate::state::lanes::Lanes;
use crate::travel::Interval;

/// The history as one step sees it.
pub(crate) struct Journal<'a, H> {
    pub history: &'a mut H,
    pub interval: Interval,
    /// Whether the step leads back toward the start.
    pub restores: bool,
    /// Whether gradient mode is on.
    pub gradient: bool,
    /// The true addresses of the operands, where the step works on copies of them.
    pub copies_of: Option<[u32; 3]>,
}

impl<H> Journal<'_, H> {
    /// Whether the step is to be undone by what was recorded for it, if anything.
    pub fn holds<B: Lanes>(&self) -> bool
    where
        H: History<B>,
    {
        let own = || self.restores && self.history.latest(self.interval).is_some();
        let earlier = || !self.restores && !self.history.inherited(self.interval).is_empty();
        H::ACTIVE && (own() || earlier())
    }

    /// Whether the adjoints too are put back by what was recorded: it was recorded in gradient mode.
    pub fn holds_adjoints<B: Lanes>(&self) -> bool
    where
        H: History<B>,
    {
        H::ACTIVE && self.restores && self.history.latest(self.interval).is_some_and(|kept| kept.gradient)
    }

    /// What was recorded of a real for this interval, which only a step that loses one real asks.
    pub fn kept_real<B: Lanes>(&self, cell: usize) -> Option<B>
    where
        H: History<B>,
    {
        let kept = match self.restores {
            true => self.history.latest(self.interval),
            false => self.history.inherited(self.interval).last().map(|(_, kept)| *kept),
        };
        kept.filter(|kept| kept.slot == KeptSlot::Real && kept.cell as usize == cell).map(|kept| kept.bits)
    }

    /// Whether anything is recorded for this interval.
    pub fn has_recorded<B: Lanes>(&self) -> bool
    where
        H: History<B>,
    {
        H::ACTIVE && self.history.latest(self.interval).is_some()
    }

    /// Puts back everything that was recorded for this interval. Whether the step is undone: records
    /// of plain steps know nothing of the adjoints that gradient mode has still to transport.
    ///
    /// What an earlier run has recorded is put back when leading away from the start, and what it
    /// replaces is recorded in its turn, with the adjoints that the caller changes.
    pub fn restore<B: Lanes>(&mut self, cells: &mut Cells<B>, counters: &mut Counters) -> bool
    where
        H: History<B>,
    {
        if !self.restores {
            self.adopt(cells, counters, true);
            return !self.gradient;
        }
        let mut complete = true;
        while let Some(kept) = self.history.take(self.interval) {
            complete = kept.gradient || !self.gradient;
            // An adjoint is no business of a plain step.
            if self.gradient || kept.slot != KeptSlot::Adjoint || !kept.gradient {
                kept.restore(cells, counters);
            }
        }
        complete
    }

    /// Puts back what a step that changes more than cells has discarded. Making it again discards
    /// it by itself.
    pub fn put_back<B: Lanes>(&mut self, cells: &mut Cells<B>, counters: &mut Counters)
    where
        H: History<B>,
    {
        if !H::ACTIVE {
            return;
        }
        if self.restores {
            self.restore(cells, counters);
        } else {
            self.adopt(cells, counters, false);
        }
    }

    /// Puts back the values that an earlier run recorded for this interval, the latest first.
    fn adopt<B: Lanes>(&mut self, cells: &mut Cells<B>, counters: &mut Counters, records: bool)
    where
        H: History<B>,
    {
        for n in (0..self.history.inherited(self.interval).len()).rev() {
            let Some(&(_, kept)) = self.history.inherited(self.interval).get(n) else { return };
            if !matches!(kept.slot, KeptSlot::Int | KeptSlot::Real) {
                continue;
            }
            if records {
                self.history.record(self.interval, kept.replaced(cells, self.gradient));
            }
            kept.restore(cells, counters);
        }
    }

    /// Keeps the bits of a cell that the step is about to change.
    pub fn keep<B: Lanes>(&mut self, slot: KeptSlot, cell: usize, bits: B, cost: Cost)
    where
        H: History<B>,
    {
        if !H::ACTIVE || self.restores {
            return;
        }
        let (slot, cell) = match (slot, self.copies_of.and_then(|addresses| addresses.get(cell).copied())) {
            (KeptSlot::Real, Some(address)) if address as usize & ADJOINT != 0 => {
                (KeptSlot::Adjoint, address & !(ADJOINT as u32))
            }
            (KeptSlot::Real, Some(address)) => (KeptSlot::Real, address),
            _ => (slot, cell as u32),
        };
        self.history.record(self.interval, Kept { slot, cell, bits, gradient: self.gradient, cost });
    }

    /// Counts and records a float that is vacated although it isn't 0.
    pub fn discarded<B: Lanes>(&mut self, width: u32, cell: usize, bits: B, counters: &mut Counters)
    where
        H: History<B>,
    {
        if bits != B::default() {
            let cost = Cost { discarded: width as i32, ..Cost::default() };
            cost.charge(counters);
            self.keep(KeptSlot::Real, cell, bits, cost);
        }
    }

    /// Records an adjoint that is about to be 0, and counts it as dropped unless it already was some 0.
    pub fn dropped<B: Lanes>(&mut self, cell: usize, bits: B, counts: bool, counters: &mut Counters)
    where
        H: History<B>,
    {
        if bits != B::default() {
            let cost = Cost { drops: i32::from(counts), ..Cost::default() };
            cost.charge(counters);
            self.keep(KeptSlot::Adjoint, cell, bits, cost);
        }
    }

    /// Counts and records the content of an erased cell.
    pub fn erased<B: Lanes>(
        &mut self,
        class: Class,
        cell: usize,
        bits: B,
        width: u32,
        counters: &mut Counters,
    ) where
        H: History<B>,
    {
        let slot = match class {
            Class::Int => KeptSlot::Int,
            Class::Real => KeptSlot::Real,
        };
        let cost = Cost { erased: width as i32, ..Cost::default() };
        if keeps(Rule::ErasuresAreCounted) {
            cost.charge(counters);
        }
        self.keep(slot, cell, bits, cost);
    }
}
