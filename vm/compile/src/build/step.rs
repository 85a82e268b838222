//! Step engine that appends operations. It executes the templates that define steps, on SSA values instead of numbers.
//! This module is independent of rows and blocks.

use arrayvec::ArrayVec;
use reviver_flow::alias::{Alias, Aliases};
use reviver_flow::{Anchor, ArrayElement, Guards, Location, Slot, Step, StepActivity};
use reviver_isa::arith::Order;
use reviver_isa::fault::Eval;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::step::{AnyFunction, Changes, Engine, Failed, Operation};
use reviver_isa::update::Erasure;

use super::arith::SsaNumbers;
use super::draft::Draft;
use super::inlining::AnchorPlace;
use super::storage::space;
use super::writer::{OperandHome, StepWriter};
use crate::function::StepPart;
use crate::op::{OpKind, Space, SsaValue};

impl StepWriter<'_> {
    /// Appends the operations of a step.
    pub fn step(self, step: &Step, operation: Operation) {
        let operands = self.operands(step);
        if self.gradient && !step.names_adjoint() {
            self.carried_out::<true>(step, operation, operands);
        } else {
            self.carried_out::<false>(step, operation, operands);
        }
    }

    fn carried_out<const GRADIENT: bool>(
        self,
        step: &Step,
        operation: Operation,
        operands: ArrayVec<OperandHome, 3>,
    ) {
        let mut writing = StepEngine::<GRADIENT> { scope: self, step, operands };
        if reviver_isa::step::step(&mut writing, operation, [0, 1, 2]).is_err() {
            self.fail();
        }
    }

    /// Returns the condition of a step as an integer, which is 0 if and only if the condition doesn't hold.
    pub fn condition(self, step: &Step) -> Option<SsaValue> {
        let operands = self.operands(step);
        let writing = StepEngine::<false> { scope: self, step, operands };
        let holds = writing.int_value(step.operation, [0, 1]);
        holds.map_err(|_| self.fail()).ok()
    }

    /// Appends a check that always fails, for a step that can't be executed.
    fn fail(self) {
        self.draft.op(OpKind::RequireTrue, [self.draft.int(0)]);
    }

    /// Locates the operands of a step, with the alias checks that the step demands.
    fn operands(self, step: &Step) -> ArrayVec<OperandHome, 3> {
        let operands: ArrayVec<OperandHome, 3> = step.slots.iter().map(|slot| self.operand(slot)).collect();
        let apart = |guard, a: usize, b: usize| {
            if let (true, Some(a), Some(b)) = (step.guards.contains(guard), operands.get(a), operands.get(b))
            {
                self.draft.op(OpKind::RequireApart, [self.address(a), self.address(b)]);
            }
        };
        apart(Guards::FIRST_SECOND, 0, 1);
        apart(Guards::FIRST_THIRD, 0, 2);
        apart(Guards::SECOND_THIRD, 1, 2);
        for (guard, target) in [(Guards::FIRST_NO_INDEX, 0), (Guards::SECOND_NO_INDEX, 1)] {
            if let (true, Some(target)) = (step.guards.contains(guard), operands.get(target)) {
                self.is_no_index(step, self.address(target));
            }
        }
        operands
    }

    /// Emits a check that a cell isn't one of the indices that the step uses.
    fn is_no_index(self, step: &Step, target: SsaValue) {
        let elements = step.slots.iter().filter_map(|slot| match slot.location {
            Location::Element(number) => self.flow.element(number),
            Location::Cell(_) => None,
        });
        let cells = elements.flat_map(ArrayElement::subscripts).filter_map(|subscript| subscript.cell);
        for cell in cells {
            self.draft.op(OpKind::RequireApart, [target, self.anchor_address(cell)]);
        }
    }
}

