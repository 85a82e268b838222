//! The engine of single steps: it reports and counts a step's losses, and lets a history record or restore them.
//! [`reviver_isa::step`] defines the steps.

use std::marker::PhantomData;
use std::ops::Range;

use reviver_flow::StepActivity;
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::function::Signature;
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::step::{AnyFunction, Changes, Engine, Failed, Operation};
use reviver_isa::update::Erasure;

use crate::history::journal::Journal;
use crate::history::{Cells, Cost, History, KeptSlot};
use crate::interp::mode::{Mode, is_silent};
use crate::interp::sources::{Read, Sources};
use crate::reports::{Loss, Reports};
use crate::state::Counters;
use crate::state::lanes::Lanes;
use crate::watch::{Freed, Rounding};

/// The cells of one step, with the counters, reports and history that the step may write to.
pub(crate) struct Recording<'a, W, R: Reals, H, M> {
    pub numbers: Arithmetic<W, R>,
    pub tolerance: f64,
    /// The range of pooled immediates: constants, which receive no adjoint.
    pub pool: &'a Range<usize>,
    /// The index of the instruction.
    pub at: u32,
    /// True if the watch is notified of the cells that the step frees.
    pub is_watched: bool,
    /// The activity of the step's sources.
    pub activity: StepActivity,
    pub counters: &'a mut Counters,
    pub reports: &'a mut Reports,
    pub journal: Journal<'a, H>,
    pub cells: Cells<'a, R::Bits>,
    pub mode: PhantomData<M>,
}

impl<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>, M: Mode> Recording<'_, W, R, H, M> {
    fn report_adjoint(&mut self, loss: Loss, cell: usize) {
        let adjoint = self.adjoint(cell);
        if !is_silent(self.numbers.reals, adjoint) {
            let size = self.numbers.reals.to_f64(adjoint).abs();
            self.reports.note(self.at, loss, size);
        }
    }

    /// Reports each active source with an infinite or undefined partial derivative, while the target's adjoint is 0.
    /// The step propagates 0 to the source, but the product of the two is undefined.
    #[cold]
    fn report_hidden(
        &mut self,
        operation: Operation,
        sources: [usize; 2],
        is_hidden: impl Fn(&Self, usize, usize) -> bool,
    ) {
        for (source, cell) in (0_u8..).zip(sources) {
            if self.pool.contains(&cell) || !is_hidden(self, usize::from(source) + 1, cell) {
                continue;
            }
            let partial = self.sources(sources, Read::Primal).partial(operation, source);
            let partial = partial.and_then(|partial| self.admit(partial));
            // A partial derivative that merely exceeds the range of fixed point is finite, so it isn't reported.
            if partial.is_err_and(|fault| fault != Fault::Overflow) {
                self.reports.note(self.at, Loss::Hidden, 0.0);
            }
        }
    }

    /// Reports a point at which a dual-valued run can't find derivatives: a kink, if kinks are reported, or a hidden
    /// derivative. A derivative is hidden if the function has no derivative with respect to a source that depends on
    /// the inputs, and all tangents of the source are 0 at this point.
    fn report_point(&mut self, operation: Operation, [a, b]: [usize; 2]) {
        let reals = self.numbers.reals;
        let sources = [a, if operation.function.arity() > 1 { b } else { a }];
        let compares_reals = matches!(operation.signature, Signature::Real | Signature::RealsToInt);
        if compares_reals && self.reports.reports_kinks() && operation.may_tie() {
            let orders = self.reports.orders();
            let size = tie_size(reals, sources.map(|cell| self.real(cell)), orders);
            let differ = |a, b| is_tie(reals, a, b, orders);
            let [a, b] = sources.map(|cell| self.real(cell));
            if operation.finds_tie(&self.numbers, (a, b), differ) {
                self.reports.note(self.at, Loss::Kink, size);
            }
        }
        if self.activity.loses_any_forward() {
            let activity = self.activity;
            self.report_hidden(operation, [a, b], |engine, operand, cell| {
                activity.may_lose_forward(operand) && reals.tangent(engine.real(cell), usize::MAX) == 0.0
            });
        }
    }

    fn sources(&self, cells: [usize; 2], read: Read) -> Sources<'_, W, R> {
        Sources { numbers: self.numbers, ints: self.cells.ints, reals: self.cells.reals, cells, read }
    }
}

