//! Operations on integers: words of the program, sign-extended in 64 bits. Knows no reals.

use reviver_compile::op::OpKind;
use reviver_isa::arith::Order;
use reviver_isa::module::Word;

use super::Written;

/// An operation on integers, or one that chooses.
pub(super) fn written(word: Word, kind: OpKind, operands: &[&str]) -> Option<Written> {
    let call = |stem, a: &str, b: &str| format!("{}({a}, {b})", of_word(stem, word));
    let text = match (kind, operands) {
        (OpKind::IntAdd, [a, b]) => wrapped(word, &format!("({a} + {b})")),
        (OpKind::IntSub, [a, b]) => wrapped(word, &format!("({a} - {b})")),
        (OpKind::IntMul, [a, b]) => wrapped(word, &format!("({a} * {b})")),
        (OpKind::IntNeg, [a]) => wrapped(word, &format!("(0li - {a})")),
        (OpKind::IntDiv, [a, b]) => return Some(failing(call("div", a, b), format!("({b} == 0li)"))),
        (OpKind::IntRem, [a, b]) => return Some(failing(call("rem", a, b), format!("({b} == 0li)"))),
        (OpKind::IntPow, [a, b]) => {
            let written = failing(call("pow", a, b), format!("({b} < 0li)"));
            return Some(Written { rounds: POWER_ROUNDS, ..written });
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
        (OpKind::IntTest(order), [a, b]) => bit(&holds(order, a, b)),
        (OpKind::IntChoose | OpKind::Choose, [condition, yes, no]) => {
            format!("select({yes}, {no}, ({condition} == 0li))")
        }
        _ => return None,
    };
    Some(Written::surely(text))
}

fn failing(text: String, fails: String) -> Written {
    Written { fails: Some(fails), ..Written::surely(text) }
}

/// Whether an integer of 64 bits is no word.
pub(super) fn is_no_word(word: Word, value: &str) -> String {
    format!("(!({} == {value}))", wrapped(word, value))
}

/// The word that an integer is congruent to. Processors that stand in for devices have no shift of 64 bits with copies of the sign, but extend
/// 32 bits to 64.
fn wrapped(word: Word, value: &str) -> String {
    match word {
        Word::W64 => value.to_owned(),
        Word::W32 => format!("i64(i32({value}))"),
        Word::W16 | Word::W8 => {
            let above = 32 - word.bits();
            format!("i64((i32({value}) << {above}u) >> {above}u)")
        }
    }
}

/// 1 or 0.
pub(super) fn bit(condition: &str) -> String {
    format!("select(0li, 1li, {condition})")
}

/// Whether an ordering holds. Of floats that are no numbers only `!=` does, and `!=` itself asks in WGSL whether both are numbers.
pub(super) fn holds(order: Order, a: &str, b: &str) -> String {
    match order {
        Order::Ne => format!("(!({a} == {b}))"),
        Order::Eq | Order::Lt | Order::Le | Order::Gt | Order::Ge => format!("({a} {} {b})", order.symbol()),
    }
}

/// The name of the function of a word: `rv_div16`.
fn of_word(stem: &str, word: Word) -> String {
    format!("rv_{stem}{}", word.bits())
}

/// The text of the function of a name.
pub(super) fn text(name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let bits: u32 = name.get(stem.len()..)?.parse().ok()?;
    let word = [Word::W8, Word::W16, Word::W32, Word::W64].into_iter().find(|word| word.bits() == bits)?;
    let text = ShaderWordText { word, stem: stem.strip_prefix("rv_")? };
    Some(match text.stem {
        "div" => text.divided("/"),
        "rem" => text.divided("%"),
        "pow" => text.power(),
        "shl" => text.shifted(&wrapped(word, "a << (u32(b) & 63u)")),
        "shr" => text.shifted(&wrapped(word, &format!("i64({} >> (u32(b) & 63u))", text.unsigned()))),
        "sar" => text.with_body("    return a >> select(63u, u32(b), is_within);\n"),
        "rol" => text.rotated("(word << amount) | ((word >> (most - amount)) >> 1u)"),
        "ror" => text.rotated("(word >> amount) | ((word << (most - amount)) << 1u)"),
        _ => return None,
    })
}

/// A function of words.
struct ShaderWordText<'a> {
    word: Word,
    stem: &'a str,
}

impl ShaderWordText<'_> {
    fn function(&self, body: &str) -> String {
        format!("fn {}(a: i64, b: i64) -> i64 {{\n{body}}}\n", of_word(self.stem, self.word))
    }

    /// The bits of a word without its sign extension.
    fn unsigned(&self) -> String {
        match self.word.bits() {
            64 => "u64(a)".to_owned(),
            bits => format!("(u64(a) & 0x{:x}lu)", u64::MAX >> (64 - bits)),
        }
    }

    /// A quotient or a remainder; that by 0 is anything. Devices divide half as many bits several times as fast.
    fn divided(&self, sign: &str) -> String {
        let made = match self.word.bits() {
            64 => format!("a {sign} divisor"),
            _ => format!("i64(i32(a) {sign} i32(divisor))"),
        };
        let made = match sign {
            "/" => wrapped(self.word, &format!("select({made}, 0li - a, b == -1li)")),
            _ => made,
        };
        self.function(&format!(
            "    let divisor = select(b, 1li, (b == 0li) | (b == -1li));\n    return {made};\n"
        ))
    }

    /// Square and multiply, four bits of the exponent a round: drivers may allow few of them.
    fn power(&self) -> String {
        let step = "        power = select(power, power * square, (left & 1lu) == 1lu);\n\
            \x20       square = square * square;\n        left = left >> 1u;\n";
        self.function(&format!(
            "    var power = 1li;\n    var square = a;\n    var left = u64(max(b, 0li));\n    loop {{\n\
            \x20       if (left == 0lu) {{ break; }}\n{}    }}\n    return {};\n",
            step.repeat(4),
            wrapped(self.word, "power")
        ))
    }

    fn with_body(&self, body: &str) -> String {
        self.function(&format!("    let is_within = u64(b) < {}lu;\n{body}", self.word.bits()))
    }

    /// What is 0 for an amount that is no amount.
    fn shifted(&self, made: &str) -> String {
        self.with_body(&format!("    return select(0li, {made}, is_within);\n"))
    }

    /// By an amount modulo the width.
    fn rotated(&self, made: &str) -> String {
        let most = self.word.bits() - 1;
        self.function(&format!(
            "    let most = {most}u;\n    let amount = u32(b) & most;\n    let word = {};\n    return {};\n",
            self.unsigned(),
            wrapped(self.word, &format!("i64({made})"))
        ))
    }
}

/// The rounds that a power's loop may make.
const POWER_ROUNDS: u32 = 16;
