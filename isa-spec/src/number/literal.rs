//! Conversion of real literals to the bits of a number system. This module parses no text.

use crate::fault::Eval;
use crate::module::RealSystem;
use crate::number::{F32, F64, FixedPoint, Reals};

/// Returns the bits of a literal in a number system; 0 if the system can't represent it, which verification
/// excludes.
pub fn literal_bits(system: RealSystem, value: f64) -> u64 {
    try_literal_bits(system, value).unwrap_or(0)
}

/// Returns the bits of a real in a number system.
///
/// # Errors
/// Returns a fault if the number system can't represent the real.
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
