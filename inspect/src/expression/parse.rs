//! Parser for expressions. Names and values are resolved elsewhere.

use super::{ExpressionError, ExpressionNode, IndexNode, Special};

/// Maximum nesting of brackets and signs, because the parser is recursive.
const DEEPEST: usize = 100;

/// Maximum number of binary operators in an expression, because evaluation is recursive too.
const MOST_OPERATORS: usize = 1_000;

/// Binary operators with their precedence; a higher number binds more tightly. If one operator is the beginning of
/// another, the longer one is listed first, because the parser uses the first match.
const BINARY: &[(&str, u8)] = &[
    ("or", 1),
    ("||", 1),
    ("and", 2),
    ("&&", 2),
    ("==", 3),
    ("!=", 3),
    ("<=", 3),
    (">=", 3),
    ("<<", 7),
    (">>", 7),
    ("<", 3),
    (">", 3),
    ("|", 4),
    ("^", 5),
    ("&", 6),
    ("+", 8),
    ("-", 8),
    ("*", 9),
    ("/", 9),
    ("%", 9),
];

struct ExpressionParser<'a> {
    rest: &'a str,
    depth: usize,
    operators: usize,
}

/// Parses a whole text as an expression.
///
/// # Errors
/// The text is no valid expression.
pub(super) fn whole(text: &str) -> Result<ExpressionNode, ExpressionError> {
    let mut parser = ExpressionParser { rest: text, depth: 0, operators: 0 };
    let root = parser.binary(0)?;
    match parser.rest.trim_start() {
        "" => Ok(root),
        rest if rest.starts_with('=') => Err(ExpressionError::Assignment),
        rest if rest.starts_with(',') => {
            let first = text.get(..text.len() - parser.rest.len()).unwrap_or_default();
            let second = rest.trim_start_matches(',').trim();
            Err(ExpressionError::Several(first.trim().to_owned(), second.to_owned()))
        }
        rest => Err(ExpressionError::Unexpected(first_word(rest))),
    }
}