impl<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>, M: Mode> Engine for Recording<'_, W, R, H, M> {
    type Numbers = Arithmetic<W, R>;
    type Cell = usize;
    type Bit = bool;
    type Functions = AnyFunction;

    const GRADIENT: bool = M::ON;
    const EXACT: bool = R::EXACT;
    const IMMEDIATE: bool = true;
    const HISTORY: bool = H::ACTIVE;

    fn numbers(&self) -> Arithmetic<W, R> {
        self.numbers
    }
    fn int(&self, cell: usize) -> i64 {
        self.cells.ints[cell]
    }
    fn real(&self, cell: usize) -> R::Cell {
        self.numbers.reals.of_bits(self.cells.reals[cell])
    }
    fn adjoint(&self, cell: usize) -> R::Cell {
        self.numbers.reals.of_bits(self.cells.adjoints[cell])
    }
    fn set_int(&mut self, cell: usize, value: i64) {
        self.cells.ints[cell] = value;
    }
    fn set_real(&mut self, cell: usize, value: R::Cell) {
        self.cells.reals[cell] = self.numbers.reals.to_bits(value);
    }
    fn set_adjoint(&mut self, cell: usize, value: R::Cell) {
        self.cells.adjoints[cell] = self.numbers.reals.to_bits(value);
    }
    fn set_zero(&mut self, class: Class, cell: usize) {
        match class {
            Class::Int => self.cells.ints[cell] = 0,
            Class::Real => self.cells.reals[cell] = R::Bits::default(),
        }
    }

    fn admit(&self, value: R::Cell) -> Eval<R::Cell> {
        self.numbers.reals.admit(value)
    }
    fn is_nonzero(&self, adjoint: R::Cell) -> bool {
        !is_silent(self.numbers.reals, adjoint)
    }
    fn receives(&self, operand: usize, cell: usize) -> bool {
        !self.activity.is_passive(operand)
            && (!self.pool.contains(&cell) || !keeps(Rule::ConstantsReceiveNothing))
    }
    fn observe_target_adjoint(&mut self, operation: Operation, sources: [usize; 2], is_nonzero: bool) {
        if !is_nonzero && self.activity.loses_any() {
            let activity = self.activity;
            self.report_hidden(operation, sources, |_, operand, _| activity.may_lose(operand));
        }
    }
    fn observe_sources(&mut self, operation: Operation, sources: [usize; 2]) {
        if R::IS_TAYLOR && !M::ON && (self.reports.reports_kinks() || self.activity.loses_any_forward()) {
            self.report_point(operation, sources);
        }
    }
    fn is_same(&self, a: usize, b: usize) -> bool {
        a == b
    }
    fn either(&self, a: bool, b: bool) -> bool {
        a || b
    }
    fn choose(&self, bit: bool, yes: R::Cell, no: R::Cell) -> R::Cell {
        if bit { yes } else { no }
    }
    fn int_value(&self, operation: Operation, sources: [usize; 2]) -> Eval<i64> {
        self.sources(sources, Read::WithDerivatives).int_value(operation)
    }
    fn real_value(&self, operation: Operation, sources: [usize; 2]) -> Eval<R::Cell> {
        self.sources(sources, Read::WithDerivatives).real_value(operation)
    }
    fn partial(&self, operation: Operation, source: u8, sources: [usize; 2]) -> Eval<R::Cell> {
        self.sources(sources, Read::WithDerivatives).partial(operation, source)
    }

    fn require_condition(&mut self, holds: i64) -> Result<(), Failed> {
        if holds != 0 || !keeps(Rule::AssertionsAreChecked) { Ok(()) } else { Err(Failed::Denied) }
    }
    fn require_vacant(&mut self, class: Class, cell: usize) -> Result<(), Failed> {
        let is_vacant = match class {
            Class::Int => self.cells.ints[cell] == 0,
            Class::Real => is_vacant(self.numbers.reals, self.tolerance, self.cells.reals[cell]),
        };
        if is_vacant { Ok(()) } else { Err(Failed::NotVacant) }
    }

    /// Determines the cause of a fault. With dual numbers, the tangents may be the cause: the function then has a value
    /// for the primal numbers alone.
    #[cold]
    fn blame(&self, operation: Operation, cells: [usize; 3], fault: Fault) -> Failed {
        let [y, a, b] = cells;
        let sources = [a, b];
        if self.sources(sources, Read::Primal).updated(operation, y).is_err() {
            return Failed::Value(fault);
        }
        // The partial derivative with respect to a source doesn't exist if the function fails while only this
        // source is dual.
        let fails = |source: &usize| {
            let moves = self.sources(sources, Read::WithDerivativesIn(sources[*source]));
            moves.real_value(operation).and_then(|f| self.admit(f)).is_err()
        };
        match (0..operation.function.arity().min(2)).find(fails) {
            Some(source) => Failed::Partial { source: source as u8, fault },
            None => Failed::Carried(fault),
        }
    }

    fn converts(&mut self, source: usize) {
        if M::ON {
            return self.report_adjoint(Loss::Converted, source);
        }
        // The forward sweep has reported these tangents. A reverse sweep in gradient mode would report them a second
        // time.
        let tangent = self.numbers.reals.tangent(self.real(source), self.reports.orders());
        if tangent > self.tolerance {
            self.reports.note(self.at, Loss::ConvertedWithTangent, tangent);
        }
    }
    fn erases(&mut self, class: Class, cell: usize, erasure: Erasure) {
        let (bits, width) = match class {
            Class::Int => (R::Bits::of_word(self.cells.ints[cell] as u64), self.numbers.words.bits()),
            Class::Real => (self.cells.reals[cell], self.numbers.reals.width()),
        };
        let width = erasure.bits(width);
        self.journal.erased(class, cell, bits, width, self.counters);
        if M::ON && class == Class::Real {
            self.report_adjoint(Loss::Erased, cell);
        }
    }
    fn ends_adjoint(&mut self, cell: usize) {
        self.report_adjoint(Loss::Erased, cell);
    }
    fn frees(&mut self, cell: usize) {
        let bits = self.cells.reals[cell];
        let adjoint = if M::ON { Some(self.adjoint(cell)) } else { None };
        let place = Freeing { at: self.at, tolerance: self.tolerance, is_watched: self.is_watched };
        report_freed(self.reports, self.numbers.reals, place, bits, adjoint);
        self.journal.discarded(self.numbers.reals.width(), cell, bits, self.counters);
    }
    fn drop_adjoint(&mut self, cell: usize) {
        let bits = self.cells.adjoints[cell];
        let counts = !is_silent(self.numbers.reals, self.numbers.reals.of_bits(bits));
        self.journal.dropped(cell, bits, counts, self.counters);
        if keeps(Rule::AdjointsAreDropped) {
            self.cells.adjoints[cell] = R::Bits::default();
        }
    }

    fn is_kept(&self) -> bool {
        self.journal.holds()
    }
    fn keeps_adjoints(&self) -> bool {
        self.journal.holds_adjoints()
    }
    fn kept_real(&self, cell: usize) -> R::Cell {
        let bits = self.journal.kept_real(cell).unwrap_or(self.cells.reals[cell]);
        self.numbers.reals.of_bits(bits)
    }
    fn give_back(&mut self) -> bool {
        self.journal.restore(&mut self.cells, self.counters)
    }
    fn keep(&mut self, cells: &[usize]) {
        for &cell in cells {
            self.journal.keep(KeptSlot::Real, cell, self.cells.reals[cell], Cost::default());
        }
    }
    fn keep_adjoints(&mut self, changes: &Changes<Self>) {
        for change in changes.iter().filter(|_| keeps(Rule::AdjointsAreKept)) {
            let bits = self.cells.adjoints[change.cell];
            self.journal.keep(KeptSlot::Adjoint, change.cell, bits, Cost::default());
        }
    }
    fn is_undone(&self, old: R::Cell, undone: Eval<R::Cell>) -> bool {
        let reals = self.numbers.reals;
        undone.map(|undone| reals.to_bits(undone)) == Ok(reals.to_bits(old))
    }
    fn holds(&self, bit: bool) -> bool {
        bit
    }
}

