//! The function rows that an engine's steps use. This module is independent of particular rows.

use crate::arith::Arith;
use crate::fault::Eval;
use crate::function::Function;

/// The set of rows from which a step's function is selected. For [`AnyFunction`] these are all rows. A type
/// of [`crate::function::rows`] is a single row; an engine that is compiled for steps with one function uses
/// it, so that the compiler sees no other row. Each method returns the errors of the method of [`Function`]
/// with the same name.
pub trait Functions {
    /// The same as [`Function::int`].
    ///
    /// # Errors
    /// Returns a fault if there is no such value.
    fn int<S: Arith>(function: Function, s: &S, a: S::Int, b: S::Int) -> Eval<S::Int>;
    /// The same as [`Function::real`].
    ///
    /// # Errors
    /// Returns a fault if there is no such value.
    fn real<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real>;
    /// The same as [`Function::real_int`].
    ///
    /// # Errors
    /// Returns a fault if there is no such value.
    fn real_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real>;
    /// The same as [`Function::reals_to_int`].
    ///
    /// # Errors
    /// Returns a fault if there is no such value.
    fn reals_to_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Int>;
    /// The same as [`Function::ints_to_real`].
    ///
    /// # Errors
    /// Returns a fault if there is no such value.
    fn ints_to_real<S: Arith>(function: Function, s: &S, a: S::Int, b: S::Int) -> Eval<S::Real>;
    /// The same as [`Function::d_a`].
    ///
    /// # Errors
    /// Returns a fault if there is no such value.
    fn d_a<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real>;
    /// The same as [`Function::d_b`].
    ///
    /// # Errors
    /// Returns a fault if there is no such value.
    fn d_b<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real>;
    /// The same as [`Function::d_a_int`].
    ///
    /// # Errors
    /// Returns a fault if there is no such value.
    fn d_a_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real>;
}

/// The set of all rows. The row is selected by the function of each step.
pub struct AnyFunction;