impl<'a> ExpressionParser<'a> {
    /// Parses operands and binary operators as long as the operators have a precedence above `least`.
    fn binary(&mut self, least: u8) -> Result<ExpressionNode, ExpressionError> {
        let mut left = self.unary()?;
        while let Some((operator, strength)) = self.operator().filter(|&(_, strength)| strength > least) {
            self.rest = &self.rest[operator.len()..];
            self.operators += 1;
            if self.operators > MOST_OPERATORS {
                return Err(ExpressionError::TooLong);
            }
            let right = self.binary(strength)?;
            let operator = match operator {
                "||" => "or",
                "&&" => "and",
                operator => operator,
            };
            left = ExpressionNode::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// Returns the next binary operator without consuming it.
    fn operator(&mut self) -> Option<(&'static str, u8)> {
        self.rest = self.rest.trim_start();
        let word = word(self.rest);
        let fits = |operator: &str| match operator.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => word == operator,
            false => self.rest.starts_with(operator),
        };
        BINARY.iter().copied().find(|(operator, _)| fits(operator))
    }

    fn eat(&mut self, text: &str) -> bool {
        self.rest = self.rest.trim_start();
        let eaten = self.rest.strip_prefix(text);
        self.rest = eaten.unwrap_or(self.rest);
        eaten.is_some()
    }

    fn unary(&mut self) -> Result<ExpressionNode, ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(ExpressionError::TooDeep);
        }
        let node = self.operand();
        self.depth -= 1;
        node
    }

    fn operand(&mut self) -> Result<ExpressionNode, ExpressionError> {
        self.rest = self.rest.trim_start();
        if word(self.rest) == "not" || self.rest.starts_with('!') {
            let length = word(self.rest).len().max("!".len());
            self.rest = &self.rest[length..];
            return Ok(ExpressionNode::Unary("not", Box::new(self.unary()?)));
        }
        for sign in ["-", "~"] {
            if self.eat(sign) {
                // The sign belongs to the number: the lowest integer has no positive counterpart.
                if sign == "-" && self.rest.starts_with(|c: char| c.is_ascii_digit()) {
                    return self.number(sign);
                }
                return Ok(ExpressionNode::Unary(sign, Box::new(self.unary()?)));
            }
        }
        if self.eat("(") {
            let inner = self.binary(0)?;
            return if self.eat(")") { Ok(inner) } else { Err(ExpressionError::Unclosed('(')) };
        }
        match self.rest.chars().next() {
            None => Err(ExpressionError::Missing),
            Some('$') => self.special(),
            Some('=') => Err(ExpressionError::Assignment),
            Some(c) if c.is_ascii_digit() => self.number(""),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.place(),
            Some(_) => Err(ExpressionError::Unexpected(first_word(self.rest))),
        }
    }

    fn special(&mut self) -> Result<ExpressionNode, ExpressionError> {
        let name = word(&self.rest[1..]);
        let special = match name {
            "step" => Special::Step,
            "depth" => Special::Depth,
            "position" => Special::Position,
            "old" => Special::Old,
            "new" => Special::New,
            _ => return Err(ExpressionError::Special(format!("${name}"))),
        };
        self.rest = &self.rest[1 + name.len()..];
        Ok(ExpressionNode::Special(special))
    }

    /// Parses a number. Its sign has been parsed already and is passed as `sign`.
    fn number(&mut self, sign: &str) -> Result<ExpressionNode, ExpressionError> {
        let (text, rest) = self.rest.split_at(length_of_number(self.rest));
        self.rest = rest;
        let plain = text.replace('_', "");
        let (digits, radix) = match plain.get(..2) {
            Some("0x") => (&plain[2..], 16),
            Some("0b") => (&plain[2..], 2),
            Some("0o") => (&plain[2..], 8),
            _ => (&plain[..], 10),
        };
        let written = || format!("{sign}{text}");
        if radix == 10 && plain.contains(['.', 'e', 'E']) {
            let valid = plain.parse::<f64>().is_ok();
            let node = || ExpressionNode::Real(format!("{sign}{plain}"));
            return valid.then(node).ok_or_else(|| ExpressionError::Number(written()));
        }
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Err(ExpressionError::Number(written()));
        }
        let value = match radix {
            10 => format!("{sign}{digits}").parse().ok(),
            // A number in another base denotes the bits of the integer.
            _ => u64::from_str_radix(digits, radix).ok().map(|bits| match sign {
                "" => bits as i64,
                _ => (bits as i64).wrapping_neg(),
            }),
        };
        value.map(ExpressionNode::Int).ok_or_else(|| ExpressionError::TooLarge(written()))
    }

    fn place(&mut self) -> Result<ExpressionNode, ExpressionError> {
        let mut name = word(self.rest).to_owned();
        self.rest = &self.rest[name.len()..];
        name.push_str(self.field());
        let mut adjoint = self.prime();
        let mut indices = Vec::new();
        if self.eat("[") {
            loop {
                indices.push(self.index()?);
                if !self.eat(",") {
                    break;
                }
            }
            if !self.eat("]") {
                return Err(ExpressionError::Unclosed('['));
            }
            if !adjoint && !name.contains('.') {
                name.push_str(self.field());
                adjoint = self.prime();
            }
        }
        Ok(ExpressionNode::Place { name, adjoint, indices })
    }

    fn prime(&mut self) -> bool {
        let adjoint = self.rest.starts_with('\'');
        self.rest = &self.rest[usize::from(adjoint)..];
        adjoint
    }

    /// Parses the field of a record, with its dot. Returns an empty text if there is none.
    fn field(&mut self) -> &'a str {
        let field = self.rest.strip_prefix('.').map_or("", word);
        if field.is_empty() {
            return "";
        }
        let (field, rest) = self.rest.split_at(1 + field.len());
        self.rest = rest;
        field
    }

    /// Parses an index or a slice: `2..5`, `i.. step 2`, `..`.
    fn index(&mut self) -> Result<IndexNode, ExpressionError> {
        let mut from = None;
        if !self.eat("..") {
            let first = self.binary(0)?;
            if !self.eat("..") {
                return Ok(IndexNode::At(first));
            }
            from = Some(first);
        }
        self.rest = self.rest.trim_start();
        let is_open = self.rest.is_empty() || self.rest.starts_with([',', ']']) || word(self.rest) == "step";
        let to = if is_open { None } else { Some(self.binary(0)?) };
        self.rest = self.rest.trim_start();
        let has_step = word(self.rest) == "step";
        let by = if has_step && self.eat("step") { Some(self.binary(0)?) } else { None };
        Ok(IndexNode::Span { from, to, by })
    }
}

/// Returns the length of the number at the start of a text, in bytes. The number ends before two points, as
/// in `2..5`.
fn length_of_number(text: &str) -> usize {
    let is_based = ["0x", "0b", "0o"].iter().any(|prefix| text.starts_with(prefix));
    let mut before = ' ';
    let ends = |(at, c): &(usize, char)| {
        let is_sign = !is_based && matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
        before = *c;
        text[*at..].starts_with("..") || !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.') || is_sign)
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
}

/// Returns the name or word at the start of a text, or an empty text if there is none.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the first word or character of a text, for messages.
fn first_word(text: &str) -> String {
    match word(text) {
        "" => text.chars().take(1).collect(),
        word => word.to_owned(),
    }
}
