//! Types, literals and names of a rewritten shader. This module is independent of operations.

use naga::{
    ArraySize, Expression, Function, GlobalVariable, Handle, Literal, Module, Scalar, ScalarKind, Type,
    TypeInner, VectorSize,
};

use super::choice::{LoweredIntegers, Lowering};
use crate::error::BatchError;

/// Returns the error for a construct that has no lowering.
pub(super) fn refused(what: &str) -> BatchError {
    BatchError::Shader(format!("{what} has no lowering"))
}

/// Returns true if a scalar is a 64-bit integer.
pub(super) fn is_wide_integer(scalar: Scalar) -> bool {
    scalar.width == 8 && matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint)
}

/// The types of a module, with their names in the rewritten text.
pub(super) struct LoweredTypes<'a> {
    pub module: &'a Module,
    pub lowering: Lowering,
}

impl<'a> LoweredTypes<'a> {
    pub fn new(module: &'a Module, lowering: Lowering) -> Self {
        Self { module, lowering }
    }

    pub fn has_pairs(&self) -> bool {
        self.lowering.integers == LoweredIntegers::Pairs
    }

    /// Returns true if a scalar becomes a pair of 32-bit words.
    pub fn is_pair(&self, scalar: Scalar) -> bool {
        self.has_pairs() && is_wide_integer(scalar)
    }

    pub fn inner(&self, handle: Handle<Type>) -> Result<&'a TypeInner, BatchError> {
        let kind = self.module.types.get_handle(handle);
        let kind = kind.map_err(|_| refused("a type that the module doesn't define"))?;
        Ok(&kind.inner)
    }

    pub fn name(&self, handle: Handle<Type>) -> Result<String, BatchError> {
        Ok(match self.inner(handle)? {
            TypeInner::Struct { .. } => format!("s{}", handle.index()),
            TypeInner::Atomic(scalar) => format!("atomic<{}>", self.scalar(*scalar)?),
            TypeInner::Array { base, size, .. } => match size {
                ArraySize::Constant(size) => format!("array<{}, {size}>", self.name(*base)?),
                ArraySize::Dynamic => format!("array<{}>", self.name(*base)?),
                ArraySize::Pending(_) => return Err(refused("an array of unknown size")),
            },
            plain => self.plain(plain)?,
        })
    }

    /// Returns the name of a scalar or vector type.
    pub fn plain(&self, inner: &TypeInner) -> Result<String, BatchError> {
        match *inner {
            TypeInner::Scalar(scalar) => self.scalar(scalar),
            TypeInner::Vector { size: VectorSize::Bi, scalar } if self.is_pair(scalar) => {
                Ok("vec4<u32>".to_owned())
            }
            TypeInner::Vector { scalar, .. } if self.is_pair(scalar) => {
                Err(refused("a vector of more than two 64-bit integers"))
            }
            TypeInner::Vector { size, scalar } => {
                Ok(format!("vec{}<{}>", u32::from(size as u8), self.scalar(scalar)?))
            }
            ref other => Err(refused(&format!("the type {other:?}"))),
        }
    }

    pub fn scalar(&self, scalar: Scalar) -> Result<String, BatchError> {
        let name = match (scalar.kind, scalar.width) {
            (ScalarKind::Sint | ScalarKind::Uint, 8) if self.has_pairs() => "vec2<u32>",
            // 64-bit floats need native 64-bit integers for their bits.
            (ScalarKind::Float, 8) if self.has_pairs() => {
                return Err(refused("f64 on pairs of 32-bit words"));
            }
            (ScalarKind::Sint, 4) => "i32",
            (ScalarKind::Sint, 8) => "i64",
            (ScalarKind::Uint, 4) => "u32",
            (ScalarKind::Uint, 8) => "u64",
            (ScalarKind::Float, 4) => "f32",
            (ScalarKind::Float, 8) => "f64",
            (ScalarKind::Bool, _) => "bool",
            _ => return Err(refused(&format!("the type {scalar:?}"))),
        };
        Ok(name.to_owned())
    }

    pub fn literal(&self, literal: Literal) -> Result<String, BatchError> {
        Ok(match literal {
            Literal::Bool(value) => value.to_string(),
            Literal::U32(value) => format!("{value}u"),
            Literal::I32(i32::MIN) => "i32(-2147483648)".to_owned(),
            Literal::I32(value) => format!("({value}i)"),
            Literal::F32(value) => format!("({value:?}f)"),
            Literal::F64(value) if !self.has_pairs() => format!("({value:?}lf)"),
            Literal::U64(value) if self.has_pairs() => pair(value),
            Literal::I64(value) if self.has_pairs() => pair(value.cast_unsigned()),
            Literal::U64(value) => format!("{value}lu"),
            // The magnitude of `i64::MIN` isn't a valid literal.
            Literal::I64(i64::MIN) => "i64(0x8000000000000000lu)".to_owned(),
            Literal::I64(value) => format!("({value}li)"),
            other => return Err(refused(&format!("the literal {other:?}"))),
        })
    }

    /// Returns the text of a named constant or constant expression of the module.
    pub fn constant(&self, handle: Handle<Expression>) -> Result<String, BatchError> {
        let all = &self.module.global_expressions;
        let constant = all.try_get(handle);
        self.constant_of(constant.map_err(|_| refused("a constant that the module doesn't define"))?)
    }

    /// Returns the text of a constant expression without operands.
    pub fn constant_of(&self, expression: &Expression) -> Result<String, BatchError> {
        match expression {
            Expression::Literal(literal) => self.literal(*literal),
            Expression::Constant(constant) => {
                let constant = self.module.constants.try_get(*constant);
                let undefined = |_| refused("a constant that the module doesn't define");
                self.constant(constant.map_err(undefined)?.init)
            }
            Expression::ZeroValue(kind) => Ok(format!("{}()", self.name(*kind)?)),
            other => Err(refused(&format!("the constant {other:?}"))),
        }
    }
}

/// Returns a 64-bit literal as a pair of 32-bit words.
fn pair(value: u64) -> String {
    format!("vec2<u32>(0x{:x}u, 0x{:x}u)", value as u32, value >> 32)
}

/// Returns a name for a function that differs from all names of functions and variables.
pub(super) fn function_name(module: &Module, handle: Handle<Function>) -> String {
    let own = module.functions.try_get(handle).ok().and_then(|function| function.name.as_deref());
    format!("f{}_{}", handle.index(), own.unwrap_or_default())
}

pub(super) fn global_name(module: &Module, handle: Handle<GlobalVariable>) -> String {
    let own = module.global_variables.try_get(handle).ok().and_then(|global| global.name.as_deref());
    format!("g{}_{}", handle.index(), own.unwrap_or_default())
}
