//! Conversions between Rust numbers and bits of cells. This module depends on number systems, and uses no names.

use reviver_isa::module::{RealSystem, Word};
use reviver_isa::number::{F32, F64, FixedPoint, Reals};

/// Rounds numbers to a number system, and stores them in cells. The error is the index of the first number that isn't
/// representable; the cells are then unchanged.
pub fn put_reals(system: RealSystem, values: &[f64], cells: &mut [u64]) -> Result<(), usize> {
    fn put<R: Reals<Bits = u64>>(reals: R, values: &[f64], cells: &mut [u64]) -> Result<(), usize> {
        let nearest = |value| {
            let number = reals.literal(value).and_then(|number| reals.admit(number)).ok()?;
            Some(reals.to_bits(number))
        };
        if let Some(at) = values.iter().position(|&value| nearest(value).is_none()) {
            return Err(at);
        }
        for (cell, bits) in cells.iter_mut().zip(values.iter().copied().filter_map(nearest)) {
            *cell = bits;
        }
        Ok(())
    }
    match system {
        RealSystem::F64 => put(F64, values, cells),
        RealSystem::F32 => put(F32, values, cells),
        RealSystem::Fixed(bits) => put(FixedPoint::new(bits), values, cells),
    }
}

/// Stores bits in cells. The error is the index of the first bits that aren't a valid number of the number system;
/// the cells are then unchanged.
pub fn put_bits(system: RealSystem, values: &[u64], cells: &mut [u64]) -> Result<(), usize> {
    check_bits(system, values)?;
    cells.iter_mut().zip(values).for_each(|(cell, &value)| *cell = value);
    Ok(())
}

/// Checks that bits are numbers that cells may hold. The error is the index of the first invalid bits.
pub fn check_bits(system: RealSystem, values: &[u64]) -> Result<(), usize> {
    fn check<R: Reals<Bits = u64>>(reals: R, values: &[u64]) -> Result<(), usize> {
        let is_wrong = |&bits: &u64| {
            let number = reals.of_bits(bits);
            reals.to_bits(number) != bits || reals.admit(number).is_err()
        };
        values.iter().position(is_wrong).map_or(Ok(()), Err)
    }
    match system {
        RealSystem::F64 => check(F64, values),
        RealSystem::F32 => check(F32, values),
        RealSystem::Fixed(bits) => check(FixedPoint::new(bits), values),
    }
}

/// Converts each cell to the nearest `f64`.
pub fn take_reals(system: RealSystem, cells: &[u64], values: &mut [f64]) {
    match system {
        RealSystem::F64 => take(F64, cells, values),
        RealSystem::F32 => take(F32, cells, values),
        RealSystem::Fixed(bits) => take(FixedPoint::new(bits), cells, values),
    }
}

fn take<R: Reals<Bits = u64>>(reals: R, cells: &[u64], values: &mut [f64]) {
    for (value, &bits) in values.iter_mut().zip(cells) {
        *value = reals.to_f64(reals.of_bits(bits));
    }
}

/// Stores integers in cells. The error is the index of the first one that doesn't fit into the word; the cells are
/// then unchanged.
pub fn put_ints(word: Word, values: &[i64], cells: &mut [i64]) -> Result<(), usize> {
    check_ints(word, values)?;
    cells.iter_mut().zip(values).for_each(|(cell, &value)| *cell = value);
    Ok(())
}

/// Checks that integers fit into the word. The error is the index of the first one that doesn't.
pub fn check_ints(word: Word, values: &[i64]) -> Result<(), usize> {
    let range = word.range();
    values.iter().position(|value| !range.contains(value)).map_or(Ok(()), Err)
}
