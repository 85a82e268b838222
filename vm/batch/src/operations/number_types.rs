//! WGSL types and literals of numbers, and conversions between numbers and 64-bit words. This module is independent of
//! operations.

use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};

/// The name of the variable that holds the float 0. Shaders load the value at run time, so that drivers can't fold
/// operations with it.
pub(crate) const ZERO: &str = "zero";

/// A float format in WGSL, with the integer types of the same width. `word` is the unsigned one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatType {
    pub name: &'static str,
    pub word: &'static str,
    pub signed: &'static str,
    pub width: u32,
}

pub(super) const DOUBLE: FloatType = FloatType { name: "f64", word: "u64", signed: "i64", width: 64 };
pub(super) const SINGLE: FloatType = FloatType { name: "f32", word: "u32", signed: "i32", width: 32 };

impl FloatType {
    /// Returns the format of a number system; `None` for fixed point.
    pub fn of(system: RealSystem) -> Option<FloatType> {
        match system {
            RealSystem::F64 => Some(DOUBLE),
            RealSystem::F32 => Some(SINGLE),
            RealSystem::Fixed(_) => None,
        }
    }

    /// Returns a condition that is true for 0 and -0. It tests the bits of 32-bit floats, because devices may flush
    /// subnormal numbers to 0.
    pub fn is_zero(self, a: &str) -> String {
        match self.width {
            32 => format!("((bitcast<{}>({a}) << 1u) == 0u)", self.word),
            _ => format!("({a} == {ZERO})"),
        }
    }

    /// Returns the literal of an unsigned word of the format's width.
    pub fn word_literal(self, bits: u64) -> String {
        match self.width {
            32 => format!("0x{:x}u", bits as u32),
            _ => format!("0x{bits:x}lu"),
        }
    }

    /// Returns the sign bit of the format.
    pub fn sign(self) -> u64 {
        1 << (self.width - 1)
    }

    /// Returns the exponent bits of infinities and NaN.
    pub fn exponent(self) -> u64 {
        if self.width == 32 { f32::INFINITY.to_bits().into() } else { f64::INFINITY.to_bits() }
    }

    /// Returns the literal of the float nearest to a number.
    pub fn float(self, value: f64) -> String {
        match self.width {
            32 => self.literal((value as f32).to_bits().into()),
            _ => self.literal(value.to_bits()),
        }
    }

    /// Returns the literal of the float with these bits. For a zero, returns a variable instead, because drivers fold
    /// sums with a literal zero, although -0 + 0 is 0 and not -0.
    pub fn literal(self, bits: u64) -> String {
        let (name, bits) = (self.name, if self.width == 32 { u64::from(bits as u32) } else { bits });
        let (is_finite, magnitude) = (bits & self.exponent() != self.exponent(), bits & !self.sign());
        if bits == 0 {
            return ZERO.to_owned();
        }
        // WGSL has no literals of infinities and NaN. Zeros are loaded.
        if !is_finite || magnitude == 0 {
            return format!("bitcast<{name}>({})", self.word_literal(bits));
        }
        // Rust's shortest decimal text is parsed to the same bits.
        let text = match self.width {
            32 => format!("{:?}f", f32::from_bits(magnitude as u32)),
            _ => format!("{:?}lf", f64::from_bits(magnitude)),
        };
        if bits == magnitude { text } else { format!("(-{text})") }
    }
}

/// The WGSL type of a program's integers (words) and of addresses. `Narrow` is for words of at most 32 bits, with which
/// devices compute several times faster. These words are never computed in `Wide`, because of a fault in llvmpipe 22.3:
/// if a loop counter is narrowed and widened again, a loop with known bounds executes only one iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerType {
    Narrow,
    Wide,
}

impl IntegerType {
    pub fn of(word: Word) -> IntegerType {
        match word {
            Word::W8 | Word::W16 | Word::W32 => IntegerType::Narrow,
            Word::W64 => IntegerType::Wide,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            IntegerType::Narrow => "i32",
            IntegerType::Wide => "i64",
        }
    }

