//! Infrequent steps on cells: those that need a history, and those with operands that must be located. The code of
//! these steps is out of line, so that the variables of the hot loop stay in registers. The module executes neither
//! jumps nor calls.

use std::marker::PhantomData;

use reviver_flow::{Step, StepActivity};
use reviver_isa::instruction::Class;
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::step::{Engine, Failed, Operation, step};

use crate::history::journal::Journal;
use crate::history::{Cells, Cost, History, KeptSlot, RECORDS_OF_A_STEP};
use crate::interp::address::{ADJOINT, Addresses};
use crate::interp::mode::{Mode, Plain};
use crate::interp::ordering;
use crate::interp::recording::{Recording, is_tie, tie_size};
use crate::program::{FORWARD, Program};
use crate::reports::{Loss, Reports};
use crate::state::Counters;
use crate::state::lanes::Lanes;
use crate::trap::Cause;
use crate::travel::Clock;

/// The context of infrequent steps, except for the cells.
pub(crate) struct Rare<'a, W, R, H> {
    pub numbers: Arithmetic<W, R>,
    pub tolerance: f64,
    pub counters: &'a mut Counters,
    pub history: &'a mut H,
    pub reports: &'a mut Reports,
    pub clock: Clock,
    /// True if the watch is notified of the cells that steps free.
    pub is_watched: bool,
    pub scope: Addresses<'a>,
    pub program: &'a Program,
    pub direction: usize,
}

/// The position of the hot loop.
#[derive(Clone, Copy)]
pub(crate) struct LoopPlace {
    /// The index of the step that is being executed, in the code of the current direction.
    pub counter: usize,
    /// The number of steps left in the budget.
    pub left: u64,
}

