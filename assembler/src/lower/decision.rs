//! Evaluation of a condition with `and`, `or` and `not` into a flag, with short-circuiting.
//!
//! The second operand of `and` or `or` is evaluated only if the first operand doesn't decide the result. The
//! evaluation of the second operand is enclosed by a `br` and a `from` with the same test. The cells of the
//! test don't change in between. So both directions evaluate the same operands. If the first operand excludes
//! an invalid index, the index is never computed.
//!
//! If the first operand contains both `and` and `or`, or compares expressions, a separate flag holds its
//! value. At the end, the same steps in reverse order clear such flags. So the size of the code is linear in
//! the size of the condition.

use reviver_isa::arith::Order;
use reviver_isa::instruction::{Link, Operand};
use reviver_isa::predicate::{Predicate, PredicatePart};
use reviver_isa::update::Update;

use super::Lowering;
use super::applied::{Checking, Temporaries, cell};
use super::instruction::Test;
use crate::source::Span;

/// The prefix of labels of branch pairs that skip a part of a condition.
const LABEL: &str = "part";

/// Returns the test that a flag is set (if `value` is true) or that it is 0.
pub(super) fn is(flag: u32, value: bool) -> Test {
    let order = if value { Order::Ne } else { Order::Eq };
    Test::compare(order, cell(flag), Operand::Int(0))
}

/// A condition without `not`, for example `a >= b or c != d` for `not (a < b and c == d)`.
pub(super) enum Decision {
    /// A comparison, with the temporaries of its expressions.
    Test(Test, Temporaries),
    /// Two parts, joined by `and` if `is_and` is true, otherwise by `or`.
    Both { is_and: bool, parts: Box<[Decision; 2]> },
}

impl Decision {
    /// Converts a predicate. `temporaries` are those of its comparisons, in order.
    pub(super) fn of(predicate: &Predicate, temporaries: Vec<Temporaries>) -> Decision {
        let mut temporaries = temporaries.into_iter();
        let mut stack: Vec<Decision> = Vec::new();
        // In a resolved condition every connective has its operands, so this placeholder is never used.
        let hole = || Decision::Test(Test::stand_in(), Temporaries::default());
        for (part, value) in predicate.parts.iter().zip(polarities(predicate)) {
            let next = match part {
                PredicatePart::Not | PredicatePart::Forgotten => continue,
                PredicatePart::Compare(function, a, b) => {
                    let operands = super::operands([a.clone(), b.clone()]);
                    let test = Test { function: *function, operands }.oriented(value);
                    Decision::Test(test, temporaries.next().unwrap_or_default())
                }
                connective @ (PredicatePart::And | PredicatePart::Or) => {
                    let b = stack.pop().unwrap_or_else(hole);
                    let a = stack.pop().unwrap_or_else(hole);
                    let is_and = (*connective == PredicatePart::And) == value;
                    Decision::Both { is_and, parts: Box::new([a, b]) }
                }
            };
            stack.push(next);
        }
        stack.pop().unwrap_or_else(hole)
    }
}

/// A step in the evaluation of a condition. A step flips a flag, from 0 to 1 or from 1 to 0. The flag is a
/// separate flag, given by its frame variable, or `None` for the flag of the whole condition.
enum FlagStep {
    /// Flips a flag if the test holds.
    FlipIf(Option<u32>, Test, Temporaries),
    Flip(Option<u32>),
    /// Executes the inner steps if the test holds.
    Where(Test, Vec<FlagStep>),
}

/// The arguments that all calls for emitting steps share.
#[derive(Clone, Copy)]
struct Manner {
    /// The flag of the whole condition.
    whole: u32,
    /// True if the steps are emitted in reverse order, to clear the separate flags.
    undone: bool,
    span: Span,
}

