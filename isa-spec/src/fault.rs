//! Faults: the reasons why a pure function or an update has no result. A fault contains no operands,
//! positions or procedures: the machine wraps it into a trap with those.

use thiserror::Error;

/// The reason why an arithmetic step fails. The message of each reason completes the sentence "trapped: …" and is the
/// same on every engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Fault {
    /// Integer or fixed-point division or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// Integer power with a negative exponent.
    #[error("negative exponent of an integer power")]
    NegativeExponent,
    /// An argument outside the domain of an elementary function (log of -1, asin of 2).
    #[error("argument outside the function's domain")]
    Domain,
    /// The exact result is outside the range of the number system (fixed point never wraps).
    #[error("overflow: the result does not fit into the number system")]
    Overflow,
    /// A float result is infinite or NaN.
    #[error("the result is not a finite number")]
    NonFinite,
    /// A real is outside the range of the module's integers.
    #[error("real number out of the integers' range")]
    OutOfRange,
    /// The function has no signature for these operand classes; verification excludes this.
    #[error("the function has no form for these operand classes")]
    NoSignature,
}

/// The result of evaluating a pure function.
pub type Eval<T> = Result<T, Fault>;
