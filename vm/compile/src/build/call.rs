//! Entering and leaving callees that are put in place: what is passed is found and told apart, the frame begins with zeros
//! and ends vacant. Knows no other step.

use std::cell::RefCell;
use std::collections::HashMap;

use reviver_flow::call::Array;
use reviver_flow::{Anchor, CallSite, Location, Matrix, Passed, Slot};
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use super::activation::AnchorPlace;
use super::draft::CellVariable;
use super::step::{OperandHome, StepWriter};
use crate::op::{Input, OpKind, Space, SsaValue};

/// A reference: the first cell, the number of cells, and the distance of neighbours.
pub(super) type ReferenceValues = [SsaValue; 3];

/// What the calls of a form pass, by the number of the activation that they make.
#[derive(Debug, Default)]
pub(super) struct PassedValues(RefCell<HashMap<u32, Vec<ReferenceValues>>>);

impl PassedValues {
    /// What an activation is passed; nothing where that isn't the form's call.
    pub fn of(&self, activation: u32) -> Vec<ReferenceValues> {
        self.0.borrow().get(&activation).cloned().unwrap_or_default()
    }

    /// What it is passed for a parameter.
    pub fn parameter(&self, activation: u32, n: u32) -> Option<ReferenceValues> {
        self.0.borrow().get(&activation)?.get(n as usize).copied()
    }
}

