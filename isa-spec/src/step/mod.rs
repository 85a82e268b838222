//! Steps: how the rows of an action are carried out, once for every engine.
//!
//! A template says in which order a step computes, checks, keeps and writes: everything that can fail comes
//! before the first write, so that a step which fails has changed nothing. It is generic over an [`Engine`],
//! which lends it numbers and cells; an interpreter's are values, a compiler's would be names of values, and
//! those of the manual are formulas. What changes more than cells (branches, calls, stacks and tapes, the mode)
//! is an engine's own business. Knows no address and no number system.
//!
//! The adjoint rules are those of Liu & Zhao, "Differentiate Everything with a Reversible Domain-Specific
//! Language" (2020), section 3: executing y += f(a) backward adds y'·∂f/∂a to a'.

/// The changes that an expression finds where a bit holds; else nothing changes. Where an engine knows the bit, the
/// expression is compiled in place: a compiler keeps closures apart that are as large.
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
use crate::function::{Form, Function};
use crate::instruction::Class;
use crate::update::{Action, Update};

/// What a step does, whatever its cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    pub update: Update,
    /// `Function::Copy` where the update takes no function.
    pub function: Function,
    /// The classes of the operands. Of an update without a function either all are integers
    /// ([`Form::Int`]) or all are reals ([`Form::Real`]).
    pub form: Form,
    /// Whether an irreversible step is gone back over, with what a history has kept of it.
    pub undoes: bool,
}

impl Operation {
    #[inline(always)]
    pub fn class(self) -> Class {
        self.form.result()
    }

    /// The class of an operand, targets first.
    pub fn class_of(self, operand: usize) -> Class {
        let targets = self.update.shape().targets();
        match operand.checked_sub(targets) {
            None => self.class(),
            Some(source) => self.form.source(source),
        }
    }

    /// The value of its function, where that is an integer. `int` and `real` give the value of a source by its number, 0 or 1.
    ///
    /// # Errors
    /// There is none.
    #[inline(always)]
    pub fn int_value<F: Functions, S: Arith>(
        self,
        s: &S,
        int: impl Fn(usize) -> S::Int,
        real: impl Fn(usize) -> S::Real,
    ) -> Eval<S::Int> {
        let second = self.second_source();
        match self.form {
            Form::Int => F::int(self.function, s, int(0), int(second)),
            Form::RealsToInt => F::reals_to_int(self.function, s, real(0), real(second)),
            Form::Real | Form::RealInt | Form::IntsToReal => Err(Fault::NoForm),
        }
    }

    /// The value of its function, where that is a real. `int` and `real` give the value of a source by its number, 0 or 1.
    ///
    /// # Errors
    /// There is none.
    #[inline(always)]
    pub fn real_value<F: Functions, S: Arith>(
        self,
        s: &S,
        int: impl Fn(usize) -> S::Int,
        real: impl Fn(usize) -> S::Real,
    ) -> Eval<S::Real> {
        let second = self.second_source();
        match self.form {
            Form::Real => F::real(self.function, s, real(0), real(second)),
            Form::RealInt => F::real_int(self.function, s, real(0), int(second)),
            Form::IntsToReal => F::ints_to_real(self.function, s, int(0), int(second)),
            Form::Int | Form::RealsToInt => Err(Fault::NoForm),
        }
    }

    /// The partial derivative of its function with respect to a source (0 or 1) that is a real. `int` and `real` give the value of a
    /// source by its number.
    ///
    /// # Errors
    /// There is none.
    #[inline(always)]
    pub fn partial<F: Functions, S: Arith>(
        self,
        source: u8,
        s: &S,
        int: impl Fn(usize) -> S::Int,
        real: impl Fn(usize) -> S::Real,
    ) -> Eval<S::Real> {
        let second = self.second_source();
        match (self.form, source) {
            (Form::Real, 0) => F::d_a(self.function, s, real(0), real(second)),
            (Form::Real, _) => F::d_b(self.function, s, real(0), real(second)),
            (Form::RealInt, _) => F::d_a_int(self.function, s, real(0), int(1)),
            (Form::Int | Form::RealsToInt | Form::IntsToReal, _) => Err(Fault::NoForm),
        }
    }

    /// The number of the second source; of a function of one source, that of its only one.
    #[inline(always)]
    fn second_source(self) -> usize {
        usize::from(self.function.arity() > 1)
    }

    /// True if the partial derivative with respect to a source (0 or 1) may be infinite or undefined where its function has a value.
    pub fn may_lack_partial(self, source: u8) -> bool {
        usize::from(source) < self.receivers() && self.function.may_lack_partial(source)
    }

    /// How many of its sources, the first ones, have adjoints that get shares.
    #[inline(always)]
    pub fn receivers(self) -> usize {
        match self.form {
            Form::Real => self.function.arity(),
            Form::RealInt => 1,
            Form::Int | Form::RealsToInt | Form::IntsToReal => 0,
        }
    }
}

/// Why a step can't be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failed {
    /// The target would get no number.
    Value(Fault),
    /// The function has a value, but no derivative by one of its sources (0 or 1) that a cell can hold.
    Partial { source: u8, fault: Fault },
    /// What is carried along with the value, an adjoint say, would leave the number system.
    Carried(Fault),
    /// The condition of a test doesn't hold.
    Denied,
    /// The target isn't vacant.
    NotVacant,
    /// Nothing was kept of an irreversible step that is gone back over.
    Irreversible,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed::Value(fault)
    }
}

/// Makes a step that changes only cells, or nothing. The cells are the operands, targets first; those
/// beyond the last operand are never looked at.
///
/// # Errors
/// Why it can't be made; nothing has changed then.
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
        // What changes more than cells is the engine's.
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