impl StepWriter<'_> {
    /// Returns a condition that is true if the cell at an anchor isn't a constant. For a parameter, the condition is
    /// computed at run time, because the argument may be a constant.
    fn is_no_constant(self, anchor: Anchor) -> Bit {
        let n = match self.inlined_frames.place(self.inlined_frame, anchor) {
            AnchorPlace::Own(Anchor::Constant(_)) => return Bit::Known(false),
            AnchorPlace::Own(Anchor::Parameter(n)) => n,
            // A computed argument is an array element, and arrays contain no constants.
            AnchorPlace::Own(Anchor::Fixed(_) | Anchor::Frame(..)) | AnchorPlace::Computed(_) => {
                return Bit::Known(true);
            }
        };
        let constants = self.flow.layout().constants(Class::Real);
        let cell = self.draft.passed(self.inlined_frames.function(self.inlined_frame), n, 0);
        let [start, end] = [constants.start, constants.end].map(|bound| self.draft.int(bound as i64));
        let before = self.draft.op(OpKind::IntTest(Order::Lt), [cell, start]);
        let behind = self.draft.op(OpKind::IntTest(Order::Ge), [cell, end]);
        Bit::Value(self.draft.op(OpKind::IntOr, [before, behind]))
    }
}

/// Condition that is known at compile time or is a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bit {
    Known(bool),
    /// True at run time if this value isn't 0.
    Value(SsaValue),
}

/// Engine that writes one step. Its cell type is the index of an operand of the step.
struct StepEngine<'a, const GRADIENT: bool> {
    scope: StepWriter<'a>,
    step: &'a Step,
    operands: ArrayVec<OperandHome, 3>,
}

impl<const GRADIENT: bool> StepEngine<'_, GRADIENT> {
    fn draft(&self) -> &Draft {
        self.scope.draft
    }

    fn activity(&self) -> StepActivity {
        self.scope.activity.step(self.scope.at)
    }

    fn slot(&self, cell: usize) -> Option<&Slot> {
        self.step.slots.get(cell)
    }

    /// Returns an operand's value. Returns 0 if the operand has another class; functions ignore such an operand.
    fn read(&self, cell: usize, class: Class) -> SsaValue {
        match (self.slot(cell), self.operands.get(cell)) {
            (Some(slot), Some(operand)) if slot.class == class => self.scope.value(space(slot), operand),
            _ if class == Class::Int => self.draft().int(0),
            _ => self.draft().real(0),
        }
    }

    fn write(&self, cell: usize, value: SsaValue) {
        if let (Some(slot), Some(operand)) = (self.slot(cell), self.operands.get(cell)) {
            self.scope.set(space(slot), operand, value);
        }
    }

    fn adjoint_operand(&self, cell: usize) -> Option<OperandHome> {
        let slot = self.slot(cell)?;
        Some(match (slot.location, self.operands.get(cell)?) {
            (Location::Cell(anchor), _) => self.scope.cell(Space::Adjoints, anchor),
            (Location::Element(_), operand) => *operand,
        })
    }
}

impl<'a, const GRADIENT: bool> Engine for StepEngine<'a, GRADIENT> {
    type Numbers = SsaNumbers<'a>;
    type Cell = usize;
    type Bit = Bit;
    type Functions = AnyFunction;

    const GRADIENT: bool = GRADIENT;
    // Only code that records bits reads this constant, and compiled code records no bits.
    const EXACT: bool = true;
    const IMMEDIATE: bool = false;

