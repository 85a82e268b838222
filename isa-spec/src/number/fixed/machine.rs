//! Native 128-bit words: the implementation of the fixed-point functions' operations that the interpreter
//! uses.

use super::ops::{FixedOutcome, WideOps, fault_of};
use super::{arc, exp_log, hyperbolic, power, rotation, special, trig, wide};
use crate::fault::Eval;

/// Operations on native 128-bit words, computed immediately.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NativeWide;

impl WideOps for NativeWide {
    type Word = u128;
    type Flag = bool;

    #[inline(always)]
    fn word(&self, value: u128) -> u128 {
        value
    }
    #[inline(always)]
    fn never(&self) -> bool {
        false
    }
    #[inline(always)]
    fn add(&self, a: u128, b: u128) -> u128 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn sub(&self, a: u128, b: u128) -> u128 {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn mul(&self, a: u128, b: u128) -> u128 {
        a.wrapping_mul(b)
    }
    #[inline(always)]
    fn div(&self, a: u128, b: u128) -> u128 {
        a.checked_div(b).unwrap_or(0)
    }
    #[inline(always)]
    fn and(&self, a: u128, b: u128) -> u128 {
        a & b
    }
    #[inline(always)]
    fn or(&self, a: u128, b: u128) -> u128 {
        a | b
    }
    #[inline(always)]
    fn shl(&self, a: u128, amount: u32) -> u128 {
        a.wrapping_shl(amount)
    }
    #[inline(always)]
    fn shr(&self, a: u128, amount: u32) -> u128 {
        a.wrapping_shr(amount)
    }
    #[inline(always)]
    fn sar(&self, a: u128, amount: u32) -> u128 {
        (a as i128).wrapping_shr(amount) as u128
    }
    #[inline(always)]
    fn shl_by(&self, a: u128, amount: u128) -> u128 {
        a.wrapping_shl(amount as u32)
    }
    #[inline(always)]
    fn shr_by(&self, a: u128, amount: u128) -> u128 {
        a.wrapping_shr(amount as u32)
    }
    #[inline(always)]
    fn zeros(&self, a: u128) -> u128 {
        a.leading_zeros().into()
    }
    #[inline(always)]
    fn root(&self, a: u128) -> u128 {
        a.isqrt()
    }
    #[inline(always)]
    fn lt(&self, a: u128, b: u128) -> bool {
        a < b
    }
    #[inline(always)]
    fn eq(&self, a: u128, b: u128) -> bool {
        a == b
    }
    #[inline(always)]
    fn both(&self, a: bool, b: bool) -> bool {
        a & b
    }
    #[inline(always)]
    fn either(&self, a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn differ(&self, a: bool, b: bool) -> bool {
        a != b
    }
    #[inline(always)]
    fn not(&self, a: bool) -> bool {
        !a
    }
    #[inline(always)]
    fn select(&self, flag: bool, yes: u128, no: u128) -> u128 {
        if flag { yes } else { no }
    }
    #[inline(always)]
    fn pick<const N: usize>(
        &self,
        flag: bool,
        yes: impl FnOnce() -> [u128; N],
        no: impl FnOnce() -> [u128; N],
    ) -> [u128; N] {
        if flag { yes() } else { no() }
    }
    #[inline(always)]
    fn repeat<const N: usize>(
        &self,
        first: [u128; N],
        holds: impl Fn([u128; N]) -> bool,
        step: impl Fn([u128; N]) -> [u128; N],
    ) -> [u128; N] {
        let mut words = first;
        while holds(words) {
            words = step(words);
        }
        words
    }
    #[inline(always)]
    fn lookup(&self, table: &'static [u128], index: u128) -> u128 {
        table.get(index as usize).copied().unwrap_or(0)
    }
    #[inline(always)]
    fn mul_high(&self, a: u128, b: u128) -> u128 {
        wide::mul_high(self, a, b)
    }
    #[inline(always)]
    fn fraction(&self, n: u128, d: u128) -> u128 {
        wide::fraction(self, n, d)
    }
    #[inline(always)]
    fn round_shift(&self, value: u128, shift: u128) -> u128 {
        wide::round_shift(self, value, shift)
    }
}

#[inline(always)]
fn word(a: i64) -> u128 {
    i128::from(a) as u128
}

#[inline(always)]
pub(super) fn eval([value, fault]: FixedOutcome<u128>) -> Eval<i64> {
    match fault_of(fault) {
        None => Ok(value as i64),
        Some(fault) => Err(fault),
    }
}

/// Defines functions of raw numbers. Each calls the function of the same name over [`WideOps`], with native words.
macro_rules! functions {
    ($($family:ident: $($(#[$doc:meta])* $name:ident($($a:ident),+) $($gives:ident)?),+;)+) => {
        $($(
            $(#[$doc])*
            pub fn $name($($a: i64,)+ frac: u32) -> functions!(@type $($gives)?) {
                functions!(@made $($gives)?, $family::$name(&NativeWide, $(word($a),)+ frac))
            }
        )+)+
    };
    (@type) => { Eval<i64> };
    (@type surely) => { i64 };
    (@made , $made:expr) => { eval($made) };
    (@made surely, $made:expr) => { $made as i64 };
}

functions! {
    trig:
        /// The same as [`trig::sin`], on raw numbers.
        sin(x) surely,
        /// The same as [`trig::cos`], on raw numbers.
        cos(x) surely,
        /// The same as [`trig::tan`], on raw numbers.
        tan(x);
    arc:
        /// The same as [`arc::asin`], on raw numbers.
        asin(x),
        /// The same as [`arc::acos`], on raw numbers.
        acos(x),
        /// The same as [`arc::atan`], on raw numbers.
        atan(x) surely,
        /// The same as [`arc::atan2`], on raw numbers.
        atan2(y, x) surely;
    exp_log:
        /// The same as [`exp_log::exp`], on raw numbers.
        exp(x),
        /// The same as [`exp_log::exp_m1`], on raw numbers.
        exp_m1(x),
        /// The same as [`exp_log::ln_1p`], on raw numbers.
        ln_1p(x),
        /// The same as [`exp_log::log`], on raw numbers.
        log(x);
    hyperbolic:
        /// The same as [`hyperbolic::sinh`], on raw numbers.
        sinh(x),
        /// The same as [`hyperbolic::cosh`], on raw numbers.
        cosh(x),
        /// The same as [`hyperbolic::tanh`], on raw numbers.
        tanh(x) surely,
        /// The same as [`hyperbolic::sigmoid`], on raw numbers.
        sigmoid(x) surely;
    power:
        /// The same as [`power::pow`], on raw numbers.
        pow(a, b),
        /// The same as [`power::powi`], on raw numbers.
        powi(a, n),
        /// The same as [`power::cbrt`], on raw numbers.
        cbrt(x);
    special:
        /// The same as [`special::erf`], on raw numbers.
        erf(x),
        /// The same as [`special::erf_slope`], on raw numbers.
        erf_slope(x),
        /// The same as [`special::log_gamma`], on raw numbers.
        log_gamma(x),
        /// The same as [`special::digamma`], on raw numbers.
        digamma(x);
}

/// The same as [`rotation::rot`], on raw numbers.
pub fn rot(x: i64, y: i64, theta: i64, frac: u32) -> Eval<(i64, i64)> {
    turned(rotation::rot(&NativeWide, word(x), word(y), word(theta), frac))
}

/// The same as [`rotation::irot`], on raw numbers.
pub fn irot(x: i64, y: i64, theta: i64, frac: u32) -> Eval<(i64, i64)> {
    turned(rotation::irot(&NativeWide, word(x), word(y), word(theta), frac))
}

fn turned([x, y, fault]: [u128; 3]) -> Eval<(i64, i64)> {
    eval([x, fault]).map(|x| (x, y as i64))
}
