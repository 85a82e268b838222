//! Expressions over cells, for `print`, `set` and conditions: the operators of the language's constant
//! expressions, comparisons, `and`, `or` and `not`; names mean what they mean in one frame.
//!
//! Integers are computed in 64 bits and wrap; as soon as a real takes part, in f64. A real cell that
//! stands alone keeps all its bits, also where it is compared. `&&`, `||` and `!` are other spellings of
//! `and`, `or` and `not`. `x'` and `A'[i]` are adjoints, `mode` the gradient mode bit. `$step`,
//! `$depth` and `$position` are the machine's own numbers; `$old` and `$new` are what a watched cell held
//! before and after its write, in the order of the program, whichever way one travels.
//!
//! What takes several cells takes slices as the language has them: `A[2..5]` has the elements 2, 3 and 4, and
//! `M[.., j]` is a column. A slice has no value.

mod bound;
mod bound_name;
mod evaluate;
mod parse;
mod slice;

pub use bound::BoundExpression;

use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_vm::State;
use reviver_vm::lookup::IndexError;
use reviver_vm::values::Value;
use thiserror::Error;

use self::bound_name::BoundName;
use crate::cell_set::CellSet;
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
    #[error("one expression at a time: type the command for `{0}`, and again for `{1}`")]
    Several(String, String),
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
    #[error("`{0}` has no value: what is watched had none there")]
    NoValue(&'static str),
    #[error("`{name}`: {error}")]
    Index { name: String, error: IndexError },
    #[error("`{0}` is an array: name one of its elements")]
    Array(String),
    #[error("`{0}` is a stack: `print` shows it, and its values, of which `{0}[0]` is the bottom")]
    Stack(String),
    #[error("`{0}` is a slice: name one of its elements")]
    Slice(String),
    #[error("`{name}`: {from}..{to} has no elements: a slice ends before its second number")]
    EmptySlice { name: String, from: i64, to: i64 },
    #[error("`{name}`: {from}..{to} is outside of 0..{length}")]
    SliceOutside { name: String, from: i64, to: i64, length: u32 },
    #[error("`{name}`: the step of a slice is at least 1, and not {step}")]
    SliceStep { name: String, step: i64 },
    #[error("`{0}` names no cell: its value never changes")]
    NoNames(String),
    #[error("`{0}` is another number at almost every step: it is for conditions, and not to be watched")]
    Restless(&'static str),
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
        indices: Vec<IndexNode>,
    },
    Unary(&'static str, Box<ExpressionNode>),
    Binary(&'static str, Box<ExpressionNode>, Box<ExpressionNode>),
}

/// What stands between the brackets of an array, for one of its dimensions.
#[derive(Clone, Debug, PartialEq)]
enum IndexNode {
    At(ExpressionNode),
    /// `from..to step by`; what is left out is the whole dimension's.
    Span {
        from: Option<ExpressionNode>,
        to: Option<ExpressionNode>,
        by: Option<ExpressionNode>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    Step,
    Depth,
    Position,
    Old,
    New,
}

/// What was watched before and after a step, in the order of the program; none where it had no value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WrittenValues {
    pub old: Option<Computed>,
    pub new: Option<Computed>,
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

impl From<Value> for Computed {
    fn from(value: Value) -> Computed {
        match value {
            Value::Int(value) => Computed::Int(value),
            Value::Real(bits) => Computed::Bits(bits),
        }
    }
}

impl Computed {
    /// Whether it is the same to the last bit.
    pub fn is(self, other: Computed) -> bool {
        match (self, other) {
            (Computed::Float(a), Computed::Float(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        }
    }
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
    /// Names that stand for certain cells, whatever they mean here.
    bound: &'a [BoundName],
}

impl<'a> Scene<'a> {
    /// The frame at a call depth of a state that is at a step of the timeline.
    pub fn new(memory: &'a Memory, state: &'a State, step: i64, depth: usize) -> Scene<'a> {
        Scene { memory, state, step, depth, before: None, written: None, bound: &[] }
    }

    /// The frame at another call depth.
    #[must_use]
    pub fn at_depth(self, depth: usize) -> Scene<'a> {
        Scene { depth, ..self }
    }

    /// With the own names of a frame before those of this one.
    #[must_use]
    pub fn after_names_of(self, before: Option<usize>) -> Scene<'a> {
        Scene { before, ..self }
    }

    /// With the values of a write.
    #[must_use]
    pub fn with_written(self, old: Option<Computed>, new: Option<Computed>) -> Scene<'a> {
        Scene { written: Some(WrittenValues { old, new }), ..self }
    }
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
        self.places().into_iter().map(|(name, _)| name).collect()
    }

    /// The same, each with whether it means adjoints.
    fn places(&self) -> Vec<(&str, bool)> {
        let mut places = Vec::new();
        self.root.add_names(&mut places);
        places
    }

    /// The first of `$old` and `$new` that stands in it: it has a value only where something is written.
    pub fn written(&self) -> Option<&'static str> {
        self.root.special(Special::is_written).map(Special::name)
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

    /// The cells that the expression names: one, those of an array, or of a slice of one. None where it is
    /// more than a name.
    ///
    /// # Errors
    /// No such name, or no such elements.
    pub fn cells(&self, scene: Scene<'_>) -> Result<Option<CellSet>, ExpressionError> {
        match &self.root {
            ExpressionNode::Place { name, adjoint, indices } => {
                scene.slice(name, *adjoint, indices).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Whether it is the name of something, with indices that are no names.
    pub fn is_fixed(&self) -> bool {
        matches!(&self.root, ExpressionNode::Place { .. }) && self.names().len() == 1
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
    /// The first of the machine's numbers and the values of a write in it that is wanted.
    fn special(&self, wants: fn(Special) -> bool) -> Option<Special> {
        match self {
            ExpressionNode::Int(_) | ExpressionNode::Real(_) => None,
            ExpressionNode::Special(special) => Some(*special).filter(|special| wants(*special)),
            ExpressionNode::Place { indices, .. } => {
                indices.iter().flat_map(IndexNode::parts).find_map(|part| part.special(wants))
            }
            ExpressionNode::Unary(_, operand) => operand.special(wants),
            ExpressionNode::Binary(_, left, right) => left.special(wants).or_else(|| right.special(wants)),
        }
    }

    /// Adds the names in it, each with whether it means adjoints.
    fn add_names<'a>(&'a self, names: &mut Vec<(&'a str, bool)>) {
        match self {
            ExpressionNode::Int(_) | ExpressionNode::Real(_) | ExpressionNode::Special(_) => {}
            ExpressionNode::Place { name, adjoint, indices } => {
                names.push((name, *adjoint));
                indices.iter().flat_map(IndexNode::parts).for_each(|part| part.add_names(names));
            }
            ExpressionNode::Unary(_, operand) => operand.add_names(names),
            ExpressionNode::Binary(_, left, right) => {
                [left, right].into_iter().for_each(|side| side.add_names(names))
            }
        }
    }
}

impl IndexNode {
    /// The expressions in it.
    fn parts(&self) -> impl Iterator<Item = &ExpressionNode> {
        let parts = match self {
            IndexNode::At(index) => [Some(index), None, None],
            IndexNode::Span { from, to, by } => [from.as_ref(), to.as_ref(), by.as_ref()],
        };
        parts.into_iter().flatten()
    }
}

impl Special {
    fn name(self) -> &'static str {
        match self {
            Special::Step => "$step",
            Special::Depth => "$depth",
            Special::Position => "$position",
            Special::Old => "$old",
            Special::New => "$new",
        }
    }

    /// Whether it is a value of a write.
    fn is_written(self) -> bool {
        matches!(self, Special::Old | Special::New)
    }

    /// Whether it is one of the machine's own numbers.
    fn is_restless(self) -> bool {
        !self.is_written()
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
        same("A[2..i+1]", "A[ 2 .. (i + 1) ]");
        same("M[1.., ..]", "M[(1) .. , ..]");
        same("A[0x1..5 step k]", "A[1..5 step (k)]");
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
        assert_eq!(error("1..2"), "`.` is not expected here");
        assert_eq!(error("A[1..2..3]"), "`[` is not closed");
        assert_eq!(error("A[1..2 step]"), "`]` is not expected here");
        assert_eq!(error("é"), "`é` is not expected here");
        assert_eq!(error(&"(".repeat(10_000)), "the expression is nested too deeply");
        assert_eq!(error(&"1+".repeat(100_000)), "the expression is too long");
    }
}
