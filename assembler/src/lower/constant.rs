//! Constants while the text is assembled: exact integers and reals, never silently truncated.
//! Knows no names and no operands.

use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;
use reviver_isa::module::Word;

use crate::tree::{BinaryOperator, UnaryOperator};

/// A constant before it is fitted into a word or a number system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// `pattern`: made of literals in base 2, 8 or 16 by bit operations alone, so that it may name
    /// any bit pattern of the word.
    Int {
        value: i128,
        pattern: bool,
    },
    Real(f64),
}

/// What is wrong with a constant expression, and the cure.
pub(super) struct ConstantProblem {
    pub(super) code: ProblemCode,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

fn problem<T>(code: ProblemCode, message: impl Into<String>) -> Result<T, ConstantProblem> {
    Err(ConstantProblem { code, message: message.into(), help: None })
}

impl Number {
    pub(super) fn int(value: i128) -> Number {
        Number::Int { value, pattern: false }
    }

    /// The class that it has where nothing else is wanted.
    pub(super) fn class(self) -> Class {
        match self {
            Number::Int { .. } => Class::Int,
            Number::Real(_) => Class::Real,
        }
    }

    /// The value where a real is wanted.
    pub(super) fn to_real(self) -> f64 {
        match self {
            Number::Int { value, .. } => value as f64,
            Number::Real(value) => value,
        }
    }

    /// The value where a word is wanted.
    pub(super) fn to_word(self, word: Word) -> Result<i64, ConstantProblem> {
        match self {
            Number::Int { value, pattern } => fit(value, pattern, word),
            Number::Real(value) => Err(ConstantProblem {
                code: ProblemCode::ClassesMixed,
                message: format!("the real {value:?} stands where an integer is wanted"),
                help: Some("write an integer, or declare the cells `: real`".into()),
            }),
        }
    }

    pub(super) fn unary(operator: UnaryOperator, a: Number, word: Word) -> Result<Number, ConstantProblem> {
        match (operator, a) {
            (UnaryOperator::Negate, Number::Real(a)) => Ok(Number::Real(-a)),
            (UnaryOperator::Negate, Number::Int { value, .. }) => {
                value.checked_neg().map(Number::int).ok_or_else(overflow)
            }
            (UnaryOperator::Complement, Number::Int { value, pattern: true }) => {
                Ok(Number::Int { value: value ^ unsigned_max(word), pattern: true })
            }
            (UnaryOperator::Complement, Number::Int { value, .. }) => Ok(Number::int(!value)),
            (UnaryOperator::Complement, Number::Real(_)) => {
                problem(ProblemCode::ClassesMixed, "`~` takes an integer")
            }
        }
    }

    pub(super) fn binary(operator: BinaryOperator, a: Number, b: Number) -> Result<Number, ConstantProblem> {
        match (a, b) {
            (Number::Int { value: x, pattern: p }, Number::Int { value: y, pattern: q }) => {
                let value = integers(operator, x, y)?;
                let pattern = match operator {
                    BinaryOperator::And | BinaryOperator::Xor | BinaryOperator::Or => p || q,
                    BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => p,
                    _ => false,
                };
                Ok(Number::Int { value, pattern })
            }
            _ => reals(operator, a.to_real(), b.to_real()).map(Number::Real),
        }
    }
}

fn unsigned_max(word: Word) -> i128 {
    (1 << word.bits()) - 1
}

fn fit(value: i128, pattern: bool, word: Word) -> Result<i64, ConstantProblem> {
    let range = word.range();
    let (least, greatest) = (i128::from(*range.start()), i128::from(*range.end()));
    let wrapped = if pattern && value > greatest && value <= unsigned_max(word) {
        value - unsigned_max(word) - 1
    } else {
        value
    };
    match i64::try_from(wrapped) {
        Ok(fitting) if range.contains(&fitting) => Ok(fitting),
        _ => Err(ConstantProblem {
            code: ProblemCode::NumberDoesNotFit,
            message: format!("{value} does not fit into {} bits", word.bits()),
            help: Some(format!(
                "integers of this program go from {least} to {greatest}; bit patterns of base 2, 8 or 16 \
                 up to {:#x}",
                unsigned_max(word)
            )),
        }),
    }
}

fn overflow() -> ConstantProblem {
    ConstantProblem {
        code: ProblemCode::ConstantWithoutValue,
        message: "this constant expression overflows".into(),
        help: None,
    }
}

fn integers(operator: BinaryOperator, a: i128, b: i128) -> Result<i128, ConstantProblem> {
    let divides = matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
    if divides && b == 0 {
        return problem(ProblemCode::ConstantWithoutValue, "this constant expression divides by zero");
    }
    let value = match operator {
        BinaryOperator::Add => a.checked_add(b),
        BinaryOperator::Subtract => a.checked_sub(b),
        BinaryOperator::Multiply => a.checked_mul(b),
        BinaryOperator::Divide => a.checked_div(b),
        BinaryOperator::Remainder => a.checked_rem(b),
        BinaryOperator::ShiftLeft => return shift_left(a, amount(b)?),
        BinaryOperator::ShiftRight => Some(a >> amount(b)?),
        BinaryOperator::And => Some(a & b),
        BinaryOperator::Xor => Some(a ^ b),
        BinaryOperator::Or => Some(a | b),
    };
    value.ok_or_else(overflow)
}

fn amount(b: i128) -> Result<u32, ConstantProblem> {
    match u32::try_from(b) {
        Ok(amount) if amount < i128::BITS => Ok(amount),
        _ => problem(ProblemCode::ConstantWithoutValue, format!("a constant can't be shifted by {b}")),
    }
}

fn shift_left(a: i128, amount: u32) -> Result<i128, ConstantProblem> {
    let shifted = a << amount;
    if shifted >> amount == a { Ok(shifted) } else { Err(overflow()) }
}

fn reals(operator: BinaryOperator, a: f64, b: f64) -> Result<f64, ConstantProblem> {
    let value = match operator {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide if b == 0.0 => {
            return problem(ProblemCode::ConstantWithoutValue, "this constant expression divides by zero");
        }
        BinaryOperator::Divide => a / b,
        _ => return problem(ProblemCode::ClassesMixed, "this operator takes integers"),
    };
    if value.is_finite() { Ok(value) } else { Err(overflow()) }
}
