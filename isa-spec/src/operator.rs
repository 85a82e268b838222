//! The operators of expressions: their spelling and the function row of each. Knows no tokens and no
//! operands.

use crate::function::Function;

/// A binary operator of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    And,
    Xor,
    Or,
}

impl BinaryOperator {
    const ALL: [BinaryOperator; 10] = {
        use BinaryOperator::*;
        [Add, Subtract, Multiply, Divide, Remainder, ShiftLeft, ShiftRight, And, Xor, Or]
    };

    /// Returns the precedence, above 0: as in Rust. All operators associate to the left.
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
