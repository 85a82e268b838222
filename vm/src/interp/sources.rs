//! Values and partial derivatives of functions at the source cells of a step. The function tables are
//! compiled once for each number system, instead of once for each history and mode.

use reviver_isa::fault::Eval;
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::step::{AnyFunction, Operation};

/// The source cells of a step, and the numbers in them.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a, W, R: Reals> {
    pub numbers: Arithmetic<W, R>,
    pub ints: &'a [i64],
    pub reals: &'a [R::Bits],
    pub cells: [usize; 2],
    pub read: Read,
}

/// The way in which a dual number is read. For plain numbers, all are the same.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// The number with its derivatives.
    WithDerivatives,
    /// The number as a constant, without its derivatives.
    Primal,
    /// The number with its derivatives if it is in this cell, otherwise the number as a constant.
    WithDerivativesIn(usize),
}

impl<W: Words, R: Reals> Sources<'_, W, R> {
    /// Returns the value of a step's function with an integer result.
    ///
    /// # Errors
    /// Fails if the function has no value.
    #[inline(never)]
    pub fn int_value(self, operation: Operation) -> Eval<i64> {
        operation.int_value::<AnyFunction, _>(&self.numbers, |n| self.int(n), |n| self.real(n))
    }

    /// Returns the value of a step's function with a real result.
    ///
    /// # Errors
    /// Fails if the function has no value.
    #[inline(never)]
    pub fn real_value(self, operation: Operation) -> Eval<R::Cell> {
        operation.real_value::<AnyFunction, _>(&self.numbers, |n| self.int(n), |n| self.real(n))
    }

    /// Returns the partial derivative of a step's function with respect to a real source (0 or 1).
    ///
    /// # Errors
    /// Fails if the derivative doesn't exist.
    #[inline(never)]
    pub fn partial(self, operation: Operation, source: u8) -> Eval<R::Cell> {
        operation.partial::<AnyFunction, _>(source, &self.numbers, |n| self.int(n), |n| self.real(n))
    }

    /// Returns the new value of a real target.
    ///
    /// # Errors
    /// Fails if the number system can't represent the value.
    pub fn updated(self, operation: Operation, target: usize) -> Eval<R::Cell> {
        let f = self.real_value(operation)?;
        let new = operation.update.real(&self.numbers, self.cell(target), f)?;
        self.numbers.reals.admit(new)
    }

    fn int(self, source: usize) -> i64 {
        self.ints[self.cells[source]]
    }

    fn real(self, source: usize) -> R::Cell {
        self.cell(self.cells[source])
    }

    fn cell(self, cell: usize) -> R::Cell {
        let reals = self.numbers.reals;
        let lifted = reals.of_bits(self.reals[cell]);
        match self.read {
            Read::WithDerivatives => lifted,
            Read::WithDerivativesIn(own) if own == cell => lifted,
            Read::Primal | Read::WithDerivativesIn(_) => reals.primal(lifted),
        }
    }
}
