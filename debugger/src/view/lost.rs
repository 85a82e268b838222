//! Lines of the card for a step that loses information. They describe how a history undoes the step, and the effect
//! of the backward step on adjoints.

use reviver_isa::card::{CardLine, CardTerm};
use reviver_isa::names::adjoint_name;

/// Suffix of those formulas in the instruction table that apply only when going backward.
const BACKWARD_ONLY: &str = " (backward only)";

/// Describes how a step that loses information is undone. If the values before and after the step are known, the
/// line has the restored value.
pub fn undone(terms: &[CardTerm], is_known: bool) -> CardLine {
    let back = terms.first().filter(|_| is_known).and_then(|target| {
        let old = target.before.value.as_ref()?;
        Some(format!("{} ← {old}, from the history", target.name))
    });
    CardLine { formula: "only with a history: the step loses information".to_owned(), numbers: back }
}

/// Describes the effect on adjoints of undoing a step that loses information. The formulas are those for the
/// forward direction. If the adjoints before and after the step are known, the lines have them.
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
