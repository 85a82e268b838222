//! Steps: the execution of the rows of an action, defined once for all engines.
//!
//! A template is the code that executes all rows of an action. The template defines the order in which a step computes,
//! checks, records history and writes. Everything that can fail comes before the first write, so a failed step has
//! changed nothing. Templates are generic over an [`Engine`], which provides numbers and cells: values in an
//! interpreter, names of values in a compiler, and formulas in the manual. Engines themselves implement everything that
//! changes more than cells: branches, calls, stacks, tapes and the gradient mode. Templates depend on no address and on
//! no number system.
//!
//! The adjoint rules are those of Liu & Zhao, "Differentiate Everything with a Reversible Domain-Specific
//! Language" (2020), section 3. For example, the reverse sweep over y += f(a) executes y -= f(a), and adds
//! y'·∂f/∂a to a'.

/// Evaluates to the changes that an expression computes if a truth value holds, and to no changes otherwise.
/// If the truth value is known when the step is executed, the expression is expanded inline, because the
/// compiler doesn't inline closures of this size.
macro_rules! when {
    ($e:ident, $bit:ident, $found:expr) => {
        if E::IMMEDIATE {
            if $e.holds($bit) { $found? } else { Changes::nothing() }
        } else {
            $e.when($bit, |$e| $found)?
        }
    };
}

mod accumulate;
mod changes;
mod engine;
mod functions;
mod lose;
mod map;
mod rotate;

pub use accumulate::accumulate;
pub use changes::{Change, Changes};
pub use engine::{Engine, Int, Real};
pub use functions::{AnyFunction, Functions};

use crate::arith::Arith;
use crate::fault::{Eval, Fault};
use crate::function::{Function, Signature};
use crate::instruction::Class;
use crate::update::{Action, Update};

/// The description of a step, independent of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// The update to execute. In a backward step it is the inverse of the instruction's update.
    pub update: Update,
    /// The function; `Function::Copy` if the update takes none.
    pub function: Function,
    /// The classes of the operands. If the update takes no function, all are integers ([`Signature::Int`]) or all
    /// are reals ([`Signature::Real`]).
    pub signature: Signature,
    /// True if the step undoes an irreversible step, by the history entry of that step.
    pub undoes: bool,
}

impl Operation {
    /// Returns the class of the function's value. All targets have this class.
    #[inline(always)]
    pub fn class(self) -> Class {
        self.signature.result()
    }

    /// Returns the class of an operand; targets come first.
    pub fn class_of(self, operand: usize) -> Class {
        let targets = self.update.shape().targets();
        match operand.checked_sub(targets) {
            None => self.class(),
            Some(source) => self.signature.source(source),
        }
    }

    /// Returns the function's value if it is an integer. `int` and `real` return the value of a source by its
    /// number, 0 or 1.
    ///
    /// # Errors
    /// Returns a fault if the function has no such value.
    #[inline(always)]
    pub fn int_value<F: Functions, S: Arith>(
        self,
        s: &S,
        int: impl Fn(usize) -> S::Int,
        real: impl Fn(usize) -> S::Real,
    ) -> Eval<S::Int> {
        let second = self.second_source();
        match self.signature {
            Signature::Int => F::int(self.function, s, int(0), int(second)),
            Signature::RealsToInt => F::reals_to_int(self.function, s, real(0), real(second)),
            Signature::Real | Signature::RealInt | Signature::IntsToReal => Err(Fault::NoSignature),
        }
    }

    /// Returns the function's value if it is a real. `int` and `real` return the value of a source by its
    /// number, 0 or 1.
    ///
    /// # Errors
    /// Returns a fault if the function has no such value.
    #[inline(always)]
    pub fn real_value<F: Functions, S: Arith>(
        self,
        s: &S,
        int: impl Fn(usize) -> S::Int,
        real: impl Fn(usize) -> S::Real,
    ) -> Eval<S::Real> {
        let second = self.second_source();
        match self.signature {
            Signature::Real => F::real(self.function, s, real(0), real(second)),
            Signature::RealInt => F::real_int(self.function, s, real(0), int(second)),
            Signature::IntsToReal => F::ints_to_real(self.function, s, int(0), int(second)),
            Signature::Int | Signature::RealsToInt => Err(Fault::NoSignature),
        }
    }

