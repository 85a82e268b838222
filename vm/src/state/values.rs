//! The program's interface: inputs and results by name, as values and as text. The module reads the declarations of
//! globals, and no instructions.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, RealSystem, Role, Shape, Values, Word};
use reviver_isa::number::{F32, F64, FixedPoint, Reals, literal_bits};
use thiserror::Error;

use crate::allocation::{self, OutOfMemory};
use crate::numbers::with_reals;
use crate::program::Program;
use crate::state::notation::Notation;
use crate::state::{State, TapeEntry};

/// The content of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer, sign-extended from the program's word.
    Int(i64),
    /// The bits of a real in the program's number system.
    Real(u64),
}

impl Value {
    /// Returns the value with these bits in a cell of a class; for an integer, the bits are its two's
    /// complement.
    pub fn of_bits(class: Class, bits: u64) -> Value {
        match class {
            Class::Int => Value::Int(bits as i64),
            Class::Real => Value::Real(bits),
        }
    }

    /// Returns the bits of the value; the inverse of [`Value::of_bits`].
    pub fn bits(self) -> u64 {
        match self {
            Value::Int(value) => value as u64,
            Value::Real(bits) => bits,
        }
    }
}

/// The reason why a value can't be given to a cell.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum ValueError {
    #[error("`{text}` is not an integer of {bits} bits")]
    NotAnInteger { text: String, bits: u32 },
    #[error("`{text}` is not a number that fits into {system}")]
    NotAReal { text: String, system: RealSystem },
    #[error("`{name}` takes {cells} value{}, and {given} {} given", plural(*cells, "", "s"), plural(*given as u64, "was", "were"))]
    Length { name: String, cells: u64, given: usize },
    #[error("`{name}` is given {given} values, but the program's stacks hold at most {limit}")]
    Stack { name: String, limit: u32, given: usize },
    #[error("{0} for the values of the stack")]
    NoMemory(OutOfMemory),
}

