//! C types and literals of a program's numbers. This module is independent of operations.

use reviver_compile::function::NumberKinds;
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};

/// The C type of an integer in cells and variables. Words with fewer bits are sign-extended.
pub(crate) const CELL_INT: &str = "int64_t";

/// The C types and literals of a program's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CNumbers(pub NumberKinds);

impl CNumbers {
    /// Returns the C type of a cell's content in the memory, by class.
    pub fn cell(self, class: Class) -> &'static str {
        match class {
            Class::Int => CELL_INT,
            Class::Real => self.real(),
        }
    }

    pub fn real(self) -> &'static str {
        match self.0.system {
            RealSystem::F64 => "double",
            RealSystem::F32 => "float",
            RealSystem::Fixed(_) => "int64_t",
        }
    }

    /// Returns the C type of inputs and outputs of a class. Every value of this type is valid, so no range check is
    /// needed.
    pub fn given(self, class: Class) -> &'static str {
        match (class, self.0.word) {
            (Class::Real, _) => self.real(),
            (Class::Int, Word::W8) => "int8_t",
            (Class::Int, Word::W16) => "int16_t",
            (Class::Int, Word::W32) => "int32_t",
            (Class::Int, Word::W64) => "int64_t",
        }
    }

    pub fn is_fixed(self) -> bool {
        matches!(self.0.system, RealSystem::Fixed(_))
    }

    /// Returns the suffix of the helper functions' names for the program's reals.
    pub fn suffix(self) -> &'static str {
        match self.0.system {
            RealSystem::F64 => "f64",
            RealSystem::F32 => "f32",
            RealSystem::Fixed(_) => "fixed",
        }
    }

    /// Returns the literal of the real with these bits.
    pub fn real_literal(self, bits: u64) -> String {
        match self.0.system {
            RealSystem::F64 => double(f64::from_bits(bits)),
            RealSystem::F32 => single(f32::from_bits(bits as u32)),
            RealSystem::Fixed(_) => integer(bits as i64),
        }
    }

    /// Returns the literal of a number with these bits, by class.
    pub fn literal(self, class: Class, bits: u64) -> String {
        match class {
            Class::Int => integer(bits as i64),
            Class::Real => self.real_literal(bits),
        }
    }
}

/// Returns an integer literal with a type that can represent it.
pub(crate) fn integer(value: i64) -> String {
    match value {
        i64::MIN => "INT64_MIN".to_owned(),
        _ if i32::try_from(value).is_ok() && value >= 0 => value.to_string(),
        _ if i16::try_from(value).is_ok() => format!("({value})"),
        _ if value < 0 => format!("(-INT64_C({}))", value.unsigned_abs()),
        _ => format!("INT64_C({value})"),
    }
}

/// Returns a literal of type `double`. Its shortest decimal text is parsed to the same bits.
pub(crate) fn double(value: f64) -> String {
    match value {
        _ if value.is_nan() => "(double)NAN".to_owned(),
        _ if value.is_infinite() => format!("{}(double)INFINITY", if value < 0.0 { "-" } else { "" }),
        _ if value.is_sign_negative() => format!("({value:?})"),
        _ => format!("{value:?}"),
    }
}

/// Returns a literal of type `float`, which is parsed to the same bits.
pub(crate) fn single(value: f32) -> String {
    match value {
        _ if value.is_nan() => "NAN".to_owned(),
        _ if value.is_infinite() => format!("{}INFINITY", if value < 0.0 { "-" } else { "" }),
        _ if value.is_sign_negative() => format!("({value:?}f)"),
        _ => format!("{value:?}f"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_their_value() {
        assert_eq!(integer(i64::MIN), "INT64_MIN");
        assert_eq!(
            [5, -5, 1 << 40, -(1 << 40)].map(integer),
            ["5", "(-5)", "INT64_C(1099511627776)", "(-INT64_C(1099511627776))"]
        );
        assert_eq!([0.1, -0.0, 1e300, 5e-324].map(double), ["0.1", "(-0.0)", "1e300", "5e-324"]);
        assert_eq!([0.1, -2.5, 1e-45].map(single), ["0.1f", "(-2.5f)", "1e-45f"]);
    }
}
