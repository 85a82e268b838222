//! What holds a literal wherever a loop begins a round: a cell that is computed and uncomputed in it, say, is 0 each time. It is
//! taken for granted of all that begin the first round so, and whoever is seen to begin another round otherwise is left out, until it holds of
//! all that are left. Knows no operation.
//!
//! What is taken for granted holds by induction: the first round in which it didn't would begin behind one in which everything did.

use super::numbering::number;
use super::parameters::remove;
use super::replacing::Replacements;
use crate::form::{Definition, SsaForm};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::{back_edges, dominators};

/// Drops the parameters of loops that hold the same literal in every round, and numbers the form with what follows from that.
pub(super) fn drop_invariant(form: &mut SsaForm) {
    let mut candidates = candidates(form);
    for _ in 0..MOST_ROUNDS {
        if candidates.is_empty() {
            return;
        }
        let mut trial = form.clone();
        let mut replacements = Replacements::of(&trial);
        candidates.iter().for_each(|candidate| replacements.replace(candidate.parameter, candidate.literal));
        replacements.apply(&mut trial);
        number(&mut trial);
        let before = candidates.len();
        candidates.retain(|candidate| candidate.holds(&trial));
        if candidates.len() == before {
            remove(&mut trial, |value| candidates.iter().any(|candidate| candidate.parameter == value));
            *form = trial;
            return;
        }
    }
}

/// If it doesn't hold by then, nothing is changed.
const MOST_ROUNDS: usize = 8;

/// A parameter that is a literal in the first round.
struct Candidate {
    block: u32,
    index: usize,
    parameter: SsaValue,
    literal: SsaValue,
    /// The blocks behind which the next round begins.
    repeated_by: Vec<u32>,
}

fn literal(form: &SsaForm, value: SsaValue) -> Option<OpKind> {
    match form.definition(value)? {
        Definition::Op(SsaOp { kind: kind @ (OpKind::Int(_) | OpKind::Real(_)), .. }) => Some(*kind),
        Definition::Op(_) | Definition::Parameter(_) => None,
    }
}

fn candidates(form: &SsaForm) -> Vec<Candidate> {
    let back = back_edges(form, &dominators(form));
    let mut found = Vec::new();
    for (head, block) in (0..).zip(&form.blocks) {
        let repeated_by: Vec<u32> =
            back.iter().filter(|(_, to)| *to == head).map(|(from, _)| *from).collect();
        if repeated_by.is_empty() {
            continue;
        }
        for (index, &parameter) in block.parameters.iter().enumerate() {
            let first = passed(form, head, index).filter(|(from, _)| !repeated_by.contains(from));
            let mut first = first.map(|(_, value)| value);
            let Some(literal_value) = first.next() else { continue };
            let Some(kind) = literal(form, literal_value) else { continue };
            if first.all(|value| literal(form, value) == Some(kind)) {
                let repeated_by = repeated_by.clone();
                found.push(Candidate { block: head, index, parameter, literal: literal_value, repeated_by });
            }
        }
    }
    found
}

/// What is passed for a parameter, with the block that passes it.
fn passed(form: &SsaForm, to: u32, index: usize) -> impl Iterator<Item = (u32, SsaValue)> {
    let jumps =
        (0..).zip(&form.blocks).flat_map(|(from, block)| block.end.jumps().map(move |jump| (from, jump)));
    jumps
        .filter(move |(_, jump)| jump.to == to)
        .filter_map(move |(from, jump)| jump.arguments.get(index).map(|&value| (from, value)))
}

impl Candidate {
    /// Whether a further round begins with the literal too, in a form where all candidates are taken for granted.
    fn holds(&self, trial: &SsaForm) -> bool {
        let wanted = literal(trial, self.literal);
        let again = passed(trial, self.block, self.index).filter(|(from, _)| self.repeated_by.contains(from));
        again.into_iter().all(|(_, value)| literal(trial, value) == wanted)
    }
}