pub(crate) fn plural(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

impl Program {
    /// Returns the global with this name, and its number.
    pub fn global(&self, name: &str) -> Option<(usize, &Global)> {
        self.module().globals.iter().enumerate().find(|(_, g)| g.name == name)
    }

    /// Returns the offsets of a global's cells, in its class.
    pub fn cells(&self, global: usize) -> Range<usize> {
        let (Some(&start), Some(declared)) =
            (self.layout().globals.get(global), self.module().globals.get(global))
        else {
            return 0..0;
        };
        start as usize..start as usize + declared.shape.cells() as usize
    }

    /// Returns the values of a global; for a stack, its entries from the bottom up.
    pub fn read(&self, state: &State, global: usize) -> Vec<Value> {
        (0..self.count(state, global)).filter_map(|n| self.value(state, global, n)).collect()
    }

    /// Returns the number of values of a global: its cells, or the entries of the stack that it names.
    pub fn count(&self, state: &State, global: usize) -> usize {
        match self.module().globals.get(global).map(|declared| (declared.shape, declared.class)) {
            Some((Shape::Stack, Class::Int)) => state.int_stack.len(),
            Some((Shape::Stack, Class::Real)) => state.real_stack.len(),
            _ => self.cells(global).len(),
        }
    }

    /// Returns value `n` of a global, where `n` is less than [`Program::count`].
    pub fn value(&self, state: &State, global: usize, n: usize) -> Option<Value> {
        let declared = self.module().globals.get(global)?;
        let (ints, reals, first) = match declared.shape {
            Shape::Stack => (&state.int_stack, &state.real_stack, 0),
            _ => (&state.ints, &state.reals, self.cells(global).start),
        };
        match declared.class {
            Class::Int => ints.get(first + n).copied().map(Value::Int),
            Class::Real => reals.get(first + n).copied().map(Value::Real),
        }
    }

    /// Parses values and gives them to all cells of a global, as [`Program::give_values`].
    ///
    /// # Errors
    /// Fails if a text is no number of the cell's class, or if the number of values is wrong. Then the state
    /// is unchanged.
    pub fn give(&self, state: &mut State, global: usize, texts: &[&str]) -> Result<(), ValueError> {
        let Some(declared) = self.module().globals.get(global) else { return Ok(()) };
        let values: Vec<Value> =
            texts.iter().map(|text| self.parse(declared.class, text)).collect::<Result<_, _>>()?;
        self.give_values(state, global, &values)
    }

    /// Gives values to all cells of a global. As in declarations, a single value is given to every cell. A
    /// stack is replaced by the values, the last one on top.
    ///
    /// # Errors
    /// Fails if the number of values is wrong, or larger than the stack's limit. Then the state is unchanged.
    pub fn give_values(&self, state: &mut State, global: usize, values: &[Value]) -> Result<(), ValueError> {
        let Some(declared) = self.module().globals.get(global) else { return Ok(()) };
        if declared.shape == Shape::Stack {
            let (limit, given) = (self.module().limits.stack, values.len());
            if given as u64 > u64::from(limit) {
                return Err(ValueError::Stack { name: declared.name.clone(), limit, given });
            }
            let number = |value: &Value| *value;
            return put_on_stack(state, declared.class, values, number).map_err(ValueError::NoMemory);
        }
        let cells = self.cells(global);
        if values.len() != cells.len() && values.len() != 1 {
            let (name, cells) = (declared.name.clone(), cells.len() as u64);
            return Err(ValueError::Length { name, cells, given: values.len() });
        }
        for (cell, value) in cells.zip(values.iter().cycle()) {
            match *value {
                Value::Int(v) => state.ints[cell] = v,
                Value::Real(v) => state.reals[cell] = v,
            }
        }
        Ok(())
    }

    /// Returns the bits of the real that equals an integer; `None` if the number system has no such real.
    pub fn exact_real(&self, value: i128) -> Option<u64> {
        let Value::Real(bits) = self.parse(Class::Real, &value.to_string()).ok()? else { return None };
        // Fixed point represents an integer exactly or not at all.
        let is_fixed = matches!(self.module().real, RealSystem::Fixed(_));
        (is_fixed || self.approximate(Value::Real(bits)) as i128 == value).then_some(bits)
    }

    /// Parses a number of a class, in the program's number system and the syntax of the language. Underscores
    /// between digits are allowed. Integers of base 2, 8 and 16 are bit patterns of the word.
    ///
    /// # Errors
    /// Fails if the text is no such number.
    pub fn parse(&self, class: Class, text: &str) -> Result<Value, ValueError> {
        let (module, text) = (self.module(), text.trim());
        match class {
            Class::Int => {
                let bits = module.word.bits();
                integer(text, module.word, self.notation())
                    .map(Value::Int)
                    .ok_or_else(|| ValueError::NotAnInteger { text: text.into(), bits })
            }
            Class::Real => {
                let system = module.real;
                let plain = real_digits(text);
                let value = with_reals!(system, |reals| reals.parse(&plain).map(|v| reals.to_bits(v)));
                value.map(Value::Real).ok_or_else(|| ValueError::NotAReal { text: text.into(), system })
            }
        }
    }

    /// Returns true if a text is an unsigned integer of the program's word size.
    pub fn is_unsigned(&self, text: &str) -> bool {
        integer(text, self.module().word, Notation::Unsigned).is_some()
    }

    /// Parses a tape entry: an integer if the text has the form of one, otherwise a real.
    ///
    /// # Errors
    /// Fails if the text is neither.
    pub fn parse_entry(&self, text: &str) -> Result<TapeEntry, ValueError> {
        let looks_real =
            base(text.trim_start_matches(['+', '-', ' '])).is_none() && text.contains(['.', 'e', 'E']);
        let class = if looks_real { Class::Real } else { Class::Int };
        self.parse(class, text).map(|value| match value {
            Value::Int(v) => TapeEntry::Int(v),
            Value::Real(v) => TapeEntry::Real(v),
        })
    }

    /// Formats a value such that parsing gives the same bits.
    pub fn text(&self, value: Value) -> String {
        match value {
            Value::Int(v) => self.notation().integer(v, self.module().word),
            Value::Real(bits) => {
                with_reals!(self.module().real, |reals| reals.text(reals.of_bits(bits)))
            }
        }
    }

    /// Returns the f64 nearest to a value.
    #[inline]
    pub fn approximate(&self, value: Value) -> f64 {
        match value {
            Value::Int(v) => v as f64,
            Value::Real(bits) => {
                with_reals!(self.module().real, |reals| reals.to_f64(reals.of_bits(bits)))
            }
        }
    }

    /// Compares two reals exactly; returns `None` if one is NaN.
    pub fn compare(&self, a: u64, b: u64) -> Option<Ordering> {
        with_reals!(self.module().real, |reals| reals.of_bits(a).partial_cmp(&reals.of_bits(b)))
    }

    /// Returns the unit in the last place of a real of this magnitude.
    pub fn ulp(&self, bits: u64) -> f64 {
        with_reals!(self.module().real, |reals| reals.ulp(reals.of_bits(bits)))
    }

    /// Returns the name of a global's cell, such as `x`, `A[3]` or `M[1,2]`.
    pub fn cell_name(&self, global: usize, n: usize) -> String {
        let Some(declared) = self.module().globals.get(global) else { return String::new() };
        element_name(&declared.name, declared.shape, n)
    }

    /// Returns true if the values are equal, or, for floats, if they differ by at most the module's
    /// tolerance.
    pub(crate) fn is_close(&self, found: Value, expected: Value) -> bool {
        let module = self.module();
        found == expected
            || matches!(found, Value::Real(_))
                && !module.real.is_exact()
                && (self.approximate(found) - self.approximate(expected)).abs() <= module.tolerance()
    }

    /// Returns the initial value of a global's cell.
    pub(crate) fn initial(&self, global: usize, n: usize) -> Value {
        let module = self.module();
        match module.globals.get(global).map(|g| &g.initial) {
            Some(Values::Ints(ints)) => Value::Int(ints.get(n).copied().unwrap_or(0)),
            Some(Values::Reals(reals)) => {
                Value::Real(literal_bits(module.real, reals.get(n).copied().unwrap_or(0.0)))
            }
            None => Value::Int(0),
        }
    }

    /// Returns the globals declared as garbage, which a backward run needs as inputs.
    pub fn declared_garbage(&self) -> impl Iterator<Item = (usize, &Global)> {
        self.module().globals.iter().enumerate().filter(|(_, g)| g.role == Role::Garbage)
    }
}

/// Returns the base that a literal's prefix denotes.
fn base(text: &str) -> Option<u32> {
    match text.get(..2)? {
        "0x" => Some(16),
        "0o" => Some(8),
        "0b" => Some(2),
        _ => None,
    }
}

/// Removes underscores from unsigned digits; returns `None` if the first character is no digit.
fn digits(text: &str) -> Option<String> {
    text.starts_with(|c: char| c.is_ascii_hexdigit()).then(|| text.replace('_', ""))
}

/// Parses an integer of a word's width. Bit patterns may exceed the signed range, and so may decimal numbers
/// in unsigned notation.
fn integer(text: &str, word: Word, notation: Notation) -> Option<i64> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, magnitude) = match base(unsigned) {
        Some(radix) => (radix, digits(&unsigned[2..])?),
        None => (10, digits(unsigned)?),
    };
    let magnitude = i128::from_str_radix(&magnitude, radix).ok()?;
    let value = if negative { -magnitude } else { magnitude };
    let is_pattern = radix != 10 || notation == Notation::Unsigned;
    if is_pattern && !negative && magnitude <= i128::from(word.pattern(-1)) {
        return Some(word.signed(magnitude as u64));
    }
    i64::try_from(value).ok().filter(|value| word.range().contains(value))
}

