//! Expressions over cells, for `print`, `set` and conditions. Expressions have the operators of the language's constant
//! expressions, comparisons, `and`, `or` and `not`. Names are resolved in one frame.
//!
//! - Integers are computed in 64 bits and wrap. An operation with a real operand is computed in f64.
//! - A real cell alone keeps all its bits, also in a comparison.
//! - `&&`, `||` and `!` are other spellings of `and`, `or` and `not`.
//! - `x'` and `A'[i]` are adjoints, `mode` is the gradient mode bit.
//! - `$step`, `$depth` and `$position` are the machine's step number, call depth and position.
//! - `$old` and `$new` are the values of a watched cell before and after a write, in program order. They are
//!   the same whether the session travels forward or backward.
//!
//! Commands that take several cells accept the language's slices: `A[2..5]` has the elements 2, 3 and 4,
//! and `M[.., j]` is a column. A slice has no value.

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

/// Names of numbers of the machine: step number, call depth and position.
pub const SPECIALS: [&str; 3] = ["$step", "$depth", "$position"];

/// Names of the two values of a write, which only watchpoints have.
pub const WRITTEN: [&str; 2] = ["$old", "$new"];

/// The reason why a text isn't a valid expression, or why an expression has no value in a scene.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum ExpressionError {
    #[error("an expression is missing at the end")]
    Missing,
    #[error("`{0}` is not expected here")]
    Unexpected(String),
    #[error("one expression at a time: type the command for `{0}`, and again for `{1}`")]
    Several(String, String),
    #[error("`=` is not an operator of expressions")]
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
    #[error("`{0}` has a value only at a write of a watched cell")]
    NoWrite(&'static str),
    #[error("`{0}` has no value: the watched cell had no value on this side of the write")]
    NoValue(&'static str),
    #[error("`{name}`: {error}")]
    Index { name: String, error: IndexError },
    #[error("`{0}` is an array: name one of its elements")]
    Array(String),
    #[error("`{0}` is a stack: name one of its values, such as `{0}[0]`, the bottom one")]
    Stack(String),
    #[error("`{0}` is a slice: name one of its elements")]
    Slice(String),
    #[error(
        "`{name}`: {from}..{to} has no elements: write a second number that is greater than the first one"
    )]
    EmptySlice { name: String, from: i64, to: i64 },
    #[error("`{name}`: {from}..{to} is outside of 0..{length}")]
    SliceOutside { name: String, from: i64, to: i64, length: u32 },
    #[error("`{name}`: the step {step} of the slice is below 1: write a step of at least 1")]
    SliceStep { name: String, step: i64 },
    #[error("`{0}` names no cell: its value never changes")]
    NoNames(String),
    #[error("`{0}` changes at almost every step: use it in conditions instead of watching it")]
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

/// Suggestion for an unknown name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A name with a similar spelling.
    Near(String),
    /// An open procedure that declares the name.
    Frame {
        /// The name of the procedure that declares the name.
        procedure: String,
        /// Distance of that frame from the selected one, in calls: positive if it is further out, negative if
        /// further in.
        outward: isize,
    },
}

/// A parsed expression with unresolved names.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsoleExpression {
    text: String,
    root: ExpressionNode,
}

#[derive(Clone, Debug, PartialEq)]
enum ExpressionNode {
    Int(i64),
    /// The literal as written; the program's number system rounds it.
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

/// The index of one dimension of an array.
#[derive(Clone, Debug, PartialEq)]
enum IndexNode {
    At(ExpressionNode),
    /// A slice `from..to step by`. A missing part has its default: 0, the length of the dimension, or a step of 1.
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

/// The watched value before and after a step, in program order; `None` if there was no value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WrittenValues {
    /// The value before the step: `$old`.
    pub old: Option<Computed>,
    /// The value after the step: `$new`.
    pub new: Option<Computed>,
}

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Computed {
    /// An integer, or the result of a comparison: 1 or 0.
    Int(i64),
    /// A value computed in f64.
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
    /// Returns true if both values are of the same kind and bitwise equal.
    pub fn is(self, other: Computed) -> bool {
        match (self, other) {
            (Computed::Float(a), Computed::Float(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        }
    }
}

/// The context in which expressions are evaluated.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The names of the program and their cells.
    pub memory: &'a Memory,
    /// The state from which cells are read.
    pub state: &'a State,
    /// The value of `$step`: the step number on the timeline, which `state` doesn't contain.
    pub step: i64,
    /// The call depth at which names are resolved.
    pub depth: usize,
    /// The call depth of another frame, if any. Variables and parameters of that frame take precedence over
    /// names at `depth`.
    pub before: Option<usize>,
    /// The values of `$old` and `$new`; `None` unless a watched cell was accessed.
    pub written: Option<WrittenValues>,
    /// Names that are bound to fixed cells. The bound names take precedence over all names of the scene.
    bound: &'a [BoundName],
}

impl<'a> Scene<'a> {
    /// Creates the scene of the frame at a call depth. `step` is the step number of `state` on the timeline.
    pub fn new(memory: &'a Memory, state: &'a State, step: i64, depth: usize) -> Scene<'a> {
        Scene { memory, state, step, depth, before: None, written: None, bound: &[] }
    }

    /// Returns the scene of the frame at another call depth.
    #[must_use]
    pub fn at_depth(self, depth: usize) -> Scene<'a> {
        Scene { depth, ..self }
    }

