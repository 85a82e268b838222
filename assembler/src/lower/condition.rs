//! Conditions of structured statements. A comparison of plain operands is tested by the branch instruction
//! itself. A condition with `and` or `or`, or a comparison of expressions, is tested by a *flag*: a frame
//! variable that holds the condition's value.
//!
//! The flag is 0 except at a split or a join of control flow. A *split* sets the flag to the condition's value and
//! branches on the flag. The path on which the flag is 1 sets the flag to 0 again. A *join* is the mirror image. One of
//! the two paths that lead to the `from` sets the flag, and the `from` tests it. Then the condition is evaluated again,
//! which must set the flag to 0; a `vacate` checks that.
//!
//! A split begins with a `vacate` of the flag. When running backward, the split is a join, and this `vacate` is
//! the check at its end. So splits and joins are bijections, and a condition that contradicts the branch taken
//! traps. The module [`super::decision`] computes the condition's value. The condition of a `forgotten` join
//! can't be evaluated again, so a `forget` erases the flag's one bit.

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
use super::instruction::Test;
use crate::comparison::comparison;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Condition, ConditionKind};

/// The name of flags in the frame; further ones get numbers.
const FLAG: &str = "flag";

/// The resolved condition of a split or a join.
pub(super) struct Guard {
    kind: Testing,
    /// The condition as written.
    pub(super) predicate: Predicate,
    pub(super) span: Span,
}

enum Testing {
    Simple(Test),
    Compound(Decision),
    /// The condition of a `forgotten` join. Only the flag records the branch taken, and the flag is erased.
    Forgotten,
}

/// A condition with resolved operands.
pub(super) struct ResolvedCondition {
    pub(super) predicate: Predicate,
    /// The temporaries of each comparison, in order of the comparisons. The variables of the temporaries are released
    /// between two evaluations of the condition, so other statements may use them.
    temporaries: Vec<Temporaries>,
}

impl ResolvedCondition {
    /// Returns a condition that is true, as a placeholder for an invalid one.
    fn stand_in() -> ResolvedCondition {
        let predicate = Predicate::compare(Function::Eq, Operand::Int(0), Operand::Int(0));
        ResolvedCondition { predicate, temporaries: Vec::new() }
    }

    fn decision(self) -> (Predicate, Decision) {
        let decision = Decision::of(&self.predicate, self.temporaries);
        (self.predicate, decision)
    }
}

/// The variable of the flag between the two ends of a split or a join; `None` if the branch itself tests the
/// condition.
pub(super) type Flag = Option<u32>;

impl Lowering<'_> {
    /// Resolves a condition. An invalid condition is reported and replaced by one that is true.
    pub(super) fn guard(&mut self, condition: &Condition) -> Guard {
        let resolved = self.predicate(condition).unwrap_or_else(ResolvedCondition::stand_in);
        let (predicate, decision) = resolved.decision();
        let kind = match decision {
            Decision::Test(test, temporaries) if temporaries.is_empty() => Testing::Simple(test),
            decision => Testing::Compound(decision),
        };
        Guard { kind, predicate, span: condition.span }
    }

    /// Resolves the condition of a join, which may be `forgotten`.
    pub(super) fn joining_guard(&mut self, condition: &Condition) -> Guard {
        match condition.kind {
            ConditionKind::Forgotten => {
                let (kind, predicate) = (Testing::Forgotten, Predicate::forgotten());
                Guard { kind, predicate, span: condition.span }
            }
            _ => self.guard(condition),
        }
    }

    /// Returns a condition with resolved operands, or `None` if a part of it is invalid.
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
                    "`always` is allowed only in the two branches of a pair",
                    condition.span,
                    "not here",
                )
                .help("write a comparison as the condition of a block"),
            ),
            ConditionKind::Forgotten => self.report.fail(
                Diagnostic::error(
                    ProblemCode::OtherConditionWanted,
                    "`forgotten` isn't allowed here",
                    condition.span,
                    "not the condition of a join",
                )
                .help("write `forgotten` only as the whole condition of a `fi`, or of the `from` of a loop"),
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

    /// Emits a `br` that jumps if the condition has the value `jumps`. If `jumps` is true, the caller must
    /// clear the returned flag at the target, by [`Lowering::settle`].
    pub(super) fn split(&mut self, guard: &Guard, jumps: bool, label: &'static str) -> (u32, Flag) {
        let decision = match &guard.kind {
            Testing::Simple(test) => {
                let test = test.clone().oriented(jumps);
                return (self.push_branch(Update::Br, test, label, guard.span), None);
            }
            Testing::Compound(decision) => decision,
            // Only joins can be `forgotten`, so this placeholder is never used.
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

    /// Clears a flag that is known to be 1, and releases it.
    pub(super) fn settle(&mut self, flag: Flag, span: Span) {
        if let Some(flag) = flag {
            self.raise_or_clear(flag, span);
            self.release_flag(flag);
        }
    }

    /// Emits the instruction that sets the flag of a join. The caller emits this instruction on the path on which the
    /// join's condition is true.
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

    /// Emits a `from` that is reached by a jump if the condition has the value `jumped`, otherwise from above. On the
    /// path on which the condition is true, [`Lowering::raise`] has set the flag.
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
            // A join that needs a flag comes after a call of `raise`, which returns the flag, so this
            // placeholder is never used.
            (Testing::Compound(_) | Testing::Forgotten, None) => self.code.stand_in(guard.span),
        }
    }

    /// Emits `assert condition`. A condition with `and` or `or` sets a flag, which is asserted and then
    /// cleared.
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

    /// Returns a frame variable for a flag. The value of the variable is 0.
    pub(super) fn flag(&mut self) -> u32 {
        self.scratch(FLAG, Class::Int)
    }

    /// Releases the frame variable of a flag, whose value must be 0.
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
