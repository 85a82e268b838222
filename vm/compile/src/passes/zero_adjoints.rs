//! Zero adjoints: finds adjoints in memory that are +0, and folds operations on these adjoints. The reverse sweep of a
//! procedure begins by computing the procedure's ancillas again. Their adjoints are still 0, so a large part of these
//! operations propagates zeros.
//!
//! The pass divides the frames of inlined calls into *regions*, at the ends of the address ranges of stores. A forward
//! data-flow analysis finds, for each point, the regions in which every adjoint is +0, and the values that are +0 or
//! ±0. The analysis starts with the assumption that all adjoints and values are +0, and withdraws the assumptions that
//! an operation contradicts. With z = ±0 and a finite f:
//!
//! | | holds where |
//! |---|---|
//! | z·f = ±0 | always |
//! | (+0) + z = +0, (+0) - z = +0 | always |
//! | s + z = s, s - z = s | s is never -0 |
//!
//! The interpreter skips products with an adjoint of 0, so a folded product needs no finiteness check. But another pass
//! may have dropped the finiteness check of the factor f, because the check of the product implied it. So a product is
//! folded only if f is a cell's content, was checked earlier, or has no other use.

use std::collections::HashSet;

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use super::ranges::{FunctionRanges, KnownRanges};
use super::replacements::Replacements;
use super::signed_zeros::never_negative_zero;
use super::simplification::is_finite_literal;
use crate::function::{Definition, SsaBlock, SsaEnd, SsaFunction};
use crate::op::{OpKind, Space, SsaOp, SsaValue};
use crate::order::reached;
use crate::range::IntRange;

/// Upper bound on regions: the number of bits of a [`RegionSet`].
const MOST_REGIONS: usize = 128;
/// Upper bound on the depth of operations of a factor.
const MOST_DEPTH: u32 = 4;

/// Set of regions: bit n is the region of number n.
type RegionSet = u128;

/// Folds operations on adjoints that are 0 in every run.
pub(super) fn fold(function: &mut SsaFunction) {
    let is_float = !matches!(function.numbers.system, RealSystem::Fixed(_));
    // The frames of inlined calls hold 0 at entry only if the function begins in main.
    if !function.specialization.gradient || !is_float || !function.is_plain() {
        return;
    }
    let order: Vec<u32> = reached(function).into_iter().rev().collect();
    let zeroing = zeroing_loops(function, &order);
    let Some(regions) = Regions::of(function, &order, &zeroing) else { return };
    let mut analysis = ZeroAnalysis {
        zeros: vec![Zero::Positive; function.definitions.len()],
        uses: uses(function),
        at_start: vec![None; function.blocks.len()],
        function,
        regions,
        zeroing,
    };
    analysis.at_start[0] = Some(RegionSet::MAX);
    while order.iter().fold(false, |has_changed, &block| analysis.block(block) | has_changed) {}
    let ZeroAnalysis { zeros, at_start, regions, .. } = analysis;
    rewrite(function, &order, &Found { zeros, at_start, regions });
}

/// The inferred value of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Zero {
    /// +0.
    Positive,
    /// +0 or -0.
    Either,
    Unknown,
}

/// A loop of one block that stores +0 to the adjoints of a range.
struct ZeroingLoop {
    block: u32,
    exit: u32,
    stores: Vec<(SsaValue, IntRange)>,
}

/// Finds loops that zero ranges of adjoints.
fn zeroing_loops(function: &SsaFunction, order: &[u32]) -> Vec<ZeroingLoop> {
    order.iter().filter_map(|&number| zeroing_loop(function, order, number)).collect()
}

