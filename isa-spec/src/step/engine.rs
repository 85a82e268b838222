//! What an engine lends a step. Knows no row.

use super::{Changes, Failed, Functions, Operation};
use crate::arith::Arith;
use crate::fault::{Eval, Fault};
use crate::instruction::Class;
use crate::update::Erasure;

/// An engine's integers.
pub type Int<E> = <<E as Engine>::Numbers as Arith>::Int;
/// The reals that an engine's numbers are made of.
pub type Real<E> = <<E as Engine>::Numbers as Arith>::Real;

/// Numbers, cells and checks. The defaults are those of an engine that keeps no history.
pub trait Engine: Sized {
    type Numbers: Arith + Copy;
    /// Where an operand is: an index, the name of a value, a name that people read.
    type Cell: Copy;
    /// Something that may hold or not.
    type Bit: Copy;
    /// Where it looks functions up.
    type Functions: Functions;

    /// Whether steps carry adjoints.
    const GRADIENT: bool;
    /// Whether sums of reals are exact, so that undoing one gives the old bits back.
    const EXACT: bool;
    /// Whether bits are known when a step is made, so that [`Engine::holds`] tells them.
    const IMMEDIATE: bool;
    /// Whether something may be kept of a step, and a step be undone by what was kept.
    const HISTORY: bool = false;

    fn numbers(&self) -> Self::Numbers;

    fn int(&self, cell: Self::Cell) -> Int<Self>;
    fn real(&self, cell: Self::Cell) -> Real<Self>;
    fn adjoint(&self, cell: Self::Cell) -> Real<Self>;
    fn set_int(&mut self, cell: Self::Cell, value: Int<Self>);
    fn set_real(&mut self, cell: Self::Cell, value: Real<Self>);
    fn set_adjoint(&mut self, cell: Self::Cell, value: Real<Self>);
    /// The integer 0 becomes the content of a cell, or the real whose bits are 0.
    fn set_zero(&mut self, class: Class, cell: Self::Cell);

    /// The value, if it may stand in a cell.
    ///
    /// # Errors
    /// It may not.
    fn admit(&self, value: Real<Self>) -> Eval<Real<Self>>;
    /// What a real cell is going to hold: from here on the step speaks of the value by that name.
    #[inline(always)]
    fn becomes(&mut self, _cell: Self::Cell, value: Real<Self>) -> Real<Self> {
        value
    }
    /// What an adjoint is going to be.
    #[inline(always)]
    fn adjoint_becomes(&mut self, _cell: Self::Cell, value: Real<Self>) -> Real<Self> {
        value
    }

    /// Whether an adjoint has anything to carry.
    fn is_loud(&self, adjoint: Real<Self>) -> Self::Bit;
    /// True if the adjoint of a source, which is the operand of this number, gets a share: a constant has none, and neither has a cell
    /// that doesn't depend on what derivatives are taken with respect to.
    fn receives(&self, operand: usize, cell: Self::Cell) -> Self::Bit;
    /// A step's function has a value for these sources.
    #[inline(always)]
    fn looks_at_sources(&mut self, _operation: Operation, _sources: [Self::Cell; 2]) {}
    /// The target's adjoint has something to carry, or not. Where it hasn't, a source whose partial derivative is infinite or undefined
    /// may lose a derivative, of which the engine takes a note.
    #[inline(always)]
    fn looks_for_losses(&mut self, _operation: Operation, _sources: [Self::Cell; 2], _is_loud: Self::Bit) {}
    /// Whether two operands are one cell.
    fn is_same(&self, a: Self::Cell, b: Self::Cell) -> Self::Bit;
    /// Whether either holds.
    fn either(&self, a: Self::Bit, b: Self::Bit) -> Self::Bit;
    /// `yes` where something holds, else `no`.
    fn choose(&self, bit: Self::Bit, yes: Real<Self>, no: Real<Self>) -> Real<Self>;
    /// What `then` finds, where something holds; else nothing changes. It writes nothing. Asked only of engines that
    /// aren't [`Engine::IMMEDIATE`].
    ///
    /// # Errors
    /// Those of `then`.
    fn when(
        &mut self,
        bit: Self::Bit,
        then: impl FnOnce(&mut Self) -> Result<Changes<Self>, Failed>,
    ) -> Result<Changes<Self>, Failed> {
        if self.holds(bit) { then(self) } else { Ok(Changes::nothing()) }
    }

