//! Value of a cell.

use num_bigint::BigInt;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use crate::integer::fits;
use crate::outcome::{Bits, Step, unsupported};
use crate::plan::Numbers;
use crate::real::Real;

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int(BigInt),
    Real(Real),
}

impl Value {
    pub(crate) fn zero(class: Class, system: RealSystem) -> Value {
        match class {
            Class::Int => Value::Int(BigInt::ZERO),
            Class::Real => Value::Real(Real::zero(system)),
        }
    }

    /// Parses a value. Returns `None` if the text isn't a number of the class.
    pub(crate) fn parse(text: &str, class: Class, numbers: Numbers) -> Option<Value> {
        match class {
            Class::Int => {
                let value: BigInt = text.parse().ok()?;
                fits(&value, numbers.bits).then_some(Value::Int(value))
            }
            Class::Real => Real::parse(text, numbers.system).map(Value::Real),
        }
    }

    pub(crate) fn class(&self) -> Class {
        match self {
            Value::Int(_) => Class::Int,
            Value::Real(_) => Class::Real,
        }
    }

    pub(crate) fn bits(&self) -> Bits {
        match self {
            Value::Int(value) => Bits::Int(i64::try_from(value).unwrap_or_default()),
            Value::Real(value) => Bits::Real(value.bits()),
        }
    }

    pub(crate) fn int(&self) -> Step<&BigInt> {
        match self {
            Value::Int(value) => Ok(value),
            Value::Real(_) => unsupported("a real where an integer is wanted"),
        }
    }

    pub(crate) fn real(&self) -> Step<&Real> {
        match self {
            Value::Real(value) => Ok(value),
            Value::Int(_) => unsupported("an integer where a real is wanted"),
        }
    }

    pub(crate) fn is_vacant(&self, tolerance: f64) -> bool {
        match self {
            Value::Int(value) => *value == BigInt::ZERO,
            Value::Real(value) => value.is_vacant(tolerance),
        }
    }

    /// Returns true if the value equals the expected one, within the tolerance for reals.
    pub(crate) fn is_close(&self, other: &Value, tolerance: f64) -> bool {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Real(a), Value::Real(b)) => a.is_close(b, tolerance),
            _ => false,
        }
    }
}