fn zeroing_loop(function: &SsaFunction, order: &[u32], number: u32) -> Option<ZeroingLoop> {
    let block = function.blocks.get(number as usize)?;
    let SsaEnd::Branch { condition, yes, no } = &block.end else { return None };
    if yes.to != number || no.to == number {
        return None;
    }
    let int = |value: SsaValue| match function.op(value)?.kind {
        OpKind::Int(literal) => Some(literal),
        _ => None,
    };
    let test = function.op(*condition).filter(|op| op.kind == OpKind::IntTest(Order::Lt))?;
    let &[next, end] = test.operands.as_slice() else { return None };
    let end = int(end)?;
    let index = yes.arguments.iter().position(|&argument| argument == next)?;
    let &counter = block.parameters.get(index)?;
    let step = function.op(next).filter(|op| op.kind == OpKind::Place)?;
    let &[base, by, stride] = step.operands.as_slice() else { return None };
    if base != counter || int(by) != Some(1) || int(stride) != Some(1) {
        return None;
    }
    let before = order.iter().filter(|&&from| from != number);
    let jumps =
        before.filter_map(|&from| function.blocks.get(from as usize)).flat_map(|block| block.end.jumps());
    let firsts = jumps.filter(|jump| jump.to == number).map(|jump| int(*jump.arguments.get(index)?));
    let first = firsts.reduce(|a, b| if a == b { a } else { None })??;
    let stored = |&value: &SsaValue| {
        let op = function.op(value).filter(|op| op.kind == OpKind::Store(Space::Adjoints))?;
        let &[address, zero] = op.operands.as_slice() else { return None };
        let place = function.op(address).filter(|op| op.kind == OpKind::Place)?;
        let &[base, index, stride] = place.operands.as_slice() else { return None };
        let is_each = index == counter && int(stride) == Some(1);
        let base = int(base)
            .filter(|_| is_each && function.op(zero).is_some_and(|op| op.kind == OpKind::Real(0)))?;
        Some((
            value,
            IntRange { low: base.checked_add(first)?, high: base.checked_add(end)?.checked_sub(1)? },
        ))
    };
    let stores: Vec<(SsaValue, IntRange)> = block.ops.iter().filter_map(stored).collect();
    (!stores.is_empty()).then_some(ZeroingLoop { block: number, exit: no.to, stores })
}

/// Returns the address and the value of a store of an adjoint.
fn store(function: &SsaFunction, value: SsaValue) -> Option<(SsaValue, SsaValue)> {
    let op = function.op(value).filter(|op| op.kind == OpKind::Store(Space::Adjoints))?;
    match op.operands.as_slice() {
        &[address, stored] => Some((address, stored)),
        _ => None,
    }
}

/// The regions of frames of inlined calls: adjacent ranges of addresses, in ascending order.
struct Regions(Vec<IntRange>);

impl Regions {
    /// Divides the frames into regions, at the ends of the address ranges of stores. Returns `None` if there are no
    /// frames, or too many regions.
    fn of(function: &SsaFunction, order: &[u32], zeroing: &[ZeroingLoop]) -> Option<Regions> {
        let first = i64::from(function.cells.reals.checked_sub(function.demands.frame_reals)?);
        let frames = IntRange { low: first, high: i64::from(function.cells.reals) - 1 };
        if frames.low > frames.high {
            return None;
        }
        let blocks = order.iter().filter_map(|&block| function.blocks.get(block as usize));
        let stores = blocks.flat_map(|block| &block.ops).filter_map(|&value| store(function, value));
        let stored = stores.map(|(address, _)| FunctionRanges(function).range(address));
        let zeroed = zeroing.iter().flat_map(|found| &found.stores).map(|(_, range)| *range);
        let ranges: Vec<IntRange> = stored.chain(zeroed).filter(|range| !range.is_apart(frames)).collect();
        let divided = |ranges: &mut dyn Iterator<Item = &IntRange>| {
            let ends = ranges.map(|range| range.common(frames)).flat_map(|range| [range.low, range.high + 1]);
            let mut ends: Vec<i64> = ends.chain([frames.low, frames.high + 1]).collect();
            ends.sort_unstable();
            ends.dedup();
            ends.windows(2)
                .map(|ends| IntRange { low: ends[0], high: ends[1] - 1 })
                .collect::<Vec<IntRange>>()
        };
        let mut regions = divided(&mut ranges.iter());
        if regions.len() > MOST_REGIONS {
            regions = divided(&mut ranges.iter().filter(|range| range.low < range.high));
        }
        (!ranges.is_empty() && regions.len() <= MOST_REGIONS).then_some(Regions(regions))
    }

