//! Where the operands of steps are, and what they hold: variables of the form, cells in memory, literals. Knows no step's
//! meaning.

use reviver_flow::call::Array;
use reviver_flow::graph::Way;
use reviver_flow::{Activity, Anchor, ArrayElement, ArrayIndex, Flow, Location, Matrix, Slot};
use reviver_isa::instruction::Class;
use reviver_vm::CheckLevel;

use super::activation::{Activations, AnchorPlace};
use super::draft::{CellVariable, Draft};
use super::kept::KeptValues;
use super::storage::{AddressedCells, FunctionStorage, space};
use crate::op::{OpKind, Space, SsaValue};

/// A reference: the first cell, the number of cells, and the distance of neighbours.
pub(super) type ReferenceValues = [SsaValue; 3];

/// What steps of one version are put down with.
#[derive(Clone, Copy)]
pub(super) struct StepWriter<'a> {
    pub flow: &'a Flow,
    pub draft: &'a Draft,
    pub storages: &'a FunctionStorage,
    pub activations: &'a Activations<'a>,
    pub kept: &'a KeptValues,
    /// Words of a call record.
    pub record: u32,
    /// The activation whose step is put down.
    pub activation: u32,
    pub gradient: bool,
    pub activity: &'a Activity,
    pub level: CheckLevel,
    pub is_watched: bool,
    /// The instruction whose step is put down.
    pub at: u32,
}

/// Where an operand is.
#[derive(Clone, Copy, Debug)]
pub(super) enum OperandHome {
    Literal(SsaValue),
    /// The cell at an anchor, which is a variable.
    Variable(Anchor),
    /// The address of a cell in memory.
    Memory(SsaValue),
}

impl<'a> StepWriter<'a> {
    /// The way in which the activation is gone through.
    pub fn way(self) -> Way {
        self.activations.get(self.activation).map_or(Way::Along, |activation| activation.way)
    }

    /// Which cells of the activation's function are in memory.
    pub fn storage(self) -> &'a AddressedCells {
        self.storages.of(self.activations.function(self.activation))
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

    /// The cell at an anchor of the activation.
    pub fn cell(self, space: Space, anchor: Anchor) -> OperandHome {
        match self.activations.place(self.activation, anchor) {
            AnchorPlace::Own(anchor) => self.own_cell(space, anchor),
            AnchorPlace::Computed(n) => OperandHome::Memory(self.computed(n)),
        }
    }

    /// The cell at an anchor of the function.
    pub fn own_cell(self, space: Space, anchor: Anchor) -> OperandHome {
        match anchor {
            // What somebody has put into the adjoint of a constant stays there.
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

    /// What a constant is.
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

    /// The address of an element, whose indices are within its array.
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

    /// An index that is below a length.
    pub fn index(self, index: ArrayIndex, length: SsaValue) -> SsaValue {
        let cell = match index.cell {
            Some(anchor) => self.value(Space::Ints, &self.cell(Space::Ints, anchor)),
            None => self.draft.int(0),
        };
        self.draft.op(OpKind::Index { offset: index.offset }, [cell, length])
    }

    /// What an operand holds.
    pub fn value(self, space: Space, operand: &OperandHome) -> SsaValue {
        match *operand {
            OperandHome::Literal(value) => value,
            OperandHome::Variable(anchor) => self.draft.read(CellVariable { space, anchor }),
            OperandHome::Memory(address) => self.draft.op(OpKind::Load(space), [address]),
        }
    }

    pub fn set(self, space: Space, operand: &OperandHome, value: SsaValue) {
        match *operand {
            // No target is a constant, and none has an adjoint.
            OperandHome::Literal(_) => {}
            OperandHome::Variable(anchor) => self.draft.write(CellVariable { space, anchor }, value),
            OperandHome::Memory(address) => {
                self.draft.op(OpKind::Store(space), [address, value]);
            }
        }
    }

    pub fn address(self, operand: &OperandHome) -> SsaValue {
        match *operand {
            // No cell has this address.
            OperandHome::Literal(_) => self.draft.int(-1),
            OperandHome::Variable(anchor) => self.draft.address(anchor),
            OperandHome::Memory(address) => address,
        }
    }

    /// The address of the cell of a slot.
    pub fn slot_address(self, slot: &Slot) -> SsaValue {
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
        self.draft.passed(self.activation, n, 0)
    }

    /// The address of what isn't there, in a flow that isn't the program's: the step fails.
    fn nowhere(self) -> SsaValue {
        let zero = self.draft.int(0);
        self.draft.op(OpKind::RequireTrue, [zero]);
        zero
    }

    /// What is passed to an activation for a parameter.
    pub fn passed(self, activation: u32, n: u32) -> ReferenceValues {
        [0, 1, 2].map(|word| self.draft.passed(activation, n, word))
    }

    /// What is passed for an anchor, if it is a parameter.
    fn passed_for(self, anchor: Anchor) -> Option<ReferenceValues> {
        let Anchor::Parameter(n) = anchor else { return None };
        Some(self.passed(self.activation, n))
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
}
