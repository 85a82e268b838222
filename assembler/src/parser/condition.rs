//! Conditions: comparisons, `always`, `and`, `or`, `not`. A parenthesis may contain a condition or a value. The
//! parser decides at the closing parenthesis which of the two it is, so that nothing is parsed twice.

use reviver_isa::arith::Order;
use reviver_isa::codes::ProblemCode;

use super::expression::grouped;
use super::{Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::source::Span;
use crate::tree::{Condition, ConditionKind, Expression};

/// The content of a parenthesis: a condition or a value.
enum Either {
    Condition(Condition),
    Value(Expression),
}

impl Parser<'_> {
    /// Parses a whole condition.
    pub(super) fn condition(&mut self) -> Parse<Condition> {
        self.weight = 0;
        if self.at_line_end() {
            return self.expected("a condition");
        }
        let first = self.term()?;
        self.or_after(first)
    }

    fn or_after(&mut self, first: Condition) -> Parse<Condition> {
        let mut left = self.and_after(first)?;
        while self.at_word("or") {
            self.weigh()?;
            self.bump();
            let term = self.term()?;
            let right = self.and_after(term)?;
            let span = left.span.to(right.span);
            left = Condition { kind: ConditionKind::Or(Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn and_after(&mut self, first: Condition) -> Parse<Condition> {
        let mut left = first;
        while self.at_word("and") {
            self.weigh()?;
            self.bump();
            let right = self.term()?;
            let span = left.span.to(right.span);
            left = Condition { kind: ConditionKind::And(Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    /// Parses a condition without `and` and `or`, except in parentheses.
    fn term(&mut self) -> Parse<Condition> {
        match self.either()? {
            Either::Condition(condition) => Ok(condition),
            Either::Value(value) if self.at(TokenKind::Assign) => self.single_equals(value.span),
            Either::Value(value) if self.at_line_end() => {
                let text = self.source.get(value.span.start as usize..value.span.end as usize).unwrap_or("");
                let help = format!("compare it: `{text} != 0`");
                let problem = Diagnostic::error(
                    ProblemCode::NoCondition,
                    "expected a condition, found a value",
                    value.span,
                    "a value",
                );
                self.fail(if text.len() < 40 { problem.help(help) } else { problem })
            }
            Either::Value(_) => self.comparison_expected(),
        }
    }

    fn comparison_expected<T>(&mut self) -> Parse<T> {
        let problem = self.unexpected("a comparison");
        let help = match self.current.kind {
            TokenKind::Ampersand => "join conditions with `and`",
            TokenKind::Bar => "join conditions with `or`",
            _ => "write `a == b`, `!=`, `<`, `<=`, `>` or `>=`",
        };
        self.fail(problem.help(help))
    }

    fn single_equals<T>(&mut self, value: Span) -> Parse<T> {
        let problem = Diagnostic::error(
            ProblemCode::NoCondition,
            "`=` doesn't compare",
            self.here(),
            "not a comparison",
        );
        self.fail(problem.with(value, "the value to compare").help("write `==`"))
    }

    fn either(&mut self) -> Parse<Either> {
        let start = self.current.start;
        if self.eat_word("always") {
            return Ok(self.made(ConditionKind::Always, start));
        }
        if self.eat_word("forgotten") {
            return Ok(self.made(ConditionKind::Forgotten, start));
        }
        if self.at_word("not") {
            self.weigh()?;
            self.bump();
            let inner = self.term()?;
            return Ok(self.made(ConditionKind::Not(Box::new(inner)), start));
        }
        if self.at(TokenKind::ParenOpen) {
            return self.parenthesis();
        }
        let left = self.binary(0)?;
        self.comparison(left)
    }

    fn made(&self, kind: ConditionKind, start: u32) -> Either {
        Either::Condition(Condition { kind, span: self.since(start) })
    }

    fn parenthesis(&mut self) -> Parse<Either> {
        self.weigh()?;
        let open = self.bump();
        let inner = match self.either()? {
            Either::Condition(first) => Either::Condition(self.or_after(first)?),
            value => value,
        };
        self.close(TokenKind::ParenClose, open, "`)`")?;
        let span = self.since(open.start);
        match inner {
            Either::Condition(inner) => Ok(Either::Condition(Condition { span, ..inner })),
            Either::Value(inner) => {
                let left = self.binary_after(grouped(inner, span), 0)?;
                self.comparison(left)
            }
        }
    }

    /// Parses the rest of `left < right` after its left side. If no comparison sign follows, returns `left`
    /// as a value.
    fn comparison(&mut self, left: Expression) -> Parse<Either> {
        let Some(tested) = order(self.current.kind) else {
            return Ok(Either::Value(left));
        };
        let sign = self.bump();
        let right = self.binary(0)?;
        if order(self.current.kind).is_some() {
            let problem = Diagnostic::error(
                ProblemCode::NoCondition,
                "comparisons can't be chained",
                self.here(),
                "the second comparison",
            );
            let problem = problem.with(self.span(sign), "the first comparison");
            return self.fail(problem.help("join two comparisons with `and`: `a < b and b < c`"));
        }
        let span = left.span.to(right.span);
        let kind = ConditionKind::Compare(tested, Box::new(left), Box::new(right));
        Ok(Either::Condition(Condition { kind, span }))
    }
}

fn order(kind: TokenKind) -> Option<Order> {
    Some(match kind {
        TokenKind::Equal => Order::Eq,
        TokenKind::NotEqual => Order::Ne,
        TokenKind::Less => Order::Lt,
        TokenKind::LessEqual => Order::Le,
        TokenKind::Greater => Order::Gt,
        TokenKind::GreaterEqual => Order::Ge,
        _ => return None,
    })
}
