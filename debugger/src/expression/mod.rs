//! Expressions over cells, for `print`, `set` and conditions: the operators of the language's constant
//! expressions, comparisons, `and`, `or` and `not`; names mean what they mean in one frame.
//!
//! Integers are computed in 64 bits and wrap; as soon as a real takes part, in f64. A real cell that
//! stands alone keeps all its bits, also where it is compared. `&&`, `||` and `!` are other spellings of
//! `and`, `or` and `not`. `x'` and `A'[i]` are adjoints, `mode` the gradient mode bit. `$step`,
//! `$depth` and `$position` are the machine's own numbers; `$old` and `$new` are what a watched cell held
//! before and after its write, in the order of the program, whichever way one travels.

mod evaluate;
mod parse;

use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_vm::State;
use reviver_vm::lookup::IndexError;
use reviver_vm::values::Value;
use thiserror::Error;

use crate::memory::{Cell, Memory, Storage};

/// The machine's own numbers.
pub const SPECIALS: [&str; 3] = ["$step", "$depth", "$position"];

/// The two values of a write, which only watchpoints have.
pub const WRITTEN: [&str; 2] = ["$old", "$new"];

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
    #[error("`{0}` is too large for 64 bits")]
    TooLarge(String),
    #[error("the expression is nested too deeply")]
    TooDeep,
    #[error("the expression is too long")]
    TooLong,
    #[error("there is no cell `{name}` here")]
    Unknown { name: String, hint: Option<Hint> },
    #[error("`{0}` is none of {names}", names = [&SPECIALS[..], &WRITTEN[..]].concat().join(", "))]
    Special(String),
    #[error("`{0}` is a value of a write, and here is none")]
    NoWrite(&'static str),
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
pub struct ConsoleExpression {
    text: String,
    root: ExpressionNode,
}

#[derive(Clone, Debug, PartialEq)]
enum ExpressionNode {
    Int(i64),
    /// As written: the program's number system rounds it.
    Real(String),
    Special(Special),
    Place {
        name: String,
        adjoint: bool,
        indices: Vec<ExpressionNode>,
    },
    Unary(&'static str, Box<ExpressionNode>),
    Binary(&'static str, Box<ExpressionNode>, Box<ExpressionNode>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    Step,
    Depth,
    Position,
    Old,
    New,
}

/// What a watched cell held before and after a step, in the order of the program; none where it wasn't there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WrittenValues {
    pub old: Option<Value>,
    pub new: Option<Value>,
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
    /// What `$step` is: the timeline's step, not the state's.
    pub step: i64,
    /// The call depth whose names are meant.
    pub depth: usize,
    /// The call depth of a frame whose own names go before those.
    pub before: Option<usize>,
    /// What `$old` and `$new` are, where a watched cell was touched.
    pub written: Option<WrittenValues>,
}

impl ConsoleExpression {
    /// Reads a whole text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<ConsoleExpression, ExpressionError> {
        let text = text.trim();
        Ok(ConsoleExpression { text: text.to_owned(), root: parse::whole(text)? })
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
    /// As [`ConsoleExpression::evaluate`].
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

    /// The first of `$old` and `$new` that stands in it: it has a value only where something is written.
    pub fn written(&self) -> Option<&'static str> {
        self.root.written()
    }

    /// Whether the value is not 0.
    ///
    /// # Errors
    /// As [`ConsoleExpression::evaluate`].
    pub fn holds(&self, scene: Scene<'_>) -> Result<bool, ExpressionError> {
        self.evaluate(scene).map(|value| scene.number(value) != 0.0)
    }

    /// The values of the two sides, as text, where the expression is a comparison.
    pub fn sides(&self, scene: Scene<'_>) -> Option<(String, String)> {
        match &self.root {
            ExpressionNode::Binary(operator, left, right) if evaluate::is_comparison(operator) => {
                let text = |side: &ExpressionNode| Some(scene.text(scene.evaluate(side).ok()?));
                Some((text(left)?, text(right)?))
            }
            _ => None,
        }
    }

    /// The one cell that the expression names.
    ///
    /// # Errors
    /// An expression that is more than the name of a cell.
    pub fn cell(&self, scene: Scene<'_>) -> Result<Cell, ExpressionError> {
        match &self.root {
            ExpressionNode::Place { name, adjoint, indices } => scene.cell(name, *adjoint, indices),
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
            ExpressionNode::Place { name, adjoint, indices }
                if indices.is_empty() && !evaluate::is_mode(name, *adjoint) =>
            {
                let storage = scene.cells(name, *adjoint)?;
                Ok(Some(storage).filter(|storage| storage.shape() != Shape::Scalar))
            }
            _ => Ok(None),
        }
    }
}

impl ExpressionNode {
    fn written(&self) -> Option<&'static str> {
        match self {
            ExpressionNode::Int(_) | ExpressionNode::Real(_) => None,
            ExpressionNode::Special(special) => special.written(),
            ExpressionNode::Place { indices, .. } => indices.iter().find_map(ExpressionNode::written),
            ExpressionNode::Unary(_, operand) => operand.written(),
            ExpressionNode::Binary(_, left, right) => left.written().or_else(|| right.written()),
        }
    }

    fn add_names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            ExpressionNode::Int(_) | ExpressionNode::Real(_) | ExpressionNode::Special(_) => {}
            ExpressionNode::Place { name, indices, .. } => {
                names.push(name);
                indices.iter().for_each(|index| index.add_names(names));
            }
            ExpressionNode::Unary(_, operand) => operand.add_names(names),
            ExpressionNode::Binary(_, left, right) => {
                [left, right].into_iter().for_each(|side| side.add_names(names))
            }
        }
    }
}

impl Special {
    /// Its name, where it is a value of a write.
    fn written(self) -> Option<&'static str> {
        match self {
            Special::Old => Some("$old"),
            Special::New => Some("$new"),
            Special::Step | Special::Depth | Special::Position => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        ConsoleExpression::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn operators_bind_as_in_the_language() {
        let same = |a: &str, b: &str| {
            assert_eq!(
                ConsoleExpression::parse(a).unwrap().root,
                ConsoleExpression::parse(b).unwrap().root,
                "{a}"
            );
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
        assert_eq!(error("0b12"), "`0b12` is not a number");
        assert_eq!(error("-99999999999999999999"), "`-99999999999999999999` is too large for 64 bits");
        assert_eq!(error("1e"), "`1e` is not a number");
        assert_eq!(error("é"), "`é` is not expected here");
        assert_eq!(error(&"(".repeat(10_000)), "the expression is nested too deeply");
        assert_eq!(error(&"1+".repeat(100_000)), "the expression is too long");
    }
}
