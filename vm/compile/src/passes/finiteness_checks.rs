//! Finiteness-check sinking: drops a check of a float if, on every path, a later check fails whenever the dropped check
//! would fail. Infinities and NaN persist in sums, differences, products, and in the dividend of quotients. The place
//! of the failure doesn't matter, because the interpreter finds the exact trap. To move checks out of loops, the pass
//! adds checks of loop-carried values at exits. This pass handles no other checks.
//!
//! The pass uses a backward data-flow analysis. A fact about a value holds only for one definition of the value, and
//! not in another iteration of a loop. If a dropped check would fail, another check fails on each path after it. That
//! other check may have been dropped, too. By induction from the end of the run, some kept check fails.

use std::collections::{HashMap, HashSet};

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use super::exit_liveness;
use super::simplification::{finite_operands, is_finite_literal, is_made_of_finite};
use crate::function::{Definition, Jump, SsaBlock, SsaEnd, SsaFunction};
use crate::op::{OpKind, Space, SsaOp, SsaValue};
use crate::order::{dominators, in_loops, reached};

/// Drops checks that later checks imply.
pub(super) fn drop_implied(function: &mut SsaFunction) {
    check_what_is_chosen(function);
    check_at_exits(function);
    let ahead = FiniteAhead::found(function);
    let mut is_needless = HashSet::new();
    for (number, block) in (0..).zip(&function.blocks) {
        let mut finite = ahead.at_end(function, number).unwrap_or_else(|| ValueSet::none_of(function));
        let mut chosen = ChosenValues::default();
        for &value in block.ops.iter().rev() {
            if is_needless_check(function, value, &finite, &chosen) {
                is_needless.insert(value);
            }
            chosen.step(function, value, &finite);
            step(function, value, &mut finite);
        }
    }
    for block in &mut function.blocks {
        block.ops.retain(|value| !is_needless.contains(value));
    }
}

/// Returns true if a check is redundant, because the checks in later code imply that the checked value is finite.
fn is_needless_check(
    function: &SsaFunction,
    value: SsaValue,
    finite: &ValueSet,
    chosen: &ChosenValues,
) -> bool {
    let Some(op) = function.op(value).filter(|op| op.kind == OpKind::RequireAdmitted) else { return false };
    let Some(&real) = op.operands.first() else { return false };
    finite.implies(function, real, MOST_DEPTH)
        || op.guard.is_some_and(|guard| chosen.0.contains(&(guard, real)))
}

/// Pairs of a condition and a value. Later code of the block requires that the value is finite if the condition holds.
#[derive(Default)]
struct ChosenValues(HashSet<(SsaValue, SsaValue)>);

impl ChosenValues {
    /// Transfers the facts backward over an operation.
    fn step(&mut self, function: &SsaFunction, value: SsaValue, finite: &ValueSet) {
        let Some(op) = function.op(value).filter(|op| op.guard.is_none()) else { return };
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Choose, &[condition, yes, _]) if finite.has(value) => {
                self.add(function, condition, yes);
            }
            _ => {}
        }
    }

    fn add(&mut self, function: &SsaFunction, condition: SsaValue, value: SsaValue) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if self.0.insert((condition, value))
                && let Some(op) = function.op(value).filter(|op| op.guard.is_none())
            {
                open.extend(finite_operands(op));
            }
        }
    }
}

/// Returns the real that an unguarded check requires to be finite.
fn checked(function: &SsaFunction, value: SsaValue) -> Option<(SsaValue, OpKind)> {
    let op = function.op(value).filter(|op| op.guard.is_none())?;
    match (op.kind, op.operands.as_slice()) {
        (kind @ (OpKind::RequireAdmitted | OpKind::RequireVacant), &[real]) => Some((real, kind)),
        _ => None,
    }
}

/// Replaces a guarded check of `x` by an unguarded check of `select(c, x, y)`, if the guard is `c`. That is equivalent,
/// because `y` is a cell's content, which is finite.
fn check_what_is_chosen(function: &mut SsaFunction) {
    let mut chosen: HashMap<(SsaValue, SsaValue), SsaValue> = HashMap::new();
    let mut blocks = std::mem::take(&mut function.blocks);
    for block in &mut blocks {
        chosen.clear();
        let mut ops = Vec::with_capacity(block.ops.len());
        for &value in block.ops.iter().rev() {
            let Some(Definition::Op(op)) = function.definitions.get_mut(value.0 as usize) else { continue };
            match (op.kind, op.operands.as_slice(), op.guard) {
                (OpKind::Choose, &[condition, yes, _], None) => {
                    // A check is placed after the first such select, which this backward traversal reaches last.
                    chosen.insert((condition, yes), value);
                    ops.push(value);
                }
                (OpKind::RequireAdmitted, &[real], Some(guard)) => match chosen.get(&(guard, real)) {
                    Some(&choice) => {
                        (op.operands, op.guard) = ([choice].into_iter().collect(), None);
                        let place = ops.iter().rposition(|&other| other == choice).unwrap_or(0);
                        ops.insert(place, value);
                    }
                    None => ops.push(value),
                },
                _ => ops.push(value),
            }
        }
        ops.reverse();
        block.ops = ops;
    }
    function.blocks = blocks;
}

