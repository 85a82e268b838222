//! Constant expressions, exactly. Knows no names.

use num_bigint::BigInt;
use reviver_assembler::tree::{BinaryOperator, UnaryOperator};
use reviver_isa::instruction::Class;

use crate::outcome::{Step, unsupported};

/// The value of a constant expression.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    /// A bit pattern is written in base 2, 8 or 16; its complement stays within the word.
    Int {
        value: BigInt,
        pattern: bool,
    },
    Real(f64),
}

impl Number {
    pub(crate) fn class(&self) -> Class {
        match self {
            Number::Int { .. } => Class::Int,
            Number::Real(_) => Class::Real,
        }
    }

    /// The value where a real is wanted.
    pub(crate) fn to_real(&self) -> Step<f64> {
        match self {
            // The shortest way to a correct rounding of any integer leads through its digits.
            Number::Int { value, .. } => {
                value.to_string().parse().map_or_else(|_| unsupported("this integer as a real"), Ok)
            }
            Number::Real(value) => Ok(*value),
        }
    }

    /// The value where an integer is wanted.
    pub(crate) fn to_integer(&self) -> Step<BigInt> {
        match self {
            Number::Int { value, .. } => Ok(value.clone()),
            Number::Real(_) => unsupported("a real constant as an integer"),
        }
    }

    pub(crate) fn to_length(&self) -> Step<usize> {
        usize::try_from(self.to_integer()?).map_or_else(|_| unsupported("a negative length"), Ok)
    }

    pub(crate) fn unary(operator: UnaryOperator, a: &Number, bits: u32) -> Step<Number> {
        Ok(match (operator, a) {
            (UnaryOperator::Negate, Number::Real(a)) => Number::Real(-a),
            (UnaryOperator::Negate, Number::Int { value, .. }) => {
                Number::Int { value: -value, pattern: false }
            }
            (UnaryOperator::Complement, Number::Int { value, pattern: true }) => {
                let ones: BigInt = (BigInt::ONE << bits) - 1;
                Number::Int { value: value ^ ones, pattern: true }
            }
            (UnaryOperator::Complement, Number::Int { value, .. }) => {
                Number::Int { value: !value, pattern: false }
            }
            (UnaryOperator::Complement, Number::Real(_)) => return unsupported("`~` of a real"),
        })
    }

    pub(crate) fn binary(operator: BinaryOperator, a: &Number, b: &Number) -> Step<Number> {
        match (a, b) {
            (Number::Int { value: x, pattern: p }, Number::Int { value: y, pattern: q }) => {
                let pattern = match operator {
                    BinaryOperator::And | BinaryOperator::Xor | BinaryOperator::Or => *p || *q,
                    BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => *p,
                    _ => false,
                };
                Ok(Number::Int { value: integers(operator, x, y)?, pattern })
            }
            _ => reals(operator, a.to_real()?, b.to_real()?).map(Number::Real),
        }
    }
}

fn integers(operator: BinaryOperator, a: &BigInt, b: &BigInt) -> Step<BigInt> {
    let amount = || u32::try_from(b).map_or_else(|_| unsupported("a shift by this amount"), Ok);
    Ok(match operator {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide | BinaryOperator::Remainder if *b == BigInt::ZERO => {
            return unsupported("a constant divided by zero");
        }
        BinaryOperator::Divide => a / b,
        BinaryOperator::Remainder => a % b,
        BinaryOperator::ShiftLeft => a << amount()?,
        BinaryOperator::ShiftRight => a >> amount()?,
        BinaryOperator::And => a & b,
        BinaryOperator::Xor => a ^ b,
        BinaryOperator::Or => a | b,
    })
}

fn reals(operator: BinaryOperator, a: f64, b: f64) -> Step<f64> {
    Ok(match operator {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide => a / b,
        _ => return unsupported("this operator between reals"),
    })
}
