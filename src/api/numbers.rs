//! Numbers of Rust as a program's numbers, and back: slices as cells. Knows number systems; knows no names.

use reviver_isa::module::{RealSystem, Word};
use reviver_isa::number::{F32, F64, FixedPoint, Reals};

/// Puts numbers into cells, each as the nearest one of a system; or, where there is none such, the index of the first of these, and
/// nothing has changed.
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

/// Puts numbers into cells as the bits of their system; or the index of the first one that is no number, and nothing has changed.
pub fn put_bits(system: RealSystem, values: &[u64], cells: &mut [u64]) -> Result<(), usize> {
    check_bits(system, values)?;
    cells.iter_mut().zip(values).for_each(|(cell, &value)| *cell = value);
    Ok(())
}

/// The index of the first bits that are no number of a system that may stand in a cell.
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

/// The nearest `f64` of each cell.
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

/// Puts integers into cells; or the index of the first one that doesn't fit into the words, and nothing has changed.
pub fn put_ints(word: Word, values: &[i64], cells: &mut [i64]) -> Result<(), usize> {
    check_ints(word, values)?;
    cells.iter_mut().zip(values).for_each(|(cell, &value)| *cell = value);
    Ok(())
}

/// The index of the first integer that doesn't fit into the words.
pub fn check_ints(word: Word, values: &[i64]) -> Result<(), usize> {
    let range = word.range();
    values.iter().position(|value| !range.contains(value)).map_or(Ok(()), Err)
}
