//! Expressions and conditions as text. Parentheses are written where they are needed, and where the source
//! has them around a part.

use std::fmt::Write as _;

use super::text::StatementText;
use crate::source::Span;
use crate::tree::{
    BinaryOperator, Condition, ConditionKind, Expression, ExpressionKind, Subscript, UnaryOperator,
};

/// The spacing around binary operators.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Wide,
    /// No spaces, in subscripts and ranges.
    Tight,
}

impl<'s> StatementText<'s> {
    pub(super) fn condition(&mut self, condition: &Condition) {
        match &condition.kind {
            ConditionKind::Always => self.push("always"),
            ConditionKind::Forgotten => self.push("forgotten"),
            ConditionKind::Compare(order, left, right) => {
                self.expression(left);
                let _ = write!(self.out, " {} ", order.symbol());
                self.expression(right);
            }
            ConditionKind::Not(inner) => {
                self.push("not ");
                self.inner_condition(inner, 3);
            }
            ConditionKind::And(left, right) => self.junction(left, " and ", right, 2),
            ConditionKind::Or(left, right) => self.junction(left, " or ", right, 1),
        }
    }

    /// Writes two conditions with a left-associative word between them.
    fn junction(&mut self, left: &Condition, word: &str, right: &Condition, strength: u8) {
        self.inner_condition(left, strength);
        self.push(word);
        self.inner_condition(right, strength + 1);
    }

    /// Writes a part of a condition, in parentheses if its precedence requires them, or if the source has them.
    fn inner_condition(&mut self, condition: &Condition, least: u8) {
        let (strength, first) = match &condition.kind {
            ConditionKind::Always | ConditionKind::Forgotten | ConditionKind::Not(_) => (3, None),
            ConditionKind::Compare(_, left, _) => (3, Some(left.span)),
            ConditionKind::And(left, _) => (2, Some(left.span)),
            ConditionKind::Or(left, _) => (1, Some(left.span)),
        };
        if strength < least || is_grouped(condition.span, first) {
            self.push("(");
            self.condition(condition);
            self.push(")");
        } else {
            self.condition(condition);
        }
    }

    pub(super) fn expressions(&mut self, list: &[Expression]) {
        self.separated(list, StatementText::expression);
    }

    pub(super) fn expression(&mut self, expression: &Expression) {
        self.bare(expression, Spacing::Wide);
    }

    pub(super) fn tight(&mut self, expression: &Expression) {
        self.bare(expression, Spacing::Tight);
    }

    fn bare(&mut self, expression: &Expression, spacing: Spacing) {
        match &expression.kind {
            ExpressionKind::Int { value, pattern } => self.int((*value).into(), *pattern, expression.span),
            ExpressionKind::LongInt { value, pattern } => self.int(**value, *pattern, expression.span),
            ExpressionKind::Real(value) => self.real(*value, expression.span),
            ExpressionKind::Name { name, adjoint } => self.name(name, *adjoint),
            ExpressionKind::Element(element) => {
                // The subscripts of a record precede the field: `p[i].x`
                let (name, field) = element.name.split_once('.').unwrap_or((&element.name, ""));
                self.push(name);
                self.prime(element.adjoint && field.is_empty());
                self.push("[");
                self.separated(&element.subscripts, StatementText::subscript);
                self.push("]");
                if !field.is_empty() {
                    self.push(".");
                    self.push(field);
                    self.prime(element.adjoint);
                }
            }
            ExpressionKind::Unary(operator, operand) => {
                self.push(match operator {
                    UnaryOperator::Negate => "-",
                    UnaryOperator::Complement => "~",
                });
                self.inner(operand, u8::MAX, spacing);
            }
            ExpressionKind::Binary(operator, sides) => {
                let [left, right] = &**sides;
                self.inner(left, operator.strength(), spacing);
                self.operator(*operator, spacing);
                self.inner(right, operator.strength() + 1, spacing);
            }
            ExpressionKind::Length(length) => {
                self.push("len(");
                self.push(&length.name);
                if let Some(dimension) = &length.dimension {
                    self.push(", ");
                    self.bare(dimension, spacing);
                }
                self.push(")");
            }
            ExpressionKind::Apply(application) => {
                self.applied(application.function.name(), &application.sources, spacing);
            }
            ExpressionKind::InText(application) => {
                self.applied(application.function.name(), &application.sources, spacing);
            }
        }
    }

    fn applied(&mut self, function: &str, sources: &[Expression], spacing: Spacing) {
        self.push(function);
        self.push("(");
        self.separated(sources, |this, source| this.bare(source, spacing));
        self.push(")");
    }

    /// Writes a part of an expression, in parentheses if its precedence requires them, or if the source has
    /// them.
    fn inner(&mut self, expression: &Expression, least: u8, spacing: Spacing) {
        let parentheses = match &expression.kind {
            ExpressionKind::Binary(operator, sides) => {
                let [left, _] = &**sides;
                operator.strength() < least || is_grouped(expression.span, Some(left.span))
            }
            _ => false,
        };
        if parentheses {
            self.push("(");
            self.bare(expression, spacing);
            self.push(")");
        } else {
            self.bare(expression, spacing);
        }
    }

    fn operator(&mut self, operator: BinaryOperator, spacing: Spacing) {
        if spacing == Spacing::Wide {
            let _ = write!(self.out, " {} ", operator.symbol());
        } else {
            self.push(operator.symbol());
        }
    }

    fn name(&mut self, name: &str, adjoint: bool) {
        self.push(name);
        self.prime(adjoint);
    }

    fn prime(&mut self, adjoint: bool) {
        if adjoint {
            self.push("'");
        }
    }

    fn subscript(&mut self, subscript: &Subscript) {
        match subscript {
            Subscript::At(index) => self.tight(index),
            Subscript::All => self.push(".."),
            Subscript::Span { from, to, step } => {
                self.range(from, to);
                if let Some(step) = step {
                    self.push(" step ");
                    self.tight(step);
                }
            }
        }
    }

    pub(super) fn range(&mut self, from: &Expression, to: &Expression) {
        self.tight(from);
        self.push("..");
        self.tight(to);
    }

    /// Returns the spelling of a literal in the source, if there is one.
    fn spelling(&self, span: Span) -> Option<&'s str> {
        let text = self.sources?.text(span);
        text.starts_with(|c: char| c.is_ascii_digit()).then_some(text)
    }

    fn int(&mut self, value: i128, pattern: bool, span: Span) {
        match self.spelling(span) {
            Some(text) => self.push(text),
            None => {
                let _ = if pattern { write!(self.out, "{value:#x}") } else { write!(self.out, "{value}") };
            }
        }
    }

    fn real(&mut self, value: f64, span: Span) {
        match self.spelling(span) {
            Some(text) => self.push(text),
            None => {
                let _ = write!(self.out, "{value:?}");
            }
        }
    }
}

/// Returns true if the source has parentheses around an expression or condition. The span of an expression
/// includes its parentheses. So with parentheses the span begins before `first`, the span of the first operand.
fn is_grouped(span: Span, first: Option<Span>) -> bool {
    first.is_some_and(|first| span.file == first.file && span.start < first.start)
}