/// Returns true if two dual reals have equal values but different tangents of some order up to `orders`.
pub(crate) fn is_tie<R: Reals>(reals: R, a: R::Cell, b: R::Cell, orders: usize) -> bool {
    let differs = |difference| reals.tangent(difference, orders) != 0.0;
    reals.primal(a) == reals.primal(b) && reals.sub(a, b).is_ok_and(differs)
}

/// Returns the largest tangent magnitude of two reals.
pub(crate) fn tie_size<R: Reals>(reals: R, sources: [R::Cell; 2], orders: usize) -> f64 {
    sources.map(|source| reals.tangent(source, orders)).into_iter().fold(0.0, f64::max)
}

/// The context in which a cell is freed.
pub(crate) struct Freeing {
    /// The index of the instruction.
    pub at: u32,
    pub tolerance: f64,
    /// True if the watch is notified: see [`super::Run::is_watched`].
    pub is_watched: bool,
}

/// Reports a real cell that is freed while its tangent isn't 0, and notifies the watch of the cell's value.
pub(crate) fn report_freed<R: Reals<Bits: Lanes>>(
    reports: &mut Reports,
    reals: R,
    freeing: Freeing,
    bits: R::Bits,
    adjoint: Option<R::Cell>,
) {
    let value = reals.of_bits(bits);
    let tangent = reals.tangent(value, reports.orders());
    if tangent > freeing.tolerance {
        reports.note(freeing.at, Loss::FreedWithTangent, tangent);
    }
    let Some(watch) = reports.watch.as_mut().filter(|_| freeing.is_watched) else { return };
    if value != R::Cell::default() {
        let adjoint = adjoint.map_or(0.0, |adjoint| reals.to_f64(adjoint));
        let freed = Freed { at: freeing.at, value: reals.to_f64(value) };
        watch.freed(freed, adjoint, Rounding::of(reals.system()));
    }
}

/// Returns true if a real cell is vacant, that is, 0, or for floats within the tolerance.
pub(crate) fn is_vacant<R: Reals>(reals: R, tolerance: f64, bits: R::Bits) -> bool {
    let tolerance = if R::EXACT { 0.0 } else { tolerance };
    bits == R::Bits::default() || reals.to_f64(reals.of_bits(bits)).abs() <= tolerance
}
