//! The cells of a group, in memory that serves again and again: those of its starts, of which only what lanes are given changes from group to group, and those that
//! code works on. Knows no code.

use std::ops::RangeInclusive;

use reviver_isa::instruction::Class;
use reviver_vm::State;
use reviver_vm::differentiate::group::{
    CellMiss, GROUP, GroupCells, GroupTurn, InGroup, JudgedCells, SeenInGroup, turn_group,
};
use reviver_vm::room::{self, OutOfMemory};
use reviver_vm::watch::Watch;

use crate::form::Demands;
use crate::known::KnownCells;

/// Cells of a group, and what is seen of its ways.
#[derive(Debug, Default)]
pub struct GroupRoom {
    start_ints: Vec<InGroup<i64>>,
    start_reals: Vec<InGroup<u64>>,
    pub(super) ints: Vec<InGroup<i64>>,
    pub(super) reals: Vec<InGroup<u64>>,
    pub(super) adjoints: Vec<InGroup<u64>>,
    pub(super) seen: SeenInGroup,
    /// The losses where the way there has ended, by row.
    pub(super) values: Vec<InGroup<u64>>,
    judged: JudgedCells,
    /// Memory of the judge.
    pub(super) differences: Vec<CellMiss>,
    /// How many steps were made before.
    pub(super) begun: i64,
}

impl GroupRoom {
    /// Makes the cells of all starts those of a state, and room for what some ways demand with so many losses at once, which leave some cells as they are at the
    /// start.
    ///
    /// # Errors
    /// There is no memory for that.
    pub(super) fn begin(
        &mut self,
        state: &State,
        (ways, settled): ([Demands; 2], &KnownCells),
        rows: usize,
    ) -> Result<(), OutOfMemory> {
        let is_settled = |class, cell: usize| settled.bits(class, cell as u32).is_some();
        self.judged = JudgedCells::of([state.ints.len(), state.reals.len()], is_settled);
        let most = |of: fn(&Demands) -> u32| ways.iter().map(of).max().unwrap_or(0) as usize;
        let reals = state.reals.len() + most(|way| way.frame_reals);
        room::resize(&mut self.start_ints, state.ints.len())?;
        room::resize(&mut self.start_reals, state.reals.len())?;
        room::resize(&mut self.ints, state.ints.len() + most(|way| way.frame_ints))?;
        room::resize(&mut self.reals, reals)?;
        room::resize(&mut self.adjoints, reals * rows)?;
        room::resize(&mut self.seen.errors, rows)?;
        room::resize(&mut self.values, rows)?;
        self.begun = state.own_steps();
        self.start_ints.iter_mut().zip(&state.ints).for_each(|(own, &value)| *own = [value; GROUP]);
        self.start_reals.iter_mut().zip(&state.reals).for_each(|(own, &bits)| *own = [bits; GROUP]);
        Ok(())
    }

    /// Gives a cell a number in each lane, as bits.
    #[inline]
    pub fn give(&mut self, class: Class, cell: usize, bits: InGroup<u64>) {
        match class {
            Class::Int => {
                let there = self.start_ints.get_mut(cell);
                there.into_iter().for_each(|own| *own = bits.map(|bits| bits as i64));
            }
            Class::Real => self.start_reals.get_mut(cell).into_iter().for_each(|own| *own = bits),
        }
    }

    /// Makes the cells those of the starts, of which nothing was seen.
    pub(super) fn renew(&mut self) {
        room::copy(&mut self.ints, &self.start_ints);
        room::copy(&mut self.reals, &self.start_reals);
        self.seen.largest = 0.0;
        room::zero(&mut self.seen.errors);
        self.vacate();
    }

    /// Makes the cells of calls what they are before any is open.
    fn vacate(&mut self) {
        room::zero(self.ints.get_mut(self.start_ints.len()..).unwrap_or_default());
        room::zero(self.reals.get_mut(self.start_reals.len()..).unwrap_or_default());
    }

    /// Turns: the losses are read, one a row, the adjoints are 0 but for theirs, and the cells of calls what they are before any is open. Only some adjoints, by their cells, were
    /// ever others than 0.
    pub(super) fn turn(&mut self, losses: &[usize], written: Option<RangeInclusive<u32>>) {
        for (value, &loss) in self.values.iter_mut().zip(losses) {
            *value = self.reals.get(loss).copied().unwrap_or_default();
        }
        self.vacate();
        if let Some(written) = written {
            let first = *written.start() as usize * losses.len();
            let end = (*written.end() as usize).saturating_add(1).saturating_mul(losses.len());
            let end = end.min(self.adjoints.len());
            room::zero(self.adjoints.get_mut(first..end).unwrap_or_default());
        }
        turn_group(&mut self.ints, &mut self.adjoints, losses);
    }

    /// The cells of the starts, and those that code has worked on.
    pub(super) fn cells(&self) -> [GroupCells<'_>; 2] {
        let own = GroupCells {
            ints: self.ints.get(..self.start_ints.len()).unwrap_or_default(),
            reals: self.reals.get(..self.start_reals.len()).unwrap_or_default(),
        };
        [GroupCells { ints: &self.start_ints, reals: &self.start_reals }, own]
    }

    /// Whether all lanes have come back to their starts, as far as rounding goes.
    pub(super) fn vouched(&mut self, turn: GroupTurn, watch: &Watch) -> bool {
        let mut differences = std::mem::take(&mut self.differences);
        let seen = (watch, &self.seen);
        let is_vouched =
            turn.vouched(&self.judged, self.cells(), &self.adjoints, seen, &self.values, &mut differences);
        self.differences = differences;
        is_vouched
    }

    /// Whether it has all cells that code names which demands this.
    pub(super) fn has_room_for(&self, demands: Demands, rows: usize) -> bool {
        let reals = self.start_reals.len() + demands.frame_reals as usize;
        self.ints.len() >= self.start_ints.len() + demands.frame_ints as usize
            && self.reals.len() >= reals
            && self.adjoints.len() >= reals * rows
            && self.seen.errors.len() == rows
    }
}
