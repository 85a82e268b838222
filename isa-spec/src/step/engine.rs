//! The interface that an engine provides for steps. Knows no row.

use super::{Changes, Failed, Functions, Operation};
use crate::arith::Arith;
use crate::fault::{Eval, Fault};
use crate::instruction::Class;
use crate::update::Erasure;

/// The integers of an engine's arithmetic.
pub type Int<E> = <<E as Engine>::Numbers as Arith>::Int;
/// The reals of an engine's arithmetic.
pub type Real<E> = <<E as Engine>::Numbers as Arith>::Real;

/// Numbers, cells and checks of an engine. The defaults are those of an engine without history.
pub trait Engine: Sized {
    /// The arithmetic in which the rows are evaluated.
    type Numbers: Arith + Copy;
    /// A reference to an operand: an index, the name of a value, or a name for people.
    type Cell: Copy;
    /// A truth value, which may be unknown when the step is executed.
    type Bit: Copy;
    /// The function rows of the engine's steps.
    type Functions: Functions;

    /// True if steps propagate adjoints.
    const GRADIENT: bool;
    /// True if sums of reals are exact, so that undoing a sum restores the old bits.
    const EXACT: bool;
    /// True if truth values are known when a step is executed, so that [`Engine::holds`] is available.
    const IMMEDIATE: bool;
    /// True if the engine can keep a history of a step and undo a step by its history.
    const HISTORY: bool = false;

    /// Returns the arithmetic of the step: its word width and its number system.
    fn numbers(&self) -> Self::Numbers;

    /// Returns the content of an integer cell.
    fn int(&self, cell: Self::Cell) -> Int<Self>;
    /// Returns the content of a real cell.
    fn real(&self, cell: Self::Cell) -> Real<Self>;
    /// Returns the adjoint of a real cell.
    fn adjoint(&self, cell: Self::Cell) -> Real<Self>;
    /// Writes an integer cell, after everything in the step that can fail.
    fn set_int(&mut self, cell: Self::Cell, value: Int<Self>);
    /// Writes a real cell, after everything in the step that can fail.
    fn set_real(&mut self, cell: Self::Cell, value: Real<Self>);
    /// Writes the adjoint of a real cell, after everything in the step that can fail.
    fn set_adjoint(&mut self, cell: Self::Cell, value: Real<Self>);
    /// Sets a cell to the integer 0, or to the real with all bits 0.
    fn set_zero(&mut self, class: Class, cell: Self::Cell);

    /// Returns the value if a cell may hold it.
    ///
    /// # Errors
    /// Returns a fault if a cell must not hold the value.
    fn admit(&self, value: Real<Self>) -> Eval<Real<Self>>;
    /// Announces the new value of a real cell. Returns the name by which the rest of the step refers to the
    /// value.
    #[inline(always)]
    fn becomes(&mut self, _cell: Self::Cell, value: Real<Self>) -> Real<Self> {
        value
    }
    /// Announces the new value of an adjoint. Returns the name by which the rest of the step refers to the
    /// value.
    #[inline(always)]
    fn adjoint_becomes(&mut self, _cell: Self::Cell, value: Real<Self>) -> Real<Self> {
        value
    }

    /// Returns true if an adjoint is nonzero, so that it must be propagated.
    fn is_nonzero(&self, adjoint: Real<Self>) -> Self::Bit;
    /// Returns true if the adjoint of a source gets a contribution; `operand` is the source's operand number.
    /// Constants get none, nor do cells that don't depend on the inputs of the derivative.
    fn receives(&self, operand: usize, cell: Self::Cell) -> Self::Bit;
    /// Notifies the engine that the step's function has a value for these sources.
    #[inline(always)]
    fn observe_sources(&mut self, _operation: Operation, _sources: [Self::Cell; 2]) {}
    /// Notifies the engine whether the target's adjoint is nonzero. If it is zero, a source with an infinite
    /// or undefined partial derivative may lose a derivative. The engine records that loss.
    #[inline(always)]
    fn observe_target_adjoint(
        &mut self,
        _operation: Operation,
        _sources: [Self::Cell; 2],
        _is_nonzero: Self::Bit,
    ) {
    }
    /// Returns true if two operands are the same cell.
    fn is_same(&self, a: Self::Cell, b: Self::Cell) -> Self::Bit;
    /// Returns true if at least one of two truth values holds.
    fn either(&self, a: Self::Bit, b: Self::Bit) -> Self::Bit;
    /// Returns `yes` if the truth value holds, otherwise `no`.
    fn choose(&self, bit: Self::Bit, yes: Real<Self>, no: Real<Self>) -> Real<Self>;
    /// Returns the changes that `then` finds if a truth value holds, otherwise no changes. `then` writes
    /// nothing. Called only for engines that aren't [`Engine::IMMEDIATE`].
    ///
    /// # Errors
    /// Returns the errors of `then`.
    fn when(
        &mut self,
        bit: Self::Bit,
        then: impl FnOnce(&mut Self) -> Result<Changes<Self>, Failed>,
    ) -> Result<Changes<Self>, Failed> {
        if self.holds(bit) { then(self) } else { Ok(Changes::nothing()) }
    }

