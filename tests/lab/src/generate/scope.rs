//! Names visible to the current statement, with their intervals, and the variables that must not change at present.
//! This module knows no text except names.

use reviver_isa::instruction::Class;

use super::facts::{Fact, Ints};

/// Shape of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Extent {
    Scalar,
    /// An array, or a slice of at least this length.
    Vector(i64),
    /// Rows and columns of an array, or their minimum for a parameter.
    Matrix(i64, i64),
}

/// Variable with its known properties.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub class: Class,
    pub extent: Extent,
    /// Interval of every cell of the variable while it is in scope.
    pub fact: Fact,
    /// Number of reasons that forbid changes: conditions, bounds, values to be uncomputed.
    pub frozen: u32,
    /// True if it may be passed to a procedure. Globals that procedures access by name may not, because a cell would
    /// then have two names.
    pub passable: bool,
    /// True if it is only added to and never read, so that procedures may change it at any time.
    pub accumulator: bool,
    /// False for named constants.
    pub has_adjoint: bool,
    /// True for a parameter that may be passed a constant; its adjoint is then meaningless.
    pub maybe_constant: bool,
}

impl Variable {
    /// Creates a variable with only its declared properties.
    pub fn new(name: String, class: Class, extent: Extent, fact: Fact) -> Variable {
        Variable {
            name,
            class,
            extent,
            fact,
            frozen: 0,
            passable: true,
            accumulator: false,
            has_adjoint: true,
            maybe_constant: false,
        }
    }

    /// Returns the variable marked as unchangeable.
    pub fn fixed(self) -> Variable {
        Variable { frozen: 1, ..self }
    }

    /// Returns true for a named constant, which has no cell.
    pub fn is_constant(&self) -> bool {
        !self.has_adjoint
    }

    /// Returns the range of an integer scalar that suits as an index or bound: unchangeable, and with a small range.
    pub fn range(&self) -> Option<Ints> {
        match self.fact {
            Fact::Int(range) if self.extent == Extent::Scalar && self.frozen > 0 => {
                (range.hi.checked_sub(range.lo)? < 32).then_some(range)
            }
            _ => None,
        }
    }
}

/// Index of a variable, valid while the variable is in scope.
pub(super) type Id = usize;

/// Stack of variables in scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    variables: Vec<Variable>,
    /// Variables that operands have named, in text order.
    touched: Vec<Id>,
}

impl Scope {
    pub fn push(&mut self, variable: Variable) -> Id {
        self.variables.push(variable);
        self.variables.len() - 1
    }

    pub fn pop(&mut self) {
        self.variables.pop();
    }

    pub fn get(&self, id: Id) -> &Variable {
        &self.variables[id]
    }

    /// Returns the variables that satisfy a condition.
    pub fn find(&self, fits: impl Fn(&Variable) -> bool) -> Vec<Id> {
        (0..self.variables.len()).filter(|&id| fits(&self.variables[id])).collect()
    }

    /// Records that an operand names a variable.
    pub fn touch(&mut self, id: Id) {
        self.touched.push(id);
    }

    /// Returns a mark in the text, for [`Scope::touched_since`].
    pub fn mark(&self) -> usize {
        self.touched.len()
    }

    /// Drops records since a mark, because the text was discarded.
    pub fn forget(&mut self, mark: usize) {
        self.touched.truncate(mark);
    }

    /// Returns the variables in scope that were named since a mark.
    pub fn touched_since(&self, mark: usize) -> Vec<Id> {
        let mut ids: Vec<Id> =
            self.touched[mark..].iter().copied().filter(|&id| id < self.variables.len()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    pub fn freeze(&mut self, ids: &[Id]) {
        ids.iter().for_each(|&id| self.variables[id].frozen += 1);
    }

    pub fn thaw(&mut self, ids: &[Id]) {
        ids.iter().for_each(|&id| self.variables[id].frozen -= 1);
    }
}
