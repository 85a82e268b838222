//! Fixed-point numbers and their elementary functions, in integer arithmetic only.
//!
//! A number is a raw `i64` that denotes `raw * 2^-frac`. The number of fraction bits is a parameter of every
//! function and must be in [`MIN_FRAC`]`..=`[`MAX_FRAC`]; the code that reads this number from a program checks
//! it once. One *ulp* is `2^-frac`.
//!
//! Guarantees of every function:
//! - The result is less than 1 ulp off the real value, usually hardly more than 0.5 ulp; each function states its
//!   bound. The result has the same bits on every platform.
//! - A result out of range is [`Fault::Overflow`](crate::fault::Fault::Overflow): no function wraps,
//!   saturates or panics, for any `i64`.
//! - Functions that can't fail return a plain `i64`.
//!
//! The descriptions of functions call the faults of [`Fault`](crate::fault::Fault) by their names: Overflow, Domain and
//! DivisionByZero.
//!
//! The elementary functions are written once, over a trait of few operations on 128-bit words ([`WideOps`]),
//! which each engine implements. The interpreter uses the processor's words (`machine.rs`); other engines
//! generate program text in another language. The functions branch only by [`WideOps::pick`] and
//! [`WideOps::select`]. A function that may fail returns the number of its fault in a second word.
//!
//! These functions are independent of the program's number system, of operands, and of undoing. Only [`rot`]
//! and [`irot`] are exact inverses of each other.

pub mod arc;
mod arithmetic;
mod constants;
mod convert;
pub mod exp_log;
pub mod hyperbolic;
mod machine;
pub mod ops;
pub mod power;
pub mod rotation;
pub mod special;
pub mod trig;
pub mod wide;

pub use arithmetic::{div, hypot, mul, sqrt};
pub use convert::{floor, from_f64, from_int, round, to_f64, to_int, trunc};
pub use machine::{
    acos, asin, atan, atan2, cbrt, cos, cosh, digamma, erf, erf_slope, exp, exp_m1, irot, ln_1p, log,
    log_gamma, pow, powi, rot, sigmoid, sin, sinh, tan, tanh,
};
pub use ops::WideOps;

/// The minimum number of fraction bits. With fewer, the integer part would have more bits than the reduction
/// of angles is proven for.
pub const MIN_FRAC: u32 = 16;

/// The maximum number of fraction bits. With more, pi and angles would be out of range.
pub const MAX_FRAC: u32 = 56;
