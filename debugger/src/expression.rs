//! Expressions over cells, for `print`, `set` and conditions: the operators of the language's constant
//! expressions, comparisons, `and`, `or` and `not`; names mean what they mean in one frame.
//!
//! Integers are computed in 64 bits and wrap; as soon as a real takes part, in f64. A real cell that
//! stands alone keeps all its bits, also where it is compared. `&&`, `||` and `!` are other spellings of
//! `and`, `or` and `not`. `x'` and `A'[i]` are adjoints, `mode` the gradient mode bit. `$step`,
//! `$depth` and `$position` are the machine's own numbers.

use std::cmp::Ordering;

use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_vm::State;
use reviver_vm::lookup::IndexError;
use reviver_vm::values::Value;
use thiserror::Error;

use crate::memory::{Cell, MODE_BIT, Memory, Storage};

/// The machine's own numbers.
pub const SPECIALS: [&str; 3] = ["$step", "$depth", "$position"];

/// Brackets and signs that may be open at a time: bounds the recursion.
const DEEPEST: usize = 100;

/// Binary operators in an expression at most: it is evaluated recursively too.
const MOST_OPERATORS: usize = 1_000;

/// Why a text is no expression, or has no value here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExpressionError {
    #[error("an expression is missing at the end")]
    Missing,
    #[error("`{0}` is not expected here")]
    Unexpected(String),
    #[error("`=` sets nothing here")]
    Assignment,
    #[error("`{0}` is not closed")]
    Unclosed(char),
    #[error("`{0}` is not a number")]
    Number(String),
    #[error("the expression is nested too deeply")]
    TooDeep,
    #[error("the expression is too long")]
    TooLong,
    #[error("there is no cell `{name}` here")]
    Unknown { name: String, hint: Option<Hint> },
    #[error("`{0}` is none of {names}", names = SPECIALS.join(", "))]
    Special(String),
    #[error("`{name}`: {error}")]
    Index { name: String, error: IndexError },
    #[error("`{0}` is an array: name one of its elements")]
    Array(String),
    #[error("`{0}` takes integers only")]
    IntegersOnly(&'static str),
    #[error("division by zero")]
    DivisionByZero,
    #[error("`{0}` is no cell")]
    NoCell(String),
    #[error("`{0}` is an integer: only reals have adjoints")]
    NoAdjoint(String),
}

/// What somebody may have meant by a name that isn't known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A name that is much like it.
    Near(String),
    /// The frame of a procedure knows it: so many calls further out, or further in where negative.
    Frame { procedure: String, outward: isize },
}

/// An expression, read but not yet looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Int(i64),
    /// As written: the program's number system rounds it.
    Real(String),
    Special(Special),
    Place {
        name: String,
        adjoint: bool,
        indices: Vec<Node>,
    },
    Unary(&'static str, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    Step,
    Depth,
    Position,
}

/// What an expression came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Computed {
    Int(i64),
    /// Computed in f64.
    Float(f64),
    /// The bits of one real cell.
    Bits(u64),
}

/// What expressions are evaluated in.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub memory: &'a Memory,
    pub state: &'a State,
    /// The timeline's step.
    pub step: i64,
    /// The call depth whose names are meant.
    pub depth: usize,
    /// The call depth of a frame whose own names go before those.
    pub before: Option<usize>,
}

impl Expression {
    /// Reads a whole text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        let text = text.trim();
        let mut parser = Parser { rest: text, depth: 0, operators: 0 };
        let root = parser.binary(0)?;
        match parser.rest.trim_start() {
            "" => Ok(Expression { text: text.to_owned(), root }),
            rest if rest.starts_with('=') => Err(ExpressionError::Assignment),
            rest => Err(ExpressionError::Unexpected(first_word(rest))),
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value.
    ///
    /// # Errors
    /// Names that mean nothing here, indices out of bounds, division by zero.
    pub fn evaluate(&self, scene: Scene<'_>) -> Result<Computed, ExpressionError> {
        scene.evaluate(&self.root)
    }

    /// The value for a cell of a class. For a real it is computed in reals: 1/3 is a third.
    ///
    /// # Errors
    /// As [`Expression::evaluate`].
    pub fn evaluate_for(&self, class: Class, scene: Scene<'_>) -> Result<Computed, ExpressionError> {
        match class {
            Class::Int => scene.evaluate(&self.root),
            Class::Real => scene.in_reals(&self.root),
        }
    }

    /// The names of cells and arrays in it.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.add_names(&mut names);
        names
    }