    /// Returns the regions for which a condition holds.
    fn which(&self, holds: impl Fn(IntRange) -> bool) -> RegionSet {
        let regions = (0..).zip(&self.0).filter(|(_, region)| holds(**region));
        regions.fold(0, |set, (number, _): (u32, _)| set | 1 << number)
    }

    /// Returns the regions that have at least one cell in a range.
    fn met(&self, range: IntRange) -> RegionSet {
        self.which(|region| !region.is_apart(range))
    }

    /// Returns true if all adjoints in a range are +0, given that all adjoints in the regions `now` are +0.
    fn are_zero(&self, range: IntRange, now: RegionSet) -> bool {
        let ends = self.0.first().zip(self.0.last());
        let is_inside = ends.is_some_and(|(first, last)| range.is_within(first.hull(*last)));
        is_inside && self.met(range) & !now == 0
    }

    /// Returns the regions whose adjoints are +0 after a store to a range of addresses.
    fn stored(&self, range: IntRange, zero: Zero, now: RegionSet) -> RegionSet {
        match zero {
            // A store at a literal address fills the region that consists of its cell.
            Zero::Positive if range.low == range.high => now | self.which(|region| region == range),
            Zero::Positive => now,
            Zero::Either | Zero::Unknown => now & !self.met(range),
        }
    }
}

struct ZeroAnalysis<'f> {
    function: &'f SsaFunction,
    regions: Regions,
    zeroing: Vec<ZeroingLoop>,
    zeros: Vec<Zero>,
    /// The number of uses of each value.
    uses: Vec<u32>,
    /// For each block, the regions whose adjoints are +0 at its start; `None` until the analysis reaches the block.
    at_start: Vec<Option<RegionSet>>,
}

impl ZeroAnalysis<'_> {
    /// Transfers the facts over a block and along its edges. Returns true if a fact was withdrawn, or if the analysis
    /// reached a block for the first time.
    fn block(&mut self, number: u32) -> bool {
        let Some(Some(mut now)) = self.at_start.get(number as usize).copied() else { return false };
        let function = self.function;
        let Some(block) = function.blocks.get(number as usize) else { return false };
        let mut has_changed = false;
        let mut checked = HashSet::new();
        for &value in &block.ops {
            let Some(op) = function.op(value) else { continue };
            if op.kind.facts().result == Some(Class::Real) {
                let zero = if op.guard.is_some() { Zero::Unknown } else { self.zero(op, now, &checked) };
                has_changed |= self.weaken(value, zero);
            }
            note_check(op, &mut checked);
            now = after(function, &self.regions, &self.zeros, value, now);
        }
        for jump in block.end.jumps() {
            let zeroed = self.zeroing.iter().filter(|found| (found.block, found.exit) == (number, jump.to));
            let zeroed = zeroed.flat_map(|found| &found.stores);
            let zeroed =
                zeroed.fold(0, |set, (_, range)| set | self.regions.which(|region| region.is_within(*range)));
            let slot = &mut self.at_start[jump.to as usize];
            let known = slot.map_or(now | zeroed, |known| known & (now | zeroed));
            has_changed |= slot.replace(known) != Some(known);
            let parameters = function.blocks.get(jump.to as usize).map_or(&[][..], |to| &to.parameters);
            for (&parameter, &argument) in parameters.iter().zip(&jump.arguments) {
                has_changed |= self.weaken(parameter, self.zeros[argument.0 as usize]);
            }
        }
        has_changed
    }

    /// Weakens the assumption about a value to `zero`, unless the assumption is already weaker. Returns true if the
    /// assumption changed.
    fn weaken(&mut self, value: SsaValue, zero: Zero) -> bool {
        let Some(slot) = self.zeros.get_mut(value.0 as usize) else { return false };
        let now = zero.max(*slot);
        std::mem::replace(slot, now) != now
    }

    /// Returns the facts about an operation's result. `checked` has the values that earlier checks of the block require
    /// to be finite.
    fn zero(&self, op: &SsaOp, now: RegionSet, checked: &HashSet<SsaValue>) -> Zero {
        let of = |value: SsaValue| self.zeros.get(value.0 as usize).copied().unwrap_or(Zero::Unknown);
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Real(0), _) => Zero::Positive,
            (OpKind::Load(Space::Adjoints), &[address]) => {
                let are_zero = self.regions.are_zero(FunctionRanges(self.function).range(address), now);
                if are_zero { Zero::Positive } else { Zero::Unknown }
            }
            (OpKind::Neg, &[a]) => of(a).max(Zero::Either),
            (OpKind::Mul, &[a, b]) => {
                let is_zero = |zero: SsaValue, factor: SsaValue| {
                    of(zero) != Zero::Unknown
                        && (of(factor) != Zero::Unknown || self.can_vanish(factor, checked, MOST_DEPTH))
                };
                if is_zero(a, b) || is_zero(b, a) { Zero::Either } else { Zero::Unknown }
            }
            (OpKind::Add, &[a, b]) => match (of(a), of(b)) {
                (Zero::Unknown, _) | (_, Zero::Unknown) => Zero::Unknown,
                (a, b) => a.min(b),
            },
            (OpKind::Sub, &[a, b]) => match (of(a), of(b)) {
                (Zero::Unknown, _) | (_, Zero::Unknown) => Zero::Unknown,
                (a, _) => a,
            },
            (OpKind::Choose, &[_, yes, no]) => of(yes).max(of(no)),
            _ => Zero::Unknown,
        }
    }
}