    /// Returns the scene in which variables and parameters of the frame at depth `before` take precedence.
    /// `None` means no such frame.
    #[must_use]
    pub fn after_names_of(self, before: Option<usize>) -> Scene<'a> {
        Scene { before, ..self }
    }

    /// Returns the scene with these values of `$old` and `$new`.
    #[must_use]
    pub fn with_written(self, old: Option<Computed>, new: Option<Computed>) -> Scene<'a> {
        Scene { written: Some(WrittenValues { old, new }), ..self }
    }
}

impl ConsoleExpression {
    /// Parses a whole text as an expression.
    ///
    /// # Errors
    /// The text is no valid expression.
    pub fn parse(text: &str) -> Result<ConsoleExpression, ExpressionError> {
        let text = text.trim();
        Ok(ConsoleExpression { text: text.to_owned(), root: parse::whole(text)? })
    }

    /// Returns the expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Evaluates the expression in a scene.
    ///
    /// # Errors
    /// A name is unknown, an index is out of bounds, or there is a division by zero.
    pub fn evaluate(&self, scene: Scene<'_>) -> Result<Computed, ExpressionError> {
        scene.evaluate(&self.root)
    }

    /// Evaluates the expression for a cell of a class. For a real cell, integers are divided like reals: 1/3
    /// is a third.
    ///
    /// # Errors
    /// The same errors as [`ConsoleExpression::evaluate`].
    pub fn evaluate_for(&self, class: Class, scene: Scene<'_>) -> Result<Computed, ExpressionError> {
        match class {
            Class::Int => scene.evaluate(&self.root),
            Class::Real => scene.in_reals(&self.root),
        }
    }

    /// Returns the names of cells and arrays in the expression.
    pub fn names(&self) -> Vec<&str> {
        self.places().into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the names in the expression, each with a flag that is true for adjoints.
    fn places(&self) -> Vec<(&str, bool)> {
        let mut places = Vec::new();
        self.root.add_names(&mut places);
        places
    }

    /// Returns the first use of `$old` or `$new` in the expression, if any. Such an expression has a value
    /// only at a write.
    pub fn written(&self) -> Option<&'static str> {
        self.root.special(Special::is_written).map(Special::name)
    }

    /// Returns true if the value is not 0.
    ///
    /// # Errors
    /// The same errors as [`ConsoleExpression::evaluate`].
    pub fn holds(&self, scene: Scene<'_>) -> Result<bool, ExpressionError> {
        self.evaluate(scene).map(|value| scene.number(value) != 0.0)
    }

    /// Returns the values of both sides as text, if the expression is a comparison and both sides have
    /// values.
    pub fn sides(&self, scene: Scene<'_>) -> Option<(String, String)> {
        match &self.root {
            ExpressionNode::Binary(operator, left, right) if evaluate::is_comparison(operator) => {
                let text = |side: &ExpressionNode| Some(scene.text(scene.evaluate(side).ok()?));
                Some((text(left)?, text(right)?))
            }
            _ => None,
        }
    }

    /// Returns the cell that the expression names.
    ///
    /// # Errors
    /// The expression isn't just the name of a cell, or the scene has no such cell.
    pub fn cell(&self, scene: Scene<'_>) -> Result<Cell, ExpressionError> {
        match &self.root {
            ExpressionNode::Place { name, adjoint, indices } => scene.cell(name, *adjoint, indices),
            _ => Err(ExpressionError::NoCell(self.text.clone())),
        }
    }

    /// Returns the cells that the expression names: one cell, an array, or a slice. Returns `None` if the
    /// expression isn't just a name, with or without indices.
    ///
    /// # Errors
    /// The name is unknown, or the elements don't exist.
    pub fn cells(&self, scene: Scene<'_>) -> Result<Option<CellSet>, ExpressionError> {
        match &self.root {
            ExpressionNode::Place { name, adjoint, indices } => {
                scene.slice(name, *adjoint, indices).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns true if the expression is a name whose indices contain no names. Such a name refers to the same element
    /// in every state.
    pub fn is_fixed(&self) -> bool {
        matches!(&self.root, ExpressionNode::Place { .. }) && self.names().len() == 1
    }

    /// Returns the array that the expression names without an index, or the adjoints of the array. Returns
    /// `None` for any other expression.
    ///
    /// # Errors
    /// The name is unknown, or adjoints of integers are requested.
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
    /// Returns the first special name (`$step`, `$old` and so on) in the expression for which `wants` returns
    /// true.
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

    /// Appends the names in the expression to `names`, each with a flag that is true for adjoints.
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
    /// Returns the expressions of the index.
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

    /// Returns true for `$old` and `$new`.
    fn is_written(self) -> bool {
        matches!(self, Special::Old | Special::New)
    }

    /// Returns true for `$step`, `$depth` and `$position`, which change at nearly every step.
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
    fn errors_name_the_fault() {
        assert_eq!(error("a +"), "an expression is missing at the end");
        assert_eq!(error("(a"), "`(` is not closed");
        assert_eq!(error("A[1"), "`[` is not closed");
        assert_eq!(error("1 2"), "`2` is not expected here");
        assert_eq!(error("a = 3"), "`=` is not an operator of expressions");
        assert_eq!(error("a += 3"), "`=` is not an operator of expressions");
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