    /// Returns the value of the step's function if it is an integer.
    ///
    /// # Errors
    /// Returns a fault if the function has no such value.
    #[inline(always)]
    fn int_value(&self, operation: Operation, sources: [Self::Cell; 2]) -> Eval<Int<Self>> {
        operation.int_value::<Self::Functions, _>(
            &self.numbers(),
            |n| self.int(sources[n]),
            |n| self.real(sources[n]),
        )
    }
    /// Returns the value of the step's function if it is a real.
    ///
    /// # Errors
    /// Returns a fault if the function has no such value.
    #[inline(always)]
    fn real_value(&self, operation: Operation, sources: [Self::Cell; 2]) -> Eval<Real<Self>> {
        operation.real_value::<Self::Functions, _>(
            &self.numbers(),
            |n| self.int(sources[n]),
            |n| self.real(sources[n]),
        )
    }
    /// Returns the partial derivative of the step's function with respect to a real source (0 or 1).
    ///
    /// # Errors
    /// Returns a fault if there is no such derivative.
    #[inline(always)]
    fn partial(&self, operation: Operation, source: u8, sources: [Self::Cell; 2]) -> Eval<Real<Self>> {
        let (int, real) = (|n: usize| self.int(sources[n]), |n: usize| self.real(sources[n]));
        operation.partial::<Self::Functions, _>(source, &self.numbers(), int, real)
    }

    /// Checks that a condition's value is 1.
    ///
    /// # Errors
    /// Returns [`Failed::Denied`] if it isn't.
    fn require_condition(&mut self, holds: Int<Self>) -> Result<(), Failed>;
    /// Checks that a cell is vacant: 0 or, for floats, within the tolerance.
    ///
    /// # Errors
    /// Returns [`Failed::NotVacant`] if it isn't.
    fn require_vacant(&mut self, class: Class, cell: Self::Cell) -> Result<(), Failed>;

    /// Returns the failure to report if a target's new value doesn't exist.
    #[cold]
    fn blame(&self, _operation: Operation, _cells: [Self::Cell; 3], fault: Fault) -> Failed {
        Failed::Value(fault)
    }

    /// Notifies the engine that a real is converted to an integer, which has no adjoint.
    fn converts(&mut self, source: Self::Cell);
    /// Notifies the engine that a cell's content will be erased on purpose.
    fn erases(&mut self, class: Class, cell: Self::Cell, erasure: Erasure);
    /// Notifies the engine that an erased cell's adjoint ends here: undoing the erasure discards the adjoint
    /// of the 0.
    fn ends_adjoint(&mut self, cell: Self::Cell);
    /// Notifies the engine that the content of a vacant real will be replaced by 0.
    fn frees(&mut self, cell: Self::Cell);
    /// Sets a cell's adjoint to 0, because the cell becomes a constant.
    fn drop_adjoint(&mut self, cell: Self::Cell);

    /// Returns true if the history has an entry for this step, so that the step is executed by restoring kept
    /// values.
    #[inline(always)]
    fn is_kept(&self) -> bool {
        false
    }
    /// Returns true if the history entry includes adjoints, so that none must be propagated.
    #[inline(always)]
    fn keeps_adjoints(&self) -> bool {
        false
    }
    /// Returns the kept value of a real cell that the step has changed.
    #[inline(always)]
    fn kept_real(&self, cell: Self::Cell) -> Real<Self> {
        self.real(cell)
    }
    /// Restores the kept values of the step. Returns true if the entry included adjoints; otherwise they must
    /// still be propagated.
    #[inline(always)]
    fn give_back(&mut self) -> bool {
        true
    }
    /// Adds the contents of real cells to the history before they change.
    #[inline(always)]
    fn keep(&mut self, _cells: &[Self::Cell]) {}
    /// Adds adjoints to the history before they change.
    #[inline(always)]
    fn keep_adjoints(&mut self, _changes: &Changes<Self>) {}
    /// Returns true if undoing gives the old value bit for bit.
    #[inline(always)]
    fn is_undone(&self, _old: Real<Self>, _undone: Eval<Real<Self>>) -> bool {
        true
    }
    /// Returns a truth value. Called only for engines that are [`Engine::IMMEDIATE`].
    #[inline(always)]
    fn holds(&self, _bit: Self::Bit) -> bool {
        false
    }
}
