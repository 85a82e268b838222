//! Operations on integers. Integers are words of the program, sign-extended to a WGSL type. This module is independent
//! of reals.

use reviver_compile::op::OpKind;
use reviver_isa::arith::Order;
use reviver_isa::module::Word;

use super::number_types::IntegerType;
use super::operation_text::OperationText;

/// Writer of a program's integer operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntegerTexts {
    pub word: Word,
    /// The WGSL type of the integers.
    pub of: IntegerType,
}

impl IntegerTexts {
    /// Writes an operation on integers, or a selection.
    pub fn written(self, kind: OpKind, operands: &[&str]) -> Option<OperationText> {
        let call = |stem, a: &str, b: &str| format!("{}({a}, {b})", self.function_name(stem));
        let text = match (kind, operands) {
            (OpKind::IntAdd, [a, b]) => self.wrapped(&format!("({a} + {b})")),
            (OpKind::IntSub, [a, b]) => self.wrapped(&format!("({a} - {b})")),
            (OpKind::IntMul, [a, b]) => self.wrapped(&format!("({a} * {b})")),
            (OpKind::IntNeg, [a]) => self.wrapped(&format!("({} - {a})", self.of.literal(0))),
            (OpKind::IntDiv, [a, b]) => return Some(failing(call("div", a, b), self.is_zero(b))),
            (OpKind::IntRem, [a, b]) => return Some(failing(call("rem", a, b), self.is_zero(b))),
            (OpKind::IntPow, [a, b]) => {
                let written = failing(call("pow", a, b), format!("({b} < {})", self.of.literal(0)));
                return Some(OperationText { iterations: POWER_ITERATIONS, ..written });
            }
            (OpKind::IntAnd, [a, b]) => format!("({a} & {b})"),
            (OpKind::IntOr, [a, b]) => format!("({a} | {b})"),
            (OpKind::IntXor, [a, b]) => format!("({a} ^ {b})"),
            (OpKind::IntNot, [a]) => format!("(~{a})"),
            (OpKind::IntRol, [a, b]) => call("rol", a, b),
            (OpKind::IntRor, [a, b]) => call("ror", a, b),
            (OpKind::IntShl, [a, b]) => call("shl", a, b),
            (OpKind::IntShr, [a, b]) => call("shr", a, b),
            (OpKind::IntSar, [a, b]) => call("sar", a, b),
            (OpKind::IntTest(order), [a, b]) => self.bit(&holds(order, a, b)),
            (OpKind::IntChoose | OpKind::Choose, [condition, yes, no]) => {
                format!("select({yes}, {no}, {})", self.is_zero(condition))
            }
            _ => return None,
        };
        Some(OperationText::surely(text))
    }

    /// Returns a condition that is true if an integer is 0.
    pub fn is_zero(self, value: &str) -> String {
        format!("({value} == {})", self.of.literal(0))
    }

    /// Returns an expression that is 1 if a condition is true, otherwise 0.
    pub fn bit(self, condition: &str) -> String {
        format!("select({}, {}, {condition})", self.of.literal(0), self.of.literal(1))
    }

    /// Returns a condition that is true if a 64-bit integer exceeds the range of a word.
    pub fn is_no_word(self, value: &str) -> String {
        let word = self.wrapped(&self.of.of_wide(value));
        format!("(!({} == {value}))", self.of.widened(&word))
    }

    /// Returns an expression that wraps an integer to the word size, with sign extension.
    fn wrapped(self, value: &str) -> String {
        let above = self.of.bits() - self.word.bits();
        match above {
            0 => value.to_owned(),
            _ => format!("(({value} << {above}u) >> {above}u)"),
        }
    }

    /// Returns the name of a helper function for the word size, such as `rv_div16`.
    fn function_name(self, stem: &str) -> String {
        format!("rv_{stem}{}", self.word.bits())
    }
}

fn failing(text: String, fails: String) -> OperationText {
    OperationText { fails: Some(fails), ..OperationText::surely(text) }
}

/// Returns a comparison. For NaN, only `!=` is true; it is written as a negated `==`, because WGSL's `!=` is false for
/// NaN.
pub(super) fn holds(order: Order, a: &str, b: &str) -> String {
    match order {
        Order::Ne => format!("(!({a} == {b}))"),
        Order::Eq | Order::Lt | Order::Le | Order::Gt | Order::Ge => format!("({a} {} {b})", order.symbol()),
    }
}

