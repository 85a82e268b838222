//! The cells of a group, in memory that serves again and again: those of its starts, of which only what lanes are given changes from group to group, and those that
//! code works on. Knows no code.

use std::ops::RangeInclusive;
use std::sync::Arc;

use reviver_isa::instruction::Class;
use reviver_vm::State;
use reviver_vm::differentiate::SeededCell;
use reviver_vm::differentiate::group::{
    CellMiss, GROUP, GroupCells, GroupTurn, InGroup, JudgedCells, SeenInGroup, sum_sizes, turn_group,
};
use reviver_vm::differentiate::seeds::SumSize;
use reviver_vm::room::{self, OutOfMemory};
use reviver_vm::watch::Watch;

use crate::form::Demands;
use crate::known::KnownCells;

/// What a room and the ways that it was made for have in common, and no others.
#[derive(Debug)]
pub(super) struct RoomToken;

/// Cells of a group, and what is seen of its ways.
#[derive(Debug)]
pub struct GroupRoom {
    /// Says whose ways it was made for.
    pub(super) made_for: Arc<RoomToken>,
    /// The cells that lanes are given, in their order.
    given: Vec<(Class, usize)>,
    /// The greatest magnitude of the other reals at the start.
    largest: f64,
    start_ints: Vec<InGroup<i64>>,
    start_reals: Vec<InGroup<u64>>,
    pub(super) ints: Vec<InGroup<i64>>,
    pub(super) reals: Vec<InGroup<u64>>,
    pub(super) adjoints: Vec<InGroup<u64>>,
    pub(super) seen: SeenInGroup,
    /// The seeds of each row.
    pub(super) seeds: Vec<Vec<SeededCell>>,
    /// The seeded cells where the way there has ended, row after row.
    pub(super) values: Vec<InGroup<u64>>,
    /// The sizes of the seeded sums, by row.
    sums: Vec<InGroup<SumSize>>,
    judged: JudgedCells,
    /// Memory of the judge.
    pub(super) misses: Vec<CellMiss>,
    /// How many steps were made before.
    pub(super) begun: i64,
}

impl GroupRoom {
    /// Makes the cells of all starts those of a state but for those that lanes are given, and room for what some ways demand with a row for each list of seeds,
    /// which leave some cells as they are at the start.
    ///
    /// # Errors
    /// There is no memory for that.
    pub(super) fn new(
        state: &State,
        given: &[(Class, usize)],
        (made_for, settled): (&Arc<RoomToken>, &KnownCells),
        (demands, seeds): ([Demands; 2], Vec<Vec<SeededCell>>),
    ) -> Result<GroupRoom, OutOfMemory> {
        let rows = seeds.len();
        let is_settled = |class, cell: usize| settled.bits(class, cell as u32).is_some();
        let most = |of: fn(&Demands) -> u32| demands.iter().map(of).max().unwrap_or(0) as usize;
        let (ints, reals) = (state.ints.len(), state.reals.len());
        let all_reals = reals + most(|way| way.frame_reals);
        let mut room = GroupRoom {
            made_for: Arc::clone(made_for),
            given: given.to_vec(),
            largest: largest_but(given, &state.reals),
            start_ints: room::zeros(ints)?,
            start_reals: room::zeros(reals)?,
            ints: room::zeros(ints + most(|way| way.frame_ints))?,
            reals: room::zeros(all_reals)?,
            adjoints: room::zeros(all_reals * rows)?,
            seen: SeenInGroup { largest: [0.0; GROUP], errors: room::zeros(rows)? },
            values: room::zeros(seeds.iter().map(Vec::len).sum())?,
            sums: room::zeros(rows)?,
            seeds,
            judged: JudgedCells::of([ints, reals], is_settled),
            misses: Vec::new(),
            begun: state.own_steps(),
        };
        room.start_ints.iter_mut().zip(&state.ints).for_each(|(own, &value)| *own = [value; GROUP]);
        room.start_reals.iter_mut().zip(&state.reals).for_each(|(own, &bits)| *own = [bits; GROUP]);
        Ok(room)
    }

