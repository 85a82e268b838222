//! The interface that an engine implements to execute steps. The interface depends on no particular row.

use super::{Changes, Failed, Functions, Operation};
use crate::arith::Arith;
use crate::fault::{Eval, Fault};
use crate::instruction::Class;
use crate::update::Erasure;

/// The integers of an engine's arithmetic.
pub type Int<E> = <<E as Engine>::Numbers as Arith>::Int;
/// The reals of an engine's arithmetic.
pub type Real<E> = <<E as Engine>::Numbers as Arith>::Real;

/// Numbers, cells and checks of an engine. The default methods are for an engine without a history.
pub trait Engine: Sized {
    /// The arithmetic in which the rows are evaluated.
    type Numbers: Arith + Copy;
    /// A reference to an operand: an index in memory, a value of a compiler, or a name in a formula.
    type Cell: Copy;
    /// A truth value. In a compiling engine, it may be known only when the compiled code runs.
    type Bit: Copy;
    /// The functions that the engine's steps may apply: all rows, or a single row.
    type Functions: Functions;

    /// True if steps propagate adjoints.
    const GRADIENT: bool;
    /// True if sums of reals are exact, so that undoing a sum restores the old bits.
    const EXACT: bool;
    /// True if each truth value is known when it is computed, so that [`Engine::holds`] can be called. False
    /// for an engine that compiles.
    const IMMEDIATE: bool;
    /// True if the engine can keep a history of a step and undo a step by its history.
    const HISTORY: bool = false;

    /// Returns the arithmetic of the step: its word width and its number system.
    fn numbers(&self) -> Self::Numbers;

    /// Returns the content of an integer cell, immediate or mode bit.
    fn int(&self, cell: Self::Cell) -> Int<Self>;
    /// Returns the content of a real cell or immediate.
    fn real(&self, cell: Self::Cell) -> Real<Self>;
    /// Returns the adjoint of a real cell.
    fn adjoint(&self, cell: Self::Cell) -> Real<Self>;
    /// Writes an integer cell. The template calls it after everything in the step that can fail.
    fn set_int(&mut self, cell: Self::Cell, value: Int<Self>);
    /// Writes a real cell. The template calls it after everything in the step that can fail.
    fn set_real(&mut self, cell: Self::Cell, value: Real<Self>);
    /// Writes the adjoint of a real cell. The template calls it after everything in the step that can fail.
    fn set_adjoint(&mut self, cell: Self::Cell, value: Real<Self>);
    /// Sets a cell to the integer 0, or to the real with all bits 0.
    fn set_zero(&mut self, class: Class, cell: Self::Cell);

    /// Returns the value unchanged if a cell may hold it.
    ///
    /// # Errors
    /// Returns a fault if a cell must not hold the value.
    fn admit(&self, value: Real<Self>) -> Eval<Real<Self>>;
    /// Called with the new value of a real cell before it is written. Returns the value that the rest of the
    /// step uses instead; an engine of formulas returns a name. By default it is the value itself.
    #[inline(always)]
    fn becomes(&mut self, _cell: Self::Cell, value: Real<Self>) -> Real<Self> {
        value
    }
    /// Called with the new value of an adjoint before it is written. Returns the value that the rest of the
    /// step uses instead, by default the value itself.
    #[inline(always)]
    fn adjoint_becomes(&mut self, _cell: Self::Cell, value: Real<Self>) -> Real<Self> {
        value
    }

    /// Returns true if an adjoint isn't 0. The step propagates only such adjoints.
    fn is_nonzero(&self, adjoint: Real<Self>) -> Self::Bit;
    /// Returns true if the adjoint of a source gets a contribution; `operand` is the source's operand number.
    /// Constants get none, nor do cells that don't depend on the inputs of the derivative.
    fn receives(&self, operand: usize, cell: Self::Cell) -> Self::Bit;
    /// Called after the step's function was evaluated without a fault. An engine with derivatives can examine
    /// the function at these sources, for example for a kink.
    #[inline(always)]
    fn observe_sources(&mut self, _operation: Operation, _sources: [Self::Cell; 2]) {}
    /// Called before adjoints are propagated; `is_nonzero` is true if the target's adjoint isn't 0. An adjoint of 0
    /// isn't propagated. Then, if the partial derivative with respect to a source is infinite or undefined, a derivative of
    /// the source may be lost, and the engine may record the loss.
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
    /// Returns the changes of adjoints that `then` computes if a truth value holds, otherwise no changes.
    /// `then` writes nothing. Called only for engines that aren't [`Engine::IMMEDIATE`].
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

    /// Returns the failure to report if the new value of a target has the given fault. An engine with dual
    /// numbers can report that only a derivative is at fault.
    #[cold]
    fn blame(&self, _operation: Operation, _cells: [Self::Cell; 3], fault: Fault) -> Failed {
        Failed::Value(fault)
    }

    /// Called when a real is converted to an integer. The engine may record that the derivative is lost.
    fn converts(&mut self, source: Self::Cell);
    /// Called before a cell's content is erased by an irreversible update. The engine may record the lost
    /// bits.
    fn erases(&mut self, class: Class, cell: Self::Cell, erasure: Erasure);
    /// Called when an erasure is undone in a reverse sweep. The adjoint of the erased cell has no sources, so
    /// it is discarded, and the engine may record the loss.
    fn ends_adjoint(&mut self, cell: Self::Cell);
    /// Called before the content of a vacant real cell is replaced by 0. The content may be a float within
    /// the tolerance, and the engine may record it.
    fn frees(&mut self, cell: Self::Cell);
    /// Sets a cell's adjoint to 0. The engine counts the adjoint as dropped if it wasn't 0.
    fn drop_adjoint(&mut self, cell: Self::Cell);

    /// Returns true if the history has an entry for this step. Such a step is executed by restoring the values
    /// in the entry.
    #[inline(always)]
    fn is_kept(&self) -> bool {
        false
    }
    /// Returns true if the history entry of this step contains adjoints, so that the step needn't propagate
    /// any.
    #[inline(always)]
    fn keeps_adjoints(&self) -> bool {
        false
    }
    /// Returns the value of a real cell in the history entry of this step.
    #[inline(always)]
    fn kept_real(&self, cell: Self::Cell) -> Real<Self> {
        self.real(cell)
    }
    /// Restores the values in the history entry of this step. Returns true if the entry contained adjoints;
    /// otherwise the step must still propagate them.
    #[inline(always)]
    fn give_back(&mut self) -> bool {
        true
    }
    /// Adds the contents of real cells to the history entry of this step, before they change.
    #[inline(always)]
    fn keep(&mut self, _cells: &[Self::Cell]) {}
    /// Adds the adjoints that `changes` will change to the history entry of this step.
    #[inline(always)]
    fn keep_adjoints(&mut self, _changes: &Changes<Self>) {}
    /// Returns true if `undone`, the result of undoing a change, has the same bits as the value `old` before
    /// the change.
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
