//! A function of plain values, in numbers that are chosen while the program runs: what a machine computes of
//! them, for constants and for messages. Knows no operand and no cell.

use super::reals::Reals;
use super::words::Narrow;
use super::{Arithmetic, F32, F64, FixedPoint};
use crate::class::Class;
use crate::fault::Eval;
use crate::function::{Form, Function};
use crate::module::{RealSystem, Word};

/// A value outside of any cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainValue {
    Int(i64),
    /// The bits of a real in the number system at hand.
    Real(u64),
}

impl PlainValue {
    pub fn class(self) -> Class {
        match self {
            PlainValue::Int(_) => Class::Int,
            PlainValue::Real(_) => Class::Real,
        }
    }
}

/// The value of a function that its row says, if a cell may hold it. Sources that are missing, or of another class
/// than the form takes, count as 0.
///
/// # Errors
/// The function has no value there.
pub fn evaluate(
    (word, system): (Word, RealSystem),
    (function, form): (Function, Form),
    sources: &[PlainValue],
) -> Eval<PlainValue> {
    match system {
        RealSystem::F64 => evaluate_in(word, F64, (function, form), sources),
        RealSystem::F32 => evaluate_in(word, F32, (function, form), sources),
        RealSystem::Fixed(bits) => evaluate_in(word, FixedPoint::new(bits), (function, form), sources),
    }
}

fn evaluate_in<R: Reals<Bits = u64>>(
    word: Word,
    reals: R,
    (function, form): (Function, Form),
    sources: &[PlainValue],
) -> Eval<PlainValue> {
    let numbers = Arithmetic { words: Narrow(word), reals };
    let int = |n: usize| match sources.get(n) {
        Some(PlainValue::Int(value)) => *value,
        _ => 0,
    };
    let real = |n: usize| match sources.get(n) {
        Some(PlainValue::Real(bits)) => reals.of_bits(*bits),
        _ => R::Cell::default(),
    };
    let written = |value| reals.admit(value).map(|value| PlainValue::Real(reals.to_bits(value)));
    match form {
        Form::Int => function.int(&numbers, int(0), int(1)).map(PlainValue::Int),
        Form::Real => function.real(&numbers, real(0), real(1)).and_then(written),
        Form::RealInt => function.real_int(&numbers, real(0), int(1)).and_then(written),
        Form::RealsToInt => function.reals_to_int(&numbers, real(0), real(1)).map(PlainValue::Int),
        Form::IntsToReal => function.ints_to_real(&numbers, int(0), int(1)).and_then(written),
    }
}

/// The f64 that stands for a real in a module: the one whose literal has these bits. None where the number has more
/// digits than an f64 holds.
pub fn literal_of_bits(system: RealSystem, bits: u64) -> Option<f64> {
    let nearest = match system {
        RealSystem::F64 => f64::from_bits(bits),
        RealSystem::F32 => F32.to_f64(F32.of_bits(bits)),
        RealSystem::Fixed(fraction) => {
            let reals = FixedPoint::new(fraction);
            reals.to_f64(reals.of_bits(bits))
        }
    };
    (super::try_literal_bits(system, nearest) == Ok(bits)).then_some(nearest)
}

/// A fixed-point number for readers that know floats: its text, and the integer of units that it is where no f64 is the
/// number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedForReaders {
    pub text: String,
    pub units: Option<i64>,
}

/// Writes a fixed-point number, given as [`Reals::text`] writes it, so that a reader of f64 finds the very number
/// wherever an f64 holds it, and a reader of fixed point always does. None where the text is no such number.
pub fn fixed_for_readers(fraction_bits: u8, text: &str) -> Option<FixedForReaders> {
    let reals = FixedPoint::new(fraction_bits);
    let raw = reals.parse(text)?;
    let nearest = reals.to_f64(raw);
    // Scaling by a power of two is exact.
    if (nearest * f64::from(fraction_bits).exp2()) as i128 != i128::from(raw) {
        return Some(FixedForReaders { text: text.to_owned(), units: Some(raw) });
    }
    // The shortest text names this number among those of fixed point; among floats it may name a neighbour.
    let text = if text.parse() == Ok(nearest) { text.to_owned() } else { format!("{nearest:?}") };
    Some(FixedForReaders { text, units: None })
}
