//! What holds wherever a loop begins a round: a cell that is computed and uncomputed in it is 0 each time, and a counter lies between two
//! numbers. It is taken for granted of all that begin the first round so, and whatever is seen to begin another round otherwise is left out,
//! until it holds of all that is left. Knows no operation but those of counters.
//!
//! What is taken for granted holds by induction: the first round in which it didn't would begin behind one in which everything did.

use std::collections::{HashMap, HashSet};

use reviver_isa::instruction::Class;

use super::numbering::{PassedRanges, number_with};
use super::parameters::remove;
use super::ranges::{FormRanges, KnownRanges};
use super::replacing::Replacements;
use crate::form::{Definition, SsaForm};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::{back_edges, dominators};
use crate::range::IntRange;

/// Drops the parameters of loops that hold the same literal in every round, and numbers the form with what follows from that, and from
/// the ranges of counters.
pub(super) fn drop_invariant(form: &mut SsaForm) {
    let mut candidates = candidates(form, &Incoming::of(form));
    for _ in 0..MOST_ROUNDS {
        if candidates.is_empty() {
            return;
        }
        let (trial, passed) = numbered(form, &candidates);
        let before = candidates.len();
        let incoming = Incoming::of(&trial);
        let arrivals = Arrivals { form: &trial, incoming: &incoming, ranges: &passed };
        candidates.retain(|candidate| candidate.holds(&arrivals));
        if candidates.len() == before {
            let is_narrower = narrow(&mut candidates, &arrivals);
            let trial = if is_narrower { numbered(form, &candidates).0 } else { trial };
            *form = without(trial, &candidates);
            form.ranges.extend(candidates.iter().filter_map(|candidate| match candidate.begins {
                RoundBegin::Between(range) => Some((candidate.parameter, range)),
                RoundBegin::Literal(_) => None,
            }));
            return;
        }
    }
}

/// If it doesn't hold by then, nothing is changed.
const MOST_ROUNDS: usize = 8;

/// A parameter of a loop's head.
struct Candidate {
    head: u32,
    index: usize,
    parameter: SsaValue,
    begins: RoundBegin,
    /// The blocks behind which the next round begins, and those behind which the first does.
    repeated_by: Vec<u32>,
    entered_by: Vec<u32>,
}

/// What a parameter is where a round begins.
enum RoundBegin {
    /// The literal that is this value.
    Literal(SsaValue),
    Between(IntRange),
}

/// A form in which all candidates are taken for granted, numbered.
fn numbered(form: &SsaForm, candidates: &[Candidate]) -> (SsaForm, PassedRanges) {
    let mut trial = form.clone();
    let mut replacements = Replacements::of(&trial);
    let mut ranges = HashMap::new();
    for candidate in candidates {
        match candidate.begins {
            RoundBegin::Literal(literal) => replacements.replace(candidate.parameter, literal),
            RoundBegin::Between(range) => _ = ranges.insert(candidate.parameter, range),
        }
    }
    replacements.apply(&mut trial);
    let passed = number_with(&mut trial, &ranges);
    (trial, passed)
}

/// By block the jumps that lead there: which block ends with it, and which of its jumps it is.
struct Incoming(Vec<Vec<(u32, usize)>>);

impl Incoming {
    fn of(form: &SsaForm) -> Incoming {
        let mut all = vec![Vec::new(); form.blocks.len()];
        for (from, block) in (0..).zip(&form.blocks) {
            for (n, jump) in block.end.jumps().enumerate() {
                if let Some(known) = all.get_mut(jump.to as usize) {
                    known.push((from, n));
                }
            }
        }
        Incoming(all)
    }

    /// What is passed for a parameter, with the block that passes it.
    fn passed(&self, form: &SsaForm, to: u32, index: usize) -> impl Iterator<Item = (u32, SsaValue)> {
        let jumps = self.0.get(to as usize).into_iter().flatten();
        jumps.filter_map(move |&(from, n)| {
            let jump = form.blocks.get(from as usize)?.end.jumps().nth(n)?;
            Some((from, *jump.arguments.get(index)?))
        })
    }
}

/// What arrives where rounds begin, in a form where all candidates are taken for granted.
struct Arrivals<'t> {
    form: &'t SsaForm,
    incoming: &'t Incoming,
    ranges: &'t PassedRanges,
}

impl Arrivals<'_> {
    /// Between which numbers that lies which one block passes to another.
    fn range(&self, from: u32, to: u32, index: usize) -> IntRange {
        let known = self.ranges.get(&(from, to)).and_then(|ranges| ranges.get(index)).copied();
        let made = || {
            let all = self.incoming.passed(self.form, to, index).filter(|(by, _)| *by == from);
            all.map(|(_, value)| FormRanges(self.form).range(value)).reduce(IntRange::hull)
        };
        known.or_else(made).unwrap_or(IntRange::ALL)
    }
}