    /// Whether the value is not 0.
    ///
    /// # Errors
    /// As [`Expression::evaluate`].
    pub fn holds(&self, scene: Scene<'_>) -> Result<bool, ExpressionError> {
        self.evaluate(scene).map(|value| scene.number(value) != 0.0)
    }

    /// The one cell that the expression names.
    ///
    /// # Errors
    /// An expression that is more than the name of a cell.
    pub fn cell(&self, scene: Scene<'_>) -> Result<Cell, ExpressionError> {
        match &self.root {
            Node::Place { name, adjoint, indices } => scene.cell(name, *adjoint, indices),
            _ => Err(ExpressionError::NoCell(self.text.clone())),
        }
    }

    /// The array, or the adjoints of one, that the expression names without an index; none where it is
    /// something else.
    ///
    /// # Errors
    /// No such name; adjoints of integers.
    pub fn array(&self, scene: Scene<'_>) -> Result<Option<Storage>, ExpressionError> {
        match &self.root {
            Node::Place { name, adjoint, indices } if indices.is_empty() && !is_mode(name, *adjoint) => {
                let storage = scene.cells(name, *adjoint)?;
                Ok(Some(storage).filter(|storage| storage.shape() != Shape::Scalar))
            }
            _ => Ok(None),
        }
    }
}

impl Node {
    fn add_names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Node::Int(_) | Node::Real(_) | Node::Special(_) => {}
            Node::Place { name, indices, .. } => {
                names.push(name);
                indices.iter().for_each(|index| index.add_names(names));
            }
            Node::Unary(_, operand) => operand.add_names(names),
            Node::Binary(_, left, right) => [left, right].into_iter().for_each(|side| side.add_names(names)),
        }
    }
}