/// Adds checks at exits. A value is checked if the exit stores it, and a loop checks it or passes it to its next
/// iteration.
fn check_at_exits(function: &mut SsaFunction) {
    let is_repeated = in_loops(function, &dominators(function));
    let mut wanted: HashSet<SsaValue> = HashSet::new();
    for (block, _) in function.blocks.iter().zip(&is_repeated).filter(|(_, is_repeated)| **is_repeated) {
        let reals = block.parameters.iter().filter(|&&value| function.class(value) == Some(Class::Real));
        wanted
            .extend(reals.copied().chain(block.ops.iter().filter_map(|&op| Some(checked(function, op)?.0))));
    }
    let mut blocks = std::mem::take(&mut function.blocks);
    for block in blocks.iter_mut().filter(|block| matches!(block.end, SsaEnd::Exit { .. })) {
        let mut stored: Vec<SsaValue> =
            stored_reals(function, block).filter(|value| wanted.contains(value)).collect();
        stored.sort_unstable();
        stored.dedup();
        for real in stored {
            block.ops.push(function.define(OpKind::RequireAdmitted, &[real]));
        }
    }
    function.blocks = blocks;
}

fn stored_reals(function: &SsaFunction, block: &SsaBlock) -> impl Iterator<Item = SsaValue> {
    block.ops.iter().filter_map(|&value| {
        let op = function.op(value)?;
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Store(Space::Reals | Space::Adjoints), &[_, stored]) => Some(stored),
            _ => None,
        }
    })
}

/// Upper bound on the depth of operations that are analyzed for finiteness.
const MOST_DEPTH: u32 = 4;

/// Bit set of values of a function.
#[derive(Clone, PartialEq)]
struct ValueSet(Vec<u64>);

impl ValueSet {
    fn none_of(function: &SsaFunction) -> ValueSet {
        ValueSet(vec![0; function.definitions.len().div_ceil(64)])
    }

    fn has(&self, value: SsaValue) -> bool {
        self.0.get(value.0 as usize / 64).is_some_and(|word| word >> (value.0 % 64) & 1 == 1)
    }

    fn add(&mut self, value: SsaValue) {
        if let Some(word) = self.0.get_mut(value.0 as usize / 64) {
            *word |= 1 << (value.0 % 64);
        }
    }

    fn remove(&mut self, value: SsaValue) {
        if let Some(word) = self.0.get_mut(value.0 as usize / 64) {
            *word &= !(1 << (value.0 % 64));
        }
    }

    /// Returns true if a value is in the set, or is computed from such values by operations that preserve finiteness.
    fn implies(&self, function: &SsaFunction, value: SsaValue, depth: u32) -> bool {
        self.has(value)
            || is_finite_literal(function, value)
            || depth > 0
                && is_made_of_finite(function, value, |operand| self.implies(function, operand, depth - 1))
    }

