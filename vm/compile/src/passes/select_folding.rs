//! Select folding: replaces `select(x != 0, s + x*f, s)` by `s + x*f` where the bits are equal. Gradient steps emit
//! such selects to skip zero adjoints. Only floats are transformed, because a product in fixed point may overflow. This
//! pass is independent of machine steps.
//!
//! With t = ±0 and a finite f:
//!
//! | | holds where |
//! |---|---|
//! | s + t·f = s | s is never -0 |
//! | s - t·f = s | s is never -0, or t·f is never -0 |
//! | s - (0 - t) = s | always; for any other t it equals s + t |
//!
//! Just before the select, the step may have added to the cell through another address, because both addresses may be
//! equal. The sum in the select then begins with `select(a == b, s + t·g, s)` instead of s, where a and b are the
//! addresses. With t = ±0, both choices of this inner select are equal.
//!
//! A factor f that may be infinite prevents the folding. If a product is added, the sum must have a check that is
//! guarded by the select's condition. Folding removes the guard, so the check may fail in a run in which an unneeded
//! factor overflows.

use std::collections::{HashMap, HashSet, VecDeque};

use reviver_isa::arith::{Elementary, Order};
use reviver_isa::module::RealSystem;

use super::replacements::Replacements;
use super::signed_zeros::never_negative_zero;
use super::simplification::{finite_operands, is_finite_literal};
use crate::function::{Definition, SsaBlock, SsaFunction};
use crate::op::{OpKind, Space, SsaOp, SsaValue};

/// Folds selects whose two choices have the same bits if the condition is 0.
pub(super) fn drop_needless(function: &mut SsaFunction) {
    if matches!(function.numbers.system, RealSystem::Fixed(_)) {
        return;
    }
    let is_never_negative_zero = never_negative_zero(function);
    let mut blocks = std::mem::take(&mut function.blocks);
    let mut choices = NeedlessChoices {
        replacements: Replacements::of(function),
        function,
        is_never_negative_zero,
        finite: HashSet::new(),
        checks: HashMap::new(),
        moved: HashSet::new(),
        loaded: HashMap::new(),
    };
    blocks.iter_mut().for_each(|block| choices.block(block));
    let NeedlessChoices { replacements, .. } = choices;
    function.blocks = blocks;
    replacements.apply(function);
}

/// Upper bound on the depth of operations that are analyzed.
const MOST_DEPTH: u32 = 4;
/// Upper bound on the number of values that are found finite, divided by the number of the block's operations.
const MOST_FINITE: usize = 4;

struct NeedlessChoices<'f> {
    function: &'f mut SsaFunction,
    replacements: Replacements,
    is_never_negative_zero: Vec<bool>,
    /// Values that unguarded checks of this block require to be finite.
    finite: HashSet<SsaValue>,
    /// Guarded checks of this block. The key is the guard and the checked value.
    checks: HashMap<(SsaValue, SsaValue), Vec<SsaValue>>,
    /// Checks of this block that were moved to another place in it.
    moved: HashSet<SsaValue>,
    /// Loads of this block: the space, and the number of stores to this space before the load.
    loaded: HashMap<SsaValue, (Space, u32)>,
}

/// Unconditional replacement of a select.
enum Always {
    Chosen,
    /// s - (0 - t), which replaces the chosen sum s + t. The values are s and t.
    Sum(SsaValue, SsaValue),
}

/// Certainty that an operand of a sum is ±0 if the tested number is ±0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Vanishing {
    Surely,
    /// Certain unless a factor overflows.
    IfFinite,
}

