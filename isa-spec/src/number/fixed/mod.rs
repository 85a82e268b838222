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
//! These functions refuse to know which number system a program chose, what an operand is, and
//! how a result is undone. Only [`rot`] and [`irot`] are each other's exact inverse.

mod arc;
mod arithmetic;
mod constants;
mod convert;
mod exp_log;
mod hyperbolic;
mod power;
mod rotation;
mod special;
mod trig;
mod wide;

pub use arc::{acos, asin, atan, atan2};
pub use arithmetic::{div, hypot, mul, sqrt};
pub use convert::{floor, from_f64, from_int, round, to_f64, to_int, trunc};
pub use exp_log::{exp, exp_m1, ln_1p, log};
pub use hyperbolic::{cosh, sigmoid, sinh, tanh};
pub use power::{cbrt, pow, powi};
pub use rotation::{irot, rot};
pub use special::{digamma, erf, erf_slope, log_gamma};
pub use trig::{cos, sin, tan};

/// The fewest fraction bits: beyond, the integer part has more bits than the reduction of
/// angles is proven for.
pub const MIN_FRAC: u32 = 16;

/// The most fraction bits: beyond, pi and the angles don't fit.
pub const MAX_FRAC: u32 = 56;
