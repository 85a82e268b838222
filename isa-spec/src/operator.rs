//! The operators of expressions: their spelling and the function row of each. This module is independent of
//! tokens and operands.

use crate::function::Function;

/// A binary operator of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `a + b`: the function `sum`.
    Add,
    /// `a - b`: the function `diff`. A negation `-a` is `0 - a`.
    Subtract,
    /// `a * b`: the function `mul`.
    Multiply,
    /// `a / b`: the function `div`; integers truncate toward zero.
    Divide,
    /// `a % b`: the function `rem` of integers, with the sign of `a`.
    Remainder,
    /// `a << b`: the function `shl` of integers.
    ShiftLeft,
    /// `a >> b`: the function `sar` of integers, which keeps the sign.
    ShiftRight,
    /// `a & b`: the bitwise function `and` of integers.
    And,
    /// `a ^ b`: the bitwise function `xor` of integers.
    Xor,
    /// `a | b`: the bitwise function `or` of integers.
    Or,
}

impl BinaryOperator {
    const ALL: [BinaryOperator; 10] = {
        use BinaryOperator::*;
        [Add, Subtract, Multiply, Divide, Remainder, ShiftLeft, ShiftRight, And, Xor, Or]
    };

    /// Returns the precedence, above 0; the relative precedences are those of Rust. All operators associate
    /// to the left.
    pub fn strength(self) -> u8 {
        use BinaryOperator::*;
        match self {
            Multiply | Divide | Remainder => 6,
            Add | Subtract => 5,
            ShiftLeft | ShiftRight => 4,
            And => 3,
            Xor => 2,
            Or => 1,
        }
    }

    /// Returns the spelling in source text.
    pub fn symbol(self) -> &'static str {
        use BinaryOperator::*;
        match self {
            Add => "+",
            Subtract => "-",
            Multiply => "*",
            Divide => "/",
            Remainder => "%",
            ShiftLeft => "<<",
            ShiftRight => ">>",
            And => "&",
            Xor => "^",
            Or => "|",
        }
    }

    /// Returns the function row that computes the operator.
    pub fn function(self) -> Function {
        match self {
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

    /// Returns the operator that denotes a function, if there is one.
    pub fn of(function: Function) -> Option<BinaryOperator> {
        BinaryOperator::ALL.into_iter().find(|operator| operator.function() == function)
    }
}

/// Returns the advice for the exclusive or of a real `base`: a power is meant.
pub fn advice_on_powers(base: &str) -> String {
    format!(
        "`^` is the exclusive or of integers; write a power as `square({base})`, `powi({base}, n)` or `pow({base}, b)`"
    )
}