impl Scene<'_> {
    /// The cells that a name stands for, or their adjoints.
    fn cells(&self, name: &str, adjoint: bool) -> Result<Storage, ExpressionError> {
        let in_frame = |depth| Some((depth, self.memory.own(self.state, depth, name)?));
        let here = || Some((self.depth, self.memory.base(self.state, self.depth, name)?));
        let found = self.before.and_then(in_frame).or_else(here);
        let storage = found.and_then(|(depth, base)| self.memory.storage(self.state, depth, base));
        let storage = storage
            .ok_or_else(|| ExpressionError::Unknown { name: name.to_owned(), hint: self.hint(name) })?;
        match adjoint {
            true => storage.adjoint().ok_or_else(|| ExpressionError::NoAdjoint(name.to_owned())),
            false => Ok(storage),
        }
    }

    fn hint(&self, name: &str) -> Option<Hint> {
        if let Some(depth) = self.memory.other_frame_with(self.state, self.depth, name) {
            let procedure = self.memory.procedure(self.state, depth)?.name.clone();
            return Some(Hint::Frame { procedure, outward: self.depth as isize - depth as isize });
        }
        let names = self.memory.names(self.state, self.depth);
        reviver_assembler::suggest::nearest(name, names).map(|near| Hint::Near(near.to_owned()))
    }

    fn cell(&self, name: &str, adjoint: bool, indices: &[Node]) -> Result<Cell, ExpressionError> {
        if is_mode(name, adjoint) && indices.is_empty() {
            return Ok(MODE_BIT);
        }
        let storage = self.cells(name, adjoint)?;
        if indices.is_empty() && storage.shape() != Shape::Scalar {
            return Err(ExpressionError::Array(name.to_owned()));
        }
        let indices: Vec<i64> =
            indices.iter().map(|index| self.integer(index, "an index")).collect::<Result<_, _>>()?;
        storage.element(&indices).map_err(|error| ExpressionError::Index { name: name.to_owned(), error })
    }

    fn integer(&self, node: &Node, what: &'static str) -> Result<i64, ExpressionError> {
        match self.evaluate(node)? {
            Computed::Int(value) => Ok(value),
            _ => Err(ExpressionError::IntegersOnly(what)),
        }
    }

    fn evaluate(&self, node: &Node) -> Result<Computed, ExpressionError> {
        match node {
            Node::Int(value) => Ok(Computed::Int(*value)),
            Node::Real(text) => match self.memory.program().parse(Class::Real, text) {
                Ok(Value::Real(bits)) => Ok(Computed::Bits(bits)),
                _ => Err(ExpressionError::Number(text.clone())),
            },
            Node::Special(Special::Step) => Ok(Computed::Int(self.step)),
            Node::Special(Special::Depth) => Ok(Computed::Int(self.state.calls.len() as i64)),
            Node::Special(Special::Position) => Ok(Computed::Int(i64::from(self.state.position))),
            Node::Place { name, adjoint, indices } => {
                match self.cell(name, *adjoint, indices)?.value(self.state) {
                    Some(Value::Int(value)) => Ok(Computed::Int(value)),
                    Some(Value::Real(bits)) => Ok(Computed::Bits(bits)),
                    None => Err(ExpressionError::NoCell(name.clone())),
                }
            }
            Node::Unary(operator, operand) => self.unary(operator, operand),
            Node::Binary(operator, left, right) => self.binary(operator, left, right),
        }
    }

    /// A value as a real: integers divide like reals. Indices stay integers.
    fn in_reals(&self, node: &Node) -> Result<Computed, ExpressionError> {
        match node {
            Node::Binary(operator @ ("+" | "-" | "*" | "/"), left, right) => {
                let (left, right) = (self.in_reals(left)?, self.in_reals(right)?);
                reals(operator, self.number(left), self.number(right))
            }
            Node::Unary("-", operand) => Ok(self.negated(self.in_reals(operand)?)),
            _ => self.evaluate(node),
        }
    }

    fn unary(&self, operator: &'static str, operand: &Node) -> Result<Computed, ExpressionError> {
        let value = self.evaluate(operand)?;
        Ok(match (operator, value) {
            ("not", value) => Computed::Int(i64::from(self.number(value) == 0.0)),
            ("-", value) => self.negated(value),
            ("~", Computed::Int(value)) => Computed::Int(!value),
            _ => return Err(ExpressionError::IntegersOnly(operator)),
        })
    }

    fn binary(&self, operator: &'static str, left: &Node, right: &Node) -> Result<Computed, ExpressionError> {
        let left = self.evaluate(left)?;
        match (operator, self.number(left) != 0.0) {
            ("and", false) => return Ok(Computed::Int(0)),
            ("or", true) => return Ok(Computed::Int(1)),
            _ => {}
        }
        let right = self.evaluate(right)?;
        match (left, right) {
            (_, right) if matches!(operator, "and" | "or") => {
                Ok(Computed::Int(i64::from(self.number(right) != 0.0)))
            }
            (Computed::Int(a), Computed::Int(b)) => integers(operator, a, b).map(Computed::Int),
            (a, b) if is_comparison(operator) => {
                let order = self.order(a, b);
                Ok(Computed::Int(i64::from(order.map_or(operator == "!=", |order| meets(operator, order)))))
            }
            (a, b) => reals(operator, self.number(a), self.number(b)),
        }
    }

    /// The counterpart of a value; of one of the program's numbers to the last bit.
    fn negated(&self, value: Computed) -> Computed {
        let program = self.memory.program();
        match value {
            Computed::Int(value) => Computed::Int(value.wrapping_neg()),
            Computed::Float(value) => Computed::Float(-value),
            Computed::Bits(bits) => {
                match program.parse(Class::Real, &negated(&program.text(Value::Real(bits)))) {
                    Ok(Value::Real(bits)) => Computed::Bits(bits),
                    _ => Computed::Float(-self.number(value)),
                }
            }
        }
    }

    /// How two values compare: in the program's numbers if both are such, else in f64. `None` where one is
    /// no number.
    fn order(&self, a: Computed, b: Computed) -> Option<Ordering> {
        match (self.bits(a), self.bits(b)) {
            (Some(a), Some(b)) => self.memory.program().compare(a, b),
            _ => self.number(a).partial_cmp(&self.number(b)),
        }
    }

    /// A value that needs no rounding in the program's numbers.
    fn bits(&self, value: Computed) -> Option<u64> {
        match value {
            Computed::Bits(bits) => Some(bits),
            Computed::Int(value) => match self.memory.program().parse(Class::Real, &value.to_string()) {
                Ok(Value::Real(bits)) => Some(bits),
                _ => None,
            },
            Computed::Float(_) => None,
        }
    }

    /// The f64 nearest to a value.
    fn number(&self, value: Computed) -> f64 {
        match value {
            Computed::Int(value) => value as f64,
            Computed::Float(value) => value,
            Computed::Bits(bits) => self.memory.program().approximate(Value::Real(bits)),
        }
    }

    /// A value as text.
    pub fn text(&self, value: Computed) -> String {
        match value {
            Computed::Int(value) => value.to_string(),
            Computed::Float(value) => format!("{value:?}"),
            Computed::Bits(bits) => self.memory.program().text(Value::Real(bits)),
        }
    }

    /// A value for a cell of a class, in the program's numbers.
    ///
    /// # Errors
    /// A value that doesn't fit.
    pub fn value_for(&self, class: Class, value: Computed) -> Result<Value, reviver_vm::values::ValueError> {
        match (class, value) {
            (Class::Real, Computed::Bits(bits)) => Ok(Value::Real(bits)),
            _ => self.memory.program().parse(class, &self.text(value)),
        }
    }
}

