//! Loop-invariant inference: finds what holds at the start of each iteration. A cell that is computed and uncomputed
//! in the loop is 0 each time, and a counter stays between two bounds. The pass assumes this of every candidate that
//! has the property in the first iteration. It drops candidates that a later iteration contradicts, until all
//! remaining ones are confirmed. It knows no operation but those of counters.
//!
//! The assumptions hold by induction: the first iteration that violates one would follow an iteration in which all
//! held.

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

/// Drops loop parameters that hold the same literal in every iteration, and repeats value numbering with these
/// literals and the ranges of counters.
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

/// Upper bound on attempts; if the candidates aren't confirmed by then, nothing is changed.
const MOST_ROUNDS: usize = 8;

/// Loop-header parameter that may have an invariant.
struct Candidate {
    head: u32,
    index: usize,
    parameter: SsaValue,
    begins: RoundBegin,
    /// Sources of back edges to the header.
    repeated_by: Vec<u32>,
    entered_by: Vec<u32>,
}

/// Invariant of a parameter at the start of each iteration.
enum RoundBegin {
    /// Literal of this value.
    Literal(SsaValue),
    Between(IntRange),
}

/// Copies a function, assumes all candidates, and applies value numbering.
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

/// Incoming edges of each block: the source block, and the index among its edges.
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

    /// Iterates over the arguments of a block parameter, each with the block that passes it.
    fn passed(&self, form: &SsaForm, to: u32, index: usize) -> impl Iterator<Item = (u32, SsaValue)> {
        let jumps = self.0.get(to as usize).into_iter().flatten();
        jumps.filter_map(move |&(from, n)| {
            let jump = form.blocks.get(from as usize)?.end.jumps().nth(n)?;
            Some((from, *jump.arguments.get(index)?))
        })
    }
}

/// Arguments at loop headers, in a function in which all candidates are assumed.
struct Arrivals<'t> {
    form: &'t SsaForm,
    incoming: &'t Incoming,
    ranges: &'t PassedRanges,
}

impl Arrivals<'_> {
    /// Returns the range of an argument that one block passes to another.
    fn range(&self, from: u32, to: u32, index: usize) -> IntRange {
        let known = self.ranges.get(&(from, to)).and_then(|ranges| ranges.get(index)).copied();
        let made = || {
            let all = self.incoming.passed(self.form, to, index).filter(|(by, _)| *by == from);
            all.map(|(_, value)| FormRanges(self.form).range(value)).reduce(IntRange::hull)
        };
        known.or_else(made).unwrap_or(IntRange::ALL)
    }
}

/// Narrows the range of each counter to the hull of its arguments, once all candidates are confirmed. Returns true if
/// a range became smaller.
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

/// Returns the literal with which a parameter enters the loop. Parameters that each iteration adds to are excluded.
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

/// Returns the range of a counter that begins between two numbers and only counts up or only counts down.
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
    // A counter leaves the loop before it would wrap.
    let up = IntRange { low: begin.low.max(word.low), high: word.high - 1 };
    let down = IntRange { low: word.low + 1, high: begin.high.min(word.high) };
    match (ways.iter().all(|up| *up), ways.iter().any(|up| *up)) {
        (true, _) => Some(RoundBegin::Between(up)),
        (_, false) => Some(RoundBegin::Between(down)),
        _ => None,
    }
}

impl Candidate {
    /// Returns true if every iteration begins with the assumed property.
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
