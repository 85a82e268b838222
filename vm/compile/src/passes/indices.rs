//! Indices that count with a loop: that which the last round, or the first one, asks for is the greatest, so it is looked at once, before the loop.
//! Of loops only whose rounds are one block. What ranges say of an index goes with the check, so nothing that asks for ranges comes later.
//!
//! Counting up from 0, a loop makes a round for each number below n, but one at least; counting down from n, one for each down to 0. So all
//! numbers are below a length if the greater of n and 1, or n, less 1 is an index below it, and the check fails only where one of a round would: C text
//! has no interpreter to ask.

use std::collections::HashMap;

use reviver_isa::arith::Order;

use super::numbering::negated;
use super::replacing::Replacements;
use super::small_loop::{SmallLoop, edit, entries};
use crate::form::{Jump, SsaEnd, SsaForm};
use crate::op::{OpKind, SsaOp, SsaValue};

/// Looks at them before their loops.
pub(super) fn look_once(form: &mut SsaForm) {
    let entries = entries(form);
    let mut replacements = Replacements::of(form);
    for header in 0..form.blocks.len() as u32 {
        let Some(found) = SmallLoop::at(form, &entries, header) else { continue };
        if let Some(counter) = Counter::of(form, &found) {
            counter.look_once(form, &found, &mut replacements);
        }
    }
    replacements.apply(form);
}

/// A number that is each from 0 to a bound - 1 once, in one round of a loop each, up or down.
struct Counter {
    number: SsaValue,
    bound: SsaValue,
    /// Whether there is a round of 0 whatever the bound is.
    goes_up: bool,
}

impl Counter {
    fn of(form: &SsaForm, found: &SmallLoop) -> Option<Counter> {
        let block = |number: u32| form.blocks.get(number as usize);
        let SsaEnd::Branch { condition, yes, .. } = &block(found.body)?.end else { return None };
        let again = if found.latch == found.body { found.header } else { found.latch };
        let test = plain(form, *condition)?;
        let (OpKind::IntTest(order), &[next, bound]) = (test.kind, test.operands.as_slice()) else {
            return None;
        };
        let order = if yes.to == again { order } else { negated(order) };
        let step = plain(form, next)?;
        let &[counted, by] = step.operands.as_slice() else { return None };
        let place = block(found.header)?.parameters.iter().position(|&parameter| parameter == counted)?;
        let passed = |from: u32| {
            let jumps = block(from)?.end.jumps().filter(|jump| jump.to == found.header);
            let mut passed = jumps.map(|jump: &Jump| jump.arguments.get(place).copied());
            passed.next()?.filter(|_| passed.next().is_none())
        };
        let first = passed(found.before)?;
        let is_int = |value: SsaValue, literal: i64| {
            plain(form, value).is_some_and(|op| op.kind == OpKind::Int(literal))
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
        (!is_made_in(form, found, counter.bound)).then_some(counter)
    }

    fn look_once(&self, form: &mut SsaForm, found: &SmallLoop, replacements: &mut Replacements) {
        let body = form.blocks.get(found.body as usize).map(|block| block.ops.clone()).unwrap_or_default();
        if !body.iter().any(|&value| self.length(form, found, value).is_some()) {
            return;
        }
        let (bound, mut looks) = self.rounds(form);
        let mut looked_at: HashMap<SsaValue, SsaValue> = HashMap::new();
        let mut kept = Vec::with_capacity(body.len());
        for value in body {
            match self.length(form, found, value) {
                Some(length) => {
                    let look = || form.define(OpKind::Index { offset: -1 }, &[bound, length]);
                    looked_at.entry(length).or_insert_with(look);
                    replacements.replace(value, self.number);
                }
                None => kept.push(value),
            }
        }
        let mut checks: Vec<SsaValue> = looked_at.into_values().collect();
        checks.sort_unstable();
        looks.extend(checks);
        edit(form, found.body, |block| block.ops = kept);
        edit(form, found.before, |block| block.ops.extend(looks));
    }

    /// How many rounds there are, and what that is made by.
    fn rounds(&self, form: &mut SsaForm) -> (SsaValue, Vec<SsaValue>) {
        if !self.goes_up {
            return (self.bound, Vec::new());
        }
        let one = form.define(OpKind::Int(1), &[]);
        let is_more = form.define(OpKind::IntTest(Order::Gt), &[self.bound, one]);
        let rounds = form.define(OpKind::IntChoose, &[is_more, self.bound, one]);
        (rounds, vec![one, is_more, rounds])
    }

    /// What an operation looks whether the number is below, if that is all it does and the same in each round.
    fn length(&self, form: &SsaForm, found: &SmallLoop, value: SsaValue) -> Option<SsaValue> {
        let op = plain(form, value).filter(|op| op.kind == OpKind::Index { offset: 0 })?;
        let &[index, length] = op.operands.as_slice() else { return None };
        (index == self.number && !is_made_in(form, found, length)).then_some(length)
    }
}

/// An operation that isn't guarded.
fn plain(form: &SsaForm, value: SsaValue) -> Option<&SsaOp> {
    form.op(value).filter(|op| op.guard.is_none())
}

/// Whether a round makes a value.
fn is_made_in(form: &SsaForm, found: &SmallLoop, value: SsaValue) -> bool {
    let mut blocks = found.blocks().filter_map(|block| form.blocks.get(block as usize));
    blocks.any(|block| block.parameters.contains(&value) || block.ops.contains(&value))
}