    fn numbers(&self) -> SsaNumbers<'a> {
        SsaNumbers(self.scope.draft)
    }
    fn int(&self, cell: usize) -> SsaValue {
        self.read(cell, Class::Int)
    }
    fn real(&self, cell: usize) -> SsaValue {
        self.read(cell, Class::Real)
    }
    fn adjoint(&self, cell: usize) -> SsaValue {
        match self.adjoint_operand(cell) {
            Some(operand) => self.scope.value(Space::Adjoints, &operand),
            None => self.draft().real(0),
        }
    }
    fn set_int(&mut self, cell: usize, value: SsaValue) {
        self.write(cell, value);
    }
    fn set_real(&mut self, cell: usize, value: SsaValue) {
        self.write(cell, value);
    }
    fn set_adjoint(&mut self, cell: usize, value: SsaValue) {
        if let Some(operand) = self.adjoint_operand(cell) {
            self.scope.set(Space::Adjoints, &operand, value);
        }
    }
    fn set_zero(&mut self, class: Class, cell: usize) {
        let zero = match class {
            Class::Int => self.draft().int(0),
            Class::Real => self.draft().real(0),
        };
        self.write(cell, zero);
    }

    fn admit(&self, value: SsaValue) -> Eval<SsaValue> {
        match self.draft().numbers().system {
            RealSystem::F64 | RealSystem::F32 => {
                self.draft().op(OpKind::RequireAdmitted, [value]);
            }
            // In fixed point, the operation itself has failed if its result overflows.
            RealSystem::Fixed(_) => {}
        }
        Ok(value)
    }

    fn becomes(&mut self, _cell: usize, value: SsaValue) -> SsaValue {
        self.draft().mark_update(value);
        value
    }
    fn real_value(&self, operation: Operation, sources: [usize; 2]) -> Eval<SsaValue> {
        let (int, real) = (|n: usize| self.int(sources[n]), |n: usize| self.real(sources[n]));
        self.draft().in_part(StepPart::Function, || {
            operation.real_value::<AnyFunction, _>(&self.numbers(), int, real)
        })
    }

    fn is_nonzero(&self, adjoint: SsaValue) -> Bit {
        Bit::Value(self.draft().op(OpKind::Test(Order::Ne), [adjoint, self.draft().real(0)]))
    }
    fn receives(&self, operand: usize, cell: usize) -> Bit {
        match self.slot(cell).map(|slot| slot.location) {
            _ if self.activity().is_passive(operand) => Bit::Known(false),
            _ if !keeps(Rule::ConstantsReceiveNothing) => Bit::Known(true),
            Some(Location::Cell(anchor)) => self.scope.is_no_constant(anchor),
            Some(Location::Element(_)) => Bit::Known(true),
            None => Bit::Known(false),
        }
    }
    fn observe_sources(&mut self, operation: Operation, sources: [usize; 2]) {
        if !GRADIENT {
            self.require_partials(operation, sources, StepActivity::may_lose_forward);
        }
    }
    fn observe_target_adjoint(&mut self, operation: Operation, sources: [usize; 2], _is_nonzero: Bit) {
        self.require_partials(operation, sources, StepActivity::may_lose);
    }
    fn is_same(&self, a: usize, b: usize) -> Bit {
        let (Some(one), Some(other)) = (self.slot(a), self.slot(b)) else { return Bit::Known(false) };
        // The check compares the adjoints' addresses, because two parameters may refer to the same cell.
        let [one, other] = [one, other].map(|slot| Slot { adjoint: true, ..*slot });
        match (Aliases { elements: self.scope.flow.elements() }).of(&one, &other) {
            Alias::Never => Bit::Known(false),
            Alias::Always => Bit::Known(true),
            Alias::Maybe => match (self.operands.get(a), self.operands.get(b)) {
                (Some(a), Some(b)) => {
                    let addresses = [self.scope.address(a), self.scope.address(b)];
                    Bit::Value(self.draft().op(OpKind::IntTest(Order::Eq), addresses))
                }
                _ => Bit::Known(false),
            },
        }
    }
    fn either(&self, a: Bit, b: Bit) -> Bit {
        match (a, b) {
            (Bit::Known(true), _) | (_, Bit::Known(true)) => Bit::Known(true),
            (Bit::Known(false), other) | (other, Bit::Known(false)) => other,
            (Bit::Value(a), Bit::Value(b)) => Bit::Value(self.draft().op(OpKind::IntOr, [a, b])),
        }
    }
    fn choose(&self, bit: Bit, yes: SsaValue, no: SsaValue) -> SsaValue {
        match bit {
            Bit::Known(true) => yes,
            Bit::Known(false) => no,
            Bit::Value(bit) => self.draft().op(OpKind::Choose, [bit, yes, no]),
        }
    }
    fn when(
        &mut self,
        bit: Bit,
        then: impl FnOnce(&mut Self) -> Result<Changes<Self>, Failed>,
    ) -> Result<Changes<Self>, Failed> {
        let bit = match bit {
            Bit::Known(true) => return then(self),
            Bit::Known(false) => return Ok(Changes::nothing()),
            Bit::Value(bit) => bit,
        };
        let scope = self.scope;
        let changes = scope.draft.guarded(bit, || {
            then(self).unwrap_or_else(|_| {
                scope.fail();
                Changes::nothing()
            })
        });
        let e = &*self;
        Ok(changes.with_values(|change| e.choose(Bit::Value(bit), change.value, e.adjoint(change.cell))))
    }

    fn require_condition(&mut self, holds: SsaValue) -> Result<(), Failed> {
        self.draft().op(OpKind::RequireTrue, [holds]);
        Ok(())
    }
    fn require_vacant(&mut self, class: Class, cell: usize) -> Result<(), Failed> {
        match class {
            // Unchecked code assumes that the cell is vacant.
            _ if !self.scope.level.is_checked() => self.set_zero(class, cell),
            Class::Int => {
                let is_zero =
                    self.draft().op(OpKind::IntTest(Order::Eq), [self.int(cell), self.draft().int(0)]);
                self.draft().op(OpKind::RequireTrue, [is_zero]);
            }
            Class::Real => {
                self.draft().op(OpKind::RequireVacant, [self.real(cell)]);
            }
        }
        Ok(())
    }

    // The emitted check fails if the conversion has something to report. The interpreter then repeats the step and
    // reports it.
    fn converts(&mut self, source: usize) {
        if GRADIENT {
            self.is_silent(source);
        }
    }
    fn erases(&mut self, class: Class, cell: usize, erasure: Erasure) {
        let numbers = self.draft().numbers();
        let width = match class {
            Class::Int => numbers.word.bits(),
            Class::Real => numbers.system.width(),
        };
        if keeps(Rule::ErasuresAreCounted) {
            self.draft().op(OpKind::CountErased(erasure.bits(width)), []);
        }
        if GRADIENT && class == Class::Real {
            self.is_silent(cell);
        }
    }
    fn ends_adjoint(&mut self, cell: usize) {
        self.is_silent(cell);
    }
    fn frees(&mut self, cell: usize) {
        if !self.scope.level.is_checked() {
            return;
        }
        // A step that names an adjoint acts on copies, which aren't watched.
        if self.scope.is_watched && !self.step.names_adjoint() {
            let adjoint = if GRADIENT { self.adjoint(cell) } else { self.draft().real(0) };
            self.draft().op(OpKind::Freed { at: self.scope.at, row: 0 }, [self.real(cell), adjoint]);
        }
        self.draft().op(OpKind::CountDiscarded, [self.real(cell)]);
    }
    fn drop_adjoint(&mut self, cell: usize) {
        if self.scope.level.is_checked() {
            self.draft().op(OpKind::CountDropped, [self.adjoint(cell)]);
        }
        let zero = self.draft().real(0);
        if keeps(Rule::AdjointsAreDropped) {
            self.set_adjoint(cell, zero);
        }
    }
}

impl<const GRADIENT: bool> StepEngine<'_, GRADIENT> {
    /// Emits checks that the partial derivatives with respect to the operands that `may_lose` selects exist. If one
    /// doesn't exist, the interpreter repeats the step, and reports if a derivative is lost.
    fn require_partials(
        &self,
        operation: Operation,
        sources: [usize; 2],
        may_lose: fn(StepActivity, usize) -> bool,
    ) {
        for (source, operand) in [(0, 1), (1, 2)] {
            if !may_lose(self.activity(), operand) {
                continue;
            }
            let require = || {
                let partial =
                    self.partial(operation, source, sources).and_then(|partial| self.admit(partial));
                if partial.is_err() {
                    self.scope.fail();
                }
            };
            match self.receives(operand, operand) {
                Bit::Known(true) => require(),
                Bit::Known(false) => {}
                Bit::Value(receives) => self.draft().guarded(receives, require),
            }
        }
    }

    /// Emits a check that the adjoint of an operand is 0.
    fn is_silent(&self, cell: usize) {
        let zero = self.draft().real(0);
        let is_zero = self.draft().op(OpKind::Test(Order::Eq), [self.adjoint(cell), zero]);
        self.draft().op(OpKind::RequireTrue, [is_zero]);
    }
}
