//! The names that the statement being written can see, what is known of them, and which of them
//! must not change just now. Knows nothing of text but names.

use reviver_isa::instruction::Class;

use super::facts::{Fact, Ints};

/// How many cells stand behind a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Extent {
    Scalar,
    /// An array, or a slice of at least this length.
    Vector(i64),
    /// Rows and columns: those of an array, or the least that are passed for it.
    Matrix(i64, i64),
}

/// A name and what is known of its cells.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub class: Class,
    pub extent: Extent,
    /// Holds for every cell behind the name for as long as the variable is in scope.
    pub fact: Fact,
    /// Reasons why it must not change now: a condition, a bound, a value still to be uncomputed.
    pub frozen: u32,
    /// Whether it may be passed to a procedure. Globals that procedures name themselves may not,
    /// or one cell would have two names there.
    pub passable: bool,
    /// Only added to and never read, so that procedures may change it at any time.
    pub accumulator: bool,
    /// False for named constants.
    pub has_adjoint: bool,
    /// A parameter that a constant may be passed for: what its adjoint holds is of no interest.
    pub maybe_constant: bool,
}

impl Variable {
    /// A variable of which nothing is known but its declaration.
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

    /// The same, with a reason from the start why it must not change.
    pub fn fixed(self) -> Variable {
        Variable { frozen: 1, ..self }
    }

    /// Whether it is no cell, but a number with a name.
    pub fn is_constant(&self) -> bool {
        !self.has_adjoint
    }

    /// The range of an integer scalar that can serve as an index or a bound: it doesn't change, and
    /// it is small.
    pub fn range(&self) -> Option<Ints> {
        match self.fact {
            Fact::Int(range) if self.extent == Extent::Scalar && self.frozen > 0 => {
                (range.hi.checked_sub(range.lo)? < 32).then_some(range)
            }
            _ => None,
        }
    }
}

/// The number of a variable; good until the variable leaves the scope.
pub(super) type Id = usize;

/// A stack of variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    variables: Vec<Variable>,
    /// Every variable that an operand named, in the order of the text.
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

    /// The variables that satisfy a condition.
    pub fn find(&self, fits: impl Fn(&Variable) -> bool) -> Vec<Id> {
        (0..self.variables.len()).filter(|&id| fits(&self.variables[id])).collect()
    }

    /// Notes that an operand named a variable.
    pub fn touch(&mut self, id: Id) {
        self.touched.push(id);
    }

    /// A mark in the text, for [`Scope::touched_since`].
    pub fn mark(&self) -> usize {
        self.touched.len()
    }

    /// Forgets what was named since a mark: the text was not written after all.
    pub fn forget(&mut self, mark: usize) {
        self.touched.truncate(mark);
    }

    /// The variables still in scope that were named since a mark.
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
