//! Loop-invariant inference: finds properties that loop parameters have at the start of each iteration. For example, a
//! cell that is computed and uncomputed in the loop is 0 each time, and a counter stays between two bounds. The pass
//! first assumes every property that holds in the first iteration. It applies value numbering under these assumptions,
//! and drops the assumptions that a later iteration may contradict. It repeats both until all remaining assumptions are
//! confirmed. A counter is a parameter that each iteration changes by a literal, always in one direction.
//!
//! The assumptions hold by induction. The first iteration that violates one would follow an iteration in which all of
//! them held.

use std::collections::{HashMap, HashSet};

use reviver_isa::instruction::Class;

use super::ranges::{FunctionRanges, KnownRanges};
use super::replacements::Replacements;
use super::trivial_phis::remove;
use super::value_numbering::{PassedRanges, number_with};
use crate::function::{Definition, SsaFunction};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::{back_edges, dominators};
use crate::range::IntRange;

/// Drops loop parameters that hold the same literal in every iteration, and repeats value numbering with these
/// literals and the ranges of counters.
pub(super) fn drop_invariant(function: &mut SsaFunction) {
    let mut candidates = candidates(function, &Incoming::of(function));
    for _ in 0..MOST_ATTEMPTS {
        if candidates.is_empty() {
            return;
        }
        let (trial, passed) = numbered(function, &candidates);
        let before = candidates.len();
        let incoming = Incoming::of(&trial);
        let arrivals = HeaderArguments { function: &trial, incoming: &incoming, ranges: &passed };
        candidates.retain(|candidate| candidate.holds(&arrivals));
        if candidates.len() == before {
            let is_narrower = narrow(&mut candidates, &arrivals);
            let trial = if is_narrower { numbered(function, &candidates).0 } else { trial };
            *function = without(trial, &candidates);
            function.ranges.extend(candidates.iter().filter_map(|candidate| match candidate.invariant {
                Invariant::Between(range) => Some((candidate.parameter, range)),
                Invariant::Literal(_) => None,
            }));
            return;
        }
    }
}

/// Upper bound on attempts to confirm all candidates. If all attempts fail, the pass changes nothing.
const MOST_ATTEMPTS: usize = 8;

/// Loop-header parameter that may have an invariant.
struct Candidate {
    head: u32,
    index: usize,
    parameter: SsaValue,
    invariant: Invariant,
    /// Sources of back edges to the header.
    repeated_by: Vec<u32>,
    entered_by: Vec<u32>,
}

/// Invariant of a parameter at the start of each iteration.
enum Invariant {
    /// Literal of this value.
    Literal(SsaValue),
    Between(IntRange),
}

/// Copies a function, assumes all candidates, and applies value numbering.
fn numbered(function: &SsaFunction, candidates: &[Candidate]) -> (SsaFunction, PassedRanges) {
    let mut trial = function.clone();
    let mut replacements = Replacements::of(&trial);
    let mut ranges = HashMap::new();
    for candidate in candidates {
        match candidate.invariant {
            Invariant::Literal(literal) => replacements.replace(candidate.parameter, literal),
            Invariant::Between(range) => _ = ranges.insert(candidate.parameter, range),
        }
    }
    replacements.apply(&mut trial);
    let passed = number_with(&mut trial, &ranges);
    (trial, passed)
}

/// Incoming edges of each block: the source block, and the index of the edge among the source's edges.
struct Incoming(Vec<Vec<(u32, usize)>>);

impl Incoming {
    fn of(function: &SsaFunction) -> Incoming {
        let mut all = vec![Vec::new(); function.blocks.len()];
        for (from, block) in (0..).zip(&function.blocks) {
            for (n, jump) in block.end.jumps().enumerate() {
                if let Some(known) = all.get_mut(jump.to as usize) {
                    known.push((from, n));
                }
            }
        }
        Incoming(all)
    }

    /// Iterates over the arguments of a block parameter, each with the block that passes it.
    fn passed(&self, function: &SsaFunction, to: u32, index: usize) -> impl Iterator<Item = (u32, SsaValue)> {
        let jumps = self.0.get(to as usize).into_iter().flatten();
        jumps.filter_map(move |&(from, n)| {
            let jump = function.blocks.get(from as usize)?.end.jumps().nth(n)?;
            Some((from, *jump.arguments.get(index)?))
        })
    }
}

/// Ranges of the arguments that blocks pass to loop headers, in a function whose code relies on all candidates.
struct HeaderArguments<'t> {
    function: &'t SsaFunction,
    incoming: &'t Incoming,
    ranges: &'t PassedRanges,
}

impl HeaderArguments<'_> {
    /// Returns the range of an argument that one block passes to another.
    fn range(&self, from: u32, to: u32, index: usize) -> IntRange {
        let known = self.ranges.get(&(from, to)).and_then(|ranges| ranges.get(index)).copied();
        let made = || {
            let all = self.incoming.passed(self.function, to, index).filter(|(by, _)| *by == from);
            all.map(|(_, value)| FunctionRanges(self.function).range(value)).reduce(IntRange::hull)
        };
        known.or_else(made).unwrap_or(IntRange::ALL)
    }
}

