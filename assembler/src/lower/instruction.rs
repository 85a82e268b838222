//! Flat instructions. The shape of the update determines how operands are resolved, and the signature of the
//! function determines the classes of literals. The verifier checks the result.

use arrayvec::ArrayVec;
use compact_str::format_compact;
use reviver_isa::arith::Order;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::{Class, Instruction, Link, Operand, Place};
use reviver_isa::update::{OperandShape, Update};

use super::Lowering;
use super::applied::{Checking, Source, Temporaries, cell};
use super::operands;
use super::signature::signature;
use super::temporaries::{VALUE, may_share};
use crate::comparison::{comparison, opposite};
use crate::diagnostic::Diagnostic;
use crate::format::spelled;
use crate::parser::words::combine;
use crate::source::Span;
use crate::tree::{Condition, ConditionKind, Expression, InstructionNode, Name, Operands};

/// A condition that one instruction can test.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) function: Function,
    pub(super) operands: ArrayVec<Operand, 3>,
}

impl Test {
    pub(super) fn always() -> Test {
        Test { function: Function::Always, operands: ArrayVec::new() }
    }

    pub(super) fn compare(order: Order, a: Operand, b: Operand) -> Test {
        Test { function: comparison(order), operands: operands([a, b]) }
    }

    /// Returns a test that is always true, as a placeholder for an invalid one.
    pub(super) fn stand_in() -> Test {
        Test::compare(Order::Eq, Operand::Int(0), Operand::Int(0))
    }

    /// Returns this test if `value` is true, otherwise its negation.
    pub(super) fn oriented(self, value: bool) -> Test {
        if value { self } else { self.negated() }
    }

    /// Returns the negated test. `always` is unchanged, because there is no `never`.
    pub(super) fn negated(mut self) -> Test {
        self.function = opposite(self.function).unwrap_or(self.function);
        self
    }
}

