//! Global value numbering (GVN): replaces an operation by an equal one that is executed earlier on every path. The pass
//! also uses facts that earlier checks and branches establish. Arithmetic identities are in [`super::simplification`].
//!
//! P. Briggs, K. Cooper and L. T. Simpson, "Value numbering" (1997), along the dominator tree.

use std::collections::{HashMap, HashSet};

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use super::ranges::KnownRanges;
use super::replacements::each_value;
use super::signed_zeros::never_negative_zero;
use super::simplification::{
    Known, Simplified, finite_operands, is_finite_literal, is_made_of_finite, simplified,
};
use crate::function::{Definition, NumberKinds, SsaEnd, SsaFunction};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::{dominators, drop_unreachable, reached};
use crate::range::IntRange;

/// Applies global value numbering to a function.
pub(super) fn number(function: &mut SsaFunction) {
    number_with(function, &HashMap::new());
}

/// Ranges of the integer arguments of an edge, by its source and target blocks.
pub(super) type PassedRanges = HashMap<(u32, u32), Vec<IntRange>>;

/// Applies global value numbering, given the ranges of some values. Returns the ranges of the arguments of each
/// unconditional jump.
pub(super) fn number_with(function: &mut SsaFunction, known: &HashMap<SsaValue, IntRange>) -> PassedRanges {
    let dominators = dominators(function);
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); function.blocks.len()];
    let order = reached(function);
    for &block in &order {
        if let Some(above) = dominators[block as usize] {
            children[above as usize].push(block);
        }
    }
    let entered_by = sole_entries(function, &order);
    let mut numbering = Numbering {
        replacements: (0..function.definitions.len() as u32).map(SsaValue).collect(),
        is_never_negative_zero: never_negative_zero(function),
        function,
        made: HashMap::new(),
        ranges: known.clone(),
        passed: PassedRanges::new(),
        finite: HashSet::new(),
        undo: Vec::new(),
        literals: Vec::new(),
    };
    numbering.walk(&children, &entered_by);
    let (literals, passed) = (std::mem::take(&mut numbering.literals), std::mem::take(&mut numbering.passed));
    if let Some(entry) = function.blocks.first_mut() {
        entry.ops.splice(0..0, literals);
    }
    drop_unreachable(function);
    passed
}

/// Returns the incoming edge of each block that has exactly one: the source block, and a flag. The flag is true for the
/// source's first edge, which is taken if the source's condition holds.
fn sole_entries(function: &SsaFunction, order: &[u32]) -> Vec<Option<(u32, bool)>> {
    let mut entries: Vec<(u32, Option<(u32, bool)>)> = vec![(0, None); function.blocks.len()];
    for &from in order {
        for (n, jump) in function.blocks[from as usize].end.jumps().enumerate() {
            let (edges, entry) = &mut entries[jump.to as usize];
            *edges += 1;
            *entry = Some((from, n == 0));
        }
    }
    entries.into_iter().map(|(edges, entry)| entry.filter(|_| edges == 1)).collect()
}

/// Fact that holds only in a block's subtree of the dominator tree, with the data to remove the fact after the subtree.
enum Note {
    Made(SsaOp),
    Replaced(SsaValue, SsaValue),
    Finite(SsaValue),
    Range(SsaValue, Option<IntRange>),
}

struct Numbering<'f> {
    function: &'f mut SsaFunction,
    /// Present replacement of each value.
    replacements: Vec<SsaValue>,
    /// Operations that were executed on every path to this place.
    made: HashMap<SsaOp, SsaValue>,
    finite: HashSet<SsaValue>,
    /// Ranges of values, known from branches, checks and other facts.
    ranges: HashMap<SsaValue, IntRange>,
    passed: PassedRanges,
    /// For each value that existed before the pass, true if it is never -0.
    is_never_negative_zero: Vec<bool>,
    undo: Vec<Note>,
    /// Literals that the pass has added.
    literals: Vec<SsaValue>,
}

impl KnownRanges for Numbering<'_> {
    fn function(&self) -> &SsaFunction {
        self.function
    }
    fn noted_range(&self, value: SsaValue) -> Option<IntRange> {
        self.ranges.get(&value).or_else(|| self.function.ranges.get(&value)).copied()
    }
}

