//! A row's clause about any source, for one source: without signs and factors that change nothing.
//! Knows no operand and no number.

use crate::formula::{Expr, Formulas};

/// The placeholder of a partial derivative in the rows.
pub(super) const PARTIAL: &str = "∂f/∂a";
/// What stands for it once signs and trivial factors are gone.
pub(super) const FACTOR: &str = "∂";

/// How a cotangent reaches one source: the partial derivative without signs and trivial factors.
pub(super) struct Transport {
    pub source: usize,
    negative: bool,
    operation: Operation,
    pub factor: Expr,
}

#[derive(Clone, Copy)]
enum Operation {
    /// The partial is 1.
    Nothing,
    Times,
    /// The partial is a reciprocal, and the factor its divisor.
    Over,
}

impl Transport {
    /// `None` where the partial is 0.
    pub fn new(formulas: &Formulas, source: usize, partial: Expr) -> Option<Transport> {
        if let Some(positive) = formulas.negated(partial) {
            let transport = Transport::new(formulas, source, positive)?;
            return Some(Transport { negative: !transport.negative, ..transport });
        }
        let (operation, factor) = match formulas.reciprocal(partial) {
            _ if formulas.is(partial, "0") => return None,
            _ if formulas.is(partial, "1") => (Operation::Nothing, partial),
            Some(divisor) => (Operation::Over, divisor),
            None => (Operation::Times, partial),
        };
        Some(Transport { source, negative: false, operation, factor })
    }

    /// A row's clause with the sign and the operation that are left.
    pub fn simplified(&self, clause: &str) -> String {
        let flipped = match self.negative {
            true if clause.contains(" - ") => clause.replace(" - ", " + "),
            true => clause.replace(" + ", " - "),
            false => clause.to_owned(),
        };
        let product = format!("·{PARTIAL}");
        match self.operation {
            Operation::Nothing => flipped.replace(&product, ""),
            Operation::Times => flipped.replace(&product, &format!("·{FACTOR}")),
            Operation::Over => flipped.replace(&product, &format!("/{FACTOR}")),
        }
    }
}