impl ZeroAnalysis<'_> {
    /// Returns true if a product with this factor can be folded. The folded check of the product must not be the reason
    /// why another pass dropped a check of the factor.
    fn can_vanish(&self, factor: SsaValue, checked: &HashSet<SsaValue>, depth: u32) -> bool {
        let function = self.function;
        let Some(op) = function.op(factor) else {
            return matches!(function.definition(factor), Some(Definition::Parameter(_)));
        };
        let is_cell = matches!(op.kind, OpKind::Load(Space::Reals | Space::Adjoints | Space::StartReals));
        if is_cell || checked.contains(&factor) || is_finite_literal(function, factor) {
            return true;
        }
        let is_sole =
            self.uses.get(factor.0 as usize) == Some(&1) && op.guard.is_none() && !op.kind.facts().is_placed;
        let mut operands = op.operands.iter().zip(op.kind.facts().operands);
        is_sole
            && depth > 0
            && operands
                .all(|(&value, &class)| class == Class::Int || self.can_vanish(value, checked, depth - 1))
    }
}

/// Records a real that a check requires to be finite.
fn note_check(op: &SsaOp, checked: &mut HashSet<SsaValue>) {
    if let (OpKind::RequireAdmitted, &[real], None) = (op.kind, op.operands.as_slice(), op.guard) {
        checked.insert(real);
    }
}

/// Returns the regions whose adjoints are +0 after an operation.
fn after(
    function: &SsaFunction,
    regions: &Regions,
    zeros: &[Zero],
    value: SsaValue,
    now: RegionSet,
) -> RegionSet {
    let Some((address, stored)) = store(function, value) else { return now };
    let zero = zeros.get(stored.0 as usize).copied().unwrap_or(Zero::Unknown);
    regions.stored(FunctionRanges(function).range(address), zero, now)
}