impl<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>> Rare<'_, W, R, H> {
    /// Returns the step at an index of the code, and its operation in the current direction.
    fn step(&self, counter: usize) -> Option<(&Step, Operation)> {
        let step = self.program.flow().step(self.program.instruction_at(counter, self.direction))?;
        let operation = if self.direction == FORWARD { step.operation } else { step.inverse() };
        Some((step, operation))
    }

    /// Returns the ordering of the sources of a branch half that compares an adjoint.
    #[inline(never)]
    pub fn order(&self, counter: usize, cells: Cells<R::Bits>) -> Result<u8, Cause> {
        let Some((step, _)) = self.step(counter) else { return Ok(1) };
        let [a, b, _] = self.scope.operands(step, cells.ints)?;
        let [a, b] = [a, b].map(|address| self.numbers.reals.of_bits(read(&cells, address)));
        Ok(ordering(a, b))
    }

    /// Reports a branch if it compares two dual reals with equal values and different tangents.
    #[inline(never)]
    pub fn check_tie(&mut self, counter: usize, [a, b, _]: [usize; 3], reals: &[R::Bits]) {
        let (numbers, orders) = (self.numbers.reals, self.reports.orders());
        if !self.reports.reports_kinks() {
            return;
        }
        let [a, b] = [a, b].map(|cell| numbers.of_bits(reals[cell]));
        if is_tie(numbers, a, b, orders) {
            let at = self.program.instruction_at(counter, self.direction);
            self.reports.note(at, Loss::Kink, tie_size(numbers, [a, b], orders));
        }
    }

    /// Executes a step that names an adjoint. The step is applied in plain mode to copies of its real operands, and the
    /// copies of the targets are written back.
    #[inline(never)]
    pub fn execute_on_adjoints(&mut self, mut cells: Cells<R::Bits>, moment: LoopPlace) -> Result<(), Cause> {
        let Some((of_flow, operation)) = self.step(moment.counter) else { return Ok(()) };
        let addresses = self.scope.operands(of_flow, cells.ints)?;
        self.reserve_memory(moment)?;
        let mut keeping = self.keeping::<Plain>(cells.reborrow(), moment, None);
        if keeping.is_kept() {
            keeping.give_back();
            return Ok(());
        }
        let is_real = [0, 1, 2].map(|n| operation.class_of(n) == Class::Real);
        let mut copies = [0, 1, 2].map(|n| match is_real[n] {
            true => read(&cells, addresses[n]),
            false => R::Bits::default(),
        });
        let own = [0, 1, 2].map(|n| if is_real[n] { n } else { addresses[n] });
        let on_copies = Cells { ints: &mut *cells.ints, reals: &mut copies, adjoints: &mut [] };
        let addressed = addresses.map(|address| address as u32);
        let mut keeping = self.keeping::<Plain>(on_copies, moment, Some(addressed));
        make(&mut keeping, operation, own).map_err(|failed| Cause::of(failed, operation, addresses[0]))?;
        for n in (0..operation.update.shape().targets()).filter(|&n| is_real[n]) {
            write(&mut cells, addresses[n], copies[n]);
        }
        Ok(())
    }

    /// Executes any other step on cells.
    #[inline(never)]
    pub fn execute<M: Mode>(
        &mut self,
        operation: Operation,
        addresses: [usize; 3],
        cells: Cells<R::Bits>,
        moment: LoopPlace,
    ) -> Result<(), Cause> {
        self.reserve_memory(moment)?;
        // In gradient mode, a step away from the start changes adjoints too. The inverse step restores these adjoints
        // if it is executed, but not if the old value is only taken from a record. So in this case a tape records only
        // losses, as every history does.
        let restores = self.clock.travel.restores(self.clock.interval(moment.left));
        if H::ACTIVE && self.history.tapes() && (restores || !M::ON) {
            return self.execute_taped::<M>(operation, addresses, cells, moment);
        }
        make(&mut self.keeping::<M>(cells, moment, None), operation, addresses)
            .map_err(|failed| Cause::of(failed, operation, addresses[0]))
    }

    /// Executes a step while a tape records the old values of its targets, even if the step is lossless.
    fn execute_taped<M: Mode>(
        &mut self,
        operation: Operation,
        addresses: [usize; 3],
        mut cells: Cells<R::Bits>,
        moment: LoopPlace,
    ) -> Result<(), Cause> {
        let targets = operation.update.shape().targets();
        let class = operation.class();
        let held = [0, 1].map(|n| (n < targets).then(|| held(&cells, class, addresses[n])));
        let mut keeping = self.keeping::<M>(cells.reborrow(), moment, None);
        make(&mut keeping, operation, addresses)
            .map_err(|failed| Cause::of(failed, operation, addresses[0]))?;
        if keeping.journal.restores {
            keeping.give_back();
        } else if !keeping.journal.has_recorded() {
            let slot = if class == Class::Int { KeptSlot::Int } else { KeptSlot::Real };
            for (bits, cell) in held.into_iter().zip(addresses).filter_map(|(bits, cell)| Some((bits?, cell)))
            {
                keeping.journal.keep(slot, cell, bits, Cost::default());
            }
        }
        Ok(())
    }

    /// Reserves memory for the records of a step that leads away from the start.
    fn reserve_memory(&mut self, moment: LoopPlace) -> Result<(), Cause> {
        let interval = self.clock.interval(moment.left);
        if !H::ACTIVE || self.clock.travel.restores(interval) {
            return Ok(());
        }
        self.history.reserve_memory(interval, RECORDS_OF_A_STEP)
    }

    fn keeping<'s, M: Mode>(
        &'s mut self,
        cells: Cells<'s, R::Bits>,
        moment: LoopPlace,
        copies_of: Option<[u32; 3]>,
    ) -> Recording<'s, W, R, H, M> {
        let interval = self.clock.interval(moment.left);
        let at = self.program.instruction_at(moment.counter, self.direction);
        let journal = Journal {
            history: &mut *self.history,
            interval,
            restores: self.clock.travel.restores(interval),
            gradient: M::ON,
            copies_of,
        };
        Recording {
            numbers: self.numbers,
            tolerance: self.tolerance,
            pool: &self.program.pool,
            at,
            is_watched: self.is_watched && copies_of.is_none(),
            // A step that names an adjoint propagates nothing.
            activity: if copies_of.is_none() {
                self.program.activity().step(at)
            } else {
                StepActivity::default()
            },
            counters: &mut *self.counters,
            reports: &mut *self.reports,
            journal,
            cells,
            mode: PhantomData,
        }
    }
}

/// Executes a step. Out of line, because all functions of the table are compiled into it.
#[inline(never)]
fn make<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>, M: Mode>(
    keeping: &mut Recording<W, R, H, M>,
    operation: Operation,
    cells: [usize; 3],
) -> Result<(), Failed> {
    step(keeping, operation, cells)
}

/// Returns the content of a cell.
fn held<B: Lanes>(cells: &Cells<B>, class: Class, cell: usize) -> B {
    match class {
        Class::Int => B::of_word(cells.ints[cell] as u64),
        Class::Real => cells.reals[cell],
    }
}

fn read<B: Copy>(cells: &Cells<B>, address: usize) -> B {
    if address & ADJOINT == 0 { cells.reals[address] } else { cells.adjoints[address & !ADJOINT] }
}

fn write<B: Copy>(cells: &mut Cells<B>, address: usize, bits: B) {
    if address & ADJOINT == 0 {
        cells.reals[address] = bits;
    } else {
        cells.adjoints[address & !ADJOINT] = bits;
    }
}
