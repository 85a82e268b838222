//! Instructions on cells that are rare, that a history takes part in, or whose cells are found at
//! each step. Apart from the hot loop, so that it stays in registers. Knows no branches and no calls.

use std::ops::Range;

use reviver_isa::fault::{Eval, Fault};
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::update::Update;

use crate::address::{ADJOINT, Scope};
use crate::history::{Cells, Cost, History, RECORDS_OF_A_STEP, Slot};
use crate::interp::{Frequent, frequent};
use crate::journal::Journal;
use crate::lanes::Lanes;
use crate::op::{Kind, Op};
use crate::program::Program;
use crate::reports::{Loss, Reports};
use crate::state::Counters;
use crate::transport::{Carried, Mode, Plain, Point, Sense, Turn, View, is_silent, turned};
use crate::trap::{Cause, Failed};
use crate::travel::Clock;
use crate::watch::{Freed, Rounding};

/// What instructions on cells need beside cells.
pub(crate) struct Rare<'a, W, R, H> {
    pub numbers: Arithmetic<W, R>,
    pub tolerance: f64,
    pub counters: &'a mut Counters,
    pub history: &'a mut H,
    pub reports: &'a mut Reports,
    pub clock: Clock,
    pub scope: Scope<'a>,
    pub program: &'a Program,
    pub direction: usize,
}

/// Where the loop stands.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    /// Index in the code of the direction.
    pub counter: usize,
    /// Steps that may still be made.
    pub left: u64,
}

impl<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>> Rare<'_, W, R, H> {
    /// Executes an instruction whose cells are known since the program was loaded.
    #[inline(never)]
    pub fn execute_static<M: Mode>(
        &mut self,
        op: &Op,
        cells: Cells<R::Bits>,
        moment: Moment,
    ) -> Result<(), Cause> {
        self.make_room(moment)?;
        self.step::<M>(cells, moment, None).execute(op, op.cells())
    }

    /// The ordering of any branch half's sources.
    #[inline(never)]
    pub fn order(&self, op: &Op, cells: Cells<R::Bits>) -> Result<u8, Cause> {
        // The third is no operand: where a branch lands.
        let [a, b, _] = self.scope.sources(op, cells.ints)?;
        if (a | b) & ADJOINT == 0 {
            return Ok(op.order([a, b, b], cells.ints, cells.reals, self.numbers.reals));
        }
        let copies = [a, b].map(|address| read(&cells, address));
        Ok(op.order([0, 1, 1], cells.ints, &copies, self.numbers.reals))
    }

    /// The ordering of the sources of the join that a jump lands behind.
    #[inline(never)]
    pub fn order_landing(&self, counter: usize, cells: Cells<R::Bits>) -> Result<u8, Cause> {
        self.order(&self.program.landings[self.direction][counter], cells)
    }

    /// Executes an instruction whose cells are only known now.
    #[inline(never)]
    pub fn execute_dynamic<M: Mode>(
        &mut self,
        op: &Op,
        cells: Cells<R::Bits>,
        moment: Moment,
    ) -> Result<(), Cause> {
        let op = &self.program.dynamic[op.a as usize];
        let addresses = self.scope.operands(op, cells.ints)?;
        let Cells { ints, reals, adjoints } = cells;
        let pool = &self.program.pool;
        let drops = &mut self.counters.drops;
        match frequent::<W, R, H, M>(op, addresses, self.numbers, pool, ints, reals, adjoints, drops) {
            Frequent::Done => Ok(()),
            Frequent::Failed(failed) => Err(failed.into()),
            Frequent::Other => {
                self.make_room(moment)?;
                self.step::<M>(Cells { ints, reals, adjoints }, moment, None).execute(op, addresses)
            }
        }
    }

    /// Executes an instruction that names an adjoint: plainly, on copies of its real operands.
    #[inline(never)]
    pub fn execute_on_adjoints(
        &mut self,
        op: &Op,
        mut cells: Cells<R::Bits>,
        moment: Moment,
    ) -> Result<(), Cause> {
        let op = &self.program.dynamic[op.a as usize];
        let addresses = self.scope.operands(op, cells.ints)?;
        self.make_room(moment)?;
        if self.step::<Plain>(cells.reborrow(), moment, None).restored() {
            return Ok(());
        }
        let is_real = op.kind.real_operands();
        let mut copies = [0, 1, 2].map(|n| match is_real[n] {
            true => read(&cells, addresses[n]),
            false => R::Bits::default(),
        });
        let own = [0, 1, 2].map(|n| if is_real[n] { n } else { addresses[n] });
        let on_copies = Cells { ints: &mut *cells.ints, reals: &mut copies, adjoints: &mut [] };
        let addressed = addresses.map(|address| address as u32);
        self.step::<Plain>(on_copies, moment, Some(addressed))
            .execute(op, own)
            .map_err(|cause| cause.about_copies_of(addressed))?;
        // Targets come first. The third operand never is one, and may be no operand at all.
        for n in (0..2).filter(|&n| is_real[n]) {
            write(&mut cells, addresses[n], copies[n]);
        }
        Ok(())
    }

    /// Finds memory for what the history keeps of a step that leads away from the start.
    fn make_room(&mut self, moment: Moment) -> Result<(), Cause> {
        let interval = self.clock.interval(moment.left);
        if !H::ACTIVE || self.clock.travel.restores(interval) {
            return Ok(());
        }
        self.history.make_room(interval, RECORDS_OF_A_STEP)
    }

    fn step<'s, M: Mode>(
        &'s mut self,
        cells: Cells<'s, R::Bits>,
        moment: Moment,
        copies_of: Option<[u32; 3]>,
    ) -> Step<'s, W, R, H, M> {
        let interval = self.clock.interval(moment.left);
        let journal = Journal {
            history: &mut *self.history,
            interval,
            restores: self.clock.travel.restores(interval),
            gradient: M::ON,
            copies_of,
        };
        Step {
            numbers: self.numbers,
            tolerance: self.tolerance,
            pool: &self.program.pool,
            at: self.program.instruction_at(moment.counter, self.direction),
            counters: &mut *self.counters,
            reports: &mut *self.reports,
            journal,
            cells,
            mode: std::marker::PhantomData,
        }
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