impl NeedlessChoices<'_> {
    fn block(&mut self, block: &mut SsaBlock) {
        self.look_at_checks(block);
        self.look_at_loads(block);
        // A check is moved to the place directly after the folded select.
        let mut ops: Vec<(SsaValue, bool)> = Vec::with_capacity(block.ops.len());
        for &value in &block.ops {
            self.note_check(value);
            match self.choice(value) {
                Some(choice) => self.drop_choice(value, choice, &mut ops),
                None => ops.push((value, false)),
            }
        }
        ops.retain(|&(value, is_moved)| is_moved || !self.moved.contains(&value));
        block.ops = ops.into_iter().map(|(value, _)| value).collect();
    }

    fn look_at_checks(&mut self, block: &SsaBlock) {
        // `clear` takes time proportional to the capacity, which an earlier block may have grown.
        (self.finite, self.checks, self.moved) = Default::default();
        let checks =
            block.ops.iter().filter_map(|&value| self.function.op(value)).filter(|op| op.guard.is_none());
        let is_check = |op: &&SsaOp| matches!(op.kind, OpKind::RequireAdmitted | OpKind::RequireVacant);
        let mut open: VecDeque<SsaValue> =
            checks.filter(is_check).flat_map(|op| op.operands.clone()).collect();
        // Breadth-first search with a bound, because a checked sum may depend on the values of all earlier blocks.
        let most = MOST_FINITE * block.ops.len();
        while let Some(real) = open.pop_front().filter(|_| self.finite.len() < most) {
            if self.finite.insert(real)
                && let Some(op) = self.function.op(real).filter(|op| op.guard.is_none())
            {
                open.extend(finite_operands(op));
            }
        }
    }

    fn look_at_loads(&mut self, block: &SsaBlock) {
        self.loaded = HashMap::new();
        let mut stores: HashMap<Space, u32> = HashMap::new();
        for &value in &block.ops {
            match self.function.op(value).map(|op| op.kind) {
                Some(OpKind::Load(space)) => {
                    let before = stores.get(&space).copied().unwrap_or(0);
                    self.loaded.insert(value, (space, before));
                }
                Some(OpKind::Store(space)) => *stores.entry(space).or_default() += 1,
                _ => {}
            }
        }
    }

    /// Records a guarded check for selects that follow.
    fn note_check(&mut self, value: SsaValue) {
        let Some(op) = self.function.op(value).filter(|op| op.kind == OpKind::RequireAdmitted) else {
            return;
        };
        if let (&[real], Some(guard)) = (op.operands.as_slice(), op.guard) {
            self.checks.entry((guard, real)).or_default().push(value);
        }
    }

    /// Returns the condition and the chosen value of a select that can be folded, with its replacement.
    fn choice(&mut self, value: SsaValue) -> Option<((SsaValue, SsaValue), Always)> {
        let op = self.function.op(value).filter(|op| op.kind == OpKind::Choose && op.guard.is_none())?;
        let &[condition, yes, no] = op.operands.as_slice() else { return None };
        let test = self.function.op(condition).filter(|op| op.kind == OpKind::Test(Order::Ne))?;
        let &[tested, zero] = test.operands.as_slice() else { return None };
        if !self.is_zero(zero) {
            return None;
        }
        let (vanishing, always) = self.always(yes, no, tested)?;
        let is_checked = self.checks.contains_key(&(condition, yes));
        (vanishing == Vanishing::Surely || is_checked).then_some(((condition, yes), always))
    }

    /// Returns the replacement of `select(tested != 0, yes, no)`, if there is one.
    fn always(&mut self, yes: SsaValue, no: SsaValue, tested: SsaValue) -> Option<(Vanishing, Always)> {
        if self.is_zero(no) && self.is_never_negative_zero(yes) {
            return Some((self.vanishing(yes, tested, MOST_DEPTH)?, Always::Chosen));
        }
        let op = self.function.op(yes).filter(|op| op.guard.is_none())?;
        let (kind, &[a, b]) = (op.kind, op.operands.as_slice()) else { return None };
        let part = match kind {
            OpKind::Add | OpKind::Sub if self.is_then(a, no, tested) => b,
            OpKind::Add if self.is_then(b, no, tested) => a,
            _ => return None,
        };
        let vanishing = self.vanishing(part, tested, MOST_DEPTH)?;
        let keeps =
            self.is_never_negative_zero(no) || kind == OpKind::Sub && self.is_never_negative_zero(part);
        match kind {
            _ if keeps => Some((vanishing, Always::Chosen)),
            OpKind::Add if self.is_one(part, tested) => Some((vanishing, Always::Sum(no, part))),
            _ => None,
        }
    }

    /// Replaces a select, and makes the guarded checks of its chosen value unconditional.
    fn drop_choice(
        &mut self,
        choice: SsaValue,
        (chosen, always): ((SsaValue, SsaValue), Always),
        ops: &mut Vec<(SsaValue, bool)>,
    ) {
        let checks = self.checks.remove(&chosen).unwrap_or_default();
        let by = match always {
            Always::Chosen => chosen.1,
            Always::Sum(sum, part) => {
                let zero = self.define(OpKind::Real(0), &[], ops);
                let opposite = self.define(OpKind::Sub, &[zero, part], ops);
                self.define(OpKind::Sub, &[sum, opposite], ops)
            }
        };
        self.replacements.replace(choice, by);
        for check in checks {
            let Some(Definition::Op(op)) = self.function.definitions.get_mut(check.0 as usize) else {
                continue;
            };
            (op.operands, op.guard) = ([by].into_iter().collect(), None);
            // The checked value may be defined only here.
            self.moved.insert(check);
            ops.push((check, true));
        }
    }

    fn define(&mut self, kind: OpKind, operands: &[SsaValue], ops: &mut Vec<(SsaValue, bool)>) -> SsaValue {
        let value = SsaValue(self.function.definitions.len() as u32);
        let operands = operands.iter().copied().collect();
        self.function.definitions.push(Definition::Op(SsaOp { kind, operands, guard: None }));
        ops.push((value, false));
        value
    }

    fn is_zero(&mut self, value: SsaValue) -> bool {
        let value = self.replacements.find(value);
        self.function.op(value).is_some_and(|op| op.kind == OpKind::Real(0))
    }

    /// Returns true if `value` equals `held`, the content of a cell, provided that `tested` is 0. In the simplest case
    /// both are the same value. Otherwise `value` must be `select(a == b, sum, held)`: `a` and `b` are two addresses,
    /// and `sum` adds a multiple of `tested` to the content at the other address.
    fn is_then(&mut self, value: SsaValue, held: SsaValue, tested: SsaValue) -> bool {
        if self.is_one(value, held) {
            return true;
        }
        let op = |choices: &Self, value: SsaValue, kind: OpKind| {
            let op = choices.function.op(value).filter(|op| op.kind == kind && op.guard.is_none())?;
            Some(op.operands.clone())
        };
        let value = self.replacements.find(value);
        let Some(&[condition, sum, otherwise]) = op(self, value, OpKind::Choose).as_deref() else {
            return false;
        };
        let sum = self.replacements.find(sum);
        let summed = [OpKind::Add, OpKind::Sub].into_iter().find_map(|kind| op(self, sum, kind));
        let test = op(self, condition, OpKind::IntTest(Order::Eq));
        let (Some(&[first, part]), Some(&[a, b])) = (summed.as_deref(), test.as_deref()) else {
            return false;
        };
        self.is_one(otherwise, held)
            && self.are_loaded_at_once([first, held], [a, b])
            && self.is_never_negative_zero(first)
            && self.vanishing(part, tested, MOST_DEPTH).is_some()
    }

    /// Returns true if two values were loaded from these two addresses, in either order, with no store between.
    fn are_loaded_at_once(&mut self, values: [SsaValue; 2], addresses: [SsaValue; 2]) -> bool {
        let loads = values.map(|value| {
            let value = self.replacements.find(value);
            Some((*self.loaded.get(&value)?, *self.function.op(value)?.operands.first()?))
        });
        let [Some((one, at_one)), Some((other, at_other))] = loads else { return false };
        one == other && (addresses == [at_one, at_other] || addresses == [at_other, at_one])
    }

    fn is_one(&mut self, a: SsaValue, b: SsaValue) -> bool {
        self.replacements.find(a) == self.replacements.find(b)
    }

    /// Returns true if a value, or its present replacement, is never -0.
    fn is_never_negative_zero(&mut self, value: SsaValue) -> bool {
        let now = self.replacements.find(value);
        [value, now].iter().any(|value| self.is_never_negative_zero.get(value.0 as usize) == Some(&true))
    }

    /// Returns the certainty that a value is ±0 if `with` is ±0; `None` if the value may then be another number.
    fn vanishing(&mut self, value: SsaValue, with: SsaValue, depth: u32) -> Option<Vanishing> {
        if self.is_one(value, with) {
            return Some(Vanishing::Surely);
        }
        let depth = depth.checked_sub(1)?;
        let value = self.replacements.find(value);
        let op = self.function.op(value).filter(|op| op.guard.is_none())?.clone();
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Neg, &[a]) => self.vanishing(a, with, depth),
            (OpKind::Add | OpKind::Sub, &[zero, a]) if self.is_zero(zero) => self.vanishing(a, with, depth),
            (OpKind::Mul, &[a, b]) => {
                let of = |choices: &mut Self, part: SsaValue, factor: SsaValue| {
                    choices.vanishing(part, with, depth)?;
                    choices.is_tame(factor, depth).then_some(Vanishing::IfFinite)
                };
                of(self, a, b).or_else(|| of(self, b, a))
            }
            _ => None,
        }
    }

    /// Returns true if a value is finite unless an operation overflows. Cells hold finite reals, and operations other
    /// than division give finite results without an overflow.
    fn is_tame(&mut self, value: SsaValue, depth: u32) -> bool {
        let value = self.replacements.find(value);
        if self.finite.contains(&value)
            || matches!(self.function.definition(value), Some(Definition::Parameter(_)))
        {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let Some(op) = self.function.op(value).filter(|op| op.guard.is_none()).cloned() else { return false };
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Load(Space::Reals | Space::Adjoints) | OpKind::RealOf, _) => true,
            (OpKind::Real(_), _) => is_finite_literal(self.function, value),
            (OpKind::Choose, &[_, yes, no]) => self.is_tame(yes, depth) && self.is_tame(no, depth),
            (
                OpKind::Add
                | OpKind::Sub
                | OpKind::Mul
                | OpKind::Neg
                | OpKind::Magnitude
                | OpKind::Elementary(
                    Elementary::Sin | Elementary::Cos | Elementary::Tanh | Elementary::Sigmoid,
                ),
                operands,
            ) => operands.iter().all(|&operand| self.is_tame(operand, depth)),
            _ => false,
        }
    }
}