    /// Returns the function's partial derivative with respect to a real source (0 or 1). `int` and `real`
    /// return the value of a source by its number.
    ///
    /// # Errors
    /// Returns a fault if there is no such derivative.
    #[inline(always)]
    pub fn partial<F: Functions, S: Arith>(
        self,
        source: u8,
        s: &S,
        int: impl Fn(usize) -> S::Int,
        real: impl Fn(usize) -> S::Real,
    ) -> Eval<S::Real> {
        let second = self.second_source();
        match (self.signature, source) {
            (Signature::Real, 0) => F::d_a(self.function, s, real(0), real(second)),
            (Signature::Real, _) => F::d_b(self.function, s, real(0), real(second)),
            (Signature::RealInt, _) => F::d_a_int(self.function, s, real(0), int(1)),
            (Signature::Int | Signature::RealsToInt | Signature::IntsToReal, _) => Err(Fault::NoSignature),
        }
    }

    /// Returns the index of the second source among the operands' values. For a function of one source,
    /// returns the index of that source.
    #[inline(always)]
    fn second_source(self) -> usize {
        usize::from(self.function.arity() > 1)
    }

    /// Returns true if the partial derivative with respect to a source (0 or 1) may be infinite or undefined
    /// although the function has a value.
    pub fn may_lack_partial(self, source: u8) -> bool {
        usize::from(source) < self.receivers() && self.function.may_lack_partial(source)
    }

    /// Returns the number n of sources whose adjoints get contributions. They are the first n sources of the
    /// operation.
    #[inline(always)]
    pub fn receivers(self) -> usize {
        match self.signature {
            Signature::Real => self.function.arity(),
            Signature::RealInt => 1,
            Signature::Int | Signature::RealsToInt | Signature::IntsToReal => 0,
        }
    }
}

/// The reasons why a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failed {
    /// The target's new value doesn't exist, or no cell can hold it.
    Value(Fault),
    /// The function has a value, but its partial derivative with respect to a source (0 or 1) is no number
    /// that a cell can hold.
    Partial {
        /// The number of the source, 0 or 1.
        source: u8,
        /// The reason why there is no derivative.
        fault: Fault,
    },
    /// A propagated quantity, such as an adjoint, isn't a number that a cell can hold.
    Carried(Fault),
    /// The condition of a test doesn't hold.
    Denied,
    /// The target isn't vacant.
    NotVacant,
    /// An irreversible step can't be undone, because no history of it was kept.
    Irreversible,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed::Value(fault)
    }
}

/// Executes a step that changes only cells; does nothing for other actions. `cells` are the operands, targets
/// first; those after the last operand are never accessed.
///
/// # Errors
/// Returns the reason of the failure; then nothing has changed.
#[inline(always)]
pub fn step<E: Engine>(e: &mut E, operation: Operation, cells: [E::Cell; 3]) -> Result<(), Failed> {
    match operation.update.action() {
        Action::Accumulate => accumulate(e, operation, cells),
        Action::Replace | Action::Erase(_) if operation.undoes => lose::undo(e, operation, cells),
        Action::Replace => lose::replace(e, operation, cells),
        Action::Erase(erasure) => lose::erase(e, operation.class(), cells[0], erasure),
        Action::Map => map::map(e, operation, cells[0]),
        Action::Exchange => map::exchange(e, operation.class(), [cells[0], cells[1]]),
        Action::Rotate => rotate::rotate(e, operation.update, cells),
        Action::Clear => lose::clear(e, operation.class(), cells[0]),
        Action::Test => {
            let holds = e.int_value(operation, [cells[0], cells[1]])?;
            e.require_condition(holds)
        }
        // The engine implements steps that change more than cells.
        Action::Put(_)
        | Action::Take(_)
        | Action::Jump
        | Action::Join
        | Action::Begin
        | Action::End
        | Action::Call(_)
        | Action::Tasks(_)
        | Action::Show
        | Action::Switch(_) => Ok(()),
    }
}