/// One step on cells.
struct Step<'a, W, R: Reals, H, M> {
    numbers: Arithmetic<W, R>,
    tolerance: f64,
    pool: &'a Range<usize>,
    /// Index of the instruction.
    at: u32,
    counters: &'a mut Counters,
    reports: &'a mut Reports,
    journal: Journal<'a, H>,
    cells: Cells<'a, R::Bits>,
    mode: std::marker::PhantomData<M>,
}

impl<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>, M: Mode> Step<'_, W, R, H, M> {
    fn execute(&mut self, op: &Op, [a, b, c]: [usize; 3]) -> Result<(), Cause> {
        let numbers = self.numbers;
        match op.kind {
            Kind::IntFromInts | Kind::AddIntCopy | Kind::SubIntCopy | Kind::XorIntCopy => {
                let f = op.function.int(&numbers, self.cells.ints[b], self.cells.ints[c])?;
                self.update_int(op, a, f);
            }
            Kind::IntFromReals => {
                let f = op.function.reals_to_int(&numbers, self.load(b), self.load(c))?;
                self.converted(op, [b, c]);
                self.update_int(op, a, f);
            }
            Kind::RealFromReals
            | Kind::RealFromRealInt
            | Kind::RealFromInts
            | Kind::AddRealCopy
            | Kind::SubRealCopy
            | Kind::AddRealMul
            | Kind::SubRealMul => self.accumulate(op, [a, b, c])?,
            Kind::NegInt => self.cells.ints[a] = numbers.words.wrap(self.cells.ints[a].wrapping_neg()),
            Kind::NegReal => self.negate(a)?,
            Kind::NotInt => self.cells.ints[a] = !self.cells.ints[a],
            // Between cells the loop swaps by itself; an adjoint that takes part brings the swap here.
            Kind::SwapReal => self.cells.reals.swap(a, b),
            Kind::Rotate => self.rotate(Sense::Gains, [a, b, c])?,
            Kind::RotateBack => self.rotate(Sense::Loses, [a, b, c])?,
            Kind::AssertInt | Kind::AssertReal => {
                let ordering = op.order([a, b, c], self.cells.ints, self.cells.reals, numbers.reals);
                if !op.holds(ordering) && keeps(Rule::AssertionsAreChecked) {
                    return Err(Cause::AssertFailed);
                }
            }
            Kind::VacateInt => {
                let vacant = self.cells.ints[a] == 0;
                if !vacant && keeps(Rule::VacancyIsChecked) {
                    return Err(Cause::NotVacant { class: Class::Int, cell: a as u32 });
                }
            }
            Kind::VacateReal => self.vacate(a)?,
            Kind::EraseInt if !self.restored() => {
                self.erase_int(a);
                self.cells.ints[a] = 0;
            }
            Kind::EraseReal if !self.restored() => {
                self.erase_real(a);
                self.cells.reals[a] = R::Bits::default();
            }
            Kind::Restore | Kind::RestoreReal | Kind::RestoreFromReals | Kind::RestoreFromRealInt => {
                self.restore(op, [a, b, c])?
            }
            // Branches are the loop's own, as swaps of integers; the rest is structural.
            _ => {}
        }
        Ok(())
    }

    fn load(&self, cell: usize) -> R::Cell {
        self.numbers.reals.of_bits(self.cells.reals[cell])
    }

    fn store(&mut self, cell: usize, value: R::Cell) {
        self.cells.reals[cell] = self.numbers.reals.to_bits(value);
    }

    fn view(&self) -> View<'_, W, R> {
        View {
            numbers: self.numbers,
            reals: self.cells.reals,
            adjoints: self.cells.adjoints,
            pool: self.pool,
        }
    }

    fn update_int(&mut self, op: &Op, a: usize, f: i64) {
        if op.extra == OVERWRITE {
            if self.restored() {
                return;
            }
            self.erase_int(a);
        }
        self.cells.ints[a] = apply_int(self.numbers.words, op, self.cells.ints[a], f);
    }

    fn erase_int(&mut self, a: usize) {
        let (bits, width) = (R::Bits::of_word(self.cells.ints[a] as u64), self.numbers.words.bits());
        self.journal.erased(Class::Int, a, bits, width, self.counters);
    }

    fn erase_real(&mut self, a: usize) {
        let width = self.numbers.reals.width();
        self.journal.erased(Class::Real, a, self.cells.reals[a], width, self.counters);
        if M::ON {
            self.report_adjoint(Loss::Overwritten, a);
        }
    }

    fn report_adjoint(&mut self, loss: Loss, cell: usize) {
        let adjoint = self.view().adjoint(cell);
        if !is_silent(self.numbers.reals, adjoint) {
            let size = self.numbers.reals.to_f64(adjoint).abs();
            self.reports.note(self.at, loss, size);
        }
    }

    /// Makes a step that concerns no adjoints by its record, if it has one.
    fn restored(&mut self) -> bool {
        let holds = self.journal.holds();
        if holds {
            self.journal.restore(&mut self.cells, self.counters);
        }
        holds
    }

    /// y += f(a, b) and y -= f(a, b) over reals, and the overwriting of a real.
    fn accumulate(&mut self, op: &Op, [a, b, c]: [usize; 3]) -> Result<(), Cause> {
        let reals = self.numbers.reals;
        if self.journal.holds() {
            let carried = self.carried(op, [a, b, c])?;
            if !self.journal.restore(&mut self.cells, self.counters) {
                self.carry(&carried);
            }
            return Ok(());
        }
        let (f, new) = self
            .evaluated(op, [a, b, c], |cell| self.load(cell))
            .map_err(|fault| self.blamed(op, [a, b, c], fault))?;
        if op.extra == OVERWRITE {
            self.erase_real(a);
            self.store(a, new);
            return Ok(());
        }
        let carried = self.carried(op, [a, b, c])?;
        if H::ACTIVE {
            let undone = undo_real(reals, op, new, f).map(|undone| reals.to_bits(undone));
            let exact = R::EXACT || undone == Ok(reals.to_bits(self.load(a)));
            self.keep_unless(exact, &[a], &carried);
        }
        self.store(a, new);
        carried.write(reals, self.cells.adjoints);
        Ok(())
    }

    /// The value of the function, and what the target becomes with it.
    fn evaluated(
        &self,
        op: &Op,
        [a, b, c]: [usize; 3],
        read: impl Fn(usize) -> R::Cell,
    ) -> Eval<(R::Cell, R::Cell)> {
        let f = self.value(op, [b, c], &read)?;
        Ok((f, apply_real(self.numbers.reals, op.extra, read(a), f)?))
    }

    fn value(&self, op: &Op, [b, c]: [usize; 2], read: impl Fn(usize) -> R::Cell) -> Eval<R::Cell> {
        let ints = &self.cells.ints;
        match op.kind {
            Kind::RealFromRealInt => op.function.real_int(&self.numbers, read(b), ints[c]),
            Kind::RealFromInts => op.function.ints_to_real(&self.numbers, ints[b], ints[c]),
            _ => op.function.real(&self.numbers, read(b), read(c)),
        }
    }

    /// What is at fault where a target would get no number. Of lifted numbers it may be what they carry
    /// beside the value: then the constants in their place give one.
    #[cold]
    fn blamed(&self, op: &Op, [a, b, c]: [usize; 3], fault: Fault) -> Failed {
        let reals = self.numbers.reals;
        let constant = |cell| reals.primal(self.load(cell));
        if self.evaluated(op, [a, b, c], constant).is_err() {
            return Failed::Value(fault);
        }
        // By a source there is no derivative if the function has no value while it alone moves.
        let fails = |source: &usize| {
            let read = |cell| if cell == [b, c][*source] { self.load(cell) } else { constant(cell) };
            self.value(op, [b, c], read).and_then(|f| reals.admit(f)).is_err()
        };
        match (0..op.function.arity().min(2)).find(fails) {
            Some(source) => Failed::Partial { source: source as u8, fault },
            None => Failed::Carried(fault),
        }
    }

    /// What an accumulation that is not an overwriting carries to the sources.
    fn carried(&self, op: &Op, [a, b, c]: [usize; 3]) -> Result<Carried<R>, Failed> {
        let sense = if op.extra == ADD { Sense::Gains } else { Sense::Loses };
        match op.kind {
            _ if !M::ON || op.extra == OVERWRITE => Ok(Carried::nothing()),
            Kind::RealFromInts => Ok(Carried::nothing()),
            Kind::RealFromRealInt => {
                self.view().accumulate_with_int(op.function, [a, b], self.cells.ints[c], sense)
            }
            _ => self.view().accumulate(op.function, [a, b, c], sense),
        }
    }

    /// Records all cells that a step changes, unless undoing it gives every one of them back.
    fn keep_unless(&mut self, exact: bool, targets: &[usize], carried: &Carried<R>) {
        if exact && carried.is_exact() || !keeps(Rule::ResiduesAreKept) {
            return;
        }
        for &target in targets {
            self.journal.keep(Slot::Real, target, self.cells.reals[target], Cost::default());
        }
        self.keep_adjoints(carried);
    }

    fn keep_adjoints(&mut self, carried: &Carried<R>) {
        for cell in carried.cells().filter(|_| keeps(Rule::AdjointsAreKept)) {
            self.journal.keep(Slot::Adjoint, cell, self.cells.adjoints[cell], Cost::default());
        }
    }

    /// Transports adjoints on a step whose values came from a record. If that was an earlier run's,
    /// the step has a record of its own, and that must know of every change.
    fn carry(&mut self, carried: &Carried<R>) {
        self.keep_adjoints(carried);
        carried.write(self.numbers.reals, self.cells.adjoints);
    }

    fn negate(&mut self, a: usize) -> Result<(), Cause> {
        let reals = self.numbers.reals;
        let new = reals.neg(self.load(a))?;
        let carried = if M::ON { self.view().negate(a)? } else { Carried::nothing() };
        self.store(a, new);
        carried.write(reals, self.cells.adjoints);
        Ok(())
    }

    fn rotate(&mut self, sense: Sense, [a, b, c]: [usize; 3]) -> Result<(), Cause> {
        let reals = self.numbers.reals;
        let before: Point<R> = (self.load(a), self.load(b));
        let holds = self.journal.holds();
        if holds && !M::ON {
            self.journal.restore(&mut self.cells, self.counters);
            return Ok(());
        }
        let after = turned(reals, sense, before, self.load(c))?;
        let turn = Turn { sense, before, after };
        let carried = if M::ON { self.view().rotate(&turn, [a, b, c])? } else { Carried::nothing() };
        if holds {
            if !self.journal.restore(&mut self.cells, self.counters) {
                self.carry(&carried);
            }
            return Ok(());
        }
        let after = (reals.admit(after.0)?, reals.admit(after.1)?);
        if H::ACTIVE {
            let bits = |(x, y): Point<R>| (reals.to_bits(x), reals.to_bits(y));
            let undone = turn.back(reals, after, self.load(c)).map(bits);
            self.keep_unless(R::EXACT || undone == Ok(bits(before)), &[a, b], &carried);
        }
        self.store(a, after.0);
        self.store(b, after.1);
        carried.write(reals, self.cells.adjoints);
        Ok(())
    }

    fn vacate(&mut self, a: usize) -> Result<(), Cause> {
        let reals = self.numbers.reals;
        if self.journal.holds() {
            if !self.journal.restore(&mut self.cells, self.counters) {
                self.drop_adjoint(a);
            }
            return Ok(());
        }
        let bits = self.cells.reals[a];
        if !is_vacant(reals, self.tolerance, bits) && keeps(Rule::VacancyIsChecked) {
            return Err(Cause::NotVacant { class: Class::Real, cell: a as u32 });
        }
        self.freed(a, bits);
        self.journal.discarded(reals.width(), a, bits, self.counters);
        self.cells.reals[a] = R::Bits::default();
        if M::ON {
            self.drop_adjoint(a);
        }
        Ok(())
    }

    /// Reports what is wrong with freeing a cell, if anything.
    fn freed(&mut self, a: usize, bits: R::Bits) {
        let adjoint = if M::ON { Some(self.view().adjoint(a)) } else { None };
        let place = Freeing { at: self.at, tolerance: self.tolerance, is_watched: M::WATCHED };
        report_freed(self.reports, self.numbers.reals, place, bits, adjoint);
    }

    /// The cell has become a constant, which nothing depends on.
    fn drop_adjoint(&mut self, a: usize) {
        let bits = self.cells.adjoints[a];
        let counts = !is_silent(self.numbers.reals, self.numbers.reals.of_bits(bits));
        self.journal.dropped(a, bits, counts, self.counters);
        if keeps(Rule::AdjointsAreDropped) {
            self.cells.adjoints[a] = R::Bits::default();
        }
    }

    /// Reports reals that become integers although something depends on them. A comparison's 0 or 1 is a
    /// way that was chosen, like a branch's.
    fn converted(&mut self, op: &Op, sources: [usize; 2]) {
        if op.function.is_condition() {
            return;
        }
        for &source in &sources[..op.function.arity()] {
            let tangent = self.numbers.reals.tangent(self.load(source));
            if tangent > self.tolerance {
                self.reports.note(self.at, Loss::Converted, tangent);
            }
            if M::ON {
                self.report_adjoint(Loss::Converted, source);
            }
        }
    }

    /// The way back over an irreversible instruction: its record gives the old value; an overwritten
    /// real passes its adjoint on to what it was overwritten with, and keeps none.
    fn restore(&mut self, op: &Op, [a, b, c]: [usize; 3]) -> Result<(), Cause> {
        if !self.journal.holds() {
            return if keeps(Rule::ErasuresAreIrreversible) { Err(Cause::Irreversible) } else { Ok(()) };
        }
        let carried = match op.kind {
            Kind::RestoreFromReals if M::ON => {
                self.view().accumulate(op.function, [a, b, c], Sense::Loses)?
            }
            Kind::RestoreFromRealInt if M::ON => {
                let exponent = self.cells.ints[c];
                self.view().accumulate_with_int(op.function, [a, b], exponent, Sense::Loses)?
            }
            _ => Carried::nothing(),
        };
        let undone = self.journal.restore(&mut self.cells, self.counters);
        if M::ON && op.kind != Kind::Restore && !undone {
            self.carry(&carried);
            self.report_adjoint(Loss::Overwritten, a);
            self.drop_adjoint(a);
        }
        Ok(())
    }
}

