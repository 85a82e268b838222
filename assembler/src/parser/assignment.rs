//! Assignments as other languages write them. None is a statement here: each is answered with the
//! instruction that does it, in the operands that its author wrote, or with why none does.

use reviver_isa::Function;
use reviver_isa::text::compound;
use reviver_isa::update::Update;

use super::words;
use super::{Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};

/// Values with more characters are called `value`.
const LONGEST: usize = 40;

/// What stands between the target and the value.
enum AssignmentSign {
    /// `=` and `:=`
    Becomes,
    /// `+=`, `-=`, `^=`
    Updates(Update),
    /// `*=` and others that no update undoes: the function.
    Applies(Function),
    /// `++` and `--`
    Steps(Update),
}

/// The right side, as far as it can be spelled.
enum AssignedValue {
    Plain(String),
    /// A function of sources: `a * b`, `exp(x)`.
    Of(Function, Vec<String>),
    Other,
}

impl Parser<'_> {
    /// Reports an assignment whose target is behind and whose sign is at hand.
    pub(super) fn refuse_assignment(&mut self, target: &str) -> Parse<()> {
        let Some(sign) = self.assignment_sign() else { return Ok(()) };
        let place = match self.current.kind {
            TokenKind::Assign | TokenKind::Becomes => self.here(),
            _ => self.here().to(self.span(self.next)),
        };
        if !matches!(self.current.kind, TokenKind::Assign | TokenKind::Becomes) {
            self.bump();
        }
        self.bump();
        let value = self.right_side();
        let target = if target.len() <= LONGEST { target } else { "x" };
        let problem = Diagnostic::error("statements begin with a mnemonic", place, "not an instruction");
        self.fail(problem.help(advice(&sign, target, &value)))
    }

    fn assignment_sign(&self) -> Option<AssignmentSign> {
        Some(match (self.current.kind, self.next.kind) {
            (TokenKind::Assign | TokenKind::Becomes, _) => AssignmentSign::Becomes,
            (TokenKind::Plus, TokenKind::Assign) => AssignmentSign::Updates(Update::Add),
            (TokenKind::Minus, TokenKind::Assign) => AssignmentSign::Updates(Update::Sub),
            (TokenKind::Caret, TokenKind::Assign) => AssignmentSign::Updates(Update::Xor),
            (TokenKind::Plus, TokenKind::Plus) => AssignmentSign::Steps(Update::Add),
            (TokenKind::Minus, TokenKind::Minus) if self.ends_behind_next() => {
                AssignmentSign::Steps(Update::Sub)
            }
            (sign, TokenKind::Assign) => AssignmentSign::Applies(function_of(sign)?),
            _ => return None,
        })
    }

    /// Whether the line ends behind the next token.
    fn ends_behind_next(&self) -> bool {
        let kind = self.lexer.clone().token().kind;
        matches!(kind, TokenKind::Newline | TokenKind::Comment | TokenKind::End)
    }

    /// The rest of the line, which is left behind.
    fn right_side(&mut self) -> AssignedValue {
        let mut tokens = Vec::new();
        while !self.at_line_end() {
            tokens.push(self.bump());
        }
        self.value_of(&tokens)
    }

    fn value_of(&self, tokens: &[Token]) -> AssignedValue {
        let operators: Vec<usize> = top_level(tokens)
            .filter(|(at, token)| *at > 0 && function_of(token.kind).is_some())
            .map(|(at, _)| at)
            .collect();
        match operators.as_slice() {
            [] => self.single_value(tokens),
            [at] => self.operation(tokens, *at).unwrap_or(AssignedValue::Other),
            _ => AssignedValue::Other,
        }
    }

    /// `a`, or `f(a, b)`
    fn single_value(&self, tokens: &[Token]) -> AssignedValue {
        if let [name, open, inner @ .., close] = tokens
            && (name.kind, open.kind, close.kind)
                == (TokenKind::Word, TokenKind::ParenOpen, TokenKind::ParenClose)
        {
            let commas = |(_, token): &(usize, &Token)| token.kind == TokenKind::Comma;
            let sources = split(inner, top_level(inner).filter(commas).map(|(at, _)| at));
            let sources: Option<Vec<String>> = sources.map(|source| self.spelled(source)).collect();
            let function = words::function(self.text(*name));
            return match function.zip(sources) {
                Some((function, sources)) if sources.len() == function.arity() => {
                    AssignedValue::Of(function, sources)
                }
                _ => AssignedValue::Other,
            };
        }
        self.spelled(tokens).map_or(AssignedValue::Other, AssignedValue::Plain)
    }

    fn operation(&self, tokens: &[Token], at: usize) -> Option<AssignedValue> {
        let (left, rest) = tokens.split_at_checked(at)?;
        let (sign, right) = rest.split_first()?;
        Some(AssignedValue::Of(function_of(sign.kind)?, vec![self.spelled(left)?, self.spelled(right)?]))
    }

    /// The text of tokens that stand one after the other.
    fn spelled(&self, tokens: &[Token]) -> Option<String> {
        let (first, last) = tokens.first().zip(tokens.last())?;
        let text = self.source.get(first.start as usize..last.end as usize)?;
        (text.len() <= LONGEST && !text.is_empty()).then(|| text.to_owned())
    }
}

