//! Evaluation of conditions in a state: the value, the deciding comparisons, and their operands.

use reviver_isa::function::Function;
use reviver_isa::instruction::Operand;
use reviver_isa::predicate::{Predicate, PredicatePart};

use super::value::Valued;
use super::{Explainer, because, listed};
use crate::program::Program;
use crate::state::State;
use crate::state::values::Value;

/// A condition, and the state in which it is evaluated. Its operands belong to the procedure of the instruction `at`.
pub(super) struct Tested<'a> {
    pub(super) program: &'a Program,
    pub(super) state: &'a State,
    pub(super) at: u32,
    pub(super) predicate: &'a Predicate,
}

impl Tested<'_> {
    /// Returns the value of the condition; `None` if it has no value, for example because an index is out of bounds.
    pub(super) fn holds(&self) -> Option<bool> {
        self.values().last().copied().flatten()
    }

    fn values(&self) -> Vec<Option<bool>> {
        self.predicate.values(|function, a, b| self.compare(function, a, b))
    }

    fn compare(&self, function: Function, a: &Operand, b: &Operand) -> Option<bool> {
        let order = function.order()?;
        match (self.value(a)?, self.value(b)?) {
            (Value::Int(a), Value::Int(b)) => Some(order.holds(a, b)),
            (Value::Real(a), Value::Real(b)) => {
                self.program.compare(a, b).map(|found| order.holds(found, std::cmp::Ordering::Equal))
            }
            _ => None,
        }
    }

    fn value(&self, operand: &Operand) -> Option<Value> {
        Valued { program: self.program, state: self.state, at: self.at }.value(operand)
    }

    /// Formats the condition with numbers instead of cells, for example `5 > 2`.
    pub(super) fn in_numbers(&self) -> String {
        self.predicate.text(|o| self.value(o).map_or_else(|| "?".to_owned(), |v| self.program.text(v)))
    }

    /// Returns the indices of the comparisons that determine the condition's value.
    fn deciding(&self) -> Vec<usize> {
        let (values, firsts) = (self.values(), self.predicate.firsts());
        let mut asked = vec![true];
        let mut deciding = Vec::new();
        for (n, part) in self.predicate.parts.iter().enumerate().rev() {
            let counts = asked.pop().unwrap_or(false);
            let value = values.get(n).copied().flatten();
            let side = |n: Option<usize>| n.and_then(|n| values.get(n)).copied().flatten();
            match part {
                PredicatePart::Compare(..) if counts => deciding.push(n),
                PredicatePart::Compare(..) | PredicatePart::Forgotten => {}
                PredicatePart::Not => asked.push(counts),
                connective @ (PredicatePart::And | PredicatePart::Or) => {
                    // A false side makes `and` false, and a true side makes `or` true. If both sides determine the
                    // result, the first one counts as the reason.
                    let enough = connective.decides();
                    let right = n.checked_sub(1);
                    let left = right.and_then(|right| firsts.get(right)?.checked_sub(1));
                    let is_left = side(left) == enough;
                    asked.extend([
                        counts && (value != enough || is_left),
                        counts && (value != enough || !is_left),
                    ]);
                }
            }
        }
        deciding.reverse();
        deciding
    }
}

impl Explainer<'_> {
    /// Formats the reasons for a condition's value, for example ": n is 4". Of several comparisons, the
    /// deciding ones are listed with their values.
    pub(super) fn reasons(&self, tested: &Tested<'_>) -> String {
        let predicate = tested.predicate;
        if predicate.comparison().is_some() {
            return because(&self.named_values(predicate.operands()));
        }
        let values = tested.values();
        let reason = |n: usize| {
            let PredicatePart::Compare(function, a, b) = predicate.parts.get(n)? else { return None };
            let single = Predicate::compare(*function, a.clone(), b.clone());
            let verdict = if values.get(n).copied().flatten()? { "holds" } else { "doesn't" };
            let found = self.named_values([a, b]);
            let found = if found.is_empty() { String::new() } else { format!(" ({})", listed(&found)) };
            Some(format!("`{}` {verdict}{found}", self.renderer().predicate(&single)))
        };
        let reasons: Vec<String> = tested.deciding().into_iter().filter_map(reason).collect();
        if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) }
    }
}
