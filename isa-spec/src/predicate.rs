//! Conditions made of comparisons with `and`, `or` and `not`, as data. Knows no text that they were
//! written in and no state that they are tested on.

use serde::{Deserialize, Serialize};

use crate::arith::Order;
use crate::function::Function;
use crate::instruction::Operand;

/// A piece of a predicate. Connectives follow what they connect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PredicatePart {
    /// A comparison of two sources of one class; the function is one with an [`Order`].
    Compare(Function, Operand, Operand),
    /// Of the predicate before it.
    Not,
    /// Of the two predicates before it.
    And,
    Or,
    /// Alone: nobody knows any more whether it holds.
    Forgotten,
}

impl PredicatePart {
    /// Predicates that it takes up.
    pub fn arity(&self) -> usize {
        match self {
            PredicatePart::Compare(..) | PredicatePart::Forgotten => 0,
            PredicatePart::Not => 1,
            PredicatePart::And | PredicatePart::Or => 2,
        }
    }
}

impl PredicatePart {
    /// The value of a first part that makes the second one not matter, if this is `and` or `or`.
    pub fn decides(&self) -> Option<bool> {
        match self {
            PredicatePart::And => Some(false),
            PredicatePart::Or => Some(true),
            PredicatePart::Compare(..) | PredicatePart::Not | PredicatePart::Forgotten => None,
        }
    }
}

/// A condition in postfix order: `a < b`, `c == d`, `and`. A flat list, so that no condition is too
/// deep for a decoder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predicate {
    pub parts: Vec<PredicatePart>,
}

impl Predicate {
    /// The predicate that is one comparison, without `and`, `or` and `not`.
    pub fn compare(function: Function, a: Operand, b: Operand) -> Predicate {
        Predicate { parts: vec![PredicatePart::Compare(function, a, b)] }
    }

    /// What a join says that forgets which way led to it.
    pub fn forgotten() -> Predicate {
        Predicate { parts: vec![PredicatePart::Forgotten] }
    }

    /// Whether it is that.
    pub fn is_forgotten(&self) -> bool {
        self.parts == [PredicatePart::Forgotten]
    }

    /// More than any text can have in one condition.
    pub const MOST_PARTS: usize = 512;

    /// Whether the connectives find what they connect, one predicate remains, and it isn't larger than
    /// any text's. What is forgotten is no part of another one.
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

    /// The single comparison, where it is one.
    pub fn comparison(&self) -> Option<(Order, &Operand, &Operand)> {
        match self.parts.as_slice() {
            [PredicatePart::Compare(function, a, b)] => Some((function.order()?, a, b)),
            _ => None,
        }
    }

    /// The value of each part, the last one's being that of the whole; `holds` tells those of the
    /// comparisons. What a first part decides stands, whatever is known of the second one.
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

    /// The operands that are compared, each once, in order.
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

    /// As source text, read back as the same predicate; `spell` writes an operand.
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
                    // Connectives of one kind group from the left.
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

    /// By number of a part, the number of the first part of the predicate that it completes.
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

/// What is still to be written.
enum Todo {
    Word(&'static str),
    /// A part by its number, within a connective of a strength.
    Part(usize, u8),
}