/// Whether a name is the gradient mode bit's.
fn is_mode(name: &str, adjoint: bool) -> bool {
    name == "mode" && !adjoint
}

fn integers(operator: &'static str, a: i64, b: i64) -> Result<i64, ExpressionError> {
    Ok(match operator {
        "*" => a.wrapping_mul(b),
        "/" | "%" if b == 0 => return Err(ExpressionError::DivisionByZero),
        "/" => a.wrapping_div(b),
        "%" => a.wrapping_rem(b),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "<<" => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0),
        ">>" => a >> b.clamp(0, 63),
        "&" => a & b,
        "^" => a ^ b,
        "|" => a | b,
        _ => i64::from(meets(operator, a.cmp(&b))),
    })
}

fn reals(operator: &'static str, a: f64, b: f64) -> Result<Computed, ExpressionError> {
    Ok(Computed::Float(match operator {
        "*" => a * b,
        "/" if b == 0.0 => return Err(ExpressionError::DivisionByZero),
        "/" => a / b,
        "+" => a + b,
        "-" => a - b,
        _ => return Err(ExpressionError::IntegersOnly(operator)),
    }))
}

/// The spelling of a number with the other sign.
fn negated(text: &str) -> String {
    text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_owned)
}

fn is_comparison(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<" | "<=" | ">" | ">=")
}

