//! Indices that count with a loop: where the first round or the last one asks for the greatest of them, that is looked at once, before the loop.
//! Of loops only whose rounds are one block. What ranges say of an index goes with the check, so nothing that asks for ranges comes later.
//!
//! With i from 0 to n - 1, one round each, all of them are below a length if n - 1 is an index below it. If the loop is left early, the check may
//! fail though no round would have; then the interpreter makes the steps.

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
            (OpKind::IntAdd, Order::Lt) if is_int(first, 0) => Counter { number: counted, bound },
            (OpKind::IntSub, Order::Gt) if is_int(bound, 0) => Counter { number: next, bound: first },
            _ => return None,
        };
        (!is_made_in(form, found, counter.bound)).then_some(counter)
    }

    fn look_once(&self, form: &mut SsaForm, found: &SmallLoop, replacements: &mut Replacements) {
        let body = form.blocks.get(found.body as usize).map(|block| block.ops.clone()).unwrap_or_default();
        let mut looked_at: HashMap<SsaValue, SsaValue> = HashMap::new();
        let mut kept = Vec::with_capacity(body.len());
        for value in body {
            match self.length(form, found, value) {
                Some(length) => {
                    let look = || form.define(OpKind::Index { offset: -1 }, &[self.bound, length]);
                    looked_at.entry(length).or_insert_with(look);
                    replacements.replace(value, self.number);
                }
                None => kept.push(value),
            }
        }
        let mut looks: Vec<SsaValue> = looked_at.into_values().collect();
        looks.sort_unstable();
        edit(form, found.body, |block| block.ops = kept);
        edit(form, found.before, |block| block.ops.extend(looks));
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
