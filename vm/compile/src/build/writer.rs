//! Operands of steps: their locations (SSA variables, memory cells or literals) and their values. This module is
//! independent of the meaning of steps.

use reviver_flow::call::Array;
use reviver_flow::graph::CodeDirection;
use reviver_flow::{Activity, Anchor, ArrayElement, ArrayIndex, Flow, Location, Matrix, Slot};
use reviver_isa::instruction::Class;
use reviver_vm::CheckLevel;

use super::draft::{CellVariable, Draft};
use super::inlining::{AnchorPlace, InlinedFrames};
use super::saved::SavedValues;
use super::storage::{AddressedCells, FunctionStorage, space};
use crate::op::{OpKind, Space, SsaValue};

/// Reference as three SSA values: the address of the first cell, the number of cells, and the distance between
/// neighbouring cells. For a matrix, they are the address of the first cell, the number of rows, and the number of
/// columns.
pub(super) type ReferenceValues = [SsaValue; 3];

/// Context in which the steps of a specialization are written.
#[derive(Clone, Copy)]
pub(super) struct StepWriter<'a> {
    pub flow: &'a Flow,
    pub draft: &'a Draft,
    pub storages: &'a FunctionStorage,
    pub inlined_frames: &'a InlinedFrames<'a>,
    pub kept: &'a SavedValues,
    /// Number of words of a call record.
    pub record: u32,
    /// Inlined frame of the step.
    pub inlined_frame: u32,
    pub gradient: bool,
    pub activity: &'a Activity,
    pub level: CheckLevel,
    pub is_watched: bool,
    /// Instruction of the step.
    pub at: u32,
}

/// Location of an operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum OperandHome {
    Literal(SsaValue),
    /// SSA variable of the cell at an anchor.
    Variable(Anchor),
    /// Address of a cell in memory.
    Memory(SsaValue),
}

impl<'a> StepWriter<'a> {
    /// Returns the direction in which the inlined frame executes.
    pub fn direction(self) -> CodeDirection {
        self.inlined_frames
            .get(self.inlined_frame)
            .map_or(CodeDirection::Forward, |inlined_frame| inlined_frame.direction)
    }

