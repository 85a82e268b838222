//! Conditions of structured statements: a comparison of operands is tested by the branch itself, anything
//! made of `and` and `or`, and comparisons of expressions, by a flag in the frame.
//!
//! A flag is 0 wherever no junction is under way. A *split* raises it to the condition's value and
//! branches on it; the way on which it is 1 clears it again. A *join* is the mirror image: one way
//! raises the flag, the `from` tests it, and then the re-evaluated condition must clear it, which
//! a `vacate` checks. The same `vacate` stands before a split, where it checks the way back: so
//! each junction is a bijection, and a condition that is not what the way taken says traps. How a
//! flag comes to the condition's value is the subject of [`super::decision`]. A join that forgets has nothing to
//! clear its flag by: a `forget` erases its one bit.

use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Class, Link, Operand};
use reviver_isa::predicate::{Predicate, PredicatePart};
use reviver_isa::structure::BlockKind;
use reviver_isa::update::Update;

use super::Lowering;
use super::applied::cell;
use super::applied::{Checking, Temporaries};
use super::decision::{Decision, is};
use super::instruction::{Test, comparison};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Condition, ConditionKind};

/// The frame's name for flags.
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
    Compound(Decision),
    /// Of a join: nothing tells it but the flag, whose one bit is erased.
    Forgotten,
}

/// A condition with its operands resolved.
pub(super) struct ResolvedCondition {
    pub(super) predicate: Predicate,
    /// What each comparison takes, in order. Their variables are free between two tests of the condition.
    temporaries: Vec<Temporaries>,
}

impl ResolvedCondition {
    /// A condition that holds, in the place of one that is in error.
    fn stand_in() -> ResolvedCondition {
        let predicate = Predicate::compare(Function::Eq, Operand::Int(0), Operand::Int(0));
        ResolvedCondition { predicate, temporaries: Vec::new() }
    }

    fn decision(self) -> (Predicate, Decision) {
        let decision = Decision::of(&self.predicate, self.temporaries);
        (self.predicate, decision)
    }
}

/// The flag of a compound condition while a junction is under way; none for a simple one.
pub(super) type Flag = Option<u32>;

