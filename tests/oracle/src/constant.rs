//! Values of constant expressions. Literals are exact. Operations use the oracle's arithmetic in the number system that
//! the text declares. Names are resolved elsewhere.

use num_bigint::BigInt;
use reviver_assembler::tree::{BinaryOperator, UnaryOperator};
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use crate::integer::{self, fits, wrap};
use crate::outcome::{Step, unsupported};
use crate::real::Real;
use crate::signature::{common, source_classes, value_class};

/// Word width and number system that a text declares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextNumbers {
    pub(crate) bits: u32,
    pub(crate) system: RealSystem,
}

/// Value of a constant expression.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    /// Integer. `pattern` is true for a literal in base 2, 8 or 16, which means the word with these bits.
    Int {
        value: BigInt,
        pattern: bool,
    },
    Real(f64),
    /// Real that an operation has computed, in the number system of the text.
    Computed(Real),
}

impl Number {
    pub(crate) fn class(&self) -> Class {
        match self {
            Number::Int { .. } => Class::Int,
            Number::Real(_) | Number::Computed(_) => Class::Real,
        }
    }

    /// Returns the value as a real.
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

    /// Returns the value as a binary64 float. A value that no such float equals is not supported.
    pub(crate) fn to_float(&self, text: TextNumbers) -> Step<f64> {
        match self {
            Number::Real(value) => Ok(*value),
            number => number.to_real(text)?.to_float(),
        }
    }

    /// Returns the value as an integer.
    pub(crate) fn to_integer(&self) -> Step<BigInt> {
        match self {
            Number::Int { value, .. } => Ok(value.clone()),
            Number::Real(_) | Number::Computed(_) => unsupported("a real constant as an integer"),
        }
    }

    /// Returns the value as a word: the value modulo 2^width, for the width that the text declares.
    pub(crate) fn to_word(&self, text: TextNumbers) -> Step<BigInt> {
        self.to_integer().map(|value| wrap(value, text.bits))
    }

    /// Returns the value as an offset of an index. A bit pattern counts as its word, with a sign; other values are
    /// exact.
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

/// Returns the function that an operator computes.
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

/// Applies a function to constants.
pub(crate) fn apply(function: Function, sources: &[Number], text: TextNumbers) -> Step<Number> {
    let written: Vec<Class> = sources.iter().map(Number::class).collect();
    let class = value_class(function, &written)?;
    let classes = source_classes(function, class, &written);
    let [a, b] = [sources.first(), sources.get(1)];
    let int = |n: Option<&Number>| n.map_or(Ok(BigInt::ZERO), |n| n.to_word(text));
    // The machine adds an intermediate result to a cell that is 0. The same addition is made here, because it turns
    // -0 into 0.
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
