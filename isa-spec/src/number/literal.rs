//! Literals as bits: from a real as it was written to the word that stands for it in a number system. Knows no
//! text.

use crate::module::RealSystem;
use crate::number::{F32, F64, FixedPoint, Reals};

/// The bits of a literal in a number system; a verified literal has some.
pub fn literal_bits(system: RealSystem, value: f64) -> u64 {
    match system {
        RealSystem::F64 => bits(F64, value),
        RealSystem::F32 => bits(F32, value),
        RealSystem::Fixed(fraction) => bits(FixedPoint::new(fraction), value),
    }
}

fn bits<R: Reals<Bits = u64>>(reals: R, value: f64) -> u64 {
    reals.literal(value).map_or(0, |cell| reals.to_bits(cell))
}
