//! How each operation on values is written in WGSL, so that it has the interpreter's bits. Knows no block, no memory, and not what
//! follows where a check fails.
//!
//! Integers are `i64`, or `i32` where words have at most 32 bits; floats are `f64` or `f32` as the program's are, and fixed point is
//! `i64`: programs of `f32` and of fixed point need no `f64`. A shader declares what the texts name:
//!
//! - `zero`, a private variable of the type of reals that is 0 when it begins, which is loaded: only where reals are floats;
//! - `constants`, the buffer that [`Operations::tables`] lie in.

mod fixed;
mod fixed_functions;
mod float_functions;
mod float_reading;
mod floats;
mod function;
mod integers;
mod library;
mod reals;
mod spelling;
mod tables;
mod wide;
mod wide_reading;
mod written;

#[cfg(test)]
mod tests;

use reviver_compile::form::NumberKinds;
use reviver_compile::op::OpKind;
use reviver_isa::instruction::Class;

use self::integers::IntegerTexts;
use self::library::Library;
use self::reals::RealTexts;
use self::spelling::NumberTypes;
pub(crate) use self::spelling::{FloatType, IntegerType, ZERO};

/// The operations of a shader.
#[derive(Debug)]
pub(crate) struct Operations {
    numbers: NumberKinds,
    library: Library,
}

/// An operation that gives a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Statements that come first.
    pub lines: Vec<String>,
    /// The value: an expression, which isn't in need of parentheses. Where the operation fails it is anything.
    pub text: String,
    /// Whether the operation fails: an expression of type `bool`.
    pub fails: Option<String>,
    /// The most rounds that loops make meanwhile.
    pub rounds: u32,
}

impl Written {
    fn surely(text: String) -> Written {
        Written { text, ..Written::default() }
    }
}

impl Operations {
    pub fn new(numbers: NumberKinds) -> Operations {
        Operations { numbers, library: Library::default() }
    }

    /// The type of integers.
    pub fn integers(&self) -> IntegerType {
        IntegerType::of(self.numbers.word)
    }

    /// The type of a class.
    pub fn type_of(&self, class: Class) -> &'static str {
        self.types().name(class)
    }

    /// The literal of a class whose bits these are, as [`reviver_vm::State`] holds them.
    pub fn literal(&self, class: Class, bits: u64) -> String {
        self.types().literal(class, bits)
    }

    /// The value of a class that an expression of type `u64` has the bits of.
    pub fn of_word(&self, class: Class, word: &str) -> String {
        self.types().of_word(class, word)
    }

    /// The bits of a value, as an expression of type `u64`.
    pub fn to_word(&self, class: Class, value: &str) -> String {
        self.types().to_word(class, value)
    }

    /// An operation on values: its operands are names, literals, or in parentheses, and may be written several times. Names that
    /// its lines declare begin with `name`. None if it is no operation on values alone.
    pub fn value(&mut self, kind: OpKind, name: &str, operands: &[&str]) -> Option<Written> {
        let written = self.written(kind, name, operands)?;
        let texts = written.lines.iter().chain([&written.text]).chain(&written.fails);
        texts.for_each(|text| self.library.need(text));
        Some(written)
    }

    /// Whether a check fails, as an expression of type `bool`. None if it never does, or is no check.
    pub fn fails(&mut self, kind: OpKind, operands: &[&str]) -> Option<String> {
        let text = match (kind, operands) {
            (OpKind::RequireAdmitted, [a]) => self.reals().not_admitted(a),
            (OpKind::RequireVacant, [a]) => Some(self.reals().not_vacant(a)),
            (OpKind::RequireTrue, [a]) => Some(self.integer_texts().is_zero(a)),
            (OpKind::RequireApart, [a, b]) => Some(format!("({a} == {b})")),
            _ => None,
        }?;
        self.library.need(&text);
        Some(text)
    }

    /// The functions that what was written needs, and that are needed by those. Their tables begin at a word of `constants`.
    pub fn prelude(&self, tables_at: usize) -> String {
        let text = self.library.text();
        if self.library.tables().is_empty() {
            return text;
        }
        format!("fn rv_table(at: u32) -> u64 {{\n    return constants[{tables_at}u + at];\n}}\n{text}")
    }

    /// The words that functions look into.
    pub fn tables(&self) -> Vec<u64> {
        self.library.tables()
    }

    fn types(&self) -> NumberTypes {
        NumberTypes { system: self.numbers.system, integers: self.integers() }
    }

    fn integer_texts(&self) -> IntegerTexts {
        IntegerTexts { word: self.numbers.word, of: self.integers() }
    }

    fn reals(&self) -> RealTexts {
        RealTexts { numbers: self.numbers, integers: self.integer_texts() }
    }

    fn written(&self, kind: OpKind, name: &str, operands: &[&str]) -> Option<Written> {
        match kind {
            OpKind::Int(value) => Some(Written::surely(self.integers().literal(value))),
            OpKind::Real(bits) => Some(Written::surely(self.literal(Class::Real, bits))),
            OpKind::IntAdd
            | OpKind::IntSub
            | OpKind::IntNeg
            | OpKind::IntMul
            | OpKind::IntDiv
            | OpKind::IntRem
            | OpKind::IntPow
            | OpKind::IntAnd
            | OpKind::IntOr
            | OpKind::IntXor
            | OpKind::IntNot
            | OpKind::IntRol
            | OpKind::IntRor
            | OpKind::IntShl
            | OpKind::IntShr
            | OpKind::IntSar
            | OpKind::IntTest(_)
            | OpKind::IntChoose
            | OpKind::Choose => self.integer_texts().written(kind, operands),
            OpKind::Add
            | OpKind::Sub
            | OpKind::Mul
            | OpKind::Div
            | OpKind::Neg
            | OpKind::Pow
            | OpKind::Powi
            | OpKind::Atan2
            | OpKind::Hypot
            | OpKind::Elementary(_)
            | OpKind::Magnitude
            | OpKind::Turn { .. }
            | OpKind::Test(_)
            | OpKind::RealOf
            | OpKind::IntOf => self.reals().written(kind, name, operands),
            // These know blocks, memory, or whoever watches.
            OpKind::Input(_)
            | OpKind::Index { .. }
            | OpKind::Place
            | OpKind::Load(_)
            | OpKind::Store(_)
            | OpKind::Clock { .. }
            | OpKind::RequireAdmitted
            | OpKind::RequireVacant
            | OpKind::RequireTrue
            | OpKind::RequireApart
            | OpKind::CountErased(_)
            | OpKind::CountDiscarded
            | OpKind::CountDropped
            | OpKind::Jumped
            | OpKind::Turned { .. }
            | OpKind::Largest
            | OpKind::Missed { .. }
            | OpKind::Freed { .. } => None,
        }
    }
}
