//! Symbolic evaluation of the fixed-point functions. The interpreter's own source is executed on WGSL variables instead
//! of words, and each executed operation adds a line of WGSL. This module is independent of the individual functions.

use reviver_isa::number::fixed::{WideOps, wide};

use super::shader_function::{ShaderFunction, ShaderTerm};
use super::tables::Tables;
use super::wide::{WORD, literal, sar, shl, shr};

/// The translation of the interpreter's loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopTranslation {
    /// Loops become WGSL loops, for any number of iterations.
    Many,
    /// Loops are unrolled. Each loop has at most this number of iterations.
    AtMost(u32),
}

/// A WGSL function on words that is being generated.
pub(super) struct ShaderWords<'t> {
    written: ShaderFunction,
    tables: &'t Tables,
    iterations: LoopTranslation,
    /// True if products, quotients and roundings become calls of helper functions.
    has_calls: bool,
}

impl<'t> ShaderWords<'t> {
    /// Starts a function that calls helpers for products, quotients and roundings.
    pub fn with_calls(tables: &'t Tables) -> ShaderWords<'t> {
        let written = ShaderFunction::default();
        ShaderWords { written, tables, iterations: LoopTranslation::Many, has_calls: true }
    }

    /// Starts a helper function that functions of [`ShaderWords::with_calls`] call.
    pub fn called(tables: &'t Tables, iterations: LoopTranslation) -> ShaderWords<'t> {
        ShaderWords { written: ShaderFunction::default(), tables, iterations, has_calls: false }
    }

    /// Returns the term that denotes a parameter of the function.
    pub fn argument(&self, name: &str) -> ShaderTerm {
        self.written.verbatim(name)
    }

    /// Returns the term of a fixed-point parameter, sign-extended to a 128-bit word.
    pub fn number(&self, name: &str) -> ShaderTerm {
        self.made("rv_wide_of({})", [self.argument(name)])
    }

    /// Returns the lines on which the terms `gives` depend, and the texts of these terms.
    pub fn body(self, gives: &[ShaderTerm]) -> (String, Vec<String>) {
        self.written.body(gives)
    }

    fn made<const N: usize>(&self, text: &str, uses: [ShaderTerm; N]) -> ShaderTerm {
        self.written.made(text, uses)
    }

    /// Adds a line that computes a term from one operand. `text` may contain the operand up to three times.
    fn of_one(&self, text: &str, a: ShaderTerm) -> ShaderTerm {
        self.made(text, [a, a, a])
    }

    fn pair(&self, a: &str, b: &str) -> String {
        format!("{WORD}({a}, {b})")
    }
}

impl WideOps for ShaderWords<'_> {
    type Word = ShaderTerm;
    type Flag = ShaderTerm;

    fn word(&self, value: u128) -> ShaderTerm {
        self.written.verbatim(literal(value))
    }
    fn never(&self) -> ShaderTerm {
        self.written.verbatim("false")
    }
    fn add(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_add({}, {})", [a, b])
    }
    fn sub(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_sub({}, {})", [a, b])
    }
    fn mul(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_mul({}, {})", [a, b])
    }
    fn div(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_div({}, {})", [a, b])
    }
    fn and(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} & {}", [a, b])
    }
    fn or(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} | {}", [a, b])
    }
    fn shl(&self, a: ShaderTerm, amount: u32) -> ShaderTerm {
        self.of_one(&shl(amount), a)
    }
    fn shr(&self, a: ShaderTerm, amount: u32) -> ShaderTerm {
        self.of_one(&shr(amount), a)
    }
    fn sar(&self, a: ShaderTerm, amount: u32) -> ShaderTerm {
        self.of_one(&sar(amount), a)
    }
    fn shl_by(&self, a: ShaderTerm, amount: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_shl({}, u32({}.x & 127lu))", [a, amount])
    }
    fn shr_by(&self, a: ShaderTerm, amount: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_shr({}, u32({}.x & 127lu))", [a, amount])
    }
    fn zeros(&self, a: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_zeros({})", [a])
    }
    fn root(&self, a: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_root({})", [a])
    }
    fn lt(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_lt({}, {})", [a, b])
    }
    fn eq(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("rv_wide_eq({}, {})", [a, b])
    }
    fn both(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} & {}", [a, b])
    }
    fn either(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} | {}", [a, b])
    }
    fn differ(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("!({} == {})", [a, b])
    }
    fn not(&self, a: ShaderTerm) -> ShaderTerm {
        self.made("!{}", [a])
    }
    fn is_negative(&self, a: ShaderTerm) -> ShaderTerm {
        self.made("i64({}.y) < 0li", [a])
    }
    fn select(&self, flag: ShaderTerm, yes: ShaderTerm, no: ShaderTerm) -> ShaderTerm {
        self.made("select({}, {}, {})", [no, yes, flag])
    }
    fn pick<const N: usize>(
        &self,
        flag: ShaderTerm,
        yes: impl FnOnce() -> [ShaderTerm; N],
        no: impl FnOnce() -> [ShaderTerm; N],
    ) -> [ShaderTerm; N] {
        self.written.picked(WORD, flag, yes, no)
    }
    fn repeat<const N: usize>(
        &self,
        first: [ShaderTerm; N],
        holds: impl Fn([ShaderTerm; N]) -> ShaderTerm,
        step: impl Fn([ShaderTerm; N]) -> [ShaderTerm; N],
    ) -> [ShaderTerm; N] {
        match self.iterations {
            LoopTranslation::Many => self.written.repeated(WORD, first, holds, step),
            LoopTranslation::AtMost(iterations) => (0..iterations).fold(first, |words, _| {
                let flag = holds(words);
                self.pick(flag, || step(words), || words)
            }),
        }
    }
    fn lookup(&self, table: &'static [u128], index: ShaderTerm) -> ShaderTerm {
        let halves = |&word: &u128| [word as u64, (word >> 64) as u64];
        let at = self.tables.place(table.iter().flat_map(halves));
        let last = table.len().saturating_sub(1);
        // The index is clamped, because an index whose result isn't used may be out of range.
        let row = self.made(&format!("{at}u + 2u * u32(min({{}}.x, {last}lu))"), [index]);
        self.of_one(&self.pair("rv_table({})", "rv_table({} + 1u)"), row)
    }

    fn mul_high(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        match self.has_calls {
            true => self.made("rv_wide_mul_high({}, {})", [a, b]),
            false => wide::mul_high(self, a, b),
        }
    }
    fn fraction(&self, n: ShaderTerm, d: ShaderTerm) -> ShaderTerm {
        match self.has_calls {
            true => self.made("rv_wide_fraction({}, {})", [n, d]),
            false => wide::fraction(self, n, d),
        }
    }
    fn round_shift(&self, value: ShaderTerm, shift: ShaderTerm) -> ShaderTerm {
        match self.has_calls {
            true => self.made("rv_wide_round_shift({}, {})", [value, shift]),
            false => wide::round_shift(self, value, shift),
        }
    }
}
