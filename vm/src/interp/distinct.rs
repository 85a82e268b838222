//! Overlap checks on the arguments of a call. The module compares the cells that arguments refer to, and reads no
//! instructions.
//!
//! A few arguments are compared in pairs, which are selected when the program is resolved. Many arguments are
//! sorted by their first cells at each call, and swept for overlaps. With a list of pairs, a call with 40,000
//! arguments would need gigabytes.

use std::collections::{BTreeMap, HashMap};

use reviver_isa::instruction::Class;
use reviver_isa::module::{Parameter, Passing, Procedure, Rank};

use crate::state::Reference;

/// Maximum number of arguments that are compared in pairs. If a call has more arguments, they are sorted.
const PAIRED: usize = 16;

/// The arguments of a call that must not share cells.
#[derive(Clone, Debug)]
pub enum Distinct {
    /// Pairs of arguments of one class that aren't both `in`, sorted by the second and then by the first.
    /// Each argument has a flag that is true if it is a matrix.
    Pairs(Vec<[(u32, bool); 2]>),
    Sorted(Vec<Sharing>),
}

/// The value for a call without arguments.
impl Default for Distinct {
    fn default() -> Distinct {
        Distinct::Pairs(Vec::new())
    }
}

/// The properties of a parameter that decide which other arguments its argument may share cells with.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    class: Class,
    changed: bool,
    is_matrix: bool,
}

impl Distinct {
    /// Selects the checks for a call of `callee`. `may_share` returns false if it is known before the call that two
    /// arguments can't share cells. If there are many arguments, `may_share` isn't called.
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

    /// Returns two arguments that share cells but must not. Of several such pairs, returns the pair with the least
    /// second argument, and among pairs with this second argument the pair with the least first argument.
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

/// Returns all cells of a reference; for a matrix, the cells of all its rows.
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
    // Binary search for the shortest prefix of arguments with an overlap. The last argument of this prefix is the
    // second of the pair.
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

/// Returns true if two of the first `count` arguments share cells and must not.
fn any_shared(passed: &[Sharing], references: &[Reference], count: usize) -> bool {
    [Class::Int, Class::Real].into_iter().any(|class| {
        let mut own: Vec<usize> =
            (0..count).filter(|&n| passed[n].class == class && references[n].length > 0).collect();
        own.sort_unstable_by_key(|&n| references[n].base);
        let mut sweep = OverlapSweep { passed, references, reach: HashMap::new(), open: BTreeMap::new() };
        own.into_iter().any(|n| sweep.shares(n))
    })
}

/// A sweep over the arguments of one class, in the order of their first cells.
struct OverlapSweep<'a> {
    passed: &'a [Sharing],
    references: &'a [Reference],
    /// For each stride, and each residue of the first cell modulo that stride: the greatest last cell of all arguments
    /// so far, and the greatest last cell of those arguments that the callee may change. Arguments with the same stride
    /// can share cells only if their residues are equal.
    reach: HashMap<(u32, u32), (Option<u64>, Option<u64>)>,
    /// Arguments that may have cells beyond the current position of the sweep, by their stride.
    open: BTreeMap<u32, Vec<usize>>,
}

impl OverlapSweep<'_> {
    /// Returns true if argument `n` shares cells with an earlier argument but must not. Otherwise adds the argument to
    /// the sweep.
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

/// Returns true if two slices of one class share a cell.
fn overlap(a: Reference, b: Reference) -> bool {
    if a.length == 0 || b.length == 0 {
        return false;
    }
    let last = |r: Reference| u64::from(r.base) + (u64::from(r.length) - 1) * u64::from(r.stride);
    if last(a) < u64::from(b.base) || last(b) < u64::from(a.base) {
        return false;
    }
    // The shorter slice is iterated over. Interleaved slices of different strides are rare and short.
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

/// Returns the stride of a reference; 1 for a single cell, which has no meaningful stride.
fn stride(reference: Reference) -> u32 {
    if reference.length == 1 { 1 } else { reference.stride.max(1) }
}

fn last(reference: Reference) -> u64 {
    u64::from(reference.base) + u64::from(reference.length - 1) * u64::from(reference.stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reproducible pseudorandom generator (xorshift).
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
    fn sorting_finds_the_same_overlaps_as_comparing_pairs() {
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
