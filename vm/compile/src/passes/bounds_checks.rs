//! Bounds-check hoisting: checks the largest index of a counted loop once, before the loop. The pass transforms only
//! loops with a body of one block. It removes the checks from which ranges were inferred, so no later pass may use
//! ranges.
//!
//! In a loop that counts up from 0 to n, the indices are 0 to max(n, 1) - 1, because the body is executed at least
//! once. In a loop that counts down from n, they are n - 1 to 0. All indices are less than a length if the largest
//! index is. A hoisted check fails only if the check of an iteration would fail. C text relies on this, because no
//! interpreter repeats a failed run of C text. An index that is the same in all iterations is also checked before the
//! loop.

use std::collections::HashMap;

use reviver_isa::arith::Order;

use super::replacements::Replacements;
use super::small_loop::{SmallLoop, edit, entries};
use super::value_numbering::negated;
use crate::function::{Jump, SsaEnd, SsaFunction};
use crate::op::{OpKind, SsaOp, SsaValue};

/// Hoists the bounds checks of counted loops.
pub(super) fn hoist(function: &mut SsaFunction) {
    let entries = entries(function);
    let mut replacements = Replacements::of(function);
    for header in 0..function.blocks.len() as u32 {
        let Some(found) = SmallLoop::at(function, &entries, header) else { continue };
        hoist_invariant(function, &found);
        if let Some(counter) = Counter::of(function, &found) {
            counter.hoist(function, &found, &mut replacements);
        }
    }
    replacements.apply(function);
}

/// Moves checks of loop-invariant indices before a loop. A run gets no additional checks, because the loop's body is
/// executed at least once.
fn hoist_invariant(function: &mut SsaFunction, found: &SmallLoop) {
    let body = function.blocks.get(found.body as usize).map(|block| block.ops.as_slice()).unwrap_or_default();
    let is_invariant = |value: &SsaValue| {
        let op = plain(function, *value).filter(|op| matches!(op.kind, OpKind::Index { .. }));
        op.is_some_and(|op| !op.operands.iter().any(|&operand| is_made_in(function, found, operand)))
    };
    let (hoisted, kept): (Vec<SsaValue>, Vec<SsaValue>) = body.iter().copied().partition(is_invariant);
    if !hoisted.is_empty() {
        edit(function, found.body, |block| block.ops = kept);
        edit(function, found.before, |block| block.ops.extend(hoisted));
    }
}

/// Loop counter that takes each value from 0 to `bound` - 1 once, in ascending or descending order.
struct Counter {
    number: SsaValue,
    bound: SsaValue,
    /// True if the loop counts up. Such a loop executes the iteration for 0 even if `bound` is less than 1.
    goes_up: bool,
}

impl Counter {
    fn of(function: &SsaFunction, found: &SmallLoop) -> Option<Counter> {
        let block = |number: u32| function.blocks.get(number as usize);
        let SsaEnd::Branch { condition, yes, .. } = &block(found.body)?.end else { return None };
        let again = if found.latch == found.body { found.header } else { found.latch };
        let test = plain(function, *condition)?;
        let (OpKind::IntTest(order), &[next, bound]) = (test.kind, test.operands.as_slice()) else {
            return None;
        };
        let order = if yes.to == again { order } else { negated(order) };
        let step = plain(function, next)?;
        let &[counted, by] = step.operands.as_slice() else { return None };
        let place = block(found.header)?.parameters.iter().position(|&parameter| parameter == counted)?;
        let passed = |from: u32| {
            let jumps = block(from)?.end.jumps().filter(|jump| jump.to == found.header);
            let mut passed = jumps.map(|jump: &Jump| jump.arguments.get(place).copied());
            passed.next()?.filter(|_| passed.next().is_none())
        };
        let first = passed(found.before)?;
        let is_int = |value: SsaValue, literal: i64| {
            plain(function, value).is_some_and(|op| op.kind == OpKind::Int(literal))
        };
        if passed(found.latch)? != next || !is_int(by, 1) {
            return None;
        }
        let counter = match (step.kind, order) {
            (OpKind::IntAdd, Order::Lt) if is_int(first, 0) => {
                Counter { number: counted, bound, goes_up: true }
            }
            (OpKind::IntSub, Order::Gt) if is_int(bound, 0) => {
                Counter { number: next, bound: first, goes_up: false }
            }
            _ => return None,
        };
        (!is_made_in(function, found, counter.bound)).then_some(counter)
    }

    fn hoist(&self, function: &mut SsaFunction, found: &SmallLoop, replacements: &mut Replacements) {
        let body =
            function.blocks.get(found.body as usize).map(|block| block.ops.clone()).unwrap_or_default();
        if !body.iter().any(|&value| self.length(function, found, value).is_some()) {
            return;
        }
        let (bound, mut looks) = self.iterations(function);
        let mut looked_at: HashMap<SsaValue, SsaValue> = HashMap::new();
        let mut kept = Vec::with_capacity(body.len());
        for value in body {
            match self.length(function, found, value) {
                Some(length) => {
                    let look = || function.define(OpKind::Index { offset: -1 }, &[bound, length]);
                    looked_at.entry(length).or_insert_with(look);
                    replacements.replace(value, self.number);
                }
                None => kept.push(value),
            }
        }
        let mut checks: Vec<SsaValue> = looked_at.into_values().collect();
        checks.sort_unstable();
        looks.extend(checks);
        edit(function, found.body, |block| block.ops = kept);
        edit(function, found.before, |block| block.ops.extend(looks));
    }

    /// Returns the number of iterations, and the operations that compute it.
    fn iterations(&self, function: &mut SsaFunction) -> (SsaValue, Vec<SsaValue>) {
        if !self.goes_up {
            return (self.bound, Vec::new());
        }
        let one = function.define(OpKind::Int(1), &[]);
        let is_more = function.define(OpKind::IntTest(Order::Gt), &[self.bound, one]);
        let iteration_count = function.define(OpKind::IntChoose, &[is_more, self.bound, one]);
        (iteration_count, vec![one, is_more, iteration_count])
    }

    /// Returns the length of an index operation that only checks the counter against a loop-invariant length; `None`
    /// for any other operation.
    fn length(&self, function: &SsaFunction, found: &SmallLoop, value: SsaValue) -> Option<SsaValue> {
        let op = plain(function, value).filter(|op| op.kind == OpKind::Index { offset: 0 })?;
        let &[index, length] = op.operands.as_slice() else { return None };
        (index == self.number && !is_made_in(function, found, length)).then_some(length)
    }
}

/// Returns the unguarded operation that defines a value.
fn plain(function: &SsaFunction, value: SsaValue) -> Option<&SsaOp> {
    function.op(value).filter(|op| op.guard.is_none())
}

/// Returns true if a value is defined in the loop.
fn is_made_in(function: &SsaFunction, found: &SmallLoop, value: SsaValue) -> bool {
    let mut blocks = found.blocks().filter_map(|block| function.blocks.get(block as usize));
    blocks.any(|block| block.parameters.contains(&value) || block.ops.contains(&value))
}
