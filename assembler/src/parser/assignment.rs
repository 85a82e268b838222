//! Errors for assignments in the syntax of other languages, such as `x = y + 1`. None of these is a valid
//! statement. The error suggests the equivalent instruction with the user's operands, or explains why there
//! is none.

use reviver_isa::Function;
use reviver_isa::codes::ProblemCode;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::Update;

use super::{Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

/// The maximum length of a value in a suggestion; a longer one is replaced by the word `value`.
const LONGEST: usize = 40;

/// The sign between the target and the value of an assignment.
enum AssignmentSign {
    /// The signs `=` and `:=`
    Becomes,
    /// The signs `+=`, `-=`, `^=`
    Updates(Update),
    /// The sign `*=`, or another sign for which there is no reversible update, with the function that the sign denotes.
    Applies(Function),
    /// The signs `++` and `--`
    Steps(Update),
}

/// The right side of an assignment, as far as suggestions need it.
struct AssignedValue {
    /// The text of the value. If it is too long for a suggestion, or missing, it is the word `value`.
    text: String,
    /// The only operator outside of brackets, as a function with its operands as text. `None` if there are no
    /// or several such operators.
    operation: Option<(Function, String, String)>,
    /// The names in the value.
    names: Vec<String>,
}

impl Parser<'_> {
    /// Reports an assignment. The target has been parsed, and the current token is the sign.
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
        let problem = Diagnostic::error(
            ProblemCode::Assigned,
            "statements begin with a mnemonic",
            place,
            "not an instruction",
        );
        self.fail(problem.help(advice(&sign, target, &value)))
    }

    /// Reports an assignment with several targets, such as `a, b = b, a`. The first target begins at `start`,
    /// and the current token is the comma after it.
    pub(super) fn refuse_parallel_assignment(&mut self, start: u32) -> Parse<()> {
        let line = self.source.get(start as usize..).unwrap_or_default();
        let line = line.split(['\n', ';']).next().unwrap_or_default().trim_end();
        // In comparisons and signs such as `+=`, the `=` doesn't mean an assignment.
        let is_sign = |before: char, after: char| !"=!<>+-*/%&|^".contains(before) && after != '=';
        let sign = line.match_indices('=').map(|(at, _)| at).find(|&at| {
            let before = line.get(..at).and_then(|text| text.chars().next_back()).unwrap_or(' ');
            let after = line.get(at + 1..).and_then(|text| text.chars().next()).unwrap_or(' ');
            is_sign(before, after)
        });
        let Some(sign) = sign else { return Ok(()) };
        let targets = listed(line.get(..sign).unwrap_or_default().trim_end_matches(':'));
        let values = listed(line.get(sign + 1..).unwrap_or_default());
        let help = match (targets.as_slice(), values.as_slice()) {
            ([a, b], [c, d]) if a == d && b == c => format!("write `swap {a}, {b}`"),
            ([a, b, c], [d, e, f]) if (a, b, c) == (f, d, e) => {
                format!("write `swap {a}, {b}` and below it `swap {b}, {c}`")
            }
            ([a, b, c], [d, e, f]) if (a, b, c) == (e, f, d) => {
                format!("write `swap {a}, {b}` and below it `swap {a}, {c}`")
            }
            _ => "write a line for each cell: a statement changes one cell, and `swap a, b` exchanges two"
                .to_owned(),
        };
        let end = start + line.len() as u32;
        self.skip_line();
        let problem = Diagnostic::error(
            ProblemCode::Assigned,
            "statements begin with a mnemonic",
            Span { file: self.file, start, end },
            "several cells are assigned at once",
        );
        self.fail(problem.help(help))
    }

    fn assignment_sign(&self) -> Option<AssignmentSign> {
        Some(match (self.current.kind, self.next.kind) {
            (TokenKind::Assign | TokenKind::Becomes, _) => AssignmentSign::Becomes,
            (TokenKind::Plus, TokenKind::Assign) => AssignmentSign::Updates(Update::Add),
            (TokenKind::Minus, TokenKind::Assign) => AssignmentSign::Updates(Update::Sub),
            (TokenKind::Caret, TokenKind::Assign) => AssignmentSign::Updates(Update::Xor),
            (TokenKind::Plus, TokenKind::Plus) => AssignmentSign::Steps(Update::Add),
            (TokenKind::Minus, TokenKind::Minus) if self.ends_after_next() => {
                AssignmentSign::Steps(Update::Sub)
            }
            (sign, TokenKind::Assign) => AssignmentSign::Applies(function_of(sign)?),
            _ => return None,
        })
    }

    /// Returns true if the line ends after the next token.
    fn ends_after_next(&self) -> bool {
        let kind = self.lexer.clone().token().kind;
        matches!(kind, TokenKind::Newline | TokenKind::Comment | TokenKind::End)
    }

    /// Consumes the rest of the line and returns it as a value.
    fn right_side(&mut self) -> AssignedValue {
        let mut tokens = Vec::new();
        while !self.at_line_end() {
            tokens.push(self.bump());
        }
        let operators: Vec<usize> = top_level(&tokens)
            .filter(|(at, token)| *at > 0 && function_of(token.kind).is_some())
            .map(|(at, _)| at)
            .collect();
        let operation = match operators.as_slice() {
            [at] => self.operation(&tokens, *at),
            _ => None,
        };
        let power = match operators.as_slice() {
            [at, next] if *next == at + 1 => self.power(&tokens, *at),
            _ => None,
        };
        let words = tokens.iter().filter(|token| token.kind == TokenKind::Word);
        let names = words.map(|token| self.text(*token).to_owned()).collect();
        let text = power.or_else(|| self.spelled(&tokens)).unwrap_or_else(|| "value".to_owned());
        AssignedValue { text, operation, names }
    }

    fn operation(&self, tokens: &[Token], at: usize) -> Option<(Function, String, String)> {
        let (left, rest) = tokens.split_at_checked(at)?;
        let (sign, right) = rest.split_first()?;
        Some((function_of(sign.kind)?, self.spelled(left)?, self.spelled(right)?))
    }

    /// Returns `a ** b` as the text of a function. `at` is the index of the first `*`.
    fn power(&self, tokens: &[Token], at: usize) -> Option<String> {
        let stars = tokens.get(at..at + 2)?;
        let (base, exponent) = (self.spelled(tokens.get(..at)?)?, self.spelled(tokens.get(at + 2..)?)?);
        stars.iter().all(|token| token.kind == TokenKind::Star).then(|| format!("pow({base}, {exponent})"))
    }

    /// Returns the text of consecutive tokens.
    fn spelled(&self, tokens: &[Token]) -> Option<String> {
        let (first, last) = tokens.first().zip(tokens.last())?;
        let text = self.source.get(first.start as usize..last.end as usize)?;
        (text.len() <= LONGEST && !text.is_empty()).then(|| text.to_owned())
    }
}