/// Once all candidates are known to hold, what is passed for a counter is all that it ever is. Whether that is less than what was taken
/// for granted.
fn narrow(candidates: &mut [Candidate], arrivals: &Arrivals) -> bool {
    let mut is_narrower = false;
    for candidate in candidates.iter_mut() {
        if let RoundBegin::Between(range) = &mut candidate.begins {
            let ways = candidate.repeated_by.iter().chain(&candidate.entered_by);
            let all = ways.map(|&from| arrivals.range(from, candidate.head, candidate.index));
            let narrow = all.reduce(IntRange::hull).map_or(*range, |all| range.common(all));
            is_narrower |= narrow != *range;
            *range = narrow;
        }
    }
    is_narrower
}

fn without(mut form: SsaForm, candidates: &[Candidate]) -> SsaForm {
    let literals = candidates.iter().filter(|candidate| matches!(candidate.begins, RoundBegin::Literal(_)));
    let gone: HashSet<SsaValue> = literals.map(|candidate| candidate.parameter).collect();
    remove(&mut form, |value| gone.contains(&value));
    form
}

fn literal(form: &SsaForm, value: SsaValue) -> Option<OpKind> {
    match form.definition(value)? {
        Definition::Op(SsaOp { kind: kind @ (OpKind::Int(_) | OpKind::Real(_)), .. }) => Some(*kind),
        Definition::Op(_) | Definition::Parameter(_) => None,
    }
}

fn candidates(form: &SsaForm, incoming: &Incoming) -> Vec<Candidate> {
    let mut back: HashMap<u32, Vec<u32>> = HashMap::new();
    for (from, head) in back_edges(form, &dominators(form)) {
        back.entry(head).or_default().push(from);
    }
    let mut found = Vec::new();
    for (head, block) in (0..).zip(&form.blocks) {
        let Some(repeated_by) = back.get(&head) else { continue };
        for (index, &parameter) in block.parameters.iter().enumerate() {
            let all: Vec<(u32, SsaValue)> = incoming.passed(form, head, index).collect();
            let (again, first): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|(from, _)| repeated_by.contains(from));
            let begins = counter(form, parameter, &first, &again)
                .or_else(|| literal_of(form, parameter, &first, &again));
            let entered_by = first.iter().map(|(from, _)| *from).collect();
            let repeated_by = repeated_by.clone();
            found.extend(begins.map(|begins| Candidate {
                head,
                index,
                parameter,
                begins,
                repeated_by,
                entered_by,
            }));
        }
    }
    found
}

/// The one literal that is passed where the first round begins. Not of what each round adds to.
fn literal_of(
    form: &SsaForm,
    parameter: SsaValue,
    first: &[(u32, SsaValue)],
    again: &[(u32, SsaValue)],
) -> Option<RoundBegin> {
    use OpKind::{Add, IntAdd, IntSub, Place, Sub};
    let &(_, value) = first.first()?;
    let kind = literal(form, value)?;
    let is_sum = |value: SsaValue| {
        let sum = form.op(value).filter(|op| matches!(op.kind, Add | IntAdd | IntSub | Place | Sub));
        sum.is_some_and(|op| op.operands.contains(&parameter))
    };
    let is_one = first.iter().all(|&(_, value)| literal(form, value) == Some(kind));
    (is_one && !again.iter().any(|&(_, value)| is_sum(value))).then_some(RoundBegin::Literal(value))
}

/// Where a counter goes that begins between two numbers: up from there, or down.
fn counter(
    form: &SsaForm,
    parameter: SsaValue,
    first: &[(u32, SsaValue)],
    again: &[(u32, SsaValue)],
) -> Option<RoundBegin> {
    let word = IntRange::of_word(form.numbers.word);
    if form.class(parameter) != Some(Class::Int) {
        return None;
    }
    let begin = first.iter().map(|&(_, value)| FormRanges(form).range(value)).reduce(IntRange::hull)?;
    let goes_up = |value: SsaValue| {
        let op = form.op(value).filter(|op| op.operands.first() == Some(&parameter))?;
        let Some(OpKind::Int(by)) = op.operands.get(1).and_then(|&by| literal(form, by)) else { return None };
        match op.kind {
            OpKind::IntAdd => Some(by > 0),
            OpKind::IntSub => Some(by < 0),
            _ => None,
        }
    };
    let ways: Vec<bool> = again.iter().map(|&(_, value)| goes_up(value)).collect::<Option<_>>()?;
    // A counter leaves before it would wrap.
    let up = IntRange { low: begin.low.max(word.low), high: word.high - 1 };
    let down = IntRange { low: word.low + 1, high: begin.high.min(word.high) };
    match (ways.iter().all(|up| *up), ways.iter().any(|up| *up)) {
        (true, _) => Some(RoundBegin::Between(up)),
        (_, false) => Some(RoundBegin::Between(down)),
        _ => None,
    }
}

impl Candidate {
    /// Whether every round begins so.
    fn holds(&self, arrivals: &Arrivals) -> bool {
        match self.begins {
            RoundBegin::Literal(value) => {
                let wanted = literal(arrivals.form, value);
                let mut all = arrivals.incoming.passed(arrivals.form, self.head, self.index);
                all.all(|(_, value)| literal(arrivals.form, value) == wanted)
            }
            RoundBegin::Between(range) => {
                let mut ways = self.repeated_by.iter().chain(&self.entered_by);
                ways.all(|&from| arrivals.range(from, self.head, self.index).is_within(range))
            }
        }
    }
}