    /// Returns the addressed cells of the inlined frame's procedure body.
    pub fn storage(self) -> &'a AddressedCells {
        self.storages.of(self.inlined_frames.function(self.inlined_frame))
    }

    pub fn operand(self, slot: &Slot) -> OperandHome {
        match slot.location {
            Location::Cell(anchor) => self.cell(space(slot), anchor),
            Location::Element(number) => match self.flow.element(number) {
                Some(element) => OperandHome::Memory(self.element(element)),
                None => OperandHome::Memory(self.nowhere()),
            },
        }
    }

    /// Returns the cell at an anchor that the inlined frame's code names.
    pub fn cell(self, space: Space, anchor: Anchor) -> OperandHome {
        match self.inlined_frames.place(self.inlined_frame, anchor) {
            AnchorPlace::Own(anchor) => self.own_cell(space, anchor),
            AnchorPlace::Computed(n) => OperandHome::Memory(self.computed(n)),
        }
    }

    /// Returns the cell at an anchor of the procedure body that contains the inlined frame.
    pub fn own_cell(self, space: Space, anchor: Anchor) -> OperandHome {
        match anchor {
            // A caller may have set the adjoint of a constant, so the adjoint is in memory.
            Anchor::Constant(_) if space == Space::Adjoints => {
                OperandHome::Memory(self.draft.address(anchor))
            }
            Anchor::Constant(cell) => OperandHome::Literal(self.literal(space, cell)),
            Anchor::Fixed(cell) if space == Space::Ints && cell == reviver_flow::layout::MODE as u32 => {
                OperandHome::Literal(self.draft.int(self.gradient.into()))
            }
            _ if self.storage().is_variable(space.class(), anchor) => OperandHome::Variable(anchor),
            _ => OperandHome::Memory(self.draft.address(anchor)),
        }
    }

    /// Returns the value of a constant.
    fn literal(self, space: Space, cell: u32) -> SsaValue {
        let layout = self.flow.layout();
        let of = |start: u32| cell.checked_sub(start).map_or(usize::MAX, |n| n as usize);
        match space.class() {
            Class::Int => {
                let value = layout.pool_ints.get(of(layout.pool_ints_start)).copied();
                self.draft.int(value.unwrap_or(0))
            }
            Class::Real => {
                let bits = layout.pool_reals.get(of(layout.pool_reals_start)).copied();
                self.draft.real(bits.unwrap_or(0))
            }
        }
    }

    /// Returns the address of an array element, after bounds checks of its indices.
    fn element(self, element: &ArrayElement) -> SsaValue {
        let draft = self.draft;
        match *element {
            ArrayElement::Vector { base, length, index } => {
                let [base, length, stride] = self.array(Array { base, length });
                draft.place(base, self.index(index, length), stride)
            }
            ArrayElement::Matrix { matrix, row, column } => {
                let [base, rows, columns] = self.matrix(matrix);
                let (row, column) = (self.index(row, rows), self.index(column, columns));
                draft.place(draft.place(base, row, columns), column, draft.int(1))
            }
        }
    }

    /// Returns an index after checking that it is below a length.
    pub fn index(self, index: ArrayIndex, length: SsaValue) -> SsaValue {
        let cell = match index.cell {
            Some(anchor) => self.value(Space::Ints, &self.cell(Space::Ints, anchor)),
            None => self.draft.int(0),
        };
        self.draft.op(OpKind::Index { offset: index.offset }, [cell, length])
    }

    /// Returns the current value of an operand.
    pub fn value(self, space: Space, operand: &OperandHome) -> SsaValue {
        match *operand {
            OperandHome::Literal(value) => value,
            OperandHome::Variable(anchor) => self.draft.read(CellVariable { space, anchor }),
            OperandHome::Memory(address) => self.draft.op(OpKind::Load(space), [address]),
        }
    }

    pub fn set(self, space: Space, operand: &OperandHome, value: SsaValue) {
        match *operand {
            // Constants are never targets and never receive adjoints.
            OperandHome::Literal(_) => {}
            OperandHome::Variable(anchor) => self.draft.write(CellVariable { space, anchor }, value),
            OperandHome::Memory(address) => {
                self.draft.op(OpKind::Store(space), [address, value]);
            }
        }
    }

    pub fn address(self, operand: &OperandHome) -> SsaValue {
        match *operand {
            // A constant has no address. It gets the address -1, which no cell has.
            OperandHome::Literal(_) => self.draft.int(-1),
            OperandHome::Variable(anchor) => self.draft.address(anchor),
            OperandHome::Memory(address) => address,
        }
    }

    /// Returns the address of a slot's cell.
    pub fn slot_address(self, slot: &Slot) -> SsaValue {
        match slot.location {
            Location::Cell(anchor) => self.anchor_address(anchor),
            Location::Element(_) => self.address(&self.operand(slot)),
        }
    }

    /// Returns the address of the cell at an anchor of the inlined frame.
    pub fn anchor_address(self, anchor: Anchor) -> SsaValue {
        match self.inlined_frames.place(self.inlined_frame, anchor) {
            AnchorPlace::Own(anchor) => self.draft.address(anchor),
            AnchorPlace::Computed(n) => self.computed(n),
        }
    }

    /// Returns the address of the first cell passed for a parameter, as the call computed it.
    pub fn computed(self, n: u32) -> SsaValue {
        self.draft.passed(self.inlined_frame, n, 0)
    }

    /// Emits a check that always fails, and returns an arbitrary address, for an element that doesn't exist. Only an
    /// inconsistent flow names such an element.
    fn nowhere(self) -> SsaValue {
        let zero = self.draft.int(0);
        self.draft.op(OpKind::RequireTrue, [zero]);
        zero
    }

    /// Returns the reference passed to an inlined frame for a parameter.
    pub fn passed(self, inlined_frame: u32, n: u32) -> ReferenceValues {
        [0, 1, 2].map(|word| self.draft.passed(inlined_frame, n, word))
    }

    /// Returns the reference passed for an anchor, if the anchor is a parameter.
    fn passed_for(self, anchor: Anchor) -> Option<ReferenceValues> {
        let Anchor::Parameter(n) = anchor else { return None };
        Some(self.passed(self.inlined_frame, n))
    }

    /// Returns a reference to all elements of a vector.
    pub fn array(self, Array { base, length }: Array) -> ReferenceValues {
        self.passed_for(base).unwrap_or_else(|| {
            let length = self.draft.int(length.unwrap_or(0).into());
            [self.anchor_address(base), length, self.draft.int(1)]
        })
    }

    /// Returns a reference to a matrix: its first cell, rows and columns.
    pub fn matrix(self, Matrix { base, size }: Matrix) -> ReferenceValues {
        self.passed_for(base).unwrap_or_else(|| {
            let (rows, columns) = size.unwrap_or((0, 0));
            let [rows, columns] = [rows, columns].map(|size| self.draft.int(size.into()));
            [self.anchor_address(base), rows, columns]
        })
    }
}
