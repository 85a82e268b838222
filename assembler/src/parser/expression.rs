//! Expressions: constants, names, elements, slices, operators and functions. Lowering decides which of them
//! are valid operands.

use std::rc::Rc;

use compact_str::{CompactString, format_compact};
use reviver_isa::function::Function;
use reviver_isa::names::is_operand_name;

use super::words::{self, Reserved};
use super::{Parse, Parser};
use crate::depths::{DEEPEST, Depths};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::source::Span;
use crate::suggest::{did_you_mean, nearest};
use crate::tree::{
    Application, BinaryOperator, Element, Expression, ExpressionKind, LengthOf, Name, Subscript,
    TextApplication, TextFunction, UnaryOperator,
};
use reviver_isa::codes::ProblemCode;

/// The maximum number of operators and brackets in one expression or condition. This number bounds the depth of
/// the tree, and so the recursion of functions that visit the tree.
const HEAVIEST: u32 = 200;

impl<'t> Parser<'t> {
    /// Parses a whole expression.
    pub(super) fn expression(&mut self) -> Parse<Expression> {
        self.begin_expression();
        self.binary(0)
    }

    /// Begins to count the operators and brackets of a new expression.
    pub(super) fn begin_expression(&mut self) {
        self.weight = 0;
    }

    /// Parses one or more expressions, separated by commas.
    pub(super) fn expressions(&mut self) -> Parse<Vec<Expression>> {
        self.about_so_many_expressions(1)
    }

    /// Parses one or more expressions, separated by commas. Memory is reserved for `count` of them, the
    /// expected number.
    pub(super) fn about_so_many_expressions(&mut self, count: usize) -> Parse<Vec<Expression>> {
        let mut list = Vec::with_capacity(count);
        loop {
            list.push(self.expression()?);
            if !self.eat(TokenKind::Comma) {
                return Ok(list);
            }
        }
    }

    /// Counts an operator or a bracket of the current expression or condition. Reports an error if there are
    /// too many.
    pub(super) fn weigh(&mut self) -> Parse<()> {
        self.weight += 1;
        if self.weight <= HEAVIEST {
            return Ok(());
        }
        let message = format!("more than {HEAVIEST} operators and brackets in one expression");
        let problem = Diagnostic::error(ProblemCode::TooMuch, message, self.here(), "one too many");
        self.fail(
            problem
                .help("split the expression: define parts as `.const`, or compute them into `local` cells"),
        )
    }

    /// Parses an expression of operators with a higher precedence than `least`.
    pub(super) fn binary(&mut self, least: u8) -> Parse<Expression> {
        let left = self.unary()?;
        self.binary_after(left, least)
    }

    /// Parses the rest of a binary expression after its first operand, as far as operators have a higher
    /// precedence than `least`.
    pub(super) fn binary_after(&mut self, mut left: Expression, least: u8) -> Parse<Expression> {
        while let Some((operator, strength)) = operator(self.current.kind)
            && strength > least
        {
            self.weigh()?;
            let sign = self.bump();
            self.refuse_doubled(sign)?;
            let right = self.binary(strength)?;
            let span = left.span.to(right.span);
            left = Expression { kind: ExpressionKind::Binary(operator, Box::new([left, right])), span };
        }
        Ok(left)
    }

    /// Reports `&&`, `||` and `**` as unknown operators.
    fn refuse_doubled(&mut self, sign: Token) -> Parse<()> {
        let (code, help) = match sign.kind {
            TokenKind::Ampersand => (ProblemCode::NoCondition, "join conditions with `and`"),
            TokenKind::Bar => (ProblemCode::NoCondition, "join conditions with `or`"),
            TokenKind::Star => (
                ProblemCode::SomethingElseExpected,
                "write `pow(a, b)` for a power of reals, and a product such as `a * a` for a power of integers",
            ),
            _ => return Ok(()),
        };
        if !self.at(sign.kind) {
            return Ok(());
        }
        let span = self.span(sign).to(self.here());
        let message = format!("there is no operator `{0}{0}`", self.text(sign));
        let problem = Diagnostic::error(code, message, span, "unknown");
        self.fail(problem.help(help))
    }