/// Converts a literal to the form that number systems parse: decimal, without underscores.
fn real_digits(text: &str) -> Cow<'_, str> {
    let unsigned = text.trim_start_matches(['+', '-']);
    if base(unsigned).is_some() {
        integer(text, Word::W64, Notation::Signed)
            .map_or(Cow::Borrowed(text), |value| value.to_string().into())
    } else if text.contains('_') && unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        text.replace('_', "").into()
    } else {
        text.into()
    }
}

/// Returns the name of a declaration's cell, such as `x`, `A[3]` or `M[1,2]`. `n` is the cell's number in
/// row-major order.
pub fn element_name(name: &str, shape: Shape, n: usize) -> String {
    match shape {
        Shape::Scalar => name.to_owned(),
        Shape::Vector(_) | Shape::Stack => format!("{name}[{n}]"),
        Shape::Matrix(_, columns) => format!("{name}[{},{}]", n / columns as usize, n % columns as usize),
    }
}

/// Sets every global to its initial value.
pub(crate) fn set_initial(program: &Program, state: &mut State) -> Result<(), OutOfMemory> {
    let mut globals = program.module().globals.iter().enumerate();
    globals.try_for_each(|(n, global)| put(program, state, n, &global.initial))
}

/// Sets input cells to their defaults.
pub(crate) fn set_defaults(program: &Program, state: &mut State) -> Result<(), OutOfMemory> {
    (0..program.module().globals.len()).try_for_each(|n| set_default(program, state, n))
}

