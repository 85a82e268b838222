//! Conditions of structured statements: a comparison is tested by the branch itself, anything made
//! of `and`, `or` and `not` by a flag in the frame.
//!
//! A flag is 0 wherever no junction is under way. A *split* raises it to the condition's value and
//! branches on it; the way on which it is 1 clears it again. A *join* is the mirror image: one way
//! raises the flag, the `from` tests it, and then the re-evaluated condition must clear it, which
//! a `vacate` checks. The same `vacate` stands before a split, where it checks the way back: so
//! each junction is a bijection, and a condition that is not what the way taken says traps.

use reviver_isa::arith::Order;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Class, Link, Operand, Place};
use reviver_isa::predicate::{Predicate, PredicatePart};
use reviver_isa::update::Update;

use super::Lowering;
use super::instruction::{Test, comparison};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Condition, ConditionKind};

/// The frame's name for flags and what they are made of.
const FLAG: &str = "flag";

/// A condition, resolved.
pub(super) struct Guard {
    kind: Testing,
    /// As it was written.
    pub(super) predicate: Predicate,
    pub(super) span: Span,
}

enum Testing {
    Simple(Test),
    /// Partial results in order; each may use those before it, the last is the condition's value.
    Compound(Vec<PartialResult>),
}

/// One partial result of a compound condition.
struct PartialResult {
    function: Function,
    sources: [Input; 2],
}

#[derive(Clone)]
enum Input {
    Operand(Operand),
    /// The result of an earlier step.
    Step(usize),
}

/// The flag of a compound condition while a junction is under way; none for a simple one.
pub(super) type Flag = Option<u32>;

fn cell(variable: u32) -> Operand {
    Operand::Place(Place::scalar(Base::Frame(variable)))
}

/// The test of a raised flag.
fn is(flag: u32, value: bool) -> Test {
    let order = if value { Order::Ne } else { Order::Eq };
    Test::compare(order, cell(flag), Operand::Int(0))
}

fn oriented(test: Test, value: bool) -> Test {
    if value { test } else { test.negated() }
}