    /// Returns the intersection of two sets.
    fn common(self, other: &ValueSet) -> ValueSet {
        ValueSet(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }
}

/// For each block, the values that are known to be finite on every path from its start; `None` represents all values.
struct FiniteAhead {
    of: Vec<Option<ValueSet>>,
    /// Exits at which no check is needed, because the caller doesn't read memory at these exits.
    dead_exits: HashSet<u32>,
    /// True if a NaN might keep a loop from ending. Checks are then never moved after the loop.
    may_go_on: bool,
}

/// Returns the exits at which the caller doesn't read memory. Returns no exit if a NaN might keep a loop from ending,
/// because such an exit could be the only exit of the loop.
fn dead_exits(function: &SsaFunction) -> HashSet<u32> {
    if !exit_liveness::terminates_for_all_floats(function) {
        return HashSet::new();
    }
    let seen = exit_liveness::exits(function);
    (0..function.blocks.len() as u32).filter(|number| !seen.contains(number)).collect()
}

/// Upper bound on the total number of words of all sets. If it is exceeded, only facts within a block are used.
const MOST_WORDS: usize = 1 << 22;

impl FiniteAhead {
    fn found(function: &SsaFunction) -> FiniteAhead {
        if function.blocks.len() * function.definitions.len().div_ceil(64) > MOST_WORDS {
            let of = vec![Some(ValueSet(Vec::new())); function.blocks.len()];
            return FiniteAhead { of, dead_exits: HashSet::new(), may_go_on: true };
        }
        // The analysis starts with the assumption that all facts hold. A block that reaches no exit keeps this
        // assumption, and the pass drops no check in such a block.
        let may_go_on = !exit_liveness::terminates_for_all_floats(function);
        let mut ahead = FiniteAhead {
            of: vec![None; function.blocks.len()],
            dead_exits: dead_exits(function),
            may_go_on,
        };
        let order = reached(function);
        let mut has_changed = true;
        while std::mem::replace(&mut has_changed, false) {
            for &number in &order {
                let Some(block) = function.blocks.get(number as usize) else { continue };
                let Some(mut finite) = ahead.at_end(function, number) else { continue };
                block.ops.iter().rev().for_each(|&value| step(function, value, &mut finite));
                has_changed |= ahead.of[number as usize].as_ref() != Some(&finite);
                ahead.of[number as usize] = Some(finite);
            }
        }
        ahead
    }

    /// Returns the values that are known to be finite on every path from the end of a block.
    fn at_end(&self, function: &SsaFunction, block: u32) -> Option<ValueSet> {
        let end = &function.blocks.get(block as usize)?.end;
        if let SsaEnd::Exit { .. } = end {
            return (!self.dead_exits.contains(&block)).then(|| ValueSet::none_of(function));
        }
        if self.may_go_on && matches!(end, SsaEnd::Safepoint { .. }) {
            return Some(ValueSet::none_of(function));
        }
        let edges = end.jumps().filter_map(|jump| self.along(function, jump));
        edges.reduce(|known, other| known.common(&other))
    }

    /// Returns the values that are known to be finite after a jump, in terms of values before the jump.
    fn along(&self, function: &SsaFunction, jump: &Jump) -> Option<ValueSet> {
        let target = self.of.get(jump.to as usize)?.as_ref()?;
        let mut here = target.clone();
        here.0.resize(function.definitions.len().div_ceil(64), 0);
        let parameters = || function.blocks.get(jump.to as usize).into_iter().flat_map(|to| &to.parameters);
        // In a loop, parameters of the previous iteration are other values.
        parameters().for_each(|&parameter| here.remove(parameter));
        let passed = parameters().zip(&jump.arguments);
        for (_, &argument) in passed.filter(|(parameter, _)| target.has(**parameter)) {
            here.add(argument);
        }
        Some(here)
    }
}

/// Transfers the facts backward over an operation.
fn step(function: &SsaFunction, value: SsaValue, finite: &mut ValueSet) {
    if let Some((real, _)) = checked(function, value) {
        finite.add(real);
    }
    if let Some(op) = function.op(value).filter(|op| op.guard.is_none() && finite.has(value)) {
        finite_operands(op).iter().for_each(|&operand| finite.add(operand));
        if let Some(tested) = tested_part(function, op) {
            finite.add(tested);
        }
    }
    finite.remove(value);
}

/// Returns t for `select(t != 0, y, n)` if a finite y implies a finite t. A finite result of the select then implies
/// that t is finite, because either t is 0, or the result is y.
fn tested_part(function: &SsaFunction, choice: &SsaOp) -> Option<SsaValue> {
    let (OpKind::Choose, &[condition, yes, _]) = (choice.kind, choice.operands.as_slice()) else {
        return None;
    };
    let test = function.op(condition).filter(|test| test.kind == OpKind::Test(Order::Ne))?;
    let &[tested, zero] = test.operands.as_slice() else { return None };
    let is_zero = matches!(function.op(zero)?.kind, OpKind::Real(0));
    (is_zero && passes_through(function, tested, yes, MOST_DEPTH)).then_some(tested)
}

/// Returns true if a finite `value` implies that `part` is finite.
fn passes_through(function: &SsaFunction, part: SsaValue, value: SsaValue, depth: u32) -> bool {
    let parts =
        || function.op(value).filter(|op| op.guard.is_none()).map(finite_operands).unwrap_or_default();
    part == value
        || depth > 0 && parts().iter().any(|&operand| passes_through(function, part, operand, depth - 1))
}