/// The tokens outside of brackets, with their numbers.
fn top_level(tokens: &[Token]) -> impl Iterator<Item = (usize, &Token)> {
    let mut depth = 0_i32;
    tokens.iter().enumerate().filter(move |(_, token)| {
        let outside = depth == 0;
        match token.kind {
            TokenKind::ParenOpen | TokenKind::BracketOpen => depth += 1,
            TokenKind::ParenClose | TokenKind::BracketClose => depth -= 1,
            _ => {}
        }
        outside
    })
}

/// The parts between these places.
fn split(tokens: &[Token], at: impl Iterator<Item = usize>) -> impl Iterator<Item = &[Token]> {
    let mut start = 0;
    let ends: Vec<usize> = at.chain([tokens.len()]).collect();
    ends.into_iter().map(move |end| {
        let part = tokens.get(start..end).unwrap_or_default();
        start = end + 1;
        part
    })
}

/// What an operator of other languages computes.
fn function_of(sign: TokenKind) -> Option<Function> {
    Some(match sign {
        TokenKind::Plus => Function::Sum,
        TokenKind::Minus => Function::Diff,
        TokenKind::Star => Function::Mul,
        TokenKind::Slash => Function::Div,
        TokenKind::Percent => Function::Rem,
        TokenKind::Ampersand => Function::And,
        TokenKind::Bar => Function::Or,
        TokenKind::Caret => Function::Xor,
        TokenKind::ShiftLeft => Function::Shl,
        TokenKind::ShiftRight => Function::Shr,
        _ => return None,
    })
}

fn advice(sign: &AssignmentSign, target: &str, value: &AssignedValue) -> String {
    match sign {
        AssignmentSign::Updates(update) => format!("write `{}`", updated(*update, target, value)),
        AssignmentSign::Steps(update) => format!("write `{} {target}, 1`", update.name()),
        AssignmentSign::Applies(function) => lost(*function, target, value),
        AssignmentSign::Becomes => becomes(target, value),
    }
}

/// The instruction of an update with this value.
fn updated(update: Update, target: &str, value: &AssignedValue) -> String {
    match value {
        AssignedValue::Plain(source) => format!("{} {target}, {source}", update.name()),
        AssignedValue::Of(function, sources) if words::combine(update, *function) => {
            format!("{} {target}, {}", compound(update, *function), sources.join(", "))
        }
        AssignedValue::Of(..) | AssignedValue::Other => format!("{} {target}, value", update.name()),
    }
}

fn lost(function: Function, target: &str, value: &AssignedValue) -> String {
    let source = match value {
        AssignedValue::Plain(source) => source,
        AssignedValue::Of(..) | AssignedValue::Other => "value",
    };
    in_another_cell(function, target, &format!("{target}, {source}"))
}

fn becomes(target: &str, value: &AssignedValue) -> String {
    if let AssignedValue::Of(function, sources) = value {
        if let ([own, other], Some(update)) = (sources.as_slice(), update_of(*function))
            && own == target
        {
            return format!("write `{} {target}, {other}`", update.name());
        }
        if sources.iter().any(|source| source == target) {
            return in_another_cell(*function, target, &sources.join(", "));
        }
    }
    format!(
        "nothing is overwritten here: write `{}` if {target} is 0; `overwrite` loses what {target} held",
        updated(Update::Add, target, value)
    )
}

fn in_another_cell(function: Function, target: &str, sources: &str) -> String {
    format!(
        "no instruction does that, for it can't be undone for every {target}; `{} t, {sources}` adds the \
         result to another cell t",
        compound(Update::Add, function)
    )
}

/// The update that does to its target what the function does with it.
fn update_of(function: Function) -> Option<Update> {
    match function {
        Function::Sum => Some(Update::Add),
        Function::Diff => Some(Update::Sub),
        Function::Xor => Some(Update::Xor),
        _ => None,
    }
}