impl StepWriter<'_> {
    /// Enters an activation from the one that calls it.
    pub fn open(self, callee: u32) {
        let called = self.activations.get(callee).and_then(|activation| activation.called);
        let Some(passes) = called.and_then(|called| self.activations.call(called)) else { return };
        let passed: Vec<ReferenceValues> =
            passes.arguments.iter().map(|passed| self.reference(passed)).collect();
        for (first, second) in self.activations.to_tell_apart(passes) {
            self.tell_apart(passes, &passed, first, second);
        }
        self.passed.0.borrow_mut().insert(callee, passed);
        self.draft.count_call();
        let inside = StepWriter { activation: callee, ..self };
        for (space, cell) in inside.frame() {
            // In memory everything behind the open frames is 0 already.
            if let OperandHome::Variable(anchor) = cell {
                self.draft.write(CellVariable { space, anchor }, self.zero(space.class()));
            }
        }
    }

    /// Leaves the scope's activation for the one that has called it.
    pub fn close(self) {
        let frame: Vec<(Space, OperandHome)> = self.frame().collect();
        for (space, cell) in &frame {
            self.require_vacant_cell(*space, cell);
        }
        self.require_same_references();
        for (space, cell) in &frame {
            self.free(*space, cell);
        }
        self.draft.count_call();
    }

    /// The cells of the activation's frame, and their adjoints where steps carry them.
    fn frame(self) -> impl Iterator<Item = (Space, OperandHome)> {
        let adjoints = self.gradient.then_some(Space::Adjoints);
        [Space::Ints, Space::Reals].into_iter().chain(adjoints).flat_map(move |space| {
            let class = space.class();
            let cells = 0..self.activations.frame_cells(self.activation, class);
            let named = move |offset| self.activations.frame_cell(self.activation, class, offset);
            cells.map(move |offset| (space, self.own_cell(space, named(offset))))
        })
    }

    fn zero(self, class: Class) -> SsaValue {
        match class {
            Class::Int => self.draft.int(0),
            Class::Real => self.draft.real(0),
        }
    }

    fn require_vacant_cell(self, space: Space, cell: &OperandHome) {
        match space {
            Space::Ints => {
                let is_zero = [self.value(space, cell), self.draft.int(0)];
                let is_zero = self.draft.op(OpKind::IntTest(Order::Eq), is_zero);
                self.draft.op(OpKind::RequireTrue, [is_zero]);
            }
            Space::Reals => {
                self.draft.op(OpKind::RequireVacant, [self.value(space, cell)]);
            }
            Space::Adjoints | Space::References => {}
        }
    }

    /// A vacant cell of a frame goes out of use.
    fn free(self, space: Space, cell: &OperandHome) {
        let value = self.value(space, cell);
        match space {
            Space::Ints | Space::References => return,
            Space::Reals => {
                if self.is_watched {
                    let adjoint = match (self.gradient, *cell) {
                        (false, _) => self.draft.real(0),
                        (true, OperandHome::Variable(anchor)) => {
                            self.draft.read(CellVariable { space: Space::Adjoints, anchor })
                        }
                        (true, home) => self.value(Space::Adjoints, &home),
                    };
                    self.draft.op(OpKind::Freed { at: self.at }, [value, adjoint]);
                }
                self.draft.op(OpKind::CountDiscarded, [value]);
            }
            Space::Adjoints => {
                self.draft.op(OpKind::CountDropped, [value]);
            }
        }
        // What lies behind the open frames is 0.
        self.set(space, cell, self.zero(space.class()));
    }

    /// What a call passes for a parameter.
    fn reference(self, passed: &Passed) -> ReferenceValues {
        let draft = self.draft;
        let one = draft.int(1);
        match *passed {
            Passed::Cell(ref slot) => [self.slot_address(slot), one, one],
            Passed::Whole(array) => self.array(array),
            Passed::Matrix(matrix) => self.matrix(matrix),
            Passed::Flat(matrix) => {
                let [base, rows, columns] = self.matrix(matrix);
                [base, draft.place(draft.int(0), rows, columns), one]
            }
            Passed::Span { array, from, to, .. } => {
                let [base, length, stride] = self.array(array);
                // Either bound may be right behind the last element.
                let end = draft.place(length, one, one);
                let [from, to] = [from, to].map(|bound| self.index(bound, end));
                let is_in_order = draft.op(OpKind::IntTest(Order::Le), [from, to]);
                draft.op(OpKind::RequireTrue, [is_in_order]);
                let length = draft.place(to, from, draft.int(-1));
                // An empty slice refers to nothing; a fixed base makes it equal to itself.
                let is_some = draft.op(OpKind::IntTest(Order::Gt), [length, draft.int(0)]);
                let first = draft.place(base, from, stride);
                [draft.op(OpKind::IntChoose, [is_some, first, base]), length, stride]
            }
            Passed::Row { matrix, row } => {
                let [base, rows, columns] = self.matrix(matrix);
                [draft.place(base, self.index(row, rows), columns), columns, one]
            }
            Passed::Column { matrix, column } => {
                let [base, rows, columns] = self.matrix(matrix);
                [draft.place(base, self.index(column, columns), one), rows, columns]
            }
        }
    }

    /// The address of the cell of a slot.
    fn slot_address(self, slot: &Slot) -> SsaValue {
        match slot.location {
            Location::Cell(anchor) => self.anchor_address(anchor),
            Location::Element(_) => self.address(&self.operand(slot)),
        }
    }

    /// The address of the cell at an anchor of the activation.
    pub fn anchor_address(self, anchor: Anchor) -> SsaValue {
        match self.activations.place(self.activation, anchor) {
            AnchorPlace::Own(anchor) => self.draft.address(anchor),
            AnchorPlace::Computed(n) => self.computed(n),
        }
    }

    /// The first cell that is passed for a parameter, where the call has found it.
    pub fn computed(self, n: u32) -> SsaValue {
        self.passed.parameter(self.activation, n).map_or_else(|| self.draft.int(0), |[base, ..]| base)
    }

    /// What is passed for an anchor, if it is a parameter.
    fn passed_for(self, anchor: Anchor) -> Option<ReferenceValues> {
        let Anchor::Parameter(n) = anchor else { return None };
        let is_given = self.activations.get(self.activation).is_some_and(|own| own.called.is_none());
        if is_given {
            return Some(
                [Input::Base(n), Input::Length(n), Input::Stride(n)].map(|input| self.draft.input(input)),
            );
        }
        self.passed.parameter(self.activation, n)
    }

    /// All elements of a vector.
    pub fn array(self, Array { base, length }: Array) -> ReferenceValues {
        self.passed_for(base).unwrap_or_else(|| {
            let length = self.draft.int(length.unwrap_or(0).into());
            [self.anchor_address(base), length, self.draft.int(1)]
        })
    }

    /// The rows of a matrix.
    pub fn matrix(self, Matrix { base, size }: Matrix) -> ReferenceValues {
        self.passed_for(base).unwrap_or_else(|| {
            let (rows, columns) = size.unwrap_or((0, 0));
            let [rows, columns] = [rows, columns].map(|size| self.draft.int(size.into()));
            [self.anchor_address(base), rows, columns]
        })
    }

    /// The caller's arguments must still refer to the cells that the callee worked on.
    fn require_same_references(self) {
        let called = self.activations.get(self.activation).and_then(|activation| activation.called);
        let Some(called) = called else { return };
        let Some(passes) = self.activations.call(called) else { return };
        let caller = StepWriter { activation: called.by, ..self };
        for (passed, was) in passes.arguments.iter().zip(self.passed.of(self.activation)) {
            if self.activations.reads_cells(passed) {
                for (now, was) in caller.reference(passed).into_iter().zip(was) {
                    self.require_equal(now, was);
                }
            }
        }
    }

    fn require_equal(self, a: SsaValue, b: SsaValue) {
        if a != b {
            let is_same = self.draft.op(OpKind::IntTest(Order::Eq), [a, b]);
            self.draft.op(OpKind::RequireTrue, [is_same]);
        }
    }

    /// Fails where two arguments share cells, and perhaps where they only lie between each other's.
    fn tell_apart(self, passes: &CallSite, passed: &[ReferenceValues], first: usize, second: usize) {
        let draft = self.draft;
        let (Some(&a), Some(&b)) = (passed.get(first), passed.get(second)) else { return };
        if let (Some(Passed::Column { matrix, .. }), Some(Passed::Column { matrix: other, .. })) =
            (passes.arguments.get(first), passes.arguments.get(second))
            && matrix == other
        {
            draft.op(OpKind::RequireApart, [a[0], b[0]]);
            return;
        }
        let ([a, a_end, a_is_none], [b, b_end, b_is_none]) =
            (self.extent(passes, first, a), self.extent(passes, second, b));
        let test = |order, operands| draft.op(OpKind::IntTest(order), operands);
        let or = |a, b| draft.op(OpKind::IntOr, [a, b]);
        let is_apart = or(test(Order::Lt, [a_end, b]), test(Order::Lt, [b_end, a]));
        let is_apart = or(is_apart, or(a_is_none, b_is_none));
        draft.op(OpKind::RequireTrue, [is_apart]);
    }

    /// The first cell of a reference, the last one, and whether there is none.
    fn extent(self, passes: &CallSite, n: usize, [base, length, stride]: ReferenceValues) -> [SsaValue; 3] {
        let draft = self.draft;
        let (length, stride) = match self.activations.is_matrix(passes, n) {
            true => (draft.place(draft.int(0), length, stride), draft.int(1)),
            false => (length, stride),
        };
        let further = draft.place(length, draft.int(-1), draft.int(1));
        let is_none = draft.op(OpKind::IntTest(Order::Le), [length, draft.int(0)]);
        [base, draft.place(base, further, stride), is_none]
    }
}