/// Narrows the range of each counter to the hull of its arguments, once all candidates are confirmed. Returns true if
/// a range became smaller.
fn narrow(candidates: &mut [Candidate], arrivals: &HeaderArguments) -> bool {
    let mut is_narrower = false;
    for candidate in candidates.iter_mut() {
        if let Invariant::Between(range) = &mut candidate.invariant {
            let edges = candidate.repeated_by.iter().chain(&candidate.entered_by);
            let all = edges.map(|&from| arrivals.range(from, candidate.head, candidate.index));
            let narrow = all.reduce(IntRange::hull).map_or(*range, |all| range.common(all));
            is_narrower |= narrow != *range;
            *range = narrow;
        }
    }
    is_narrower
}

fn without(mut function: SsaFunction, candidates: &[Candidate]) -> SsaFunction {
    let literals = candidates.iter().filter(|candidate| matches!(candidate.invariant, Invariant::Literal(_)));
    let gone: HashSet<SsaValue> = literals.map(|candidate| candidate.parameter).collect();
    remove(&mut function, |value| gone.contains(&value));
    function
}

fn literal(function: &SsaFunction, value: SsaValue) -> Option<OpKind> {
    match function.definition(value)? {
        Definition::Op(SsaOp { kind: kind @ (OpKind::Int(_) | OpKind::Real(_)), .. }) => Some(*kind),
        Definition::Op(_) | Definition::Parameter(_) => None,
    }
}

fn candidates(function: &SsaFunction, incoming: &Incoming) -> Vec<Candidate> {
    let mut latches: HashMap<u32, Vec<u32>> = HashMap::new();
    for (from, head) in back_edges(function, &dominators(function)) {
        latches.entry(head).or_default().push(from);
    }
    let mut found = Vec::new();
    for (head, block) in (0..).zip(&function.blocks) {
        let Some(repeated_by) = latches.get(&head) else { continue };
        for (index, &parameter) in block.parameters.iter().enumerate() {
            let all: Vec<(u32, SsaValue)> = incoming.passed(function, head, index).collect();
            let (again, first): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|(from, _)| repeated_by.contains(from));
            let invariant = counter(function, parameter, &first, &again)
                .or_else(|| literal_of(function, parameter, &first, &again));
            let entered_by = first.iter().map(|(from, _)| *from).collect();
            let repeated_by = repeated_by.clone();
            found.extend(invariant.map(|invariant| Candidate {
                head,
                index,
                parameter,
                invariant,
                repeated_by,
                entered_by,
            }));
        }
    }
    found
}

/// Returns the literal with which a parameter enters the loop. Parameters that each iteration adds to are excluded.
fn literal_of(
    function: &SsaFunction,
    parameter: SsaValue,
    first: &[(u32, SsaValue)],
    again: &[(u32, SsaValue)],
) -> Option<Invariant> {
    use OpKind::{Add, IntAdd, IntSub, Place, Sub};
    let &(_, value) = first.first()?;
    let kind = literal(function, value)?;
    let is_sum = |value: SsaValue| {
        let sum = function.op(value).filter(|op| matches!(op.kind, Add | IntAdd | IntSub | Place | Sub));
        sum.is_some_and(|op| op.operands.contains(&parameter))
    };
    let is_one = first.iter().all(|&(_, value)| literal(function, value) == Some(kind));
    (is_one && !again.iter().any(|&(_, value)| is_sum(value))).then_some(Invariant::Literal(value))
}

/// Returns the range of a counter that begins between two numbers and only counts up or only counts down.
fn counter(
    function: &SsaFunction,
    parameter: SsaValue,
    first: &[(u32, SsaValue)],
    again: &[(u32, SsaValue)],
) -> Option<Invariant> {
    let word = IntRange::of_word(function.numbers.word);
    if function.class(parameter) != Some(Class::Int) {
        return None;
    }
    let begin =
        first.iter().map(|&(_, value)| FunctionRanges(function).range(value)).reduce(IntRange::hull)?;
    let goes_up = |value: SsaValue| {
        let op = function.op(value).filter(|op| op.operands.first() == Some(&parameter))?;
        let Some(OpKind::Int(by)) = op.operands.get(1).and_then(|&by| literal(function, by)) else {
            return None;
        };
        match op.kind {
            OpKind::IntAdd => Some(by > 0),
            OpKind::IntSub => Some(by < 0),
            _ => None,
        }
    };
    let rises: Vec<bool> = again.iter().map(|&(_, value)| goes_up(value)).collect::<Option<_>>()?;
    // A counter leaves the loop before it would wrap.
    let up = IntRange { low: begin.low.max(word.low), high: word.high - 1 };
    let down = IntRange { low: word.low + 1, high: begin.high.min(word.high) };
    match (rises.iter().all(|up| *up), rises.iter().any(|up| *up)) {
        (true, _) => Some(Invariant::Between(up)),
        (_, false) => Some(Invariant::Between(down)),
        _ => None,
    }
}

impl Candidate {
    /// Returns true if every iteration begins with the assumed property.
    fn holds(&self, arrivals: &HeaderArguments) -> bool {
        match self.invariant {
            Invariant::Literal(value) => {
                let wanted = literal(arrivals.function, value);
                let mut all = arrivals.incoming.passed(arrivals.function, self.head, self.index);
                all.all(|(_, value)| literal(arrivals.function, value) == wanted)
            }
            Invariant::Between(range) => {
                let mut edges = self.repeated_by.iter().chain(&self.entered_by);
                edges.all(|&from| arrivals.range(from, self.head, self.index).is_within(range))
            }
        }
    }
}