    /// Gives a cell, by its place among those that lanes are given, a number in each lane, as bits.
    #[inline]
    pub fn give(&mut self, n: usize, bits: InGroup<u64>) {
        match self.given.get(n) {
            Some(&(Class::Int, cell)) => {
                let there = self.start_ints.get_mut(cell);
                there.into_iter().for_each(|own| *own = bits.map(|bits| bits as i64));
            }
            Some(&(Class::Real, cell)) => {
                self.start_reals.get_mut(cell).into_iter().for_each(|own| *own = bits);
            }
            None => {}
        }
    }

    /// Makes the cells those of the starts, of which nothing was seen.
    pub(super) fn renew(&mut self) {
        room::copy(&mut self.ints, &self.start_ints);
        room::copy(&mut self.reals, &self.start_reals);
        self.seen.largest = [0.0; GROUP];
        room::zero(&mut self.seen.errors);
        self.vacate();
    }

    /// Makes the cells of calls what they are before any is open.
    fn vacate(&mut self) {
        room::zero(self.ints.get_mut(self.start_ints.len()..).unwrap_or_default());
        room::zero(self.reals.get_mut(self.start_reals.len()..).unwrap_or_default());
    }

    /// Turns: the seeded cells are read, the adjoints are 0 but for theirs, and the cells of calls what they are before any is open. Only some adjoints, by their cells, were
    /// ever others than 0.
    pub(super) fn turn(&mut self, written: Option<RangeInclusive<u32>>) {
        let mut values = &mut self.values[..];
        for (seeds, sum) in self.seeds.iter().zip(&mut self.sums) {
            let (own, others) = values.split_at_mut(seeds.len().min(values.len()));
            for (value, seed) in own.iter_mut().zip(seeds) {
                *value = self.reals.get(seed.cell).copied().unwrap_or_default();
            }
            *sum = sum_sizes(seeds, own);
            values = others;
        }
        let rows = self.seeds.len();
        self.vacate();
        if let Some(written) = written {
            let first = *written.start() as usize * rows;
            let end = (*written.end() as usize).saturating_add(1).saturating_mul(rows);
            let end = end.min(self.adjoints.len());
            room::zero(self.adjoints.get_mut(first..end).unwrap_or_default());
        }
        turn_group(&mut self.ints, &mut self.adjoints, &self.seeds);
    }

    /// The cells of the starts, and those that code has worked on.
    pub(super) fn cells(&self) -> [GroupCells<'_>; 2] {
        let own = GroupCells {
            ints: self.ints.get(..self.start_ints.len()).unwrap_or_default(),
            reals: self.reals.get(..self.start_reals.len()).unwrap_or_default(),
        };
        [GroupCells { ints: &self.start_ints, reals: &self.start_reals }, own]
    }

    /// Where the way there has ended.
    pub(super) fn turned(&self) -> GroupTurn {
        let reals = self.given.iter().filter(|(class, _)| *class == Class::Real);
        let given = reals.filter_map(|&(_, cell)| self.start_reals.get(cell));
        let [_, reached] = self.cells();
        GroupTurn::new(self.largest, given, reached.reals)
    }

    /// Whether all lanes have come back to their starts, as far as rounding goes.
    pub(super) fn vouched(&mut self, turn: GroupTurn, watch: &Watch) -> bool {
        let mut misses = std::mem::take(&mut self.misses);
        let seen = (watch, &self.seen);
        let is_vouched =
            turn.vouched(&self.judged, self.cells(), &self.adjoints, seen, &self.sums, &mut misses);
        self.misses = misses;
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

/// The greatest magnitude of reals, but for those that lanes are given.
fn largest_but(given: &[(Class, usize)], reals: &[u64]) -> f64 {
    let others = reals.iter().enumerate().filter(|&(cell, _)| !given.contains(&(Class::Real, cell)));
    others.fold(0.0, |most, (_, &bits)| f64::from_bits(bits).abs().max(most))
}
