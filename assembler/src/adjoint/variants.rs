//! The variants of procedures and macros in gradient mode, as keys. This module creates no statements.

use compact_str::CompactString;
use reviver_isa::instruction::Class;

/// A variant of an adjoint procedure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    pub name: CompactString,
    /// True for the body as written; false for its inverse.
    pub is_forward: bool,
    /// True for the body in gradient mode or tangent mode. False for the body of a procedure that switches gradient mode
    /// itself.
    pub is_on: bool,
    /// For each parameter, how its adjoint is passed.
    pub adjoints: Vec<AdjointPassing>,
}

/// The way in which a variant gets the adjoint of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AdjointPassing {
    /// The parameter is an integer, or an argument without an adjoint.
    None,
    /// By a separate parameter.
    Own,
    /// By the adjoint parameter of the parameter with this index, which gets the same cell.
    SameAs(usize),
}

/// A variant of a macro in gradient mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct MacroVariant {
    pub name: CompactString,
    pub undo: bool,
    /// True if the body begins in gradient mode or tangent mode.
    pub is_on: bool,
    pub arguments: Vec<MacroArgument>,
}

/// The kind of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum MacroArgument {
    Constant {
        class: Class,
        stands_for_real: bool,
    },
    Int,
    /// The adjoint of a real, in a program that switches gradient mode itself.
    Adjoint,
    /// A real cell, or an array of reals. Its adjoint is the next argument.
    Real {
        is_scalar: bool,
    },
}
