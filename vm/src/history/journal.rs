//! Access of a single step to the history. A step that leads away from the start records the values that it loses. A
//! step toward the start restores the values that the undone step lost. The module handles the cells that change, and
//! reads no instructions.

use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};

use crate::history::{Cells, Cost, History, Kept, KeptSlot};
use crate::interp::address::ADJOINT;
use crate::state::Counters;
use crate::state::lanes::Lanes;
use crate::travel::Interval;

/// The view of a history for one step.
pub(crate) struct Journal<'a, H> {
    pub history: &'a mut H,
    pub interval: Interval,
    /// True if the step leads back toward the start.
    pub restores: bool,
    /// True if gradient mode is on.
    pub gradient: bool,
    /// The addresses of the operands, if the step operates on copies of them. The copies are the cells 0 to 2.
    pub copies_of: Option<[u32; 3]>,
}

impl<H> Journal<'_, H> {
    /// Returns true if a record exists from which the step must be undone or repeated.
    pub fn holds<B: Lanes>(&self) -> bool
    where
        H: History<B>,
    {
        let own = || self.restores && self.history.latest(self.interval).is_some();
        let earlier = || !self.restores && !self.history.inherited(self.interval).is_empty();
        H::ACTIVE && (own() || earlier())
    }

    /// Returns true if the record restores the adjoints too, because it was made in gradient mode.
    pub fn holds_adjoints<B: Lanes>(&self) -> bool
    where
        H: History<B>,
    {
        H::ACTIVE && self.restores && self.history.latest(self.interval).is_some_and(|kept| kept.gradient)
    }

    /// Returns the recorded value of a real for this interval. May be called only for steps that lose exactly one real.
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

    /// Returns true if any record exists for this interval.
    pub fn has_recorded<B: Lanes>(&self) -> bool
    where
        H: History<B>,
    {
        H::ACTIVE && self.history.latest(self.interval).is_some()
    }

    /// Restores everything that was recorded for this interval. Returns true if the step is completely undone. If the
    /// records were made in plain mode and gradient mode is on, the caller must still propagate adjoints.
    ///
    /// If the step leads away from the start, it restores the values that an earlier run lost ([`super::Past`]). The
    /// values that the restored values replace are recorded. If the caller changes further adjoints, the caller must
    /// record these adjoints.
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
            // If the step was executed in gradient mode and is undone in plain mode, the adjoints stay.
            if self.gradient || kept.slot != KeptSlot::Adjoint || !kept.gradient {
                kept.restore(cells, counters);
            }
        }
        complete
    }

    /// Restores the values that were discarded by a step that changes more than cells. If the step repeats an earlier
    /// run, the replaced values aren't recorded here, because the step itself records what it discards.
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

    /// Restores the values that an earlier run recorded for this interval, the latest first. If `records` is true, the
    /// replaced values are recorded.
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

    /// Records the bits of a cell that the step is about to change.
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

    /// Records an adjoint that is about to become 0. `counts` is false for an adjoint that is already a zero, such as
    /// -0: such an adjoint isn't counted as dropped.
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
