//! The history as one step sees it: what the step loses is kept, what it lost is put back. Knows the
//! cells that change; knows no instruction.

use reviver_isa::fault::Eval;
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::Reals;

use crate::history::{History, Kept};
use crate::state::Counters;

/// The history as one step sees it.
pub(crate) struct Journal<'a, H> {
    pub history: &'a mut H,
    pub interval: i64,
    pub restores: bool,
}

impl<H: History> Journal<'_, H> {
    /// Puts back everything that was recorded for this interval; whether there was anything.
    pub fn restore(&mut self, ints: &mut [i64], reals: &mut [u64], counters: &mut Counters) -> bool {
        let mut any = false;
        while let Some(kept) = self.history.take(self.interval) {
            kept.restore(ints, reals, counters);
            any = true;
        }
        any
    }

    fn keep(&mut self, class: Class, cell: usize, bits: u64, erased: u32, discarded: u32) {
        if H::ACTIVE && !self.restores {
            let kept = Kept { class, cell: cell as u32, bits, erased, discarded };
            self.history.record(self.interval, kept);
        }
    }

    /// Records a real's old bits unless undoing the update gives them back.
    #[inline]
    pub fn residue<R: Reals>(&mut self, reals: R, cell: usize, old: R::Cell, undone: Eval<R::Cell>) {
        let bits = reals.to_bits(old);
        if !R::EXACT && keeps(Rule::ResiduesAreKept) && undone.map(|value| reals.to_bits(value)) != Ok(bits) {
            self.keep(Class::Real, cell, bits, 0, 0);
        }
    }

    /// Records both coordinates unless undoing the rotation gives both back: a step with a record
    /// is undone by its record alone.
    pub fn residue_of_point<R: Reals>(
        &mut self,
        reals: R,
        [x, y]: [usize; 2],
        old: (R::Cell, R::Cell),
        undone: Eval<(R::Cell, R::Cell)>,
    ) {
        let bits = |(x, y): (R::Cell, R::Cell)| (reals.to_bits(x), reals.to_bits(y));
        if !R::EXACT && keeps(Rule::ResiduesAreKept) && undone.map(bits) != Ok(bits(old)) {
            self.keep(Class::Real, x, bits(old).0, 0, 0);
            self.keep(Class::Real, y, bits(old).1, 0, 0);
        }
    }

    /// Counts and records a float that is vacated although it isn't 0.
    pub fn discarded<R: Reals>(&mut self, reals: R, cell: usize, bits: u64, counters: &mut Counters) {
        if bits != 0 {
            counters.discarded_bits += u64::from(reals.width());
            self.keep(Class::Real, cell, bits, 0, reals.width());
        }
    }

    pub fn erased(&mut self, class: Class, cell: usize, bits: u64, width: u32, counters: &mut Counters) {
        if keeps(Rule::ErasuresAreCounted) {
            counters.erased_bits += u64::from(width);
        }
        self.keep(class, cell, bits, width, 0);
    }
}
