//! Constant expressions: exact as they are written, and else what the oracle's machine makes of them in the numbers
//! that the text declares. Knows no names.

use num_bigint::BigInt;
use reviver_assembler::tree::{BinaryOperator, UnaryOperator};
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use crate::integer::{self, fits, wrap};
use crate::outcome::{Step, unsupported};
use crate::real::Real;
use crate::signature::{common, source_classes, value_class};

/// The numbers that a text declares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextNumbers {
    pub(crate) bits: u32,
    pub(crate) system: RealSystem,
}

/// The value of a constant expression.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    /// A bit pattern is written in base 2, 8 or 16; it stands for the word that has these bits.
    Int {
        value: BigInt,
        pattern: bool,
    },
    Real(f64),
    /// What was computed in the numbers of the text.
    Computed(Real),
}

impl Number {
    pub(crate) fn class(&self) -> Class {
        match self {
            Number::Int { .. } => Class::Int,
            Number::Real(_) | Number::Computed(_) => Class::Real,
        }
    }

    /// The value where a real is wanted.
    pub(crate) fn to_real(&self, text: TextNumbers) -> Step<Real> {
        match self {
            Number::Int { pattern: true, value } if !fits(value, text.bits) => {
                unsupported("a bit pattern as a real")
            }
            Number::Int { value, .. } => Real::of_integer(value, text.system),
            Number::Real(value) => Real::literal(*value, text.system),
            Number::Computed(real) => Ok(real.clone()),
        }
    }

    /// The value as the float by which it is written down.
    pub(crate) fn to_float(&self, text: TextNumbers) -> Step<f64> {
        match self {
            Number::Real(value) => Ok(*value),
            number => number.to_real(text)?.to_float(),
        }
    }

    /// The value where an integer is wanted.
    pub(crate) fn to_integer(&self) -> Step<BigInt> {
        match self {
            Number::Int { value, .. } => Ok(value.clone()),
            Number::Real(_) | Number::Computed(_) => unsupported("a real constant as an integer"),
        }
    }

    /// The word that it stands for.
    pub(crate) fn to_word(&self, text: TextNumbers) -> Step<BigInt> {
        self.to_integer().map(|value| wrap(value, text.bits))
    }

    /// What it adds to an index: a bit pattern as its word, else as it is written.
    pub(crate) fn to_offset(&self, text: TextNumbers) -> Step<BigInt> {
        match self {
            Number::Int { pattern: true, .. } => self.to_word(text),
            number => number.to_integer(),
        }
    }

    pub(crate) fn to_length(&self) -> Step<usize> {
        usize::try_from(self.to_integer()?).map_or_else(|_| unsupported("a negative length"), Ok)
    }

    pub(crate) fn unary(operator: UnaryOperator, a: &Number, text: TextNumbers) -> Step<Number> {
        Ok(match (operator, a) {
            (UnaryOperator::Negate, Number::Real(a)) => Number::Real(-a),
            (UnaryOperator::Negate, Number::Int { value, pattern }) if !pattern || fits(value, text.bits) => {
                Number::Int { value: -value, pattern: false }
            }
            (UnaryOperator::Negate, a) => return apply(Function::Diff, &[integer(0), a.clone()], text),
            (UnaryOperator::Complement, a) => return apply(Function::Xor, &[a.clone(), integer(-1)], text),
        })
    }

    pub(crate) fn binary(
        operator: BinaryOperator,
        a: &Number,
        b: &Number,
        text: TextNumbers,
    ) -> Step<Number> {
        apply(function_of(operator), &[a.clone(), b.clone()], text)
    }
}

fn integer(value: i8) -> Number {
    Number::Int { value: value.into(), pattern: false }
}

/// The function that an operator is.
pub(crate) fn function_of(operator: BinaryOperator) -> Function {
    match operator {
        BinaryOperator::Add => Function::Sum,
        BinaryOperator::Subtract => Function::Diff,
        BinaryOperator::Multiply => Function::Mul,
        BinaryOperator::Divide => Function::Div,
        BinaryOperator::Remainder => Function::Rem,
        BinaryOperator::ShiftLeft => Function::Shl,
        BinaryOperator::ShiftRight => Function::Sar,
        BinaryOperator::And => Function::And,
        BinaryOperator::Xor => Function::Xor,
        BinaryOperator::Or => Function::Or,
    }
}

/// A function of constants.
pub(crate) fn apply(function: Function, sources: &[Number], text: TextNumbers) -> Step<Number> {
    let written: Vec<Class> = sources.iter().map(Number::class).collect();
    let class = value_class(function, &written)?;
    let classes = source_classes(function, class, &written);
    let [a, b] = [sources.first(), sources.get(1)];
    let int = |n: Option<&Number>| n.map_or(Ok(BigInt::ZERO), |n| n.to_word(text));
    // A part of an expression is added to 0 before it is taken.
    let real = |n: Option<&Number>| match n {
        None => Ok(Real::zero(text.system)),
        Some(Number::Computed(part)) => Real::function(Function::Sum, &Real::zero(text.system), part),
        Some(number) => number.to_real(text),
    };
    let whole = |value| Number::Int { value, pattern: false };
    match (class, classes.as_slice()) {
        (Class::Int, _) if common(&written) == Class::Int => {
            integer::function(function, &int(a)?, &int(b)?, text.bits).map(whole)
        }
        (Class::Int, _) if function == Function::ToInt => real(a)?.to_integer(text.bits).map(whole),
        (Class::Int, _) => Real::test(function, &real(a)?, &real(b)?).map(whole),
        (Class::Real, [Class::Real, Class::Int]) => real(a)?.power(&int(b)?)?.admit().map(Number::Computed),
        (Class::Real, [Class::Int]) => Real::of_integer(&int(a)?, text.system).map(Number::Computed),
        (Class::Real, _) => Real::function(function, &real(a)?, &real(b)?)?.admit().map(Number::Computed),
    }
}
