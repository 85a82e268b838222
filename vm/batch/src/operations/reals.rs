//! Operations on reals, in floats or in fixed point. This module selects the helper function of each operation, and is
//! independent of the functions' implementation.

use reviver_compile::function::NumberKinds;
use reviver_compile::op::OpKind;
use reviver_isa::arith::{Elementary, Order};
use reviver_isa::module::{RealSystem, Word};

use super::function::RealFunction;
use super::integers::{IntegerTexts, holds};
use super::number_types::{FloatType, ZERO};
use super::operation_text::OperationText;
use super::{fixed_functions, floats};

/// Writer of a program's real operations.
pub(super) struct RealTexts {
    pub numbers: NumberKinds,
    pub integers: IntegerTexts,
}

impl RealTexts {
    pub fn written(&self, kind: OpKind, name: &str, operands: &[&str]) -> Option<OperationText> {
        if let (OpKind::Test(order), [a, b]) = (kind, operands) {
            return Some(OperationText::surely(self.integers.bit(&self.holds(order, a, b))));
        }
        // Helper functions take integer arguments of 64 bits.
        let widened = |n: usize| operands.get(n).map(|operand| self.integers.of.widened(operand));
        let widened = match kind {
            OpKind::RealOf => vec![widened(0)?],
            OpKind::Powi => vec![operands.first()?.to_string(), widened(1)?],
            _ => operands.iter().map(|operand| (*operand).to_owned()).collect(),
        };
        let operands: &[&str] = &widened.iter().map(String::as_str).collect::<Vec<_>>();
        match self.numbers.system {
            RealSystem::F64 | RealSystem::F32 => {
                self.of_float(FloatType::of(self.numbers.system)?, kind, name, operands)
            }
            RealSystem::Fixed(fraction) => self.of_fixed(fraction, kind, name, operands),
        }
    }

    /// Returns a condition that compares two reals.
    fn holds(&self, order: Order, a: &str, b: &str) -> String {
        let of_zero = match (a, b) {
            (ZERO, other) | (other, ZERO) => {
                FloatType::of(self.numbers.system).map(|float| float.is_zero(other))
            }
            _ => None,
        };
        match (order, of_zero) {
            (Order::Eq, Some(is_zero)) => is_zero,
            (Order::Ne, Some(is_zero)) => format!("(!{is_zero})"),
            _ => holds(order, a, b),
        }
    }

    fn of_float(
        &self,
        float: FloatType,
        kind: OpKind,
        name: &str,
        operands: &[&str],
    ) -> Option<OperationText> {
        let of = float.name;
        let text = match (kind, operands) {
            (OpKind::Add, [a, b]) => format!("({a} + {b})"),
            (OpKind::Sub, [a, b]) => format!("({a} - {b})"),
            (OpKind::Mul, [a, b]) => format!("({a} * {b})"),
            (OpKind::Div, [a, b]) => format!("({a} / {b})"),
            (OpKind::Neg, [a]) => format!("rv_neg_{of}({a})"),
            (OpKind::Magnitude, [a]) => format!("rv_magnitude_{of}({a})"),
            (OpKind::Elementary(Elementary::Sqrt), [a]) => format!("sqrt({a})"),
            (OpKind::Elementary(Elementary::Floor), [a]) => format!("rv_floor_{of}({a})"),
            (OpKind::Elementary(Elementary::Round), [a]) => format!("rv_round_{of}({a})"),
            (OpKind::RealOf, [a]) => format!("{of}({a})"),
            (OpKind::IntOf, [a]) => {
                let made = format!("rv_integer_{of}({a})");
                return Some(self.within_word(made, name, format!("(!rv_has_integer_{of}({a}))")));
            }
            _ => {
                let function = RealFunction::all().find(|function| function.kind() == kind)?;
                format!("{}_{of}({})", function.name(), operands.join(", "))
            }
        };
        Some(OperationText::surely(text))
    }