/// Returns the number of uses of each value, apart from finiteness checks.
fn uses(function: &SsaFunction) -> Vec<u32> {
    let mut uses = vec![0_u32; function.definitions.len()];
    let mut note = |value: SsaValue| uses.get_mut(value.0 as usize).into_iter().for_each(|uses| *uses += 1);
    for block in &function.blocks {
        let ops = block.ops.iter().filter_map(|&value| function.op(value));
        for op in ops.filter(|op| op.kind != OpKind::RequireAdmitted) {
            op.operands.iter().chain(&op.guard).for_each(|&value| note(value));
        }
        block.end.value().into_iter().for_each(&mut note);
        block.end.jumps().flat_map(|jump| &jump.arguments).for_each(|&value| note(value));
    }
    uses
}

/// The result of the analysis.
struct Found {
    zeros: Vec<Zero>,
    at_start: Vec<Option<RegionSet>>,
    regions: Regions,
}

/// Returns true if a sum was replaced by the content of a cell.
fn is_cell(function: &SsaFunction, sum: SsaValue, by: SsaValue) -> bool {
    sum != by && function.op(by).is_some_and(|op| op.kind == OpKind::Load(Space::Adjoints))
}

/// Replaces values that are +0 by a literal, and folds sums with zeros. Drops checks of zeros, and stores of +0 to
/// cells that hold +0 already.
fn rewrite(function: &mut SsaFunction, order: &[u32], found: &Found) {
    let is_never_negative_zero = never_negative_zero(function);
    let is_never_negative = |value: SsaValue| is_never_negative_zero.get(value.0 as usize) == Some(&true);
    let zero = |value: SsaValue| found.zeros.get(value.0 as usize).copied().unwrap_or(Zero::Unknown);
    let [literal, no] = [OpKind::Real(0), OpKind::Int(0)].map(|kind| function.define(kind, &[]));
    let mut replacements = Replacements::of(function);
    for &number in order {
        let Some(mut now) = found.at_start.get(number as usize).copied().flatten() else { continue };
        let SsaBlock { ops, parameters, .. } = &mut function.blocks[number as usize];
        let (ops, parameters) = (std::mem::take(ops), parameters.clone());
        for value in parameters.into_iter().filter(|&value| function.class(value) == Some(Class::Real)) {
            if zero(value) == Zero::Positive {
                replacements.replace(value, literal);
            }
        }
        let mut kept = Vec::with_capacity(ops.len());
        for value in ops {
            let before = now;
            now = after(function, &found.regions, &found.zeros, value, now);
            let Some(op) = function.op(value) else { continue };
            let by = match (op.kind, op.operands.as_slice()) {
                (OpKind::Real(_), _) => None,
                (kind, _) if kind.facts().result == Some(Class::Real) && zero(value) == Zero::Positive => {
                    Some(literal)
                }
                (OpKind::Add | OpKind::Sub, &[a, b]) if zero(b) != Zero::Unknown && is_never_negative(a) => {
                    Some(a)
                }
                (OpKind::Add, &[a, b]) if zero(a) != Zero::Unknown && is_never_negative(b) => Some(b),
                (OpKind::Test(Order::Ne), &[a, b])
                    if [a, b].iter().all(|&value| zero(value) != Zero::Unknown) =>
                {
                    Some(no)
                }
                (OpKind::RequireAdmitted, &[real]) if zero(real) != Zero::Unknown => continue,
                // A cell's content plus 0 needs no check.
                (OpKind::RequireAdmitted, &[real]) if is_cell(function, real, replacements.find(real)) => {
                    continue;
                }
                (OpKind::Store(Space::Adjoints), &[address, stored]) if zero(stored) == Zero::Positive => {
                    if found.regions.are_zero(FunctionRanges(function).range(address), before) {
                        continue;
                    }
                    None
                }
                _ => None,
            };
            match by.filter(|_| function.op(value).is_some_and(|op| op.guard.is_none())) {
                Some(by) => replacements.replace(value, by),
                None => kept.push(value),
            }
        }
        function.blocks[number as usize].ops = kept;
    }
    if let Some(entry) = function.blocks.first_mut() {
        entry.ops.splice(0..0, [literal, no]);
    }
    replacements.apply(function);
}