impl Known for Numbering<'_> {
    fn numbers(&self) -> NumberKinds {
        self.function.numbers
    }
    fn op(&self, value: SsaValue) -> Option<&SsaOp> {
        self.function.op(value)
    }
    fn is_finite(&self, value: SsaValue) -> bool {
        self.is_finite_within(value, MOST_DEPTH)
    }
    fn is_never_negative_zero(&self, value: SsaValue) -> bool {
        self.is_never_negative_zero.get(value.0 as usize).copied().unwrap_or(false)
    }
}

/// Upper bound on the depth of operations that are analyzed for finiteness.
const MOST_DEPTH: u32 = 4;

impl Numbering<'_> {
    fn is_finite_within(&self, value: SsaValue, depth: u32) -> bool {
        if self.finite.contains(&value) || is_finite_literal(self.function, value) {
            return true;
        }
        depth > 0
            && is_made_of_finite(self.function, value, |operand| self.is_finite_within(operand, depth - 1))
    }
}

impl Numbering<'_> {
    /// Traverses the dominator tree, each block after its dominator.
    fn walk(&mut self, children: &[Vec<u32>], entered_by: &[Option<(u32, bool)>]) {
        let mut path: Vec<(u32, usize, usize)> = Vec::new();
        let mut next = Some(0_u32);
        loop {
            if let Some(block) = next.take() {
                let notes = self.undo.len();
                if let Some((from, holds)) = entered_by[block as usize] {
                    self.entered(from, holds);
                }
                self.block(block);
                path.push((block, 0, notes));
            }
            let Some((block, child, notes)) = path.last_mut() else { return };
            match children[*block as usize].get(*child) {
                Some(&below) => {
                    *child += 1;
                    next = Some(below);
                }
                None => {
                    let notes = *notes;
                    path.pop();
                    self.take_back(notes);
                }
            }
        }
    }

    fn take_back(&mut self, notes: usize) {
        for note in self.undo.drain(notes..).rev() {
            match note {
                Note::Made(op) => _ = self.made.remove(&op),
                Note::Replaced(value, before) => self.replacements[value.0 as usize] = before,
                Note::Finite(value) => _ = self.finite.remove(&value),
                Note::Range(value, Some(before)) => _ = self.ranges.insert(value, before),
                Note::Range(value, None) => _ = self.ranges.remove(&value),
            }
        }
    }

    /// Records the condition of the branch that is a block's only incoming edge.
    fn entered(&mut self, from: u32, holds: bool) {
        if let SsaEnd::Branch { condition, .. } = self.function.blocks[from as usize].end {
            self.assume(condition, holds);
        }
    }

    fn find(&self, value: SsaValue) -> SsaValue {
        let mut value = value;
        while let Some(&next) = self.replacements.get(value.0 as usize).filter(|next| **next != value) {
            value = next;
        }
        value
    }

    fn stand_for(&mut self, value: SsaValue, by: SsaValue) {
        let (value, by) = (self.find(value), self.find(by));
        if value != by
            && let Some(slot) = self.replacements.get_mut(value.0 as usize)
        {
            self.undo.push(Note::Replaced(value, *slot));
            *slot = by;
        }
    }

    fn is_known_finite(&mut self, value: SsaValue) {
        let value = self.find(value);
        if !self.finite.insert(value) {
            return;
        }
        self.undo.push(Note::Finite(value));
        let Some(op) = self.function.op(value).filter(|op| op.guard.is_none()) else { return };
        let parts = finite_operands(op).to_vec();
        parts.into_iter().for_each(|part| self.is_known_finite(part));
    }

    /// Records that a condition holds, or doesn't hold, in all code that the current block dominates.
    fn assume(&mut self, condition: SsaValue, holds: bool) {
        let condition = self.find(condition);
        let Some(op) = self.function.op(condition).cloned() else {
            if !holds {
                let zero = self.literal(OpKind::Int(0));
                self.stand_for(condition, zero);
            }
            return;
        };
        let (kind, operands) = (op.kind, op.operands);
        if let (OpKind::IntTest(order), &[a, b]) = (kind, operands.as_slice()) {
            let known = self.literal(OpKind::Int(holds.into()));
            self.stand_for(condition, known);
            self.remember_opposite(OpKind::IntTest(negated(order)), [a, b], holds);
            let order = if holds { order } else { negated(order) };
            if order == Order::Eq {
                self.are_equal(a, b);
            }
            self.compare(order, a, b);
        } else if let (OpKind::Test(order), &[a, b]) = (kind, operands.as_slice()) {
            let known = self.literal(OpKind::Int(holds.into()));
            self.stand_for(condition, known);
            // A NaN isn't below, equal or above.
            if self.is_exact() || self.is_finite(a) && self.is_finite(b) {
                self.remember_opposite(OpKind::Test(negated(order)), [a, b], holds);
            }
        } else if let (OpKind::IntAnd, true, &[a, b]) = (kind, holds, operands.as_slice()) {
            // Both operands must be conditions, each 0 or 1.
            if self.is_condition(a) && self.is_condition(b) {
                self.assume(a, true);
                self.assume(b, true);
            }
        } else if !holds && !matches!(kind, OpKind::Int(_)) {
            let zero = self.literal(OpKind::Int(0));
            self.stand_for(condition, zero);
        }
    }

    /// Records that two integers are in this order.
    fn compare(&mut self, order: Order, a: SsaValue, b: SsaValue) {
        let (of_a, of_b) = (self.range(a), self.range(b));
        let below = |high: i64| IntRange { high, ..IntRange::ALL };
        let above = |low: i64| IntRange { low, ..IntRange::ALL };
        let (for_a, for_b) = match order {
            Order::Eq => (of_b, of_a),
            Order::Ne => return,
            Order::Lt => (below(of_b.high.saturating_sub(1)), above(of_a.low.saturating_add(1))),
            Order::Le => (below(of_b.high), above(of_a.low)),
            Order::Gt => (above(of_b.low.saturating_add(1)), below(of_a.high.saturating_sub(1))),
            Order::Ge => (above(of_b.low), below(of_a.high)),
        };
        self.assume_range(a, for_a);
        self.assume_range(b, for_b);
    }

    /// Records the range of an integer for all code that the current block dominates. If the range has only one number,
    /// a literal of this number replaces the integer.
    fn assume_range(&mut self, value: SsaValue, range: IntRange) {
        let value = self.find(value);
        let before = self.range(value);
        let now = before.common(range);
        if now == before || self.int(value).is_some() {
            return;
        }
        self.undo.push(Note::Range(value, self.ranges.get(&value).copied()));
        self.ranges.insert(value, now);
        if now.low == now.high {
            let literal = self.literal(OpKind::Int(now.low));
            self.stand_for(value, literal);
        }
    }

    /// Records the known result of the negated comparison, so that later operations can reuse it.
    fn remember_opposite(&mut self, kind: OpKind, operands: [SsaValue; 2], holds: bool) {
        let opposite = SsaOp { kind, operands: operands.into_iter().collect(), guard: None };
        let known = self.literal(OpKind::Int((!holds).into()));
        match self.made.get(&opposite).copied() {
            Some(made) => self.stand_for(made, known),
            None => {
                self.made.insert(opposite.clone(), known);
                self.undo.push(Note::Made(opposite));
            }
        }
    }

    fn is_condition(&self, value: SsaValue) -> bool {
        self.function.op(value).is_some_and(|op| matches!(op.kind, OpKind::IntTest(_) | OpKind::Test(_)))
    }

    /// Records that two integers are equal. If one of them is a literal, the literal replaces the other integer.
    fn are_equal(&mut self, a: SsaValue, b: SsaValue) {
        let (a, b) = (self.find(a), self.find(b));
        match (self.int(a), self.int(b)) {
            (None, Some(_)) => self.stand_for(a, b),
            (Some(_), None) => self.stand_for(b, a),
            _ => {}
        }
    }

    fn literal(&mut self, kind: OpKind) -> SsaValue {
        let op = SsaOp { kind, operands: [].into_iter().collect(), guard: None };
        if let Some(&value) = self.made.get(&op) {
            return value;
        }
        let value = SsaValue(self.function.definitions.len() as u32);
        self.function.definitions.push(Definition::Op(op.clone()));
        self.replacements.push(value);
        self.literals.push(value);
        // A literal stays known everywhere, because it is defined in the entry block.
        self.made.insert(op, value);
        value
    }

    fn block(&mut self, number: u32) {
        let ops = std::mem::take(&mut self.function.blocks[number as usize].ops);
        let kept: Vec<SsaValue> = ops.into_iter().filter(|&value| self.is_kept(value)).collect();
        let mut end = self.function.blocks[number as usize].end.clone();
        each_value(&mut end, |value| *value = self.find(*value));
        if let SsaEnd::Branch { condition, yes, no } = &end
            && let Some(holds) = self.int(*condition)
        {
            end = SsaEnd::Jump(if holds != 0 { yes.clone() } else { no.clone() });
        }
        if let SsaEnd::Jump(jump) = &end {
            let ranges = jump.arguments.iter().map(|&value| self.range(value)).collect();
            self.passed.insert((number, jump.to), ranges);
        }
        let block = &mut self.function.blocks[number as usize];
        (block.ops, block.end) = (kept, end);
    }

    /// Simplifies an operation. Returns false if the operation isn't needed at its place.
    fn is_kept(&mut self, value: SsaValue) -> bool {
        let Some(mut op) = self.function.op(value).cloned() else { return true };
        op.operands.iter_mut().chain(&mut op.guard).for_each(|operand| *operand = self.find(*operand));
        match op.guard.and_then(|guard| self.int(guard)) {
            Some(0) => {
                self.replace_unused(value, &op);
                return false;
            }
            Some(_) => op.guard = None,
            None => {}
        }
        // The result of an earlier equal index check is reused without simplification. The index's range may be
        // narrower than at the earlier check. So simplification could give another value, and another address value for
        // the same cell.
        if let Some(&looked_at) = self.made.get(&op).filter(|_| matches!(op.kind, OpKind::Index { .. })) {
            self.stand_for(value, looked_at);
            return false;
        }
        let mut found = simplified(self, &op);
        // If the guard of an operation is 0, its result is arbitrary, so a guarded operation isn't simplified to a
        // value. But a check that always passes is redundant with any guard.
        if op.guard.is_some() && found != Simplified::Nothing {
            found = Simplified::Itself;
        }
        loop {
            op = match found {
                Simplified::Op(kind, operands) => SsaOp { kind, operands, guard: None },
                Simplified::Plus(value, more) => {
                    let operands = [value, self.literal(OpKind::Int(more))].into_iter().collect();
                    SsaOp { kind: OpKind::IntAdd, operands, guard: None }
                }
                _ => break,
            };
            found = simplified(self, &op);
        }
        let by = match found {
            Simplified::Nothing => return false,
            Simplified::Value(by) => Some(by),
            Simplified::Int(literal) => Some(self.literal(OpKind::Int(literal))),
            Simplified::Real(bits) => Some(self.literal(OpKind::Real(bits))),
            Simplified::Op(..) | Simplified::Plus(..) | Simplified::Itself => {
                self.made.get(&op).copied().filter(|_| is_idempotent(op.kind))
            }
        };
        if let Some(by) = by {
            self.stand_for(value, by);
            return false;
        }
        if is_idempotent(op.kind) {
            self.made.insert(op.clone(), value);
            self.undo.push(Note::Made(op.clone()));
        }
        let (kind, operands, is_free) = (op.kind, op.operands.clone(), op.guard.is_none());
        self.function.definitions[value.0 as usize] = Definition::Op(op);
        match (kind, operands.as_slice()) {
            (OpKind::RequireTrue, &[condition]) if is_free => self.assume(condition, true),
            (OpKind::Index { offset }, &[index, length]) if is_free => {
                let high = self.range(length).high.saturating_sub(1).saturating_sub(offset);
                self.assume_range(index, IntRange { low: offset.saturating_neg(), high });
            }
            (OpKind::RequireAdmitted | OpKind::RequireVacant, &[real]) if is_free => {
                self.is_known_finite(real)
            }
            _ => {}
        }
        true
    }

    /// Replaces the result of an operation by a literal 0. The operation's guard is 0, so its result isn't used.
    fn replace_unused(&mut self, value: SsaValue, op: &SsaOp) {
        if let Some(class) = op.kind.facts().result {
            let zero = self.literal(match class {
                Class::Int => OpKind::Int(0),
                Class::Real => OpKind::Real(0),
            });
            self.stand_for(value, zero);
        }
    }
}

/// Returns the negated comparison. For numbers other than NaN, it holds if and only if `order` doesn't hold.
pub(super) fn negated(order: Order) -> Order {
    match order {
        Order::Eq => Order::Ne,
        Order::Ne => Order::Eq,
        Order::Lt => Order::Ge,
        Order::Ge => Order::Lt,
        Order::Le => Order::Gt,
        Order::Gt => Order::Le,
    }
}

/// Returns true if repeating an operation is redundant: the repetition gives the same result, or fails again.
fn is_idempotent(kind: OpKind) -> bool {
    let is_check = matches!(
        kind,
        OpKind::RequireAdmitted | OpKind::RequireVacant | OpKind::RequireTrue | OpKind::RequireApart
    );
    is_check || !kind.facts().is_placed
}