    /// Converts a 64-bit integer to a word. The operation fails if the integer exceeds the range of a word, or if
    /// `fails` is true.
    fn within_word(&self, made: String, name: &str, fails: String) -> OperationText {
        let (line, whole) = (format!("let {name}_whole = {made};"), format!("{name}_whole"));
        let fails = match (self.numbers.word, fails.as_str()) {
            (Word::W64, "") => None,
            (Word::W64, _) => Some(fails),
            (Word::W8 | Word::W16 | Word::W32, fails) => {
                let is_no_word = self.integers.is_no_word(&whole);
                Some(if fails.is_empty() { is_no_word } else { format!("({fails} | {is_no_word})") })
            }
        };
        OperationText { lines: vec![line], text: self.integers.of.of_wide(&whole), fails, iterations: 0 }
    }

    fn of_fixed(&self, fraction: u8, kind: OpKind, name: &str, operands: &[&str]) -> Option<OperationText> {
        let call = match (kind, operands) {
            (OpKind::Add, [a, b]) => format!("rv_fixed_add({a}, {b})"),
            (OpKind::Sub, [a, b]) => format!("rv_fixed_sub({a}, {b})"),
            (OpKind::Mul, [a, b]) => format!("rv_fixed_mul({a}, {b}, {fraction}u)"),
            (OpKind::Div, [a, b]) => format!("rv_fixed_div({a}, {b}, {fraction}u)"),
            (OpKind::Neg, [a]) => format!("rv_fixed_neg({a})"),
            (OpKind::Hypot, [a, b]) => format!("rv_fixed_hypot({a}, {b})"),
            (OpKind::Elementary(Elementary::Sqrt), [a]) => format!("rv_fixed_sqrt({a}, {fraction}u)"),
            (OpKind::Elementary(Elementary::Round), [a]) => format!("rv_fixed_round({a}, {fraction}u)"),
            (OpKind::RealOf, [a]) => format!("rv_fixed_of_integer({a}, {fraction}u)"),
            (OpKind::Elementary(Elementary::Floor), [a]) => {
                return Some(OperationText::surely(format!("rv_fixed_floor({a}, {fraction}u)")));
            }
            (OpKind::Magnitude, [a]) => {
                let fails = Some(format!("({a} == i64(0x8000000000000000lu))"));
                return Some(OperationText {
                    fails,
                    ..OperationText::surely(format!("select({a}, (0li - {a}), ({a} < 0li))"))
                });
            }
            (OpKind::IntOf, [a]) => {
                let made = format!("rv_fixed_integer({a}, {fraction}u)");
                return Some(self.within_word(made, name, String::new()));
            }
            _ => return self.series_of_fixed(fraction, kind, name, operands),
        };
        Some(outcome(call, name, 0))
    }

    fn series_of_fixed(
        &self,
        fraction: u8,
        kind: OpKind,
        name: &str,
        operands: &[&str],
    ) -> Option<OperationText> {
        let function = RealFunction::all().find(|function| function.kind() == kind)?;
        let call = format!("{}_fixed{fraction}({})", function.name(), operands.join(", "));
        Some(outcome(call, name, fixed_functions::iterations(function)))
    }

    /// Returns a condition that is true if a real must not be stored in a cell. Returns `None` in fixed point, because
    /// every fixed-point number may be stored.
    pub fn not_admitted(&self, a: &str) -> Option<String> {
        FloatType::of(self.numbers.system).map(|float| format!("(!rv_is_finite_{}({a}))", float.name))
    }

    /// Returns a condition that is true if a real isn't vacant (0 up to the tolerance).
    pub fn not_vacant(&self, a: &str) -> String {
        match FloatType::of(self.numbers.system) {
            Some(float) => {
                let tolerance = floats::tolerance(float, self.numbers.tolerance);
                format!("(!(abs({a}) <= {}))", float.float(tolerance))
            }
            None => format!("(!({a} == 0li))"),
        }
    }
}

/// Writes a call of a helper function that returns a value and a failure flag.
fn outcome(call: String, name: &str, iterations: u32) -> OperationText {
    OperationText {
        lines: vec![format!("let {name}_outcome = {call};")],
        text: format!("{name}_outcome.value"),
        fails: Some(format!("{name}_outcome.fails")),
        iterations,
    }
}
