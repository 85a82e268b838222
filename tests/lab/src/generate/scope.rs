//! Variables in scope: their names, their intervals, and which of them must not change at present. Statements are
//! written elsewhere.

use reviver_isa::instruction::Class;

use super::facts::{Fact, Ints};

/// Shape of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Extent {
    Scalar,
    /// An array, or for a parameter a slice of at least this length.
    Vector(i64),
    /// A matrix with these numbers of rows and columns, or for a parameter at least these.
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
    /// Number of statements around the current one that need the variable unchanged: conditions, loop bounds, values
    /// to be uncomputed.
    pub frozen: u32,
    /// True if the variable may be passed to a procedure. A global that procedures access by name may not be passed,
    /// because one cell would then have two names.
    pub passable: bool,
    /// True for a cell that is only added to and never read, so that procedures may change it at any time.
    pub accumulator: bool,
    /// False for named constants.
    pub has_adjoint: bool,
    /// True for a parameter to which a constant may be passed; the adjoint of a constant is meaningless.
    pub maybe_constant: bool,
}

impl Variable {
    /// Creates a variable with its declared properties, and defaults for the others.
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

    /// Returns the variable, marked as one that must not change.
    pub fn fixed(self) -> Variable {
        Variable { frozen: 1, ..self }
    }

    /// Returns true for a named constant, which has no cell.
    pub fn is_constant(&self) -> bool {
        !self.has_adjoint
    }

    /// Returns the range of a variable that can serve as an index or bound: an integer scalar that must not change,
    /// with a small range. Otherwise `None`.
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
    /// Variables named by the operands that were written, in text order.
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

    /// Returns the current position in the text, for [`Scope::touched_since`].
    pub fn mark(&self) -> usize {
        self.touched.len()
    }

    /// Removes the variables named since a position from the record, because the text after that position was
    /// discarded.
    pub fn forget(&mut self, mark: usize) {
        self.touched.truncate(mark);
    }

    /// Returns the variables in scope that were named since a position.
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