/// Where a cell is freed.
pub(crate) struct Freeing {
    /// Index of the instruction.
    pub at: u32,
    pub tolerance: f64,
    pub is_watched: bool,
}

/// Reports a real cell that is freed while its tangent isn't 0, and shows what it holds to whoever watches.
pub(crate) fn report_freed<R: Reals<Bits: Lanes>>(
    reports: &mut Reports,
    reals: R,
    freeing: Freeing,
    bits: R::Bits,
    adjoint: Option<R::Cell>,
) {
    let value = reals.of_bits(bits);
    let tangent = reals.tangent(value);
    if tangent > freeing.tolerance {
        reports.note(freeing.at, Loss::FreedWithTangent, tangent);
    }
    let Some(watch) = reports.watch.as_mut().filter(|_| freeing.is_watched && !R::EXACT) else { return };
    if value != R::Cell::default() {
        let adjoint = adjoint.map_or(0.0, |adjoint| reals.to_f64(adjoint));
        let freed = Freed { at: freeing.at, value: reals.to_f64(value) };
        watch.freed(freed, adjoint, Rounding::of(reals.system()));
    }
}

pub(crate) const OVERWRITE: u8 = Update::Overwrite as u8;
pub(crate) const ADD: u8 = Update::Add as u8;
pub(crate) const SUB: u8 = Update::Sub as u8;
const XOR: u8 = Update::Xor as u8;
const ROL: u8 = Update::Rol as u8;
const ROR: u8 = Update::Ror as u8;