/// Sets a global to its default, if it has one.
pub(crate) fn set_default(program: &Program, state: &mut State, global: usize) -> Result<(), OutOfMemory> {
    let Some(declared) = program.module().globals.get(global) else { return Ok(()) };
    let Some(default) = &declared.default else { return Ok(()) };
    state_zero(program, state, global, declared.class);
    put(program, state, global, default)
}

fn state_zero(program: &Program, state: &mut State, global: usize, class: Class) {
    let cells = program.cells(global);
    match class {
        Class::Int => state.ints[cells].fill(0),
        Class::Real => state.reals[cells].fill(0),
    }
}

/// Replaces the entries of a stack by values.
fn put_on_stack<T>(
    state: &mut State,
    class: Class,
    list: &[T],
    value: impl Fn(&T) -> Value,
) -> Result<(), OutOfMemory> {
    match class {
        Class::Int => {
            let int = |entry: &T| if let Value::Int(v) = value(entry) { v } else { 0 };
            state.int_stack = allocation::mapped(list, int)?;
        }
        Class::Real => {
            let real = |entry: &T| if let Value::Real(bits) = value(entry) { bits } else { 0 };
            let reals = allocation::mapped(list, real)?;
            if let Some(adjoints) = &mut state.adjoints {
                adjoints.stack = allocation::zeros(reals.len())?;
            }
            state.real_stack = reals;
        }
    }
    Ok(())
}

fn put(program: &Program, state: &mut State, global: usize, values: &Values) -> Result<(), OutOfMemory> {
    let real = |value: f64| literal_bits(program.module().real, value);
    if program.module().globals.get(global).is_some_and(|declared| declared.shape == Shape::Stack) {
        return match values {
            Values::Ints(ints) => put_on_stack(state, Class::Int, ints, |&v| Value::Int(v)),
            Values::Reals(reals) => put_on_stack(state, Class::Real, reals, |&v| Value::Real(real(v))),
        };
    }
    let cells = program.cells(global);
    match values {
        Values::Ints(ints) => {
            cells.zip(ints).for_each(|(cell, &value)| state.ints[cell] = value);
        }
        Values::Reals(reals) => {
            cells.zip(reals).for_each(|(cell, &value)| state.reals[cell] = real(value));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_the_syntax_of_the_language() {
        assert_eq!(integer("1_000", Word::W64, Notation::Signed), Some(1000));
        assert_eq!(integer("-0x10", Word::W8, Notation::Signed), Some(-16));
        assert_eq!(integer("0b1000_0000", Word::W8, Notation::Signed), Some(-128));
        assert_eq!(integer("0xffff_ffff_ffff_ffff", Word::W64, Notation::Signed), Some(-1));
        assert_eq!(integer("0o17", Word::W16, Notation::Signed), Some(15));
        assert_eq!(integer("-128", Word::W8, Notation::Signed), Some(-128));
        let refused = ["128", "0x100", "", "-", "0x", "_1", "1.0", "--1", "0x-1", "0X10", "ff", "9e9", "é1"];
        assert_eq!(refused.map(|text| integer(text, Word::W8, Notation::Signed)), [None; 13]);
    }

    #[test]
    fn without_a_sign_decimal_numbers_are_patterns() {
        let unsigned = |text| integer(text, Word::W8, Notation::Unsigned);
        assert_eq!(["255", "128", "127", "-128", "0xff"].map(unsigned), [-1, -128, 127, -128, -1].map(Some));
        assert_eq!(["256", "-129"].map(unsigned), [None, None]);
        assert_eq!(integer("18446744073709551615", Word::W64, Notation::Unsigned), Some(-1));
        assert_eq!(integer("18446744073709551615", Word::W64, Notation::Signed), None);
    }

    #[test]
    fn reals_may_have_underscores_and_a_base() {
        assert_eq!(real_digits("1_000.5"), "1000.5");
        assert_eq!(real_digits("0x10"), "16");
        assert_eq!(real_digits("-0b11"), "-3");
        assert_eq!(real_digits("_1"), "_1");
    }
}
