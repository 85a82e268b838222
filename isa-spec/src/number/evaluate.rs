//! Evaluates a function of plain values in a word and a number system that are chosen at run time. Constants and the
//! explanations of traps use it, so that they have the machine's values. Knows no operand and no cell.

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

/// Evaluates a function as its row does, and checks that a cell may hold the result. A source that is missing, or of
/// another class than the form takes, is 0.
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

/// Returns the f64 literal whose real has these bits; none if the real has more digits than an f64 holds.
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