    fn unary(&mut self) -> Parse<Expression> {
        let operator = match self.current.kind {
            TokenKind::Minus => UnaryOperator::Negate,
            TokenKind::Tilde => UnaryOperator::Complement,
            _ => return self.primary(),
        };
        self.weigh()?;
        let start = self.bump().start;
        let operand = self.unary()?;
        Ok(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span: self.since(start) })
    }

    fn primary(&mut self) -> Parse<Expression> {
        let token = self.current;
        match token.kind {
            TokenKind::Number => {
                self.bump();
                let kind = self.literal(token)?;
                Ok(Expression { kind, span: self.span(token) })
            }
            TokenKind::Word if self.next.kind == TokenKind::ParenOpen => self.application(),
            TokenKind::Word | TokenKind::Dotted => self.named(),
            TokenKind::ParenOpen => {
                self.weigh()?;
                self.bump();
                let inner = self.binary(0)?;
                self.close(TokenKind::ParenClose, token, "`)`")?;
                Ok(grouped(inner, self.since(token.start)))
            }
            TokenKind::Slash if self.last_end == token.start => {
                let problem = self.unexpected("an operand");
                self.fail(problem.help("begin a comment with `;`"))
            }
            TokenKind::BracketOpen => {
                let problem = self.unexpected("an operand");
                self.fail(problem.help("write `A[i]` for an element of an array"))
            }
            TokenKind::Prime => {
                let problem = self.unexpected("an operand");
                let help = self.quoted_character(token);
                self.fail(problem.help_if(help))
            }
            _ => self.expected("an operand"),
        }
    }

    /// Returns the suggestion for a character such as `'A'`, its code as a number. `quote` is the first
    /// quote, which is the current token.
    fn quoted_character(&self, quote: Token) -> Option<String> {
        let mut rest = self.source.get(quote.end as usize..)?.chars();
        let character = rest.next().filter(|character| !character.is_control())?;
        let number = u32::from(character);
        (rest.next() == Some('\''))
            .then(|| format!("write {number}, the code of `{character}`: cells hold numbers"))
    }

    /// Parses `function(sources)`.
    fn application(&mut self) -> Parse<Expression> {
        self.weigh()?;
        let token = self.bump();
        let text = self.text(token);
        if text == words::LENGTH {
            return self.length(token);
        }
        let function = words::function(text).filter(|f| f.arity() > 0);
        let in_text = TextFunction::ALL.iter().copied().find(|function| function.name() == text);
        if function.is_none() && in_text.is_none() {
            let problem = Diagnostic::error(
                ProblemCode::UnknownFunction,
                format!("there is no function `{text}`"),
                self.span(token),
                "unknown",
            );
            let meant = nearest(text, words::functions());
            return self.fail(problem.help_if(meant.map(did_you_mean)));
        }
        let open = self.bump();
        let mut sources = Vec::with_capacity(2);
        if !self.at(TokenKind::ParenClose) {
            sources.push(self.binary(0)?);
            while self.eat(TokenKind::Comma) {
                sources.push(self.binary(0)?);
            }
        }
        self.close(TokenKind::ParenClose, open, "`,` or `)`")?;
        let span = self.since(token.start);
        // `sum` is a function of two numbers, and of one array.
        if let Some(function) = in_text.filter(|function| function.arity() == sources.len()) {
            let kind = ExpressionKind::InText(Box::new(TextApplication { function, sources }));
            return Ok(Expression { kind, span });
        }
        if let Some(function) = function.filter(|function| function.arity() == sources.len()) {
            let kind = ExpressionKind::Apply(Box::new(Application { function, sources }));
            return Ok(Expression { kind, span });
        }
        let arity = function.map(Function::arity).or(in_text.map(TextFunction::arity)).unwrap_or_default();
        let nouns = if arity == 1 { "source" } else { "sources" };
        let message = format!("`{text}` takes {arity} {nouns}, found {}", sources.len());
        let given = format!("{} given", sources.len());
        self.fail(Diagnostic::error(ProblemCode::WrongNumberOfOperands, message, span, given))
    }

    /// Parses `len(name)` or `len(name, dimension)` after its first word.
    fn length(&mut self, word: Token) -> Parse<Expression> {
        let open = self.bump();
        let name = self.operand_name("the name of an array")?;
        let text = self.text_of(name.span);
        let name = self.shared(text);
        let dimension = if self.eat(TokenKind::Comma) { Some(self.binary(0)?) } else { None };
        self.close(TokenKind::ParenClose, open, "`,` or `)`")?;
        let kind = ExpressionKind::Length(Box::new(LengthOf { name, dimension }));
        Ok(Expression { kind, span: self.since(word.start) })
    }

    /// Parses the rest of a cell after its name: a prime, subscripts or nothing, as in `name'` or `name[…]`.
    /// Returns the span of the whole cell.
    pub(super) fn target_after_name(&mut self, name: &Name) -> Parse<Span> {
        self.weight = 0;
        self.primes()?;
        if self.at(TokenKind::BracketOpen) {
            self.subscripts()?;
        }
        Ok(self.since(name.span.start))
    }

    /// Parses `name`, `name'`, `name[…]`, `name'[…]`, and fields of records: `name.field`, `name[…].field`.
    pub(super) fn named(&mut self) -> Parse<Expression> {
        let token = self.current;
        let text = self.text(token);
        if let Some(reserved) = self.misplaced(text) {
            let message = format!("expected an operand, found `{text}`");
            let label = format!("{}, which can't be a name", words::describe(reserved));
            let problem = Diagnostic::error(ProblemCode::ReservedName, message, self.span(token), label);
            return self.fail(problem);
        }
        if token.kind == TokenKind::Dotted && !is_operand_name(text) {
            return self.expected("an operand");
        }
        self.bump();
        let mut depths = self.primes()?;
        let kind = if self.at(TokenKind::BracketOpen) {
            let subscripts = self.subscripts()?;
            let field = self.field_after(text);
            if field.is_some() && depths == Depths::default() {
                depths = self.primes()?;
            }
            self.refuse_late_prime(token)?;
            let name = field.map_or_else(|| self.shared(text), Rc::new);
            let (name, adjoint) = deep(name, depths);
            ExpressionKind::Element(Box::new(Element { name, adjoint, subscripts }))
        } else {
            let (name, adjoint) = deep(self.shared(text), depths);
            ExpressionKind::Name { name, adjoint }
        };
        Ok(Expression { kind, span: self.since(token.start) })
    }

    /// Parses the primes after a name: `'` for each depth of gradient mode, with the number of the depth unless it is the
    /// next one.
    fn primes(&mut self) -> Parse<Depths> {
        let mut depths = Depths::default();
        while self.at(TokenKind::Prime) {
            let start = self.bump().start;
            let is_numbered = self.at(TokenKind::Number) && self.last_end == self.current.start;
            let depth = match is_numbered {
                true => self.integer("the depth of an adjoint").map(Some)?,
                false => None,
            };
            match depths.deeper(depth) {
                Some(more) => depths = more,
                None => {
                    let problem = Diagnostic::error(
                        ProblemCode::NoSuchAdjoint,
                        format!("the depths of an adjoint ascend, from 1 to {DEEPEST}"),
                        self.since(start),
                        "this depth doesn't follow",
                    );
                    return self.fail(problem.help(
                        "write `x'` for the adjoint of x, `x'2` for its adjoint at depth 2, and `x''` for the adjoint of x'",
                    ));
                }
            }
        }
        Ok(depths)
    }

    /// Parses the field after the subscripts of a record, and returns its name with that of the record.
    fn field_after(&mut self, record: &str) -> Option<CompactString> {
        let is_field =
            self.at(TokenKind::Directive) && self.last_end == self.current.start && !record.contains('.');
        is_field.then(|| {
            let field = self.bump();
            format_compact!("{record}{}", self.text(field))
        })
    }

    /// Returns what a reserved word is, if another word or a number follows: it begins a statement at a wrong place.
    fn misplaced(&self, text: &str) -> Option<Reserved> {
        let follows = match self.next.kind {
            TokenKind::Number => true,
            TokenKind::Word => !matches!(self.text(self.next), "step" | "reversed" | "call" | "default"),
            _ => false,
        };
        words::reserved(text).filter(|_| follows && words::operand(text).is_none())
    }

    fn refuse_late_prime(&mut self, name: Token) -> Parse<()> {
        if !self.at(TokenKind::Prime) {
            return Ok(());
        }
        let name = self.text(name);
        let help = format!("write `{name}'[…]`");
        let problem = Diagnostic::error(
            ProblemCode::NoSuchAdjoint,
            "the `'` of an adjoint follows the name",
            self.here(),
            "not the brackets",
        );
        self.fail(problem.help(help))
    }

    fn subscripts(&mut self) -> Parse<Vec<Subscript>> {
        self.weigh()?;
        let open = self.bump();
        let mut subscripts = Vec::with_capacity(1);
        loop {
            subscripts.push(self.subscript()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(TokenKind::BracketClose, open, "`,` or `]`")?;
        if subscripts.len() > 2 {
            let problem = Diagnostic::error(
                ProblemCode::NoSuchShape,
                "arrays have at most two dimensions",
                self.since(open.start),
                "too many dimensions",
            );
            return self.fail(problem);
        }
        Ok(subscripts)
    }

    /// Parses an index, `..`, or `from..to step s`.
    fn subscript(&mut self) -> Parse<Subscript> {
        if self.at(TokenKind::Range) {
            return self.all();
        }
        let from = self.binary(0)?;
        if !self.eat(TokenKind::Range) {
            return Ok(Subscript::At(from));
        }
        if matches!(self.current.kind, TokenKind::BracketClose | TokenKind::Comma) {
            return self.open_span(from.span);
        }
        let to = self.binary(0)?;
        let step = if self.eat_word("step") { Some(self.binary(0)?) } else { None };
        Ok(Subscript::Span { from, to, step })
    }

    fn all(&mut self) -> Parse<Subscript> {
        let range = self.bump();
        if matches!(self.current.kind, TokenKind::BracketClose | TokenKind::Comma) {
            return Ok(Subscript::All);
        }
        self.open_span(self.span(range))
    }

    fn open_span<T>(&mut self, place: Span) -> Parse<T> {
        let problem = Diagnostic::error(
            ProblemCode::ArrayOrCell,
            "a slice needs both bounds",
            place,
            "the other bound is missing",
        );
        self.fail(problem.help("write `A[from..to]`; `to` is exclusive"))
    }
}

/// Returns an expression in parentheses. If it is an operation, its span includes the parentheses, by which
/// the formatter recognizes them.
pub(super) fn grouped(inner: Expression, span: Span) -> Expression {
    match inner.kind {
        ExpressionKind::Binary(..) => Expression { span, ..inner },
        _ => inner,
    }
}

/// Returns the operator of a token, and its precedence, which is that of Rust.
fn operator(kind: TokenKind) -> Option<(BinaryOperator, u8)> {
    let operator = match kind {
        TokenKind::Plus => BinaryOperator::Add,
        TokenKind::Minus => BinaryOperator::Subtract,
        TokenKind::Star => BinaryOperator::Multiply,
        TokenKind::Slash => BinaryOperator::Divide,
        TokenKind::Percent => BinaryOperator::Remainder,
        TokenKind::ShiftLeft => BinaryOperator::ShiftLeft,
        TokenKind::ShiftRight => BinaryOperator::ShiftRight,
        TokenKind::Ampersand => BinaryOperator::And,
        TokenKind::Caret => BinaryOperator::Xor,
        TokenKind::Bar => BinaryOperator::Or,
        _ => return None,
    };
    Some((operator, operator.strength()))
}

/// Returns the name in the tree for an adjoint of these depths, and whether the tree marks it as an adjoint.
fn deep(name: Rc<CompactString>, depths: Depths) -> (Rc<CompactString>, bool) {
    match depths.is_first_or_none() {
        Some(adjoint) => (name, adjoint),
        None => (Rc::new(depths.name(&name)), false),
    }
}