    /// Returns the unsigned type of the same width.
    pub fn unsigned(self) -> &'static str {
        match self {
            IntegerType::Narrow => "u32",
            IntegerType::Wide => "u64",
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            IntegerType::Narrow => 32,
            IntegerType::Wide => 64,
        }
    }

    /// Returns a literal integer.
    pub fn literal(self, value: i64) -> String {
        match self {
            // The magnitudes of the smallest integers aren't valid literals.
            IntegerType::Narrow if value == i64::from(i32::MIN) => "i32(0x80000000u)".to_owned(),
            IntegerType::Wide if value == i64::MIN => "i64(0x8000000000000000lu)".to_owned(),
            _ if value < 0 => format!("(-{}{})", value.unsigned_abs(), self.suffix()),
            _ => format!("{value}{}", self.suffix()),
        }
    }

    /// Returns a literal of the unsigned type. `value` must not be negative.
    pub fn unsigned_literal(self, value: u64) -> String {
        match self {
            IntegerType::Narrow => format!("{value}u"),
            IntegerType::Wide => format!("{value}lu"),
        }
    }

    /// Returns an expression that converts an integer to 64 bits.
    pub fn widened(self, value: &str) -> String {
        match self {
            IntegerType::Narrow => format!("i64({value})"),
            IntegerType::Wide => value.to_owned(),
        }
    }

    /// Returns an expression that converts a 64-bit integer to this type. The integer must be in the range of a word.
    pub fn of_wide(self, value: &str) -> String {
        match self {
            IntegerType::Narrow => format!("i32({value})"),
            IntegerType::Wide => value.to_owned(),
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            IntegerType::Narrow => "i",
            IntegerType::Wide => "li",
        }
    }
}

/// The types of a shader's numbers: its integers and its reals.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberTypes {
    pub system: RealSystem,
    pub integers: IntegerType,
}

impl NumberTypes {
    /// Returns the name of the type of a class.
    pub fn name(self, class: Class) -> &'static str {
        match (class, FloatType::of(self.system)) {
            (Class::Int, _) => self.integers.name(),
            (Class::Real, Some(float)) => float.name,
            (Class::Real, None) => IntegerType::Wide.name(),
        }
    }

    /// Returns the literal of a class with these bits.
    pub fn literal(self, class: Class, bits: u64) -> String {
        match (class, FloatType::of(self.system)) {
            (Class::Int, _) => self.integers.literal(bits as i64),
            (Class::Real, Some(float)) => float.literal(bits),
            (Class::Real, None) => IntegerType::Wide.literal(bits as i64),
        }
    }

    /// Returns an expression that converts a 64-bit word to a number.
    pub fn of_word(self, class: Class, word: &str) -> String {
        match (class, self.system) {
            (Class::Int, _) => format!("{}({word})", self.integers.name()),
            (Class::Real, RealSystem::F64) => format!("bitcast<f64>({word})"),
            (Class::Real, RealSystem::F32) => format!("bitcast<f32>(u32({word}))"),
            (Class::Real, RealSystem::Fixed(_)) => format!("i64({word})"),
        }
    }

    /// Returns an expression that converts a number to a 64-bit word.
    pub fn to_word(self, class: Class, value: &str) -> String {
        match (class, self.system) {
            (Class::Int, _) => format!("u64({})", self.integers.widened(value)),
            (Class::Real, RealSystem::F64) => format!("bitcast<u64>({value})"),
            (Class::Real, RealSystem::F32) => format!("u64(bitcast<u32>({value}))"),
            (Class::Real, RealSystem::Fixed(_)) => format!("u64({value})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_their_value() {
        let doubles = [0.0, -0.0, 1.0, -0.1, 5e-324, f64::INFINITY].map(|value| DOUBLE.float(value));
        let minus_zero = "bitcast<f64>(0x8000000000000000lu)";
        let infinity = "bitcast<f64>(0x7ff0000000000000lu)";
        assert_eq!(doubles, ["zero", minus_zero, "1.0lf", "(-0.1lf)", "5e-324lf", infinity]);
        let singles = [0.0, -2.5, 1e-45, f64::NEG_INFINITY].map(|value| SINGLE.float(value));
        assert_eq!(singles, ["zero", "(-2.5f)", "1e-45f", "bitcast<f32>(0xff800000u)"]);
        let wide = [5, -5, i64::MIN].map(|value| IntegerType::Wide.literal(value));
        assert_eq!(wide, ["5li", "(-5li)", "i64(0x8000000000000000lu)"]);
        let narrow = [5, -5, i32::MIN.into()].map(|value| IntegerType::Narrow.literal(value));
        assert_eq!(narrow, ["5i", "(-5i)", "i32(0x80000000u)"]);
    }
}
