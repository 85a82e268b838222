//! Which arguments of a call may not share cells, and whether they do. Knows the cells that they refer
//! to; knows no instruction.
//!
//! A few arguments are compared in pairs, which were chosen when the program was resolved. Many are
//! sorted by their first cells, at each call, and compared with those that reach so far: a pair for
//! each two of 40,000 arguments would take gigabytes.

use std::collections::{BTreeMap, HashMap};

use reviver_isa::instruction::Class;
use reviver_isa::module::{Parameter, Passing, Procedure, Rank};

use crate::state::Reference;

/// Procedures with more parameters have their arguments sorted.
const PAIRED: usize = 16;

/// The arguments of a call that must not share cells.
#[derive(Clone, Debug)]
pub enum Distinct {
    /// Two of one class, not both `in`; ordered by the second, then by the first. Each with whether it is a matrix.
    Pairs(Vec<[(u32, bool); 2]>),
    Sorted(Vec<Sharing>),
}

/// Of a call without arguments.
impl Default for Distinct {
    fn default() -> Distinct {
        Distinct::Pairs(Vec::new())
    }
}

/// What a parameter says about sharing cells.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    class: Class,
    changed: bool,
    is_matrix: bool,
}

impl Distinct {
    /// For the arguments of a call of a procedure. `may_share` says of two of them whether they may share cells, as
    /// far as that is known before the call; of many it isn't asked.
    pub fn of(callee: &Procedure, may_share: impl Fn(usize, usize) -> bool) -> Distinct {
        let passed = callee.parameters.iter();
        let passed: Vec<Sharing> = passed.map(Sharing::of).collect();
        if passed.len() > PAIRED {
            return Distinct::Sorted(passed);
        }
        let seconds = (0..).zip(&passed);
        let pairs = seconds.flat_map(|(n, b)| {
            let firsts = (0..n).zip(&passed);
            firsts.filter(|(_, a)| may_not_share(**a, *b)).map(move |(m, _)| (m, n))
        });
        let pairs = pairs.filter(|&(m, n)| may_share(m as usize, n as usize));
        let is_matrix = |n: u32| callee.parameters.get(n as usize).is_some_and(|p| p.rank == Rank::Matrix);
        Distinct::Pairs(pairs.map(|(m, n)| [m, n].map(|n| (n, is_matrix(n)))).collect())
    }

    /// Two arguments that share cells: the least second one, and the least first one with it.
    pub fn violation(&self, references: &[Reference]) -> Option<(u32, u32)> {
        match self {
            Distinct::Pairs(pairs) => pairs
                .iter()
                .find(|pair| {
                    let [first, second] = pair.map(|(n, is_matrix)| cells(references[n as usize], is_matrix));
                    overlap(first, second)
                })
                .map(|&[(first, _), (second, _)]| (first, second)),
            Distinct::Sorted(passed) => {
                let referred = references.iter().zip(passed);
                let referred: Vec<Reference> = referred.map(|(r, p)| cells(*r, p.is_matrix)).collect();
                first_violation(passed, &referred)
            }
        }
    }
}

impl Sharing {
    fn of(parameter: &Parameter) -> Sharing {
        let Parameter { class, passing, rank, .. } = *parameter;
        Sharing { class, changed: passing == Passing::InOut, is_matrix: rank == Rank::Matrix }
    }
}

/// The cells of a reference, all of those of a matrix.
fn cells(reference: Reference, is_matrix: bool) -> Reference {
    if is_matrix { reference.flattened() } else { reference }
}

fn may_not_share(a: Sharing, b: Sharing) -> bool {
    a.class == b.class && (a.changed || b.changed)
}

fn first_violation(passed: &[Sharing], references: &[Reference]) -> Option<(u32, u32)> {
    let count = references.len().min(passed.len());
    if !any_shared(passed, references, count) {
        return None;
    }
    // The second argument is the last one of the shortest list in which two share cells.
    let (mut none, mut some) = (0, count);
    while some - none > 1 {
        let middle = usize::midpoint(none, some);
        if any_shared(passed, references, middle) {
            some = middle;
        } else {
            none = middle;
        }
    }
    let second = some - 1;
    let shares =
        |&m: &usize| may_not_share(passed[m], passed[second]) && overlap(references[m], references[second]);
    (0..second).find(shares).map(|first| (first as u32, second as u32))
}

/// Whether two of the first `count` arguments share cells and must not.
fn any_shared(passed: &[Sharing], references: &[Reference], count: usize) -> bool {
    [Class::Int, Class::Real].into_iter().any(|class| {
        let mut own: Vec<usize> =
            (0..count).filter(|&n| passed[n].class == class && references[n].length > 0).collect();
        own.sort_unstable_by_key(|&n| references[n].base);
        let mut sweep = OverlapSweep { passed, references, reach: HashMap::new(), open: BTreeMap::new() };
        own.into_iter().any(|n| sweep.shares(n))
    })
}

