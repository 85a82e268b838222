//! Literals as bits: from a real as it was written to the word that stands for it in a number system. Knows no
//! text.

use crate::fault::Eval;
use crate::module::RealSystem;
use crate::number::{F32, F64, FixedPoint, Reals};

/// The bits of a literal in a number system; a verified literal has some.
pub fn literal_bits(system: RealSystem, value: f64) -> u64 {
    try_literal_bits(system, value).unwrap_or(0)
}

/// The same of any real.
///
/// # Errors
/// The number system has no such number.
pub fn try_literal_bits(system: RealSystem, value: f64) -> Eval<u64> {
    match system {
        RealSystem::F64 => bits(F64, value),
        RealSystem::F32 => bits(F32, value),
        RealSystem::Fixed(fraction) => bits(FixedPoint::new(fraction), value),
    }
}

fn bits<R: Reals<Bits = u64>>(reals: R, value: f64) -> Eval<u64> {
    reals.literal(value).map(|cell| reals.to_bits(cell))
}
