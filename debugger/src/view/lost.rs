//! Lines of the card for a step that loses information: how a history undoes it, and what going backward does
//! to adjoints.

use reviver_isa::card::{CardLine, CardTerm};
use reviver_isa::names::adjoint_name;

/// Suffix of a formula in the table of instructions that applies only when going backward.
const BACKWARD_ONLY: &str = " (backward only)";

/// Describes how a lossy step is undone. Shows the restored value if the values before and after the step are
/// known.
pub fn undone(terms: &[CardTerm], is_known: bool) -> CardLine {
    let back = terms.first().filter(|_| is_known).and_then(|target| {
        let old = target.before.value.as_ref()?;
        Some(format!("{} ← {old}, from the history", target.name))
    });
    CardLine { formula: "only with a history: it loses information".to_owned(), numbers: back }
}

/// Describes what going backward over a lossy step does to adjoints. The formulas are those of the forward
/// lines. Shows the adjoints before and after, if they are known.
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
