//! One instruction as data: an update, a function and operands, before addresses are resolved.
//!
//! The types mirror the stored image, refer to declarations by number only, and are independent of the machine.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

pub use crate::class::Class;
use crate::function::Function;
use crate::update::Update;

/// A reference to a declaration: its index in the list of globals, frame variables or parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Base {
    /// A global scalar or array of the module (`Module::globals`).
    Global(u32),
    /// A variable of the current procedure's frame (`Procedure::frame`).
    Frame(u32),
    /// A parameter of the current procedure (`Procedure::parameters`).
    Parameter(u32),
}

/// One index: a constant, a cell, or a cell plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Term {
    /// The integer scalar that is read, if any.
    pub cell: Option<Base>,
    /// The constant added to the cell's value; the whole index if there is no cell.
    pub offset: i64,
}

/// The indices after an array's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Index {
    /// One index, from 0, of a vector's element: `A[i]`.
    One(Term),
    /// The row and the column of a matrix's element, from 0: `M[i, j]`.
    Two(Term, Term),
}

impl Index {
    /// Returns the terms from left to right: one for a vector, two for a matrix.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        let (first, second) = match self {
            Index::One(a) => (a, None),
            Index::Two(a, b) => (a, Some(b)),
        };
        std::iter::once(first).chain(second)
    }
}

/// A cell, identified by its declaration and index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The declaration that contains the cell: a scalar or an array.
    pub base: Base,
    /// True for the adjoint of the cell (`x'`) instead of its value.
    pub adjoint: bool,
    /// Present if and only if the base is an array or a slice.
    pub index: Option<Box<Index>>,
}

impl Place {
    /// Returns the scalar cell of a declaration.
    pub fn scalar(base: Base) -> Place {
        Place { base, adjoint: false, index: None }
    }
}

/// An operand that an instruction reads or changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Operand {
    /// An integer immediate; only as a source.
    Int(i64),
    /// A real immediate, not yet rounded to the number system; only as a source.
    Real(f64),
    /// The gradient mode bit, an integer; only as a source.
    Mode,
    /// A cell or its adjoint, the only operand that can be a target.
    Place(Place),
}

/// Part of an array, passed by reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slice {
    /// The array, which may be a parameter of the current procedure.
    pub base: Base,
    /// The elements of the array that the callee receives.
    pub range: Range,
}

/// The elements of an array that a slice contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Range {
    /// All elements, in row-major order.
    Whole,
    /// `A[from..to step s]` of a vector: the elements with the indices `from`, `from + s`, … below `to`.
    Span {
        /// The index of the first element.
        from: Term,
        /// The upper bound of the indices, exclusive.
        to: Term,
        /// The distance between indices, at least 1.
        step: u32,
    },
    /// `M[i, ..]` of a matrix.
    Row(Term),
    /// `M[.., j]` of a matrix.
    Column(Term),
}

/// The argument of a call for one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Argument {
    /// For a scalar parameter: a cell or, if the parameter is `in`, an immediate.
    Scalar(Operand),
    /// For a vector or matrix parameter: an array, or a part of an array.
    Slice(Slice),
}

/// A procedure and its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The callee's number in `Module::procedures`.
    pub procedure: u32,
    /// The arguments, one for each parameter of the callee, in the same order.
    pub arguments: Vec<Argument>,
}

/// A reference of an instruction to other code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Link {
    /// No reference: the instruction is neither a branch half nor a call.
    None,
    /// The index in `Module::code` of the other half of a branch pair.
    Partner(u32),
    /// The callee and arguments of a `call` or `uncall`, a list of length 1. Most instructions contain no call. The
    /// list is boxed twice to keep the instructions without a call small, because a boxed slice takes twice the space
    /// of a box.
    Calls(Box<Box<[Call]>>),
}

/// An update applied to a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// The update row: the effect on the targets.
    pub update: Update,
    /// The function; `Function::Copy` if the update takes none.
    pub function: Function,
    /// The targets, followed by the sources.
    pub operands: ArrayVec<Operand, 3>,
    /// The other code that a branch half or a call refers to.
    pub link: Link,
}

impl Term {
    fn visit(&self, visit: &mut impl FnMut(Base)) {
        self.cell.into_iter().for_each(visit);
    }
}

impl Operand {
    /// Visits the declarations that the operand names: the one that contains its cell, and those of its
    /// indices.
    pub fn visit_bases(&self, visit: &mut impl FnMut(Base)) {
        let Operand::Place(place) = self else { return };
        visit(place.base);
        place.index.iter().flat_map(|index| index.terms()).for_each(|term| term.visit(visit));
    }
}

impl Slice {
    fn visit(&self, visit: &mut impl FnMut(Base)) {
        visit(self.base);
        match &self.range {
            Range::Whole => {}
            Range::Span { from, to, .. } => [from, to].into_iter().for_each(|term| term.visit(visit)),
            Range::Row(term) | Range::Column(term) => term.visit(visit),
        }
    }
}

impl Instruction {
    /// Visits every declaration that the instruction names: operands, indices and arguments.
    pub fn visit_bases(&self, mut visit: impl FnMut(Base)) {
        self.operands.iter().for_each(|operand| operand.visit_bases(&mut visit));
        let Link::Calls(calls) = &self.link else { return };
        for argument in calls.iter().flat_map(|call| &call.arguments) {
            match argument {
                Argument::Scalar(operand) => operand.visit_bases(&mut visit),
                Argument::Slice(slice) => slice.visit(&mut visit),
            }
        }
    }
}

/// Serializes rows as their frozen bytes; an unknown byte is a decoding error.
macro_rules! serde_as_byte {
    ($Row:ident, $what:literal) => {
        impl Serialize for $Row {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u8(self.byte())
            }
        }
        impl<'de> Deserialize<'de> for $Row {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let byte = u8::deserialize(deserializer)?;
                $Row::from_byte(byte).ok_or_else(|| {
                    serde::de::Error::custom(format_args!(
                        concat!("no ", $what, " has the byte {:#04x}"),
                        byte
                    ))
                })
            }
        }
    };
}

serde_as_byte!(Update, "update");
serde_as_byte!(Function, "function");
