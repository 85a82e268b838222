//! Evaluates expressions in a scene: resolves names, and computes. Parsing is done elsewhere.

use std::cmp::Ordering;

use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_vm::lookup::IndexError;
use reviver_vm::values::Value;

use super::{Computed, ExpressionError, ExpressionNode, Hint, IndexNode, Scene, Special, WrittenValues};
use crate::memory::{Cell, MODE_BIT, Storage};

impl Scene<'_> {
    /// Returns the cells to which a name refers, or their adjoints.
    pub(super) fn cells(&self, name: &str, adjoint: bool) -> Result<Storage, ExpressionError> {
        let storage = match self.bound.iter().find(|bound| bound.name == name) {
            Some(bound) => bound.storage(self),
            None => self.named(name),
        }?;
        match adjoint {
            true => storage.adjoint().ok_or_else(|| ExpressionError::NoAdjoint(name.to_owned())),
            false => Ok(storage),
        }
    }

    /// Resolves a name in this scene. Bindings of names to fixed cells are ignored.
    pub(super) fn named(&self, name: &str) -> Result<Storage, ExpressionError> {
        let in_frame = |depth| Some((depth, self.memory.own(self.state, depth, name)?));
        let here = || Some((self.depth, self.memory.base(self.state, self.depth, name)?));
        let found = self.before.and_then(in_frame).or_else(here);
        let storage = found.and_then(|(depth, base)| self.memory.storage(self.state, depth, base));
        storage.ok_or_else(|| ExpressionError::Unknown { name: name.to_owned(), hint: self.hint(name) })
    }

    fn hint(&self, name: &str) -> Option<Hint> {
        if let Some(depth) = self.memory.other_frame_with(self.state, self.depth, name) {
            let procedure = self.memory.procedure(self.state, depth)?.name.clone();
            return Some(Hint::Frame { procedure, outward: self.depth as isize - depth as isize });
        }
        let names = self.memory.names(self.state, self.depth);
        reviver_assembler::suggest::nearest(name, names).map(|near| Hint::Near(near.to_owned()))
    }

    pub(super) fn cell(
        &self,
        name: &str,
        adjoint: bool,
        indices: &[IndexNode],
    ) -> Result<Cell, ExpressionError> {
        if is_mode(name, adjoint) && indices.is_empty() {
            return Ok(MODE_BIT);
        }
        let storage = self.cells(name, adjoint)?;
        if indices.is_empty() && storage.shape() == Shape::Stack {
            return Err(ExpressionError::Stack(name.to_owned()));
        }
        if indices.is_empty() && storage.shape() != Shape::Scalar {
            return Err(ExpressionError::Array(name.to_owned()));
        }
        let index = |index: &IndexNode| match index {
            IndexNode::At(index) => self.integer(index, "an index"),
            IndexNode::Span { .. } => Err(ExpressionError::Slice(name.to_owned())),
        };
        let indices: Vec<i64> = indices.iter().map(index).collect::<Result<_, _>>()?;
        storage.element(&indices).map_err(|error| ExpressionError::Index { name: name.to_owned(), error })
    }

    /// Returns an entry of a stack, or the entry's adjoint. Returns `None` if the name refers to no stack.
    fn on_stack(
        &self,
        name: &str,
        adjoint: bool,
        indices: &[IndexNode],
    ) -> Result<Option<Value>, ExpressionError> {
        let storage = if is_mode(name, adjoint) { None } else { Some(self.cells(name, adjoint)?) };
        let Some(storage) = storage.filter(|storage| storage.shape() == Shape::Stack) else {
            return Ok(None);
        };
        let [IndexNode::At(index)] = indices else { return Err(ExpressionError::Stack(name.to_owned())) };
        let (index, state) = (self.integer(index, "an index")?, self.state);
        let (ints, reals) = (&state.int_stack, &state.real_stack);
        let length = if storage.class() == Class::Int { ints.len() } else { reals.len() };
        let value = usize::try_from(index).ok().filter(|&n| n < length).and_then(|n| match storage.class() {
            Class::Int => ints.get(n).copied().map(Value::Int),
            Class::Real if adjoint => {
                let adjoints = state.adjoints.as_ref().map(|adjoints| &adjoints.stack);
                Some(Value::Real(adjoints.and_then(|list| list.get(n).copied()).unwrap_or_default()))
            }
            Class::Real => reals.get(n).copied().map(Value::Real),
        });
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let outside = IndexError::Outside { index, length };
        value.map(Some).ok_or_else(|| ExpressionError::Index { name: name.to_owned(), error: outside })
    }

    pub(super) fn integer(&self, node: &ExpressionNode, what: &'static str) -> Result<i64, ExpressionError> {
        match self.evaluate(node)? {
            Computed::Int(value) => Ok(value),
            _ => Err(ExpressionError::IntegersOnly(what)),
        }
    }

    pub(super) fn evaluate(&self, node: &ExpressionNode) -> Result<Computed, ExpressionError> {
        match node {
            ExpressionNode::Int(value) => Ok(Computed::Int(*value)),
            ExpressionNode::Real(text) => match self.memory.program().parse(Class::Real, text) {
                Ok(Value::Real(bits)) => Ok(Computed::Bits(bits)),
                _ => Err(ExpressionError::Number(text.clone())),
            },
            ExpressionNode::Special(Special::Step) => Ok(Computed::Int(self.step)),
            ExpressionNode::Special(Special::Depth) => Ok(Computed::Int(self.state.calls.len() as i64)),
            ExpressionNode::Special(Special::Position) => Ok(Computed::Int(i64::from(self.state.position))),
            ExpressionNode::Special(Special::Old) => self.written("$old", |written| written.old),
            ExpressionNode::Special(Special::New) => self.written("$new", |written| written.new),
            ExpressionNode::Place { name, adjoint, indices } => {
                let value = match self.on_stack(name, *adjoint, indices)? {
                    None => self.cell(name, *adjoint, indices)?.value(self.state),
                    value => value,
                };
                value.map(Computed::from).ok_or_else(|| ExpressionError::NoCell(name.clone()))
            }
            ExpressionNode::Unary(operator, operand) => self.unary(operator, operand),
            ExpressionNode::Binary(operator, left, right) => self.binary(operator, left, right),
        }
    }

    /// Returns the value of `$old` or `$new`, which `value` selects.
    fn written(
        &self,
        name: &'static str,
        value: impl FnOnce(WrittenValues) -> Option<Computed>,
    ) -> Result<Computed, ExpressionError> {
        let written = self.written.ok_or(ExpressionError::NoWrite(name))?;
        value(written).ok_or(ExpressionError::NoValue(name))
    }

    /// Evaluates with real arithmetic: for example, 1/3 of two integers is a third. Indices are still
    /// computed as integers.
    pub(super) fn in_reals(&self, node: &ExpressionNode) -> Result<Computed, ExpressionError> {
        match node {
            ExpressionNode::Binary(operator @ ("+" | "-" | "*" | "/"), left, right) => {
                let (left, right) = (self.in_reals(left)?, self.in_reals(right)?);
                reals(operator, self.number(left), self.number(right))
            }
            ExpressionNode::Unary("-", operand) => Ok(self.negated(self.in_reals(operand)?)),
            _ => self.evaluate(node),
        }
    }

    fn unary(&self, operator: &'static str, operand: &ExpressionNode) -> Result<Computed, ExpressionError> {
        let value = self.evaluate(operand)?;
        Ok(match (operator, value) {
            ("not", value) => Computed::Int(i64::from(self.number(value) == 0.0)),
            ("-", value) => self.negated(value),
            ("~", Computed::Int(value)) => Computed::Int(!value),
            _ => return Err(ExpressionError::IntegersOnly(operator)),
        })
    }

    fn binary(
        &self,
        operator: &'static str,
        left: &ExpressionNode,
        right: &ExpressionNode,
    ) -> Result<Computed, ExpressionError> {
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

    /// Negates a value. Reals in the program's number system are negated exactly.
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

    /// Compares two values. Uses the program's number system if it represents both values exactly, otherwise
    /// f64. Returns `None` if a value is NaN.
    fn order(&self, a: Computed, b: Computed) -> Option<Ordering> {
        match (self.bits(a), self.bits(b)) {
            (Some(a), Some(b)) => self.memory.program().compare(a, b),
            _ => self.number(a).partial_cmp(&self.number(b)),
        }
    }

    /// Returns the bits of a value in the program's number system, or `None` if the value isn't exact there.
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

    /// Returns the f64 nearest to a value.
    pub(super) fn number(&self, value: Computed) -> f64 {
        match value {
            Computed::Int(value) => value as f64,
            Computed::Float(value) => value,
            Computed::Bits(bits) => self.memory.program().approximate(Value::Real(bits)),
        }
    }

    /// Renders a value as text.
    pub fn text(&self, value: Computed) -> String {
        match value {
            Computed::Int(value) => value.to_string(),
            Computed::Float(value) => format!("{value:?}"),
            Computed::Bits(bits) => self.memory.program().text(Value::Real(bits)),
        }
    }

    /// Converts a value to a value for a cell of this class, in the program's number system.
    ///
    /// # Errors
    /// The value doesn't fit into the cell.
    pub fn value_for(&self, class: Class, value: Computed) -> Result<Value, reviver_vm::values::ValueError> {
        match (class, value) {
            (Class::Real, Computed::Bits(bits)) => Ok(Value::Real(bits)),
            _ => self.memory.program().parse(class, &self.text(value)),
        }
    }
}

/// Returns true if a name is that of the gradient mode bit.
pub(super) fn is_mode(name: &str, adjoint: bool) -> bool {
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

/// Returns the spelling of a number with the opposite sign.
fn negated(text: &str) -> String {
    text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_owned)
}

pub(super) fn is_comparison(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<" | "<=" | ">" | ">=")
}

/// Returns true if a comparison holds for two values with this ordering.
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
