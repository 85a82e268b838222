//! Rewrites the expressions of a function. This module is independent of statements.
//!
//! Each expression is assigned to a name at the place where naga evaluates it. So a load that precedes a store can't
//! move after the store. Only a pointer has no name: its text is repeated at each use, and the expressions in this text
//! have names. Literals also have names, because naga would otherwise fold them.

use std::collections::HashMap;

use naga::proc::TypeResolution;
use naga::valid::FunctionInfo;
use naga::{
    BinaryOperator, Expression, Function, Handle, Literal, MathFunction, RelationalFunction, Scalar,
    ScalarKind, SwizzleComponent, TypeInner, UnaryOperator, VectorSize,
};

use super::choice::LoweredResults;
use super::integers;
use super::types::{LoweredTypes, global_name, is_wide_integer, refused};
use crate::error::BatchError;

/// The expressions of a function that were evaluated so far.
pub(super) struct Expressions<'a> {
    types: &'a LoweredTypes<'a>,
    function: &'a Function,
    info: &'a FunctionInfo,
    /// The text of each evaluated expression: its name, or a pointer's whole text.
    known: HashMap<Handle<Expression>, String>,
}

impl<'a> Expressions<'a> {
    pub fn new(types: &'a LoweredTypes<'a>, function: &'a Function, info: &'a FunctionInfo) -> Self {
        Self { types, function, info, known: HashMap::new() }
    }

    /// Returns the name of an expression that is evaluated at this point, and records it.
    pub fn name(&mut self, handle: Handle<Expression>) -> String {
        let name = format!("e{}", handle.index());
        self.known.insert(handle, name.clone());
        name
    }

    /// Records the text of a pointer. A pointer has no name, so each use repeats the text.
    pub fn place(&mut self, handle: Handle<Expression>, text: String) {
        self.known.insert(handle, text);
    }

