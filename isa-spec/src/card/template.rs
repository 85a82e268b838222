//! The texts of the rows, whose words can be placeholders. Knows no row and no meaning of a word.

use crate::formula::{Binding, Formula};

/// Fills the placeholders of a row's text, in parentheses where the text around them demands it.
pub(super) fn fill(template: &str, filling: impl Fn(&str) -> Option<Formula>) -> String {
    let mut text = String::new();
    let mut rest = template;
    let mut before = "";
    while let Some(start) = rest.find(is_word) {
        let (gap, tail) = rest.split_at(start);
        let (word, tail) = tail.split_at(tail.find(|c| !is_word(c)).unwrap_or(tail.len()));
        let after = &tail[..tail.find(is_word).unwrap_or(tail.len())];
        text.push_str(gap);
        match filling(word) {
            Some(formula) => text.push_str(&formula.within(demand(before, gap, after))),
            None => text.push_str(word),
        }
        (rest, before) = (tail, word);
    }
    text + rest
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_'∂".contains(c)
}

/// How tightly an operand must hold together between these neighbours.
fn demand(word_before: &str, gap: &str, after: &str) -> Binding {
    let left = match gap.trim() {
        "" if word_before == "xor" => Binding::Power,
        "" if word_before == "cos" || word_before == "sin" => Binding::Atom,
        "·" | "/" => Binding::Power,
        "+" | "-" | "← -" => Binding::Product,
        _ => Binding::Choice,
    };
    let right = match after.trim() {
        "·" | "/" => Binding::Product,
        "+" | "-" => Binding::Sum,
        _ => Binding::Choice,
    };
    left.max(right)
}