/// Returns the text of the helper function with this name; `None` if there is none.
pub(super) fn text(name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let bits: u32 = name.get(stem.len()..)?.parse().ok()?;
    let word = [Word::W8, Word::W16, Word::W32, Word::W64].into_iter().find(|word| word.bits() == bits)?;
    let of = IntegerType::of(word);
    let text = IntegerFunction { texts: IntegerTexts { word, of }, stem: stem.strip_prefix("rv_")? };
    let amount = format!("u32(b) & {}u", of.bits() - 1);
    Some(match text.stem {
        "div" => text.divided("/"),
        "rem" => text.divided("%"),
        "pow" => text.power(),
        "shl" => text.shifted(&format!("(a << ({amount}))")),
        "shr" => text.shifted(&format!("{}({} >> ({amount}))", of.name(), text.unsigned())),
        "sar" => text.with_body(&format!("    return a >> select({}u, u32(b), is_within);\n", of.bits() - 1)),
        "rol" => text.rotated("(word << amount) | ((word >> (most - amount)) >> 1u)"),
        "ror" => text.rotated("(word >> amount) | ((word << (most - amount)) << 1u)"),
        _ => return None,
    })
}

/// A helper function on words.
struct IntegerFunction<'a> {
    texts: IntegerTexts,
    stem: &'a str,
}

impl IntegerFunction<'_> {
    fn function(&self, body: &str) -> String {
        let (name, of) = (self.texts.function_name(self.stem), self.texts.of.name());
        format!("fn {name}(a: {of}, b: {of}) -> {of} {{\n{body}}}\n")
    }

    /// Returns an expression for a word's bits without its sign extension.
    fn unsigned(&self) -> String {
        let (of, bits) = (self.texts.of, self.texts.word.bits());
        match of.bits() == bits {
            true => format!("{}(a)", of.unsigned()),
            false => format!("({}(a) & {})", of.unsigned(), of.unsigned_literal(u64::MAX >> (64 - bits))),
        }
    }

    /// Writes a quotient or a remainder. The result for a divisor of 0 is undefined.
    fn divided(&self, sign: &str) -> String {
        let of = self.texts.of;
        let made = format!("a {sign} divisor");
        let [zero, one, least] = [0, 1, -1].map(|value| of.literal(value));
        let made = match sign {
            "/" => self.texts.wrapped(&format!("select({made}, {zero} - a, b == {least})")),
            _ => made,
        };
        self.function(&format!(
            "    let divisor = select(b, {one}, (b == {zero}) | (b == {least}));\n    return {made};\n"
        ))
    }

    /// Writes a power by repeated squaring. Each iteration handles four bits of the exponent, because drivers may
    /// permit few iterations.
    fn power(&self) -> String {
        let (of, word) = (self.texts.of, self.texts.of.unsigned());
        let [zero, one] = [0, 1].map(|value| of.literal(value));
        let [none, bit] = [0, 1].map(|value| of.unsigned_literal(value));
        let step = format!(
            "        power = select(power, power * square, (left & {bit}) == {bit});\n\
            \x20       square = square * square;\n        left = left >> 1u;\n"
        );
        self.function(&format!(
            "    var power = {one};\n    var square = a;\n    var left = {word}(max(b, {zero}));\n    loop {{\n\
            \x20       if (left == {none}) {{ break; }}\n{}    }}\n    return {};\n",
            step.repeat(4),
            self.texts.wrapped("power")
        ))
    }

    fn with_body(&self, body: &str) -> String {
        let (of, bits) = (self.texts.of, self.texts.word.bits());
        let end = of.unsigned_literal(bits.into());
        self.function(&format!("    let is_within = {}(b) < {end};\n{body}", of.unsigned()))
    }

    /// Writes a shift. The result is 0 for an amount that is negative or at least the word size.
    fn shifted(&self, made: &str) -> String {
        let zero = self.texts.of.literal(0);
        let made = self.texts.wrapped(made);
        self.with_body(&format!("    return select({zero}, {made}, is_within);\n"))
    }

    /// Writes a rotation by an amount modulo the word size.
    fn rotated(&self, made: &str) -> String {
        let most = self.texts.word.bits() - 1;
        self.function(&format!(
            "    let most = {most}u;\n    let amount = u32(b) & most;\n    let word = {};\n    return {};\n",
            self.unsigned(),
            self.texts.wrapped(&format!("{}({made})", self.texts.of.name()))
        ))
    }
}

/// Upper bound on the loop iterations of a power.
const POWER_ITERATIONS: u32 = 16;
