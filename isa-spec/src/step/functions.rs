//! The function rows that an engine's steps name. Knows no row.

use crate::arith::Arith;
use crate::fault::Eval;
use crate::function::Function;

/// The rows among which a step's function is looked up: all of them, by [`AnyFunction`], or one of
/// [`crate::function::rows`] where the engine is compiled for steps with that function, so that a compiler sees no
/// other. Each method is that of [`Function`] with its name, and has its errors.
pub trait Functions {
    /// See [`Function::int`].
    ///
    /// # Errors
    /// There is no such value.
    fn int<S: Arith>(function: Function, s: &S, a: S::Int, b: S::Int) -> Eval<S::Int>;
    /// See [`Function::real`].
    ///
    /// # Errors
    /// There is no such value.
    fn real<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real>;
    /// See [`Function::real_int`].
    ///
    /// # Errors
    /// There is no such value.
    fn real_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real>;
    /// See [`Function::reals_to_int`].
    ///
    /// # Errors
    /// There is no such value.
    fn reals_to_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Int>;
    /// See [`Function::ints_to_real`].
    ///
    /// # Errors
    /// There is no such value.
    fn ints_to_real<S: Arith>(function: Function, s: &S, a: S::Int, b: S::Int) -> Eval<S::Real>;
    /// See [`Function::d_a`].
    ///
    /// # Errors
    /// There is no such value.
    fn d_a<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real>;
    /// See [`Function::d_b`].
    ///
    /// # Errors
    /// There is no such value.
    fn d_b<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real>;
    /// See [`Function::d_a_int`].
    ///
    /// # Errors
    /// There is no such value.
    fn d_a_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real>;
}

/// Any row.
pub struct AnyFunction;