impl Lowering<'_> {
    /// Resolves a condition. One in error is reported and replaced by one that holds.
    pub(super) fn guard(&mut self, condition: &Condition) -> Guard {
        let resolved = self.predicate(condition).unwrap_or_else(ResolvedCondition::stand_in);
        let (predicate, decision) = resolved.decision();
        let kind = match decision {
            Decision::Test(test, temporaries) if temporaries.is_empty() => Testing::Simple(test),
            decision => Testing::Compound(decision),
        };
        Guard { kind, predicate, span: condition.span }
    }

    /// The guard of a join, which may be forgotten.
    pub(super) fn joining_guard(&mut self, condition: &Condition) -> Guard {
        match condition.kind {
            ConditionKind::Forgotten => {
                let (kind, predicate) = (Testing::Forgotten, Predicate::forgotten());
                Guard { kind, predicate, span: condition.span }
            }
            _ => self.guard(condition),
        }
    }

    /// A condition with its operands resolved; none if any part of it is in error.
    pub(super) fn predicate(&mut self, condition: &Condition) -> Option<ResolvedCondition> {
        let mut resolved = ResolvedCondition { predicate: Predicate::default(), temporaries: Vec::new() };
        self.resolve_condition(condition, &mut resolved)?;
        Some(resolved)
    }

    fn resolve_condition(&mut self, condition: &Condition, resolved: &mut ResolvedCondition) -> Option<()> {
        match &condition.kind {
            ConditionKind::Always => self.report.fail(
                Diagnostic::error(
                    ProblemCode::OtherConditionWanted,
                    "`always` stands in `br` and `from` only",
                    condition.span,
                    "not here",
                )
                .help("a condition of a block is a comparison"),
            ),
            ConditionKind::Forgotten => self.report.fail(
                Diagnostic::error(
                    ProblemCode::OtherConditionWanted,
                    "nothing here can be forgotten",
                    condition.span,
                    "only a join forgets",
                )
                .help("`forgotten` stands alone behind `fi`, and behind the `from` of a loop"),
            ),
            ConditionKind::Compare(order, a, b) => {
                let (sides, temporaries) = self.collect(|this| this.compared(a, b));
                self.release_temporaries(temporaries.clone());
                let [a, b] = sides?;
                resolved.predicate.parts.push(PredicatePart::Compare(comparison(*order), a, b));
                resolved.temporaries.push(temporaries);
                Some(())
            }
            ConditionKind::Not(inner) => {
                self.resolve_condition(inner, resolved)?;
                resolved.predicate.parts.push(PredicatePart::Not);
                Some(())
            }
            ConditionKind::And(a, b) | ConditionKind::Or(a, b) => {
                let (a, b) = (self.resolve_condition(a, resolved), self.resolve_condition(b, resolved));
                a.and(b)?;
                let is_and = matches!(condition.kind, ConditionKind::And(..));
                resolved.predicate.parts.push(if is_and { PredicatePart::And } else { PredicatePart::Or });
                Some(())
            }
        }
    }

    /// Emits a `br` that jumps exactly where the guard is `jumps`. If it jumps where the guard
    /// holds, the place where it lands must [`Lowering::settle`] the flag.
    pub(super) fn split(&mut self, guard: &Guard, jumps: bool, label: &'static str) -> (u32, Flag) {
        let decision = match &guard.kind {
            Testing::Simple(test) => {
                let test = test.clone().oriented(jumps);
                return (self.push_branch(Update::Br, test, label, guard.span), None);
            }
            Testing::Compound(decision) => decision,
            // No split has such a guard.
            Testing::Forgotten => return (self.code.stand_in(guard.span), None),
        };
        let flag = self.flag();
        self.vacate(flag, guard.span);
        self.flip_by(flag, decision, guard.span);
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
            self.raise_or_clear(flag, span);
            self.release_flag(flag);
        }
    }

    /// Raises the flag on the way that leads to a join with its guard true.
    pub(super) fn raise(&mut self, guard: &Guard, span: Span) -> Flag {
        match guard.kind {
            Testing::Simple(_) => None,
            Testing::Compound(_) | Testing::Forgotten => {
                let flag = self.flag();
                self.raise_or_clear(flag, span);
                Some(flag)
            }
        }
    }

    /// Emits a `from` that is jumped to exactly where the guard is `jumped`. The flag was raised by
    /// [`Lowering::raise`] on the way where the guard holds.
    pub(super) fn join(&mut self, guard: &Guard, flag: Flag, jumped: bool, label: &'static str) -> u32 {
        match (&guard.kind, flag) {
            (Testing::Simple(test), _) => {
                let test = test.clone().oriented(jumped);
                self.push_branch(Update::From, test, label, guard.span)
            }
            (Testing::Compound(decision), Some(flag)) => {
                let at = self.push_branch(Update::From, is(flag, jumped), label, guard.span);
                self.flip_by(flag, decision, guard.span);
                self.vacate(flag, guard.span);
                self.release_flag(flag);
                at
            }
            (Testing::Forgotten, Some(flag)) => {
                let at = self.push_branch(Update::From, is(flag, jumped), label, guard.span);
                self.code.plain(Update::Forget, super::operands([cell(flag)]), guard.span);
                self.release_flag(flag);
                at
            }
            // Every join of a guard that takes a flag follows its raise.
            (Testing::Compound(_) | Testing::Forgotten, None) => self.code.stand_in(guard.span),
        }
    }

    /// `assert condition`. What is made of several comparisons is asked of a flag, which they raise and
    /// clear again.
    pub(super) fn assertion(&mut self, condition: &Condition, span: Span) -> Option<()> {
        if matches!(condition.kind, ConditionKind::Always) {
            self.assert(Test::always(), span);
            return Some(());
        }
        let (predicate, decision) = self.predicate(condition)?.decision();
        let decision = match decision {
            Decision::Test(test, temporaries) => {
                self.between(temporaries, Checking::Compared, span, |this| this.assert(test, span));
                return Some(());
            }
            decision => decision,
        };
        let seam = self.open_block(BlockKind::Assert { condition: predicate });
        let flag = self.flag();
        self.flip_by(flag, &decision, span);
        self.assert(is(flag, true), span);
        self.flip_by(flag, &decision, span);
        self.release_flag(flag);
        self.seam(&seam, span);
        Some(())
    }

    fn assert(&mut self, test: Test, span: Span) {
        self.code.push(Update::Assert, test.function, test.operands, Link::None, span);
    }

    /// A cell of the frame that is 0, for lowering's own use.
    pub(super) fn flag(&mut self) -> u32 {
        self.scratch(FLAG, Class::Int)
    }

    /// Gives a flag back that is 0 again.
    pub(super) fn release_flag(&mut self, flag: u32) {
        self.current.frame.release(&FLAG.into(), flag);
    }

    fn raise_or_clear(&mut self, flag: u32, span: Span) {
        self.code.plain(Update::Xor, super::operands([cell(flag), Operand::Int(1)]), span);
    }

    pub(super) fn vacate(&mut self, variable: u32, span: Span) {
        self.code.plain(Update::Vacate, super::operands([cell(variable)]), span);
    }
}