impl Lowering<'_> {
    /// Lowers a flat instruction, with the expressions in its operands.
    pub(super) fn instruction(&mut self, tree: &InstructionNode, span: Span) {
        let is_half = matches!(tree.operands, Operands::Branch { .. });
        self.current.labels.define(self.code.here(), is_half, &mut self.report);
        match &tree.operands {
            Operands::Branch { partner, condition } => {
                return self.branch_half(tree, partner, condition, span);
            }
            Operands::Condition(condition) => {
                if self.assertion(condition, span).is_none() {
                    self.code.stand_in(span);
                }
                return;
            }
            Operands::Cells(_) | Operands::Call(_) => {}
        }
        let (resolved, temporaries) = self.collect(|this| this.resolved(tree));
        if let Some(instruction) = &resolved
            && replaces_its_source(instruction, &temporaries)
        {
            return self.replace(instruction, temporaries, span);
        }
        let taken = resolved.and_then(|instruction| {
            self.checking(&instruction, &temporaries, span).map(|checking| (instruction, checking))
        });
        let Some((instruction, checking)) = taken else {
            self.release_temporaries(temporaries);
            self.code.stand_in(span);
            return;
        };
        self.between(temporaries, checking, span, |this| {
            let Instruction { update, function, operands, link } = instruction;
            this.code.push(update, function, operands, link, span);
        });
    }

    /// Emits an `overwrite` whose new value depends on its target. The value is computed into a frame
    /// variable first. Afterwards the target has the same value, so subtracting the target clears the
    /// variable.
    ///
    /// ```text
    /// overwrite k, next[k]    add   value$1, next[k]
    ///                         overwrite k, value$1
    ///                         sub   value$1, k
    /// ```
    fn replace(&mut self, instruction: &Instruction, temporaries: Temporaries, span: Span) {
        let Some((Operand::Place(target), sources)) = instruction.operands.split_first() else { return };
        let class = self.class_of(target.base);
        let name = format_compact!("{class:?} that replaces");
        let declared = &self.declared;
        let elsewhere = |name: &str| declared.is_global(name);
        let (value, _) = self.current.frame.acquire_for(&name, VALUE, class, elsewhere);
        let checks = Checking::Taken.checks(class);
        if checks {
            self.vacate(value, span);
        }
        let computed = std::iter::once(cell(value)).chain(sources.iter().cloned()).take(3).collect();
        self.between(temporaries, Checking::Taken, span, |this| {
            this.code.push(Update::Add, instruction.function, computed, Link::None, span);
        });
        let target = Operand::Place(target.clone());
        let copied = |update, to: &Operand, from: &Operand| (update, operands([to.clone(), from.clone()]));
        for (update, operands) in
            [copied(instruction.update, &target, &cell(value)), copied(Update::Sub, &cell(value), &target)]
        {
            self.code.push(update, Function::Copy, operands, Link::None, span);
        }
        if checks {
            self.vacate(value, span);
        }
        self.current.frame.release(&name, value);
    }

    /// Returns an instruction with resolved operands.
    fn resolved(&mut self, tree: &InstructionNode) -> Option<Instruction> {
        match &tree.operands {
            Operands::Cells(list) => self.cells(tree, list),
            Operands::Call(call) => self.calling(tree.update, call),
            Operands::Condition(_) | Operands::Branch { .. } => None,
        }
    }

    fn cells(&mut self, tree: &InstructionNode, list: &[Expression]) -> Option<Instruction> {
        let (targets, values) = list.split_at_checked(tree.update.shape().targets())?;
        // The parser has already rejected more than three operands.
        let targets: ArrayVec<Option<Source>, 3> = targets.iter().take(3).map(|e| self.target(e)).collect();
        let (function, sources) = self.sources(tree, values)?;
        let targets: ArrayVec<Source, 3> = targets.into_iter().collect::<Option<_>>()?;
        let spans = list.iter().map(|e| e.span).take(targets.len());
        let all: ArrayVec<(Source, Span), 3> =
            targets.into_iter().zip(spans).chain(sources).take(3).collect();
        let classes = match tree.update.shape() {
            OperandShape::Accumulate => self.accumulate_classes(function, &all)?,
            OperandShape::Rotate => [Class::Real; 3].into(),
            _ => all.iter().map(|(source, _)| source.class()).collect(),
        };
        let typed = all.into_iter().zip(classes);
        let operands = typed.map(|((source, span), class)| self.typed(source, class, span));
        let operands = operands.collect::<Option<ArrayVec<Operand, 3>>>()?;
        Some(Instruction { update: tree.update, function, operands, link: Link::None })
    }

    /// Returns a target; reports one that isn't a cell that may be changed.
    fn target(&mut self, expression: &Expression) -> Option<Source> {
        let source = self.source(expression)?;
        match &source {
            Source::Cell(Operand::Place(Place { base, index: None, .. }), _) if self.is_temporary(*base) => {
                let message = "an expression can't be changed";
                let problem =
                    Diagnostic::error(ProblemCode::NoTarget, message, expression.span, "expected a cell");
                self.report.fail(problem.help("compute it into a cell with `local`"))
            }
            _ => Some(source),
        }
    }

    /// Returns the function of an update and its sources. If the only source of the update is an expression,
    /// returns the outermost function of the expression, and the sources of that function.
    fn sources(
        &mut self,
        tree: &InstructionNode,
        values: &[Expression],
    ) -> Option<(Function, ArrayVec<(Source, Span), 2>)> {
        if let ([value], Function::Copy, OperandShape::Accumulate) =
            (values, tree.function, tree.update.shape())
        {
            let formula = self.taken(value)?;
            if formula.function == Function::Copy || combine(tree.update, formula.function) {
                return Some((formula.function, formula.sources));
            }
            let source = self.spill(&formula, value.span)?;
            return Some((Function::Copy, ArrayVec::from_iter([(source, value.span)])));
        }
        let sources: ArrayVec<Option<(Source, Span)>, 2> =
            values.iter().take(2).map(|e| self.source(e).map(|source| (source, e.span))).collect();
        Some((tree.function, sources.into_iter().collect::<Option<_>>()?))
    }

    /// Returns the classes of the operands of an accumulating instruction.
    fn accumulate_classes(
        &mut self,
        function: Function,
        operands: &[(Source, Span)],
    ) -> Option<ArrayVec<Class, 3>> {
        let ((target, target_place), sources) = operands.split_first()?;
        let own: Vec<Source> = sources.iter().map(|(source, _)| source.clone()).collect();
        let of_form = |signature: Signature| {
            std::iter::once(target.class()).chain((0..sources.len()).map(|n| signature.source(n))).collect()
        };
        if let Some(signature) = signature(function, Some(target.class()), own.iter().map(Source::kind)) {
            return Some(of_form(signature));
        }
        let is_real = |source: &Source| matches!(source, Source::Literal(n) if n.class() == Class::Real);
        if let Some((_, place)) = sources.iter().find(|(source, _)| is_real(source))
            && target.class() == Class::Int
        {
            return self.report.fail(
                Diagnostic::error(
                    ProblemCode::ClassesMixed,
                    "expected an integer, found a real",
                    *place,
                    "a real",
                )
                .with(*target_place, "the target is an integer")
                .help("write an integer, or declare the target `: real`"),
            );
        }
        Some(operands.iter().map(|(source, _)| source.class()).collect())
    }

    /// Emits a branch half, even if its condition is invalid, because otherwise its partner would name an unknown
    /// label.
    fn branch_half(&mut self, tree: &InstructionNode, partner: &Name, condition: &Condition, span: Span) {
        let at = self.code.here();
        let test = self.flat_test(condition).unwrap_or_else(|| {
            self.code.broken.insert(at);
            Test::stand_in()
        });
        self.code.push(tree.update, test.function, test.operands, Link::Partner(u32::MAX), span);
        self.current.labels.half(at, partner);
    }

    /// Returns a condition as a test that one instruction performs. Other conditions are reported.
    fn flat_test(&mut self, condition: &Condition) -> Option<Test> {
        match &condition.kind {
            ConditionKind::Always => Some(Test::always()),
            ConditionKind::Forgotten => self.report.fail(
                Diagnostic::error(ProblemCode::OtherConditionWanted, "`br` and `from` test a comparison", condition.span, "no comparison")
                    .help("test a flag that is 1 if the branch was taken, and `forget` it after the `from`"),
            ),
            ConditionKind::Compare(order, a, b) => {
                let (test, temporaries) = self.collect(|this| this.test(*order, a, b));
                if temporaries.is_empty() {
                    return test;
                }
                self.release_temporaries(temporaries);
                let message = "`br` and `from` test cells and constants";
                self.report.fail(
                    Diagnostic::error(ProblemCode::OtherConditionWanted, message, condition.span, "an expression")
                        .help("compute the value into a cell, or write a block such as `if … fi`, which tests expressions"),
                )
            }
            ConditionKind::Not(inner) if matches!(inner.kind, ConditionKind::Compare(..)) => {
                self.flat_test(inner).map(Test::negated)
            }
            _ => self.report.fail(
                Diagnostic::error(ProblemCode::OtherConditionWanted, "`br` and `from` test a single comparison", condition.span, "several comparisons")
                    .help("write a block: `and`, `or` and `not` are allowed in `assert`, and in `if`, `fi`, `from` and `until` of blocks"),
            ),
        }
    }

    /// Returns a comparison as a test. A literal gets the class of the other side.
    fn test(&mut self, order: Order, a: &Expression, b: &Expression) -> Option<Test> {
        self.compared(a, b).map(|[a, b]| Test::compare(order, a, b))
    }

    /// Returns the two sides of a comparison as operands of one class.
    pub(super) fn compared(&mut self, a: &Expression, b: &Expression) -> Option<[Operand; 2]> {
        let (x, y) = (self.source(a), self.source(b));
        let (x, y) = (x?, y?);
        if let (Source::Cell(_, first), Source::Cell(_, second)) = (&x, &y)
            && first != second
        {
            let int = if *first == Class::Int { a } else { b };
            let message = "an integer and a real can't be compared";
            let problem = Diagnostic::error(
                ProblemCode::ClassesMixed,
                message,
                a.span.to(b.span),
                "an integer and a real",
            );
            return self.report.fail(problem.help(format!("compare with `toreal({})`", spelled(int))));
        }
        let class = match (&x, &y) {
            (Source::Cell(_, class), _) | (_, Source::Cell(_, class)) => *class,
            _ if x.class() == Class::Real => Class::Real,
            _ => y.class(),
        };
        let (x, y) = (self.typed(x, class, a.span), self.typed(y, class, b.span));
        Some([x?, y?])
    }

    /// Emits a branch half that isn't in the text. The caller must link it to its partner by
    /// [`super::code::LoweredCode::pair`].
    pub(super) fn push_branch(&mut self, update: Update, test: Test, label: &'static str, span: Span) -> u32 {
        let link = Link::Partner(u32::MAX);
        let at = self.code.push(update, test.function, test.operands, link, span);
        self.current.labels.generated(at, label);
        at
    }
}

/// Returns true if an instruction overwrites a cell on which its new value depends through an index or a
/// temporary. After the instruction, the value of such a temporary couldn't be computed again to clear the
/// temporary. A plain source that is the target needs no temporary.
fn replaces_its_source(instruction: &Instruction, temporaries: &Temporaries) -> bool {
    let Some((Operand::Place(target), sources)) = instruction.operands.split_first() else { return false };
    if !instruction.update.action().may_read_target() {
        return false;
    }
    let is_index = |source: &Operand| match source {
        Operand::Place(Place { index: Some(index), .. }) => {
            index.terms().any(|term| term.cell == Some(target.base))
        }
        _ => false,
    };
    let finds = target.index.is_none() && !target.adjoint && sources.iter().any(is_index);
    finds || temporaries.sources().any(|source| may_share(source, target))
}
