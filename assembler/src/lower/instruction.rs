//! Flat instructions: operands by the shape of their update, literals by the form of their
//! function. Whether the result is legal is for the verifier.

use arrayvec::ArrayVec;
use reviver_isa::arith::Order;
use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::{Class, Link, Operand};
use reviver_isa::update::{OperandShape, Update};

use super::Lowering;
use super::operand::Source;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Condition, ConditionKind, Expression, InstructionNode, Name, Operands};

/// A flat condition.
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
        Test { function: comparison(order), operands: super::operands([a, b]) }
    }

    /// A test that holds, in the place of one that is in error.
    pub(super) fn stand_in() -> Test {
        Test::compare(Order::Eq, Operand::Int(0), Operand::Int(0))
    }

    /// The test that holds when this one has the value.
    pub(super) fn oriented(self, value: bool) -> Test {
        if value { self } else { self.negated() }
    }

    /// The test that holds when this one doesn't. (There is no `never`: `always` stays.)
    pub(super) fn negated(mut self) -> Test {
        self.function = match self.function {
            Function::Eq => Function::Ne,
            Function::Ne => Function::Eq,
            Function::Lt => Function::Ge,
            Function::Ge => Function::Lt,
            Function::Gt => Function::Le,
            Function::Le => Function::Gt,
            other => other,
        };
        self
    }
}

/// The function row of an ordering.
pub(super) fn comparison(order: Order) -> Function {
    match order {
        Order::Eq => Function::Eq,
        Order::Ne => Function::Ne,
        Order::Lt => Function::Lt,
        Order::Le => Function::Le,
        Order::Gt => Function::Gt,
        Order::Ge => Function::Ge,
    }
}

impl Lowering<'_> {
    /// One flat instruction of the text.
    pub(super) fn instruction(&mut self, tree: &InstructionNode, span: Span) {
        let is_half = matches!(tree.operands, Operands::Branch { .. });
        self.current.labels.define(self.code.here(), is_half, &mut self.report);
        let lowered = match &tree.operands {
            Operands::Cells(list) => self.cells(tree, list, span),
            Operands::Condition(condition) => self.assertion(condition, span),
            Operands::Branch { partner, condition } => {
                self.branch_half(tree, partner, condition, span);
                return;
            }
            Operands::Calls(calls) => self.calls(tree, calls, span),
            Operands::CallVia(call) => self.call_via(tree, &call.cell, &call.arguments, span),
        };
        if lowered.is_none() {
            self.code.stand_in(span);
        }
    }

    fn cells(&mut self, tree: &InstructionNode, list: &[Expression], span: Span) -> Option<()> {
        // The parser has counted them: three at most.
        let sources: ArrayVec<Option<Source>, 3> = list.iter().take(3).map(|e| self.source(e)).collect();
        let sources: ArrayVec<Source, 3> = sources.into_iter().collect::<Option<_>>()?;
        let classes = match tree.update.shape() {
            OperandShape::Accumulate => self.accumulate_classes(tree.function, &sources, list)?,
            OperandShape::Rotate => [Class::Real; 3].into(),
            _ => sources.iter().map(Source::class).collect(),
        };
        let typed = sources.into_iter().zip(classes).zip(list);
        let operands = typed.map(|((source, class), e)| self.typed(source, class, e.span));
        let operands = operands.collect::<Option<ArrayVec<Operand, 3>>>()?;
        self.code.push(tree.update, tree.function, operands, Link::None, span);
        Some(())
    }

    /// The classes that the operands of an accumulating instruction have.
    fn accumulate_classes(
        &mut self,
        function: Function,
        operands: &[Source],
        list: &[Expression],
    ) -> Option<ArrayVec<Class, 3>> {
        let (target, sources) = operands.split_first()?;
        let of_form = |form: Form| {
            std::iter::once(target.class()).chain((0..sources.len()).map(|n| form.source(n))).collect()
        };
        if let Some(form) = form(function, Some(target.class()), sources) {
            return Some(of_form(form));
        }
        let broken = sources.iter().position(|s| matches!(s, Source::Literal(n) if n.class() == Class::Real));
        if let Some((n, target_place)) = broken.zip(list.first())
            && target.class() == Class::Int
            && let Some(place) = list.get(n + 1)
        {
            return self.report.fail(
                Diagnostic::error("a real stands where an integer is wanted", place.span, "a real")
                    .with(target_place.span, "the target is an integer")
                    .help("write an integer, or declare the target `: real`"),
            );
        }
        Some(operands.iter().map(Source::class).collect())
    }

    /// A half of a pair is emitted in any case, so that its partner finds it.
    fn branch_half(&mut self, tree: &InstructionNode, partner: &Name, condition: &Condition, span: Span) {
        let at = self.code.here();
        let test = self.flat_test(condition).unwrap_or_else(|| {
            self.code.broken.insert(at);
            Test::stand_in()
        });
        self.code.push(tree.update, test.function, test.operands, Link::Partner(u32::MAX), span);
        self.current.labels.half(at, partner);
    }

    /// A condition that one instruction can test.
    fn flat_test(&mut self, condition: &Condition) -> Option<Test> {
        match &condition.kind {
            ConditionKind::Always => Some(Test::always()),
            ConditionKind::Compare(order, a, b) => self.test(*order, a, b),
            ConditionKind::Not(inner) if matches!(inner.kind, ConditionKind::Compare(..)) => {
                self.flat_test(inner).map(Test::negated)
            }
            _ => self.report.fail(
                Diagnostic::error("`br` and `from` test a single comparison", condition.span, "several")
                    .help("`and`, `or` and `not` stand in `assert`, and in `if`, `fi`, `from` and `until` of blocks"),
            ),
        }
    }

    /// A comparison; a literal takes the class of the other side.
    fn test(&mut self, order: Order, a: &Expression, b: &Expression) -> Option<Test> {
        self.compared(a, b).map(|[a, b]| Test::compare(order, a, b))
    }

    /// The two sides of a comparison.
    pub(super) fn compared(&mut self, a: &Expression, b: &Expression) -> Option<[Operand; 2]> {
        let (x, y) = (self.source(a), self.source(b));
        let (x, y) = (x?, y?);
        let class = match (&x, &y) {
            (Source::Cell(_, class), _) | (_, Source::Cell(_, class)) => *class,
            _ if x.class() == Class::Real => Class::Real,
            _ => y.class(),
        };
        let (x, y) = (self.typed(x, class, a.span), self.typed(y, class, b.span));
        Some([x?, y?])
    }

    /// Pushes a half of a pair that lowering makes; its partner follows by [`super::code::Code::pair`].
    pub(super) fn push_branch(&mut self, update: Update, test: Test, label: &'static str, span: Span) -> u32 {
        let link = Link::Partner(u32::MAX);
        let at = self.code.push(update, test.function, test.operands, link, span);
        self.current.labels.generated(at, label);
        at
    }
}

/// The form of a function for these sources: one that takes the literals as they are written,
/// else one that takes integer literals as reals.
pub(super) fn form(function: Function, result: Option<Class>, sources: &[Source]) -> Option<Form> {
    let fits = |form: &Form, promote: bool| {
        result.is_none_or(|class| form.result() == class)
            && sources.iter().enumerate().all(|(n, source)| match source {
                Source::Literal(number) if promote && number.class() == Class::Int => true,
                source => source.class() == form.source(n),
            })
    };
    function.forms().find(|f| fits(f, false)).or_else(|| function.forms().find(|f| fits(f, true)))
}
