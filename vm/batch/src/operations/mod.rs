//! Writes each operation on values in WGSL, with the same bits as the interpreter's. This module is independent of
//! blocks, of memory, and of the consequences of a failed check.
//!
//! Integers are `i64`, or `i32` if words have at most 32 bits. Floats are `f64` or `f32`, as in the program. Fixed
//! point is `i64`. So programs with `f32` or fixed point need no `f64`. The texts use two names that the shader must
//! declare:
//!
//! - `zero`, a private variable of the type of reals that is 0 at run time. It is needed only if reals are floats.
//! - `constants`, the buffer that contains [`Operations::tables`].

mod fixed;
mod fixed_functions;
mod float_evaluation;
mod float_functions;
mod floats;
mod function;
mod integers;
mod library;
mod number_types;
mod operation_text;
mod reals;
mod shader_function;
mod tables;
mod wide;
mod wide_evaluation;

#[cfg(test)]
mod tests;

use reviver_compile::function::NumberKinds;
use reviver_compile::op::OpKind;
use reviver_isa::instruction::Class;

use self::integers::IntegerTexts;
use self::library::Library;
use self::number_types::NumberTypes;
pub(crate) use self::number_types::{FloatType, IntegerType, ZERO};
pub(crate) use self::operation_text::OperationText;
use self::reals::RealTexts;

/// Writer of a shader's operations on values. The writer collects the helper functions that these operations call.
#[derive(Debug)]
pub(crate) struct Operations {
    numbers: NumberKinds,
    library: Library,
}

impl Operations {
    pub fn new(numbers: NumberKinds) -> Operations {
        Operations { numbers, library: Library::default() }
    }

    /// Returns the type of integers.
    pub fn integers(&self) -> IntegerType {
        IntegerType::of(self.numbers.word)
    }

    /// Returns the name of the type of a class.
    pub fn type_of(&self, class: Class) -> &'static str {
        self.types().name(class)
    }

    /// Returns the literal with these bits, as [`reviver_vm::State`] holds them.
    pub fn literal(&self, class: Class, bits: u64) -> String {
        self.types().literal(class, bits)
    }

    /// Returns an expression that converts a 64-bit word to a value of class `class` with these bits.
    pub fn of_word(&self, class: Class, word: &str) -> String {
        self.types().of_word(class, word)
    }

    /// Returns an expression of type `u64` with the bits of a value.
    pub fn to_word(&self, class: Class, value: &str) -> String {
        self.types().to_word(class, value)
    }

    /// Writes an operation on values. Each operand must be a name, a literal or in parentheses, because the text may
    /// contain the operand several times. Names that the lines declare begin with `name`. Returns `None` if the
    /// operation involves more than values.
    pub fn value(&mut self, kind: OpKind, name: &str, operands: &[&str]) -> Option<OperationText> {
        let written = self.written(kind, name, operands)?;
        let texts = written.lines.iter().chain([&written.text]).chain(&written.fails);
        texts.for_each(|text| self.library.need(text));
        Some(written)
    }

    /// Returns a condition that is true if a check fails. Returns `None` if the check never fails, or `kind` isn't a
    /// check.
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

    /// Returns the helper functions that the operations written so far need, directly or indirectly. The lookup tables
    /// of these functions must start at index `tables_at` of `constants`.
    pub fn prelude(&self, tables_at: usize) -> String {
        let text = self.library.text();
        if self.library.tables().is_empty() {
            return text;
        }
        format!("fn rv_table(at: u32) -> u64 {{\n    return constants[{tables_at}u + at];\n}}\n{text}")
    }

    /// Returns the words of the functions' lookup tables.
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

    fn written(&self, kind: OpKind, name: &str, operands: &[&str]) -> Option<OperationText> {
        match kind {
            OpKind::Int(value) => Some(OperationText::surely(self.integers().literal(value))),
            OpKind::Real(bits) => Some(OperationText::surely(self.literal(Class::Real, bits))),
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
            // These operations involve blocks, memory, or verification.
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
            | OpKind::Arrived
            | OpKind::Largest
            | OpKind::Missed { .. }
            | OpKind::Freed { .. } => None,
        }
    }
}