/// Arguments of one class in the order of their first cells.
struct OverlapSweep<'a> {
    passed: &'a [Sharing],
    references: &'a [Reference],
    /// The last cells, of all arguments and of those that may be changed, by their stride and where
    /// they lie in it: arguments of one stride share cells only where that is the same.
    reach: HashMap<(u32, u32), (Option<u64>, Option<u64>)>,
    /// Arguments that may reach further, by their stride.
    open: BTreeMap<u32, Vec<usize>>,
}

impl OverlapSweep<'_> {
    /// Whether an argument shares cells with one before it. It counts from now on.
    fn shares(&mut self, n: usize) -> bool {
        let (own, Sharing { changed, .. }) = (self.references[n], self.passed[n]);
        let stride = stride(own);
        let first = u64::from(own.base);
        let (all, altered) = self.reach.entry((stride, own.base % stride)).or_default();
        let met = if changed { *all } else { *altered };
        *all = (*all).max(Some(last(own)));
        if changed {
            *altered = (*altered).max(Some(last(own)));
        }
        if met.is_some_and(|last| last >= first) || self.meets_other_stride(n, stride) {
            return true;
        }
        self.open.entry(stride).or_default().push(n);
        false
    }

    fn meets_other_stride(&mut self, n: usize, own_stride: u32) -> bool {
        let (passed, references) = (self.passed, self.references);
        let own = references[n];
        let others = self.open.iter_mut().filter(|(stride, _)| **stride != own_stride);
        others.into_iter().any(|(_, open)| {
            open.retain(|&m| last(references[m]) >= u64::from(own.base));
            open.iter().any(|&m| may_not_share(passed[m], passed[n]) && overlap(references[m], own))
        })
    }
}

/// Whether two slices of one class share a cell.
fn overlap(a: Reference, b: Reference) -> bool {
    if a.length == 0 || b.length == 0 {
        return false;
    }
    let last = |r: Reference| u64::from(r.base) + (u64::from(r.length) - 1) * u64::from(r.stride);
    if last(a) < u64::from(b.base) || last(b) < u64::from(a.base) {
        return false;
    }
    // The shorter one is walked: slices of different strides that interleave are rare and short.
    let (short, long) = if a.length <= b.length { (a, b) } else { (b, a) };
    if short.stride == long.stride {
        let (low, high) = if short.base <= long.base { (short, long) } else { (long, short) };
        return (high.base - low.base) % low.stride == 0;
    }
    (0..u64::from(short.length)).any(|i| {
        let cell = u64::from(short.base) + i * u64::from(short.stride);
        cell >= u64::from(long.base)
            && cell <= last(long)
            && (cell - u64::from(long.base)).is_multiple_of(u64::from(long.stride))
    })
}

/// Of a single cell the stride says nothing.
fn stride(reference: Reference) -> u32 {
    if reference.length == 1 { 1 } else { reference.stride.max(1) }
}

fn last(reference: Reference) -> u64 {
    u64::from(reference.base) + u64::from(reference.length - 1) * u64::from(reference.stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that are the same in every run (xorshift).
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u32) -> u32 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as u32 % bound
        }
    }

    fn pairs(passed: &[Sharing]) -> Distinct {
        let pairs = (0..passed.len()).flat_map(|n| (0..n).map(move |m| [m, n]));
        let chosen = pairs.filter(|&[m, n]| may_not_share(passed[m], passed[n]));
        Distinct::Pairs(chosen.map(|pair| pair.map(|n| (n as u32, passed[n].is_matrix))).collect())
    }

    #[test]
    fn sorting_finds_what_pairs_find() {
        let mut random = Random(7);
        let (mut some, mut none) = (0, 0);
        for round in 0..20_000 {
            let count = random.below(8) + 2;
            let cells = [20, 60, 400][round % 3];
            let passed: Vec<Sharing> = (0..count)
                .map(|_| Sharing {
                    class: [Class::Int, Class::Real][random.below(2) as usize],
                    changed: random.below(3) == 0,
                    is_matrix: random.below(4) == 0,
                })
                .collect();
            let references: Vec<Reference> = (0..count)
                .map(|_| Reference {
                    base: random.below(cells),
                    length: random.below(5),
                    stride: [1, 1, 2, 3, 4, 6][random.below(6) as usize],
                })
                .collect();
            let expected = pairs(&passed).violation(&references);
            let sorted = Distinct::Sorted(passed.clone()).violation(&references);
            assert_eq!(sorted, expected, "{passed:?} {references:?}");
            *if expected.is_some() { &mut some } else { &mut none } += 1;
        }
        assert!(some > 1_000 && none > 1_000, "{some} with shared cells, {none} without");
    }
}