    /// The value of a step's function, where that is an integer.
    ///
    /// # Errors
    /// There is none.
    #[inline(always)]
    fn int_value(&self, operation: Operation, sources: [Self::Cell; 2]) -> Eval<Int<Self>> {
        operation.int_value::<Self::Functions, _>(
            &self.numbers(),
            |n| self.int(sources[n]),
            |n| self.real(sources[n]),
        )
    }
    /// The value of a step's function, where that is a real.
    ///
    /// # Errors
    /// There is none.
    #[inline(always)]
    fn real_value(&self, operation: Operation, sources: [Self::Cell; 2]) -> Eval<Real<Self>> {
        operation.real_value::<Self::Functions, _>(
            &self.numbers(),
            |n| self.int(sources[n]),
            |n| self.real(sources[n]),
        )
    }
    /// The partial derivative of a step's function by a source (0 or 1) that is a real.
    ///
    /// # Errors
    /// There is none.
    #[inline(always)]
    fn partial(&self, operation: Operation, source: u8, sources: [Self::Cell; 2]) -> Eval<Real<Self>> {
        let (int, real) = (|n: usize| self.int(sources[n]), |n: usize| self.real(sources[n]));
        operation.partial::<Self::Functions, _>(source, &self.numbers(), int, real)
    }

    /// Fails unless a condition's value is 1.
    ///
    /// # Errors
    /// [`Failed::Denied`]
    fn require_condition(&mut self, holds: Int<Self>) -> Result<(), Failed>;
    /// Fails unless a cell is vacant: 0, or for floats within the tolerance.
    ///
    /// # Errors
    /// [`Failed::NotVacant`]
    fn require_vacant(&mut self, class: Class, cell: Self::Cell) -> Result<(), Failed>;

    /// What is at fault where a target would get no number.
    #[cold]
    fn blame(&self, _operation: Operation, _cells: [Self::Cell; 3], fault: Fault) -> Failed {
        Failed::Value(fault)
    }

    /// A real takes part in choosing an integer, which carries no adjoint.
    fn converts(&mut self, source: Self::Cell);
    /// What a cell holds is going to be lost on purpose.
    fn erases(&mut self, class: Class, cell: Self::Cell, erasure: Erasure);
    /// The adjoint of a cell that was erased ends with the 0 that was put there.
    fn ends_adjoint(&mut self, cell: Self::Cell);
    /// What a vacant real holds is going to be lost.
    fn frees(&mut self, cell: Self::Cell);
    /// A cell becomes a constant, and its adjoint 0.
    fn drop_adjoint(&mut self, cell: Self::Cell);

    /// Whether the step is to be made by what was kept of it, or of one like it.
    #[inline(always)]
    fn is_kept(&self) -> bool {
        false
    }
    /// Whether adjoints are among what was kept of it, so that none have to be carried.
    #[inline(always)]
    fn keeps_adjoints(&self) -> bool {
        false
    }
    /// What was kept of a real cell that the step has changed.
    #[inline(always)]
    fn kept_real(&self, cell: Self::Cell) -> Real<Self> {
        self.real(cell)
    }
    /// Gives back what was kept of the step. Whether that was all: of a plain step no adjoints are kept, and
    /// they have still to be carried.
    #[inline(always)]
    fn give_back(&mut self) -> bool {
        true
    }
    /// Keeps what real cells hold that are about to change.
    #[inline(always)]
    fn keep(&mut self, _cells: &[Self::Cell]) {}
    /// Keeps the adjoints that are about to change.
    #[inline(always)]
    fn keep_adjoints(&mut self, _changes: &Changes<Self>) {}
    /// Whether what undoing gives is what was there, bit for bit.
    #[inline(always)]
    fn is_undone(&self, _old: Real<Self>, _undone: Eval<Real<Self>>) -> bool {
        true
    }
    /// Whether something holds. Only engines that are [`Engine::IMMEDIATE`] are asked.
    #[inline(always)]
    fn holds(&self, _bit: Self::Bit) -> bool {
        false
    }
}