impl Lowering<'_> {
    /// Emits code that flips a flag if the condition holds, and leaves everything else unchanged.
    pub(super) fn flip_by(&mut self, flag: u32, decision: &Decision, span: Span) {
        let (mut steps, mut flags) = (Vec::new(), Vec::new());
        self.flips(None, decision, true, &mut steps, &mut flags);
        if flags.is_empty() {
            return self.steps(&steps, Manner { whole: flag, undone: false, span });
        }
        let whole = self.flag();
        self.steps(&steps, Manner { whole, undone: false, span });
        self.code.plain(Update::Xor, super::operands([cell(flag), cell(whole)]), span);
        self.steps(&steps, Manner { whole, undone: true, span });
        flags.push(whole);
        flags.into_iter().rev().for_each(|flag| self.release_flag(flag));
    }

    /// Appends the steps that flip a flag if the condition has the value `value`. If the steps set separate
    /// flags and don't clear them, appends these flags to `flags`.
    fn flips(
        &mut self,
        target: Option<u32>,
        decision: &Decision,
        value: bool,
        steps: &mut Vec<FlagStep>,
        flags: &mut Vec<u32>,
    ) {
        let (is_and, [first, second]) = match decision {
            Decision::Test(test, temporaries) => {
                let test = test.clone().oriented(value);
                return steps.push(FlagStep::FlipIf(target, test, temporaries.clone()));
            }
            Decision::Both { is_and, parts } => (*is_and, &**parts),
        };
        // If the first part is false in an `and`, or true in an `or`, the whole condition has the value of
        // the first part. Otherwise it has the value of the second part.
        if is_and != value {
            steps.push(FlagStep::Flip(target));
        }
        let mut rest = Vec::new();
        self.flips(target, second, is_and, &mut rest, flags);
        self.guarded(first, is_and, rest, steps, flags);
    }

    /// Appends steps that execute `inner` if the condition has the value `wanted`.
    fn guarded(
        &mut self,
        decision: &Decision,
        wanted: bool,
        inner: Vec<FlagStep>,
        steps: &mut Vec<FlagStep>,
        flags: &mut Vec<u32>,
    ) {
        match decision {
            Decision::Test(test, temporaries) if temporaries.is_empty() => {
                steps.push(FlagStep::Where(test.clone().oriented(wanted), inner));
            }
            // The condition has the value `wanted` only if both parts have it.
            Decision::Both { is_and, parts } if *is_and == wanted => {
                let [first, second] = &**parts;
                let mut rest = Vec::new();
                self.guarded(second, wanted, inner, &mut rest, flags);
                self.guarded(first, wanted, rest, steps, flags);
            }
            Decision::Test(..) | Decision::Both { .. } => {
                let flag = self.flag();
                flags.push(flag);
                self.flips(Some(flag), decision, true, steps, flags);
                steps.push(FlagStep::Where(is(flag, wanted), inner));
            }
        }
    }

    fn steps(&mut self, steps: &[FlagStep], manner: Manner) {
        if manner.undone {
            steps.iter().rev().for_each(|step| self.decide(step, manner));
        } else {
            steps.iter().for_each(|step| self.decide(step, manner));
        }
    }

    fn decide(&mut self, step: &FlagStep, manner: Manner) {
        let Manner { whole, span, .. } = manner;
        match step {
            FlagStep::FlipIf(target, test, temporaries) => {
                self.compute_temporaries(temporaries, Checking::Compared, span);
                let target = cell(target.unwrap_or(whole));
                let operands = std::iter::once(target).chain(test.operands.iter().cloned()).take(3).collect();
                self.code.push(Update::Xor, test.function, operands, Link::None, span);
                self.uncompute_temporaries(temporaries, Checking::Compared, span);
            }
            FlagStep::Flip(target) => {
                let operands = super::operands([cell(target.unwrap_or(whole)), Operand::Int(1)]);
                self.code.plain(Update::Xor, operands, span);
            }
            FlagStep::Where(test, inner) => {
                let passes = test.clone().negated();
                let leave = self.push_branch(Update::Br, passes.clone(), LABEL, span);
                self.steps(inner, manner);
                let arrive = self.push_branch(Update::From, passes, LABEL, span);
                self.code.pair(leave, arrive);
            }
        }
    }
}

/// Returns, for each part, false if it is under an odd number of negations, otherwise true.
fn polarities(predicate: &Predicate) -> Vec<bool> {
    let mut wanted = vec![true];
    let mut values: Vec<bool> = Vec::with_capacity(predicate.parts.len());
    for part in predicate.parts.iter().rev() {
        let value = wanted.pop().unwrap_or(true);
        values.push(value);
        let inner = if *part == PredicatePart::Not { !value } else { value };
        wanted.extend(std::iter::repeat_n(inner, part.arity()));
    }
    values.reverse();
    values
}