#[inline(always)]
fn apply_int<W: Words>(words: W, op: &Op, y: i64, f: i64) -> i64 {
    match op.extra {
        ADD => words.wrap(y.wrapping_add(f)),
        SUB => words.wrap(y.wrapping_sub(f)),
        XOR => y ^ f,
        ROL => words.rol(y, f),
        ROR => words.ror(y, f),
        _ => f,
    }
}

#[inline(always)]
pub(crate) fn apply_real<R: Reals>(reals: R, update: u8, y: R::Cell, f: R::Cell) -> Eval<R::Cell> {
    let new = match update {
        ADD => reals.add(y, f)?,
        SUB => reals.sub(y, f)?,
        _ => f,
    };
    reals.admit(new)
}

fn undo_real<R: Reals>(reals: R, op: &Op, new: R::Cell, f: R::Cell) -> Eval<R::Cell> {
    match op.extra {
        ADD => reals.sub(new, f),
        _ => reals.add(new, f),
    }
}

/// Whether a real cell is vacant: 0, or for floats within the tolerance.
pub(crate) fn is_vacant<R: Reals>(reals: R, tolerance: f64, bits: R::Bits) -> bool {
    let tolerance = if R::EXACT { 0.0 } else { tolerance };
    bits == R::Bits::default() || reals.to_f64(reals.of_bits(bits)).abs() <= tolerance
}
