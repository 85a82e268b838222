//! What the card says of a step that throws information away: what comes back where a history has it, and what going
//! back over it does to adjoints.

use reviver_isa::card::{CardLine, CardTerm};
use reviver_isa::names::adjoint_name;

/// What the rows add to a rule that acts on the way back alone.
const BACKWARD_ONLY: &str = " (backward only)";

/// How such a step is undone. Where its sides are known, with what comes back.
pub fn undone(terms: &[CardTerm], is_known: bool) -> CardLine {
    let back = terms.first().filter(|_| is_known).and_then(|target| {
        let old = target.before.value.as_ref()?;
        Some(format!("{} ← {old}, out of the history", target.name))
    });
    CardLine { formula: "only with a history: it throws information away".to_owned(), numbers: back }
}

/// What going back does to adjoints, out of the lines of the rule; with what they were and what they come to, where
/// they are carried.
pub fn carried_back(rule: &[CardLine], terms: &[CardTerm]) -> Vec<CardLine> {
    let line = |line: &CardLine| {
        let formula = line.formula.trim_end_matches(BACKWARD_ONLY).to_owned();
        let term = terms.iter().find(|term| formula.starts_with(&format!("{} ←", adjoint_name(&term.name))));
        let numbers = term.and_then(|term| {
            let (from, to) = (term.after.adjoint.as_ref()?, term.before.adjoint.as_ref()?);
            Some(format!("{}: {from} → {to}", adjoint_name(&term.name)))
        });
        CardLine { formula, numbers }
    };
    rule.iter().map(line).collect()
}