impl Lowering<'_> {
    /// Resolves a condition. One in error is reported and replaced by one that holds.
    pub(super) fn guard(&mut self, condition: &Condition) -> Guard {
        let predicate = self
            .predicate(condition)
            .unwrap_or_else(|| Predicate::compare(Function::Eq, Operand::Int(0), Operand::Int(0)));
        Guard { kind: kind_of(&predicate), predicate, span: condition.span }
    }

    /// A condition with its operands resolved; none if any part of it is in error.
    pub(super) fn predicate(&mut self, condition: &Condition) -> Option<Predicate> {
        let mut parts = Vec::new();
        self.collect(condition, &mut parts)?;
        Some(Predicate { parts })
    }

    fn collect(&mut self, condition: &Condition, parts: &mut Vec<PredicatePart>) -> Option<()> {
        match &condition.kind {
            ConditionKind::Always => self.report.fail(
                Diagnostic::error("`always` stands in `br` and `from` only", condition.span, "not here")
                    .help("a condition of a block is a comparison"),
            ),
            ConditionKind::Compare(order, a, b) => {
                let [a, b] = self.compared(a, b)?;
                parts.push(PredicatePart::Compare(comparison(*order), a, b));
                Some(())
            }
            ConditionKind::Not(inner) => {
                self.collect(inner, parts)?;
                parts.push(PredicatePart::Not);
                Some(())
            }
            ConditionKind::And(a, b) | ConditionKind::Or(a, b) => {
                let (a, b) = (self.collect(a, parts), self.collect(b, parts));
                a.and(b)?;
                let is_and = matches!(condition.kind, ConditionKind::And(..));
                parts.push(if is_and { PredicatePart::And } else { PredicatePart::Or });
                Some(())
            }
        }
    }

    /// Emits a `br` that jumps exactly where the guard is `jumps`. If it jumps where the guard
    /// holds, the place where it lands must [`Lowering::settle`] the flag.
    pub(super) fn split(&mut self, guard: &Guard, jumps: bool, label: &'static str) -> (u32, Flag) {
        let steps = match &guard.kind {
            Testing::Simple(test) => {
                let test = oriented(test.clone(), jumps);
                return (self.push_branch(Update::Br, test, label, guard.span), None);
            }
            Testing::Compound(steps) => steps,
        };
        let flag = self.scratch(FLAG, Class::Int);
        self.vacate(flag, guard.span);
        self.flip_by(flag, steps, guard.span);
        let at = self.push_branch(Update::Br, is(flag, jumps), label, guard.span);
        if jumps {
            return (at, Some(flag));
        }
        self.settle(Some(flag), guard.span);
        (at, None)
    }

    /// Clears a flag that is known to be 1, and ends it.
    pub(super) fn settle(&mut self, flag: Flag, span: Span) {
        if let Some(flag) = flag {
            self.flip(flag, Operand::Int(1), span);
            self.current.frame.release(&FLAG.into(), flag);
        }
    }

    /// Raises the flag on the way that leads to a join with its guard true.
    pub(super) fn raise(&mut self, guard: &Guard, span: Span) -> Flag {
        match guard.kind {
            Testing::Simple(_) => None,
            Testing::Compound(_) => {
                let flag = self.scratch(FLAG, Class::Int);
                self.flip(flag, Operand::Int(1), span);
                Some(flag)
            }
        }
    }

    /// Emits a `from` that is jumped to exactly where the guard is `jumped`. The flag was raised by
    /// [`Lowering::raise`] on the way where the guard holds.
    pub(super) fn join(&mut self, guard: &Guard, flag: Flag, jumped: bool, label: &'static str) -> u32 {
        match (&guard.kind, flag) {
            (Testing::Simple(test), _) => {
                let test = oriented(test.clone(), jumped);
                self.push_branch(Update::From, test, label, guard.span)
            }
            (Testing::Compound(steps), Some(flag)) => {
                let at = self.push_branch(Update::From, is(flag, jumped), label, guard.span);
                self.flip_by(flag, steps, guard.span);
                self.vacate(flag, guard.span);
                self.current.frame.release(&FLAG.into(), flag);
                at
            }
            // Every join of a compound guard follows its raise.
            (Testing::Compound(_), None) => self.code.stand_in(guard.span),
        }
    }

    /// `flag ^= condition`: computes the partial results, uses the last, and uncomputes the others.
    fn flip_by(&mut self, flag: u32, steps: &[PartialResult], span: Span) {
        let Some((root, partial)) = steps.split_last() else { return };
        let cells: Vec<u32> = partial.iter().map(|_| self.scratch(FLAG, Class::Int)).collect();
        for (step, &target) in partial.iter().zip(&cells) {
            self.flip_step(target, step, &cells, span);
        }
        self.flip_step(flag, root, &cells, span);
        for (step, &target) in partial.iter().zip(&cells).rev() {
            self.flip_step(target, step, &cells, span);
        }
        for variable in cells.into_iter().rev() {
            self.current.frame.release(&FLAG.into(), variable);
        }
    }

    fn flip_step(&mut self, target: u32, step: &PartialResult, cells: &[u32], span: Span) {
        let source = |input: &Input| match input {
            Input::Operand(operand) => operand.clone(),
            Input::Step(n) => cells.get(*n).map_or(Operand::Int(0), |&variable| cell(variable)),
        };
        let [a, b] = &step.sources;
        let operands = super::operands([cell(target), source(a), source(b)]);
        self.code.push(Update::Xor, step.function, operands, Link::None, span);
    }

    fn flip(&mut self, flag: u32, source: Operand, span: Span) {
        self.code.plain(Update::Xor, super::operands([cell(flag), source]), span);
    }

    pub(super) fn vacate(&mut self, variable: u32, span: Span) {
        self.code.plain(Update::Vacate, super::operands([cell(variable)]), span);
    }
}

/// How a condition is tested: by the branch itself, or in steps. Negations are pushed down to the
/// comparisons.
fn kind_of(predicate: &Predicate) -> Testing {
    let is_compound = predicate.parts.iter().any(|part| part.arity() == 2);
    let (mut steps, mut stack): (Vec<PartialResult>, Vec<Input>) = (Vec::new(), Vec::new());
    for (part, value) in predicate.parts.iter().zip(polarities(predicate)) {
        let (function, sources) = match part {
            PredicatePart::Not => continue,
            PredicatePart::Compare(function, a, b) => {
                let test = Test { function: *function, operands: super::operands([a.clone(), b.clone()]) };
                let test = oriented(test, value);
                if !is_compound {
                    return Testing::Simple(test);
                }
                (test.function, [a, b].map(|operand| Input::Operand(operand.clone())))
            }
            connective => {
                // A condition that was resolved has two parts before each connective.
                let zero = Input::Operand(Operand::Int(0));
                let b = stack.pop().unwrap_or_else(|| zero.clone());
                let a = stack.pop().unwrap_or(zero);
                let is_and = (*connective == PredicatePart::And) == value;
                (if is_and { Function::And } else { Function::Or }, [a, b])
            }
        };
        stack.push(Input::Step(steps.len()));
        steps.push(PartialResult { function, sources });
    }
    Testing::Compound(steps)
}

/// Whether each part is wanted as it is, or negated.
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
