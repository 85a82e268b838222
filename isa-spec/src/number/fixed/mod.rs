//! Fixed-point numbers and their elementary functions, in integers alone.
//!
//! A number is a raw `i64` that stands for `raw * 2^-frac`. The count of fraction bits is a
//! parameter of every function and must lie in [`MIN_FRAC`]`..=`[`MAX_FRAC`]; whoever reads it
//! from outside checks that once. One *ulp* is `2^-frac`.
//!
//! What every function here promises:
//! - the result is less than 1 ulp off the real value (in fact at most 0.5 ulp and a small
//!   fraction: see each function), the same bits on every platform;
//! - a result that doesn't fit is [`Fault::Overflow`](crate::fault::Fault::Overflow): nothing
//!   wraps, saturates or panics, for any `i64`;
//! - functions which cannot fail return a plain `i64`.
//!
//! The elementary functions are written once, over a trait of few operations on words of 128 bits ([`WideOps`]), which an engine lends
//! them: the machine's own words (`machine.rs`), or the text of a program in another language. They branch by
//! [`WideOps::pick`] and [`WideOps::select`] alone, and give the number of a fault beside a number that may not be there.
//!
//! These functions refuse to know which number system a program chose, what an operand is, and
//! how a result is undone. Only [`rot`] and [`irot`] are each other's exact inverse.

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

/// The fewest fraction bits: beyond, the integer part has more bits than the reduction of
/// angles is proven for.
pub const MIN_FRAC: u32 = 16;

/// The most fraction bits: beyond, pi and the angles don't fit.
pub const MAX_FRAC: u32 = 56;
