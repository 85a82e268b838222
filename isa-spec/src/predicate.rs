//! Conditions composed of comparisons with `and`, `or` and `not`, as data. Independent of source text and
//! machine state.

use serde::{Deserialize, Serialize};

use crate::arith::Order;
use crate::function::Function;
use crate::instruction::Operand;

/// A part of a predicate in postfix order: connectives follow their operands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PredicatePart {
    /// A comparison of two sources of one class. The function has an [`Order`].
    Compare(Function, Operand, Operand),
    /// The negation of the predicate that precedes it in the list.
    Not,
    /// The conjunction of the two predicates that precede it in the list.
    And,
    /// The disjunction of the two predicates that precede it in the list.
    Or,
    /// The condition of a join written `forgotten`: the join doesn't record which branch was taken. This part
    /// is always the only part of its predicate.
    Forgotten,
}

impl PredicatePart {
    /// Returns the number of operands of a connective: 2 for `and` and `or`, 1 for `not`, 0 for a comparison.
    pub fn arity(&self) -> usize {
        match self {
            PredicatePart::Compare(..) | PredicatePart::Forgotten => 0,
            PredicatePart::Not => 1,
            PredicatePart::And | PredicatePart::Or => 2,
        }
    }
}

impl PredicatePart {
    /// Returns the short-circuit value of a connective. If its first operand has that value, so has the whole
    /// predicate: false for `and`, true for `or`. Returns `None` for other parts.
    pub fn decides(&self) -> Option<bool> {
        match self {
            PredicatePart::And => Some(false),
            PredicatePart::Or => Some(true),
            PredicatePart::Compare(..) | PredicatePart::Not | PredicatePart::Forgotten => None,
        }
    }
}

/// A condition in postfix order: `a < b`, `c == d`, `and`. The parts are a flat list instead of a tree, so that
/// decoding a deeply nested condition can't exhaust the call stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predicate {
    /// The parts in postfix order. The last part is the outermost connective, or the only comparison.
    pub parts: Vec<PredicatePart>,
}

impl Predicate {
    /// Returns a predicate that is a single comparison.
    pub fn compare(function: Function, a: Operand, b: Operand) -> Predicate {
        Predicate { parts: vec![PredicatePart::Compare(function, a, b)] }
    }

    /// Returns the condition `forgotten` of a join, which doesn't record the branch taken.
    pub fn forgotten() -> Predicate {
        Predicate { parts: vec![PredicatePart::Forgotten] }
    }

    /// Returns true if the predicate is [`Predicate::forgotten`].
    pub fn is_forgotten(&self) -> bool {
        self.parts == [PredicatePart::Forgotten]
    }

    /// The maximum number of parts; no source text can contain more in one condition.
    pub const MOST_PARTS: usize = 512;

    /// Returns true if the predicate is well formed: every connective has its operands, the parts form a
    /// single predicate, and there are at most [`Predicate::MOST_PARTS`] parts. A forgotten condition must be
    /// the only part.
    pub fn is_whole(&self) -> bool {
        let forgets = self.parts.contains(&PredicatePart::Forgotten);
        if self.parts.len() > Predicate::MOST_PARTS || (forgets && self.parts.len() > 1) {
            return false;
        }
        let mut depth = 0usize;
        for part in &self.parts {
            match depth.checked_sub(part.arity()) {
                Some(left) => depth = left + 1,
                None => return false,
            }
        }
        depth == 1
    }

    /// Returns the ordering and the operands if the predicate is a single comparison, otherwise `None`.
    pub fn comparison(&self) -> Option<(Order, &Operand, &Operand)> {
        match self.parts.as_slice() {
            [PredicatePart::Compare(function, a, b)] => Some((function.order()?, a, b)),
            _ => None,
        }
    }

