//! Values and partial derivatives of functions at the cells that a step reads. The tables of functions are compiled once for each number
//! system, not once for each history and mode.

use reviver_isa::fault::Eval;
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::step::{AnyFunction, Operation};

/// The cells of the sources of a step, and the numbers that they hold.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a, W, R: Reals> {
    pub numbers: Arithmetic<W, R>,
    pub ints: &'a [i64],
    pub reals: &'a [R::Bits],
    pub cells: [usize; 2],
    pub read: Read,
}

/// How a lifted number is read. A plain one is always the same.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// With its derivatives.
    Lifted,
    /// As a constant.
    Primal,
    /// As a constant, unless it is in this cell.
    LiftedIn(usize),
}

impl<W: Words, R: Reals> Sources<'_, W, R> {
    /// The value of a step's function, where that is an integer.
    ///
    /// # Errors
    /// There is none.
    #[inline(never)]
    pub fn int_value(self, operation: Operation) -> Eval<i64> {
        operation.int_value::<AnyFunction, _>(&self.numbers, |n| self.int(n), |n| self.real(n))
    }

    /// The value of a step's function, where that is a real.
    ///
    /// # Errors
    /// There is none.
    #[inline(never)]
    pub fn real_value(self, operation: Operation) -> Eval<R::Cell> {
        operation.real_value::<AnyFunction, _>(&self.numbers, |n| self.int(n), |n| self.real(n))
    }

    /// The partial derivative of a step's function with respect to a source (0 or 1) that is a real.
    ///
    /// # Errors
    /// There is none.
    #[inline(never)]
    pub fn partial(self, operation: Operation, source: u8) -> Eval<R::Cell> {
        operation.partial::<AnyFunction, _>(source, &self.numbers, |n| self.int(n), |n| self.real(n))
    }

    /// The new value of a real target.
    ///
    /// # Errors
    /// It isn't a number of the number system.
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
            Read::Lifted => lifted,
            Read::LiftedIn(own) if own == cell => lifted,
            Read::Primal | Read::LiftedIn(_) => reals.primal(lifted),
        }
    }
}