    pub fn is_pointer(&self, handle: Handle<Expression>) -> bool {
        matches!(self.inner(handle), TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. })
    }

    /// Returns true if a pointer refers to an atomic word.
    pub fn is_atomic(&self, pointer: Handle<Expression>) -> bool {
        match *self.inner(pointer) {
            TypeInner::Pointer { base, .. } => matches!(self.types.inner(base), Ok(TypeInner::Atomic(_))),
            _ => false,
        }
    }

    /// Returns true if a pointer refers to a component of a vector of 64-bit integers.
    pub fn is_part_of_pairs(&self, pointer: Handle<Expression>) -> bool {
        matches!(*self.inner(pointer), TypeInner::ValuePointer { size: None, scalar, .. } if self.types.is_pair(scalar))
    }

    fn inner(&self, handle: Handle<Expression>) -> &TypeInner {
        match &self.info[handle].ty {
            TypeResolution::Handle(kind) => &self.types.module.types[*kind].inner,
            TypeResolution::Value(inner) => inner,
        }
    }

    fn expression(&self, handle: Handle<Expression>) -> Result<&'a Expression, BatchError> {
        let found = self.function.expressions.try_get(handle);
        found.map_err(|_| refused("an expression that doesn't exist"))
    }

    /// Returns the text that denotes an expression at its use.
    pub fn text(&self, handle: Handle<Expression>) -> Result<String, BatchError> {
        if let Some(text) = self.known.get(&handle) {
            return Ok(text.clone());
        }
        match self.expression(handle)? {
            Expression::FunctionArgument(number) => Ok(format!("p{number}")),
            Expression::LocalVariable(local) => Ok(format!("l{}", local.index())),
            Expression::GlobalVariable(global) => Ok(global_name(self.types.module, *global)),
            constant @ (Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_)) => {
                self.types.constant_of(constant)
            }
            // If these expressions consist only of literals, naga emits no statement for them, so they have no name.
            Expression::Compose { .. } | Expression::Splat { .. } => self.made(handle),
            other => Err(refused(&format!("{other:?}, used before it is evaluated,"))),
        }
    }

    fn texts(&self, handles: &[Handle<Expression>]) -> Result<Vec<String>, BatchError> {
        handles.iter().map(|&handle| self.text(handle)).collect()
    }

    /// Returns the text that computes an expression.
    pub fn made(&self, handle: Handle<Expression>) -> Result<String, BatchError> {
        match *self.expression(handle)? {
            Expression::Compose { ty, ref components } => {
                Ok(format!("{}({})", self.types.name(ty)?, self.texts(components)?.join(", ")))
            }
            Expression::Access { base, index } => {
                if self.scalar(base).is_some_and(|scalar| self.types.is_pair(scalar)) {
                    return Err(refused("an index into a vector of 64-bit integers"));
                }
                Ok(format!("{}[{}]", self.text(base)?, self.text(index)?))
            }
            Expression::AccessIndex { base, index } => self.part(base, index),
            Expression::Splat { size, value } => self.splat(size, value),
            Expression::Swizzle { size, vector, pattern } => self.swizzle(size, vector, pattern),
            Expression::Load { pointer } => {
                let place = self.text(pointer)?;
                Ok(if self.is_atomic(pointer) { format!("atomicLoad(&{place})") } else { place })
            }
            Expression::Unary { op, expr } => self.unary(handle, op, expr),
            Expression::Binary { op, left, right } => self.binary(handle, op, left, right),
            Expression::Select { condition, accept, reject } => {
                Ok(format!("select({})", self.texts(&[reject, accept, condition])?.join(", ")))
            }
            Expression::Relational { fun, argument } => {
                let name = match fun {
                    RelationalFunction::All => "all",
                    RelationalFunction::Any => "any",
                    other => return Err(refused(&format!("{other:?}"))),
                };
                Ok(format!("{name}({})", self.text(argument)?))
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments: Vec<_> = [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect();
                self.math(handle, fun, arg, &self.texts(&arguments)?)
            }
            Expression::As { expr, kind, convert } => self.converted(handle, expr, kind, convert),
            ref other => Err(refused(&format!("{other:?}"))),
        }
    }

    /// Returns the scalar type of a number, of a vector's components, or of a pointer's target.
    fn scalar(&self, handle: Handle<Expression>) -> Option<Scalar> {
        match *self.inner(handle) {
            TypeInner::Pointer { base, .. } => self.types.inner(base).ok()?.scalar(),
            ref inner => inner.scalar(),
        }
    }

    /// Returns true if an expression is one 32-bit float.
    fn is_single(&self, handle: Handle<Expression>) -> bool {
        matches!(self.inner(handle), TypeInner::Scalar(Scalar { kind: ScalarKind::Float, width: 4 }))
    }

    fn is_vector(&self, handle: Handle<Expression>) -> bool {
        matches!(self.inner(handle), TypeInner::Vector { .. })
    }

    /// Returns the text of a member of a structure, an element of an array or a component of a vector.
    fn part(&self, base: Handle<Expression>, index: u32) -> Result<String, BatchError> {
        let text = self.text(base)?;
        let inner = match *self.inner(base) {
            TypeInner::Pointer { base, .. } => self.types.inner(base)?,
            ref inner => inner,
        };
        Ok(match *inner {
            TypeInner::Struct { .. } => format!("{text}.m{index}"),
            TypeInner::Array { .. } => format!("{text}[{index}]"),
            TypeInner::Vector { scalar, .. } | TypeInner::ValuePointer { scalar, .. } => {
                let names =
                    if self.types.is_pair(scalar) { ["xy", "zw", "", ""] } else { ["x", "y", "z", "w"] };
                match names.get(index as usize) {
                    Some(name) if !name.is_empty() => format!("{text}.{name}"),
                    _ => return Err(refused("a component that doesn't exist")),
                }
            }
            ref other => return Err(refused(&format!("a part of {other:?}"))),
        })
    }

    fn splat(&self, size: VectorSize, value: Handle<Expression>) -> Result<String, BatchError> {
        let Some(scalar) = self.scalar(value) else {
            return Err(refused("a vector whose components aren't numbers"));
        };
        let of = self.types.plain(&TypeInner::Vector { size, scalar })?;
        let value = self.text(value)?;
        Ok(if self.types.is_pair(scalar) {
            format!("{of}({value}, {value})")
        } else {
            format!("{of}({value})")
        })
    }

    fn swizzle(
        &self,
        size: VectorSize,
        vector: Handle<Expression>,
        pattern: [SwizzleComponent; 4],
    ) -> Result<String, BatchError> {
        if self.scalar(vector).is_some_and(|scalar| self.types.is_pair(scalar)) {
            return Err(refused("a swizzle of a vector of 64-bit integers"));
        }
        let names = pattern.iter().take(usize::from(size as u8)).map(|component| match component {
            SwizzleComponent::X => 'x',
            SwizzleComponent::Y => 'y',
            SwizzleComponent::Z => 'z',
            SwizzleComponent::W => 'w',
        });
        Ok(format!("{}.{}", self.text(vector)?, names.collect::<String>()))
    }

    fn unary(
        &self,
        handle: Handle<Expression>,
        operator: UnaryOperator,
        of: Handle<Expression>,
    ) -> Result<String, BatchError> {
        let a = self.text(of)?;
        if self.scalar(of).is_some_and(|scalar| self.types.is_pair(scalar)) {
            return match self.is_vector(of) && operator != UnaryOperator::BitwiseNot {
                true => Err(refused(&format!("{operator:?} of vectors of 64-bit integers"))),
                false => integers::unary(operator, &a),
            };
        }
        Ok(match operator {
            UnaryOperator::Negate => self.sealed(handle, format!("-{a}")),
            UnaryOperator::LogicalNot => format!("!{a}"),
            UnaryOperator::BitwiseNot => format!("~{a}"),
        })
    }

    fn binary(
        &self,
        handle: Handle<Expression>,
        operator: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<String, BatchError> {
        let (a, b) = (self.text(left)?, self.text(right)?);
        if let Some(scalar) = self.scalar(left).filter(|&scalar| self.types.is_pair(scalar)) {
            return match self.is_vector(left) {
                true => integers::bitwise(operator, &a, &b),
                false => integers::binary(operator, scalar.kind, &a, &b),
            };
        }
        let (a, b) = (self.operand(left, a), self.operand(right, b));
        // A driver may assume that NaN never occurs, and fold an operation of a number with itself, such as `a == a`.
        let b = if left == right { self.hidden(right, b) } else { b };
        if self.is_single(left) {
            let singles = self.types.lowering.singles;
            if operator == BinaryOperator::Divide {
                return Ok(self.sealed(handle, singles.quotient(&a, &b)));
            }
            let literal = self.single(left).or_else(|| self.single(right));
            if let Some(comparison) = singles.comparison(operator, (&a, &b), literal) {
                return Ok(comparison);
            }
        }
        Ok(self.sealed(handle, format!("{a} {} {b}", symbol(operator))))
    }

    /// Returns the value of a 32-bit float literal.
    fn single(&self, handle: Handle<Expression>) -> Option<f32> {
        match self.function.expressions.try_get(handle) {
            Ok(Expression::Literal(Literal::F32(value))) => Some(*value),
            _ => None,
        }
    }

    /// Makes a literal operand opaque. Drivers turn a division by a literal into a multiplication by its reciprocal.
    fn operand(&self, handle: Handle<Expression>, text: String) -> String {
        let is_literal = matches!(
            self.function.expressions.try_get(handle),
            Ok(Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_))
        );
        if is_literal { self.hidden(handle, text) } else { text }
    }

    fn math(
        &self,
        handle: Handle<Expression>,
        function: MathFunction,
        first: Handle<Expression>,
        arguments: &[String],
    ) -> Result<String, BatchError> {
        let scalar = self.scalar(first);
        if let Some(scalar) = scalar.filter(|&scalar| self.types.is_pair(scalar)) {
            return match self.is_vector(first) {
                true => Err(refused(&format!("{function:?} of vectors of 64-bit integers"))),
                false => integers::math(function, scalar.kind, arguments),
            };
        }
        let singles = self.types.lowering.singles;
        match (function, arguments) {
            (MathFunction::Sqrt, [a]) if self.is_single(first) => {
                return Ok(self.sealed(handle, singles.root(a)));
            }
            (MathFunction::Abs, [a]) if self.is_single(first) => {
                return Ok(self.sealed(handle, singles.magnitude(a)));
            }
            _ => (),
        }
        let name = match function {
            MathFunction::Abs => "abs",
            MathFunction::Min => "min",
            MathFunction::Max => "max",
            MathFunction::Sqrt => "sqrt",
            MathFunction::CountLeadingZeros => "countLeadingZeros",
            other => return Err(refused(&format!("{other:?}"))),
        };
        Ok(self.sealed(handle, format!("{name}({})", arguments.join(", "))))
    }

    fn converted(
        &self,
        handle: Handle<Expression>,
        of: Handle<Expression>,
        kind: ScalarKind,
        convert: Option<u8>,
    ) -> Result<String, BatchError> {
        let a = self.text(of)?;
        let Some(from) = self.scalar(of) else {
            return Err(refused("a conversion of something other than a number"));
        };
        let to = Scalar { kind, width: convert.unwrap_or(from.width) };
        let is_bits = convert.is_none();
        if self.types.has_pairs() && (is_wide_integer(from) || is_wide_integer(to)) {
            let is_same = is_wide_integer(from) && is_wide_integer(to);
            return match is_same || !(is_bits || self.is_vector(of)) {
                true => integers::converted(from, to, &a),
                false => Err(refused(&format!("{to:?} of the bits or components of {from:?}"))),
            };
        }
        let target = match *self.inner(of) {
            TypeInner::Vector { size, .. } => self.types.plain(&TypeInner::Vector { size, scalar: to })?,
            _ => self.types.scalar(to)?,
        };
        let has_floats = [from, to].iter().any(|scalar| scalar.kind == ScalarKind::Float);
        Ok(match (is_bits, has_floats) {
            (true, _) => format!("bitcast<{target}>({a})"),
            (false, true) => self.hidden(handle, format!("{target}({a})")),
            (false, false) => format!("{target}({a})"),
        })
    }

    /// Makes a result opaque if it is a float.
    fn sealed(&self, handle: Handle<Expression>, text: String) -> String {
        match self.inner(handle) {
            TypeInner::Scalar(Scalar { kind: ScalarKind::Float, .. }) => self.hidden(handle, text),
            _ => text,
        }
    }

    /// Makes a scalar opaque to the driver if the lowering requires that. Booleans stay unchanged, because they have
    /// no bits.
    fn hidden(&self, handle: Handle<Expression>, text: String) -> String {
        let name = match (self.types.lowering.results, self.inner(handle)) {
            (LoweredResults::Decorated, _) => return text,
            (LoweredResults::Opaque, TypeInner::Scalar(scalar)) => match (scalar.kind, scalar.width) {
                (ScalarKind::Float, 4) => "opaque_f32",
                (ScalarKind::Float, 8) => "opaque_f64",
                (ScalarKind::Sint, 4) => "opaque_i32",
                (ScalarKind::Sint, 8) => "opaque_i64",
                (ScalarKind::Uint, 4) => "opaque_u32",
                (ScalarKind::Uint, 8) => "opaque_u64",
                _ => return text,
            },
            (LoweredResults::Opaque, _) => return text,
        };
        format!("{name}({text})")
    }
}

fn symbol(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Modulo => "%",
        BinaryOperator::Equal => "==",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterEqual => ">=",
        BinaryOperator::And => "&",
        BinaryOperator::ExclusiveOr => "^",
        BinaryOperator::InclusiveOr => "|",
        BinaryOperator::LogicalAnd => "&&",
        BinaryOperator::LogicalOr => "||",
        BinaryOperator::ShiftLeft => "<<",
        BinaryOperator::ShiftRight => ">>",
    }
}