    /// Returns, for each part, the value of the predicate that ends with this part. The last value is that of the whole
    /// condition. `holds` evaluates a comparison, and returns `None` if its value is unknown. An `and` or `or` may have
    /// a known value although its second operand has none.
    pub fn values(
        &self,
        mut holds: impl FnMut(Function, &Operand, &Operand) -> Option<bool>,
    ) -> Vec<Option<bool>> {
        let mut stack: Vec<Option<bool>> = Vec::new();
        let mut values = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let mut pop = || stack.pop().flatten();
            let value = match part {
                PredicatePart::Compare(function, a, b) => holds(*function, a, b),
                PredicatePart::Not => pop().map(|value| !value),
                PredicatePart::Forgotten => None,
                connective @ (PredicatePart::And | PredicatePart::Or) => {
                    let (second, first) = (pop(), pop());
                    if first == connective.decides() { first } else { first.and(second) }
                }
            };
            stack.push(value);
            values.push(value);
        }
        values
    }

    /// Returns the operands of the comparisons in order, each once.
    pub fn operands(&self) -> Vec<&Operand> {
        let mut found: Vec<&Operand> = Vec::new();
        for part in &self.parts {
            let PredicatePart::Compare(_, a, b) = part else { continue };
            for operand in [a, b] {
                if !found.contains(&operand) {
                    found.push(operand);
                }
            }
        }
        found
    }

    /// Returns source text that parses to the same predicate. `spell` returns the text of an operand.
    pub fn text(&self, spell: impl Fn(&Operand) -> String) -> String {
        let firsts = self.firsts();
        let mut text = String::new();
        let mut todo: Vec<Todo> =
            self.parts.len().checked_sub(1).map(|n| Todo::Part(n, 0)).into_iter().collect();
        while let Some(next) = todo.pop() {
            let (n, within) = match next {
                Todo::Word(word) => {
                    text.push_str(word);
                    continue;
                }
                Todo::Part(n, within) => (n, within),
            };
            let last = n.saturating_sub(1);
            match self.parts.get(n) {
                None => {}
                Some(PredicatePart::Compare(function, a, b)) => {
                    let symbol = function.order().map_or("?", Order::symbol);
                    text.push_str(&format!("{} {symbol} {}", spell(a), spell(b)));
                }
                Some(PredicatePart::Forgotten) => text.push_str("forgotten"),
                Some(PredicatePart::Not) => {
                    todo.extend([Todo::Part(last, 3), Todo::Word("not ")]);
                }
                Some(connective @ (PredicatePart::And | PredicatePart::Or)) => {
                    let (word, strength) =
                        if *connective == PredicatePart::And { (" and ", 2) } else { (" or ", 1) };
                    let left = firsts.get(last).map_or(0, |first| first.saturating_sub(1));
                    let closes = strength < within;
                    todo.extend(closes.then_some(Todo::Word(")")));
                    // Connectives of one kind associate to the left, so only the right operand needs a higher
                    // precedence.
                    todo.extend([
                        Todo::Part(last, strength + 1),
                        Todo::Word(word),
                        Todo::Part(left, strength),
                    ]);
                    todo.extend(closes.then_some(Todo::Word("(")));
                }
            }
        }
        text
    }

    /// Returns, for each part, the index at which the predicate that ends with this part begins. For `a b and`, these
    /// indices are 0, 1 and 0.
    pub fn firsts(&self) -> Vec<usize> {
        let mut stack: Vec<usize> = Vec::new();
        let mut firsts = Vec::with_capacity(self.parts.len());
        for (n, part) in self.parts.iter().enumerate() {
            let kept = stack.len().saturating_sub(part.arity());
            let first = if part.arity() == 0 { n } else { stack.get(kept).copied().unwrap_or(n) };
            stack.truncate(kept);
            stack.push(first);
            firsts.push(first);
        }
        firsts
    }
}

/// A pending piece of output, on the stack of [`Predicate::text`].
enum Todo {
    Word(&'static str),
    /// The predicate that ends with the part of this index, as an operand of a connective with this
    /// precedence.
    Part(usize, u8),
}
