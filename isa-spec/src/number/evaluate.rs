//! Evaluation of a function of plain values, in a word width and a number system that are chosen at run time.
//! The assembler's constant evaluation and the explanations of traps call it, to get the same results as the
//! machine.

use super::reals::Reals;
use super::words::Narrow;
use super::{Arithmetic, F32, F64, FixedPoint};
use crate::class::Class;
use crate::fault::Eval;
use crate::function::{Function, Signature};
use crate::module::{RealSystem, Word};

/// A value outside of cells, such as a constant or an intermediate result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainValue {
    /// An integer of the current word width.
    Int(i64),
    /// The bits of a real in the current number system.
    Real(u64),
}

impl PlainValue {
    /// Returns the class of the cells that can hold the value.
    pub fn class(self) -> Class {
        match self {
            PlainValue::Int(_) => Class::Int,
            PlainValue::Real(_) => Class::Real,
        }
    }
}

/// Evaluates a function by its row, and checks that a cell may hold the result. A source that is missing, or
/// of another class than the signature requires, is 0.
///
/// # Errors
/// Returns a fault if the function has no value for these sources.
pub fn evaluate(
    (word, system): (Word, RealSystem),
    (function, signature): (Function, Signature),
    sources: &[PlainValue],
) -> Eval<PlainValue> {
    match system {
        RealSystem::F64 => evaluate_in(word, F64, (function, signature), sources),
        RealSystem::F32 => evaluate_in(word, F32, (function, signature), sources),
        RealSystem::Fixed(bits) => evaluate_in(word, FixedPoint::new(bits), (function, signature), sources),
    }
}

fn evaluate_in<R: Reals<Bits = u64>>(
    word: Word,
    reals: R,
    (function, signature): (Function, Signature),
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
    match signature {
        Signature::Int => function.int(&numbers, int(0), int(1)).map(PlainValue::Int),
        Signature::Real => function.real(&numbers, real(0), real(1)).and_then(written),
        Signature::RealInt => function.real_int(&numbers, real(0), int(1)).and_then(written),
        Signature::RealsToInt => function.reals_to_int(&numbers, real(0), real(1)).map(PlainValue::Int),
        Signature::IntsToReal => function.ints_to_real(&numbers, int(0), int(1)).and_then(written),
    }
}

/// Returns the f64 literal of the real with these bits, or `None` if the real has more digits than an f64.
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