/// Whether a comparison holds of two values of this order.
fn meets(operator: &str, order: Ordering) -> bool {
    match operator {
        "==" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// Binary operators and how strongly they bind; of two that begin alike the longer comes first.
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

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
    operators: usize,
}

impl<'a> Parser<'a> {
    fn binary(&mut self, least: u8) -> Result<Node, ExpressionError> {
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
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// The binary operator that comes next.
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

    fn unary(&mut self) -> Result<Node, ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(ExpressionError::TooDeep);
        }
        let node = self.operand();
        self.depth -= 1;
        node
    }

    fn operand(&mut self) -> Result<Node, ExpressionError> {
        self.rest = self.rest.trim_start();
        if word(self.rest) == "not" || self.rest.starts_with('!') {
            let length = word(self.rest).len().max("!".len());
            self.rest = &self.rest[length..];
            return Ok(Node::Unary("not", Box::new(self.unary()?)));
        }
        for sign in ["-", "~"] {
            if self.eat(sign) {
                // The sign belongs to the number: the lowest integer has no positive counterpart.
                if sign == "-" && self.rest.starts_with(|c: char| c.is_ascii_digit()) {
                    return self.number(sign);
                }
                return Ok(Node::Unary(sign, Box::new(self.unary()?)));
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

    fn special(&mut self) -> Result<Node, ExpressionError> {
        let name = word(&self.rest[1..]);
        let special = match name {
            "step" => Special::Step,
            "depth" => Special::Depth,
            "position" => Special::Position,
            _ => return Err(ExpressionError::Special(format!("${name}"))),
        };
        self.rest = &self.rest[1 + name.len()..];
        Ok(Node::Special(special))
    }

    /// A number, without its sign; with that it is given back.
    fn number(&mut self, sign: &str) -> Result<Node, ExpressionError> {
        let mut end = 0;
        let bytes = self.rest.as_bytes();
        let based = self.rest.len() > 1 && bytes[0] == b'0' && matches!(bytes[1], b'x' | b'b' | b'o');
        while let Some(&byte) = bytes.get(end) {
            let exponent_sign = !based
                && matches!(byte, b'+' | b'-')
                && matches!(bytes.get(end.wrapping_sub(1)), Some(b'e' | b'E'));
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || exponent_sign) {
                break;
            }
            end += 1;
        }
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let plain = text.replace('_', "");
        if !based && plain.contains(['.', 'e', 'E']) {
            let valid = plain.parse::<f64>().is_ok();
            return if valid {
                Ok(Node::Real(format!("{sign}{plain}")))
            } else {
                Err(ExpressionError::Number(text.into()))
            };
        }
        let (digits, radix) = match plain.get(..2) {
            Some("0x") => (&plain[2..], 16),
            Some("0b") => (&plain[2..], 2),
            Some("0o") => (&plain[2..], 8),
            _ => (&plain[..], 10),
        };
        let value = match radix {
            10 => format!("{sign}{digits}").parse().ok(),
            // Other bases spell bits.
            _ => u64::from_str_radix(digits, radix).ok().map(|bits| match sign {
                "" => bits as i64,
                _ => (bits as i64).wrapping_neg(),
            }),
        };
        value.map(Node::Int).ok_or_else(|| ExpressionError::Number(format!("{sign}{text}")))
    }

    fn place(&mut self) -> Result<Node, ExpressionError> {
        let name = word(self.rest);
        self.rest = &self.rest[name.len()..];
        let adjoint = self.rest.starts_with('\'');
        self.rest = &self.rest[usize::from(adjoint)..];
        let mut indices = Vec::new();
        if self.eat("[") {
            loop {
                indices.push(self.binary(0)?);
                if !self.eat(",") {
                    break;
                }
            }
            if !self.eat("]") {
                return Err(ExpressionError::Unclosed('['));
            }
        }
        Ok(Node::Place { name: name.to_owned(), adjoint, indices })
    }
}

/// The name or word that a text begins with; empty where it begins with none.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'));
    &text[..end.unwrap_or(text.len())]
}

/// The beginning of a text, for messages.
fn first_word(text: &str) -> String {
    match word(text) {
        "" => text.chars().take(1).collect(),
        word => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Expression::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn operators_bind_as_in_the_language() {
        let same = |a: &str, b: &str| {
            assert_eq!(Expression::parse(a).unwrap().root, Expression::parse(b).unwrap().root, "{a}");
        };
        same("a + b * c", "a + (b * c)");
        same("a - b - c", "(a - b) - c");
        same("a == 1 and not b < 2 or c", "((a == 1) and (not b) < 2) or c");
        same("a & 3 << 1", "a & (3 << 1)");
        same("-A[i + 1]", "-(A[(i + 1)])");
        same("android", "(android)");
        same("-9223372036854775808", "-0x8000000000000000");
        same("a && !b || c & d", "(a and (not b)) or (c & d)");
        same("!a != b", "(not a) != b");
        same("x' + A'[i]", "(x') + (A'[(i)])");
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(error("a +"), "an expression is missing at the end");
        assert_eq!(error("(a"), "`(` is not closed");
        assert_eq!(error("A[1"), "`[` is not closed");
        assert_eq!(error("1 2"), "`2` is not expected here");
        assert_eq!(error("a = 3"), "`=` sets nothing here");
        assert_eq!(error("a += 3"), "`=` sets nothing here");
        assert_eq!(error("12ab"), "`12ab` is not a number");
        assert_eq!(error("é"), "`é` is not expected here");
        assert_eq!(error(&"(".repeat(10_000)), "the expression is nested too deeply");
        assert_eq!(error(&"1+".repeat(100_000)), "the expression is too long");
    }
}
