//! Lookup of memory by name, for explanations and debuggers: the open frames of a state, the cells of a
//! declaration in a frame, and the cell of an operand. The addresses come from the flow. The module changes
//! nothing and executes no step.

use reviver_flow::Slot;
use reviver_isa::instruction::{Base, Class, Operand, Place};
use reviver_isa::module::{Rank, Shape};
use thiserror::Error;

use crate::interp::address::Addresses;
pub use crate::interp::tasks::only_read_at_bound;
use crate::program::Program;
use crate::state::{ADJOINT, Frame, Reference, State};

/// An open procedure, with the start of its cells and references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFrame {
    /// The number of the executed procedure: main, the callee of a call, or the callee's derivative rule.
    pub procedure: usize,
    /// The start of the procedure's cells and references.
    pub frame: Frame,
}

/// The cells of a declaration in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredCells {
    /// The class of the cells; offsets count within a class.
    pub class: Class,
    /// The offset of the first cell.
    pub first: u32,
    /// The distance between neighbouring cells; 1 unless a parameter refers to cells that aren't adjacent.
    pub stride: u32,
    /// The number of dimensions and their lengths.
    pub shape: Shape,
}

/// The reason why indices name no element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum IndexError {
    #[error("the index {index} is outside of 0..{length}")]
    Outside { index: i64, length: u32 },
    #[error("{}", match wanted { 0 => "a scalar takes no index", 1 => "a vector takes one index", _ => "a matrix takes two indices" })]
    Count { wanted: u8 },
    #[error("a stack has no cells")]
    Stack,
}

impl DeclaredCells {
    /// Returns the number of cells.
    pub fn cells(&self) -> u64 {
        self.shape.cells()
    }

    /// Returns the offset of cell `n`, in row-major order, if `n` is less than [`DeclaredCells::cells`].
    pub fn cell(&self, n: u64) -> Option<u32> {
        let offset = u64::from(self.first) + n * u64::from(self.stride);
        (n < self.cells()).then_some(offset as u32)
    }

    /// Returns the offset of the element with these indices.
    ///
    /// # Errors
    /// Fails if an index is out of bounds, or if the number of indices is wrong.
    pub fn element(&self, indices: &[i64]) -> Result<u32, IndexError> {
        let within = |index: i64, length: u32| {
            u64::try_from(index)
                .ok()
                .filter(|&i| i < u64::from(length))
                .ok_or(IndexError::Outside { index, length })
        };
        let (n, wanted) = match (self.shape, indices) {
            (Shape::Scalar, []) => (Some(0), 0),
            (Shape::Vector(length), &[i]) => (Some(within(i, length)?), 1),
            (Shape::Matrix(rows, columns), &[i, j]) => {
                (Some(within(i, rows)? * u64::from(columns) + within(j, columns)?), 2)
            }
            (Shape::Scalar, _) => (None, 0),
            (Shape::Vector(_), _) => (None, 1),
            (Shape::Matrix(..), _) => (None, 2),
            (Shape::Stack, _) => return Err(IndexError::Stack),
        };
        n.and_then(|n| self.cell(n)).ok_or(IndexError::Count { wanted })
    }
}

/// Returns the frame at a call depth. Depth 0 is main, and the number of open calls is the depth of the innermost
/// frame. Returns `None` if fewer calls are open.
pub fn frame_at(program: &Program, state: &State, depth: usize) -> Option<OpenFrame> {
    let Some(call) = depth.checked_sub(1) else { return Some(main_frame(program)) };
    let procedure = program.executed(state.calls.get(call)?)?;
    // A call record holds the frame of its caller.
    let frame = state.calls.get(depth).map_or(state.frame, |inner| inner.frame);
    Some(OpenFrame { procedure, frame })
}

/// Returns main's frame, which has a fixed address.
pub fn main_frame(program: &Program) -> OpenFrame {
    let layout = program.layout();
    let frame = Frame { ints: layout.main_ints, reals: layout.main_reals, references: 0 };
    OpenFrame { procedure: 0, frame }
}

/// Iterates over the open frames, main's first.
pub fn open_frames(program: &Program, state: &State) -> impl Iterator<Item = OpenFrame> {
    (0..=state.calls.len()).filter_map(move |depth| frame_at(program, state, depth))
}

/// Returns the offset of a frame variable's first cell, relative to the frame's start in its class.
pub fn place_in_frame(program: &Program, procedure: usize, variable: u32) -> Option<u32> {
    program.layout().frames.get(procedure)?.get(variable as usize).copied()
}

/// Returns the reference of parameter `n` in an open frame.
pub fn reference(state: &State, open: OpenFrame, n: u32) -> Option<Reference> {
    state.references.get(open.frame.references.checked_add(n)? as usize).copied()
}

/// Returns the cells of a declaration as seen from an open frame; for a parameter, the cells that it refers
/// to.
pub fn storage(program: &Program, state: &State, open: OpenFrame, base: Base) -> Option<DeclaredCells> {
    let module = program.module();
    let procedure = module.procedures.get(open.procedure)?;
    let first = || {
        let anchor = program.layout().anchor(module, open.procedure, base)?;
        Some(scope(program, state, open.frame).anchor(anchor) as u32)
    };
    Some(match base {
        Base::Global(n) => {
            let global = module.globals.get(n as usize)?;
            DeclaredCells { class: global.class, first: first()?, stride: 1, shape: global.shape }
        }
        Base::Frame(n) => {
            let variable = procedure.frame.get(n as usize)?;
            DeclaredCells { class: variable.class, first: first()?, stride: 1, shape: variable.shape }
        }
        Base::Parameter(n) => {
            let parameter = procedure.parameters.get(n as usize)?;
            let Reference { base, length, stride } = reference(state, open, n)?;
            let (shape, stride) = match parameter.rank {
                Rank::Scalar => (Shape::Scalar, stride),
                Rank::Vector => (Shape::Vector(length), stride),
                Rank::Matrix => (Shape::Matrix(length, stride), 1),
            };
            DeclaredCells { class: parameter.class, first: base, stride, shape }
        }
    })
}

/// Returns the class and the address of the cell that a place names in an open frame; `None` for indices out of bounds.
/// The address is an offset; that of an adjoint has [`ADJOINT`] set.
pub fn place(program: &Program, state: &State, open: OpenFrame, place: &Place) -> Option<(Class, u32)> {
    let (class, locus) = program.flow().locate(program.module(), open.procedure, place);
    let cell = scope(program, state, open.frame).locus(&locus, &state.ints).ok()? as u32;
    Some((class, if place.adjoint { cell | ADJOINT } else { cell }))
}

/// Returns the class and the address of a slot's cell in an open frame, as [`place`].
pub fn slot(program: &Program, state: &State, open: OpenFrame, slot: &Slot) -> Option<(Class, u32)> {
    let address = scope(program, state, open.frame).slot(slot, &state.ints).ok()?;
    Some((slot.class, address as u32))
}

fn scope<'a>(program: &'a Program, state: &'a State, frame: Frame) -> Addresses<'a> {
    Addresses { flow: program.flow(), frame, references: &state.references }
}

/// Returns the cell that an operand of instruction `at` names now, as [`place`]. Returns `None` for constants, the mode
/// bit, indices out of bounds, and if `at` isn't in the current procedure.
pub fn cell_of(program: &Program, state: &State, at: u32, operand: &Operand) -> Option<(Class, u32)> {
    let Operand::Place(named) = operand else { return None };
    let open = frame_at(program, state, state.calls.len())?;
    if program.procedure_of(at) != open.procedure {
        return None;
    }
    place(program, state, open, named)
}
