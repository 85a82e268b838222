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
use reviver_isa::update::Update;

use super::Lowering;
use super::instruction::Test;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Condition, ConditionKind};

/// The frame's name for flags and what they are made of.
const FLAG: &str = "flag";

/// A condition, resolved.
pub(super) struct Guard {
    kind: Kind,
    pub(super) span: Span,
}

enum Kind {
    Simple(Test),
    /// Partial results in order; each may use those before it, the last is the condition's value.
    Compound(Vec<Step>),
}

/// One partial result of a compound condition.
struct Step {
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

impl Guard {
    fn stand_in(span: Span) -> Guard {
        Guard { kind: Kind::Simple(Test::stand_in()), span }
    }
}

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
    /// Resolves a condition. One in error is reported and replaced.
    pub(super) fn guard(&mut self, condition: &Condition) -> Guard {
        let span = condition.span;
        let mut steps = Vec::new();
        match self.steps(condition, true, &mut steps) {
            None => Guard::stand_in(span),
            Some(Outcome::Test(test)) => Guard { kind: Kind::Simple(test), span },
            Some(Outcome::Step(_)) => Guard { kind: Kind::Compound(steps), span },
        }
    }

    /// The steps of a condition, or of its negation. Negations are pushed down to the comparisons.
    fn steps(&mut self, condition: &Condition, value: bool, steps: &mut Vec<Step>) -> Option<Outcome> {
        match &condition.kind {
            ConditionKind::Always => self.report.fail(
                Diagnostic::error("`always` stands in `br` and `from` only", condition.span, "not here")
                    .help("a condition of a block is a comparison"),
            ),
            ConditionKind::Compare(order, a, b) => {
                self.test(*order, a, b).map(|test| Outcome::Test(oriented(test, value)))
            }
            ConditionKind::Not(inner) => self.steps(inner, !value, steps),
            ConditionKind::And(a, b) => {
                let function = if value { Function::And } else { Function::Or };
                self.connected(function, [a, b], value, steps)
            }
            ConditionKind::Or(a, b) => {
                let function = if value { Function::Or } else { Function::And };
                self.connected(function, [a, b], value, steps)
            }
        }
    }

    fn connected(
        &mut self,
        function: Function,
        [a, b]: [&Condition; 2],
        value: bool,
        steps: &mut Vec<Step>,
    ) -> Option<Outcome> {
        let a = self.steps(a, value, steps).map(|outcome| outcome.input(steps));
        let b = self.steps(b, value, steps).map(|outcome| outcome.input(steps));
        steps.push(Step { function, sources: [a?, b?] });
        Some(Outcome::Step(steps.len() - 1))
    }

    /// Emits a `br` that jumps exactly where the guard is `jumps`. If it jumps where the guard
    /// holds, the place where it lands must [`Lowering::settle`] the flag.
    pub(super) fn split(&mut self, guard: &Guard, jumps: bool, label: &'static str) -> (u32, Flag) {
        let steps = match &guard.kind {
            Kind::Simple(test) => {
                let test = oriented(test.clone(), jumps);
                return (self.push_branch(Update::Br, test, label, guard.span), None);
            }
            Kind::Compound(steps) => steps,
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
            Kind::Simple(_) => None,
            Kind::Compound(_) => {
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
            (Kind::Simple(test), _) => {
                let test = oriented(test.clone(), jumped);
                self.push_branch(Update::From, test, label, guard.span)
            }
            (Kind::Compound(steps), Some(flag)) => {
                let at = self.push_branch(Update::From, is(flag, jumped), label, guard.span);
                self.flip_by(flag, steps, guard.span);
                self.vacate(flag, guard.span);
                self.current.frame.release(&FLAG.into(), flag);
                at
            }
            // Every join of a compound guard follows its raise.
            (Kind::Compound(_), None) => self.code.stand_in(guard.span),
        }
    }

    /// `flag ^= condition`: computes the partial results, uses the last, and uncomputes the others.
    fn flip_by(&mut self, flag: u32, steps: &[Step], span: Span) {
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

    fn flip_step(&mut self, target: u32, step: &Step, cells: &[u32], span: Span) {
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

/// What a part of a condition came to.
enum Outcome {
    Test(Test),
    Step(usize),
}

impl Outcome {
    /// The part as a source of a connective; a comparison becomes a step of its own.
    fn input(self, steps: &mut Vec<Step>) -> Input {
        match self {
            Outcome::Step(n) => Input::Step(n),
            Outcome::Test(Test { function, operands }) => {
                let mut operands = operands.into_iter();
                let mut next = || Input::Operand(operands.next().unwrap_or(Operand::Int(0)));
                steps.push(Step { function, sources: [next(), next()] });
                Input::Step(steps.len() - 1)
            }
        }
    }
}