/// Returns the parts of a list, split at commas outside of brackets. Parentheses around the whole list are
/// removed first.
fn listed(text: &str) -> Vec<&str> {
    let text = text.trim();
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let mut depth = 0_i32;
    let parts = text.split(|character| {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.map(str::trim).collect()
}

/// Returns the tokens that aren't inside of brackets, with their indices.
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

/// Returns the function row for an operator of other languages, or `None` if there is none.
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
        TokenKind::ShiftRight => Function::Sar,
        _ => return None,
    })
}

fn advice(sign: &AssignmentSign, target: &str, value: &AssignedValue) -> String {
    match sign {
        AssignmentSign::Updates(update) => format!("write `{} {target}, {}`", update.name(), value.text),
        AssignmentSign::Steps(update) => format!("write `{} {target}, 1`", update.name()),
        AssignmentSign::Applies(function) => {
            let sign = BinaryOperator::of(*function).map_or("?", BinaryOperator::symbol);
            in_another_cell(target, &format!("{target} {sign} {}", value.text))
        }
        AssignmentSign::Becomes => becomes(target, value),
    }
}

fn becomes(target: &str, value: &AssignedValue) -> String {
    if let Some((function, own, other)) = &value.operation
        && let Some(update) = update_of(*function)
        && own == target
        && other != target
    {
        return format!("write `{} {target}, {other}`", update.name());
    }
    if value.names.iter().any(|name| name == target) {
        return in_another_cell(target, &value.text);
    }
    format!(
        "write `add {target}, {}` if {target} is 0; `overwrite` would lose the old value of {target}",
        value.text
    )
}

fn in_another_cell(target: &str, value: &str) -> String {
    format!(
        "write `add t, {value}`, which adds the result to another cell t: no reversible instruction assigns this value for every {target}, and \
         `overwrite {target}, {value}` loses the old value of {target}"
    )
}

/// Returns the reversible update that changes a target by a function, for example `add` for the sum; `None`
/// if there is none.
fn update_of(function: Function) -> Option<Update> {
    match function {
        Function::Sum => Some(Update::Add),
        Function::Diff => Some(Update::Sub),
        Function::Xor => Some(Update::Xor),
        _ => None,
    }
}
