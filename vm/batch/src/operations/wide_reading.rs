//! The reading of the functions of fixed point whose words are variables of WGSL. The functions themselves are those that the
//! interpreter computes with. Knows none of them by name.

use reviver_isa::number::fixed::{WideOps, wide};

use super::tables::Tables;
use super::wide::{WORD, literal, sar, shl, shr};
use super::written::{Term, WrittenFunction};

/// How loops are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounds {
    /// As loops.
    Many,
    /// One after another, as there are no more than these.
    AtMost(u32),
}

/// A function of words while it is written.
pub(super) struct TextWords<'t> {
    written: WrittenFunction,
    tables: &'t Tables,
    rounds: Rounds,
    /// Whether products, quotients and roundings have functions of their own.
    has_calls: bool,
}

impl<'t> TextWords<'t> {
    /// A function that calls others for products, quotients and roundings.
    pub fn with_calls(tables: &'t Tables) -> TextWords<'t> {
        let written = WrittenFunction::default();
        TextWords { written, tables, rounds: Rounds::Many, has_calls: true }
    }

    /// One of those others.
    pub fn called(tables: &'t Tables, rounds: Rounds) -> TextWords<'t> {
        TextWords { written: WrittenFunction::default(), tables, rounds, has_calls: false }
    }

    /// What a parameter of the function holds.
    pub fn argument(&self, name: &str) -> Term {
        self.written.given(name)
    }

    /// A number of fixed point, as a word.
    pub fn number(&self, name: &str) -> Term {
        self.made("rv_wide_of({})", [self.argument(name)])
    }

    /// The lines that terms come of, and how these are written.
    pub fn body(self, gives: &[Term]) -> (String, Vec<String>) {
        self.written.body(gives)
    }

    fn made<const N: usize>(&self, text: &str, uses: [Term; N]) -> Term {
        self.written.made(text, uses)
    }

    /// A line of one operand, which may stand in it up to three times.
    fn of_one(&self, text: &str, a: Term) -> Term {
        self.made(text, [a, a, a])
    }

    fn pair(&self, a: &str, b: &str) -> String {
        format!("{WORD}({a}, {b})")
    }
}

impl WideOps for TextWords<'_> {
    type Word = Term;
    type Flag = Term;

    fn word(&self, value: u128) -> Term {
        self.written.given(literal(value))
    }
    fn never(&self) -> Term {
        self.written.given("false")
    }
    fn add(&self, a: Term, b: Term) -> Term {
        self.made("rv_wide_add({}, {})", [a, b])
    }
    fn sub(&self, a: Term, b: Term) -> Term {
        self.made("rv_wide_sub({}, {})", [a, b])
    }
    fn mul(&self, a: Term, b: Term) -> Term {
        self.made("rv_wide_mul({}, {})", [a, b])
    }
    fn div(&self, a: Term, b: Term) -> Term {
        self.made("rv_wide_div({}, {})", [a, b])
    }
    fn and(&self, a: Term, b: Term) -> Term {
        self.made("{} & {}", [a, b])
    }
    fn or(&self, a: Term, b: Term) -> Term {
        self.made("{} | {}", [a, b])
    }
    fn shl(&self, a: Term, amount: u32) -> Term {
        self.of_one(&shl(amount), a)
    }
    fn shr(&self, a: Term, amount: u32) -> Term {
        self.of_one(&shr(amount), a)
    }
    fn sar(&self, a: Term, amount: u32) -> Term {
        self.of_one(&sar(amount), a)
    }
    fn shl_by(&self, a: Term, amount: Term) -> Term {
        self.made("rv_wide_shl({}, u32({}.x & 127lu))", [a, amount])
    }
    fn shr_by(&self, a: Term, amount: Term) -> Term {
        self.made("rv_wide_shr({}, u32({}.x & 127lu))", [a, amount])
    }
    fn zeros(&self, a: Term) -> Term {
        self.made("rv_wide_zeros({})", [a])
    }
    fn root(&self, a: Term) -> Term {
        self.made("rv_wide_root({})", [a])
    }
    fn lt(&self, a: Term, b: Term) -> Term {
        self.made("rv_wide_lt({}, {})", [a, b])
    }
    fn eq(&self, a: Term, b: Term) -> Term {
        self.made("rv_wide_eq({}, {})", [a, b])
    }
    fn both(&self, a: Term, b: Term) -> Term {
        self.made("{} & {}", [a, b])
    }
    fn either(&self, a: Term, b: Term) -> Term {
        self.made("{} | {}", [a, b])
    }
    fn differ(&self, a: Term, b: Term) -> Term {
        self.made("!({} == {})", [a, b])
    }
    fn not(&self, a: Term) -> Term {
        self.made("!{}", [a])
    }
    fn is_negative(&self, a: Term) -> Term {
        self.made("i64({}.y) < 0li", [a])
    }
    fn select(&self, flag: Term, yes: Term, no: Term) -> Term {
        self.made("select({}, {}, {})", [no, yes, flag])
    }
    fn pick<const N: usize>(
        &self,
        flag: Term,
        yes: impl FnOnce() -> [Term; N],
        no: impl FnOnce() -> [Term; N],
    ) -> [Term; N] {
        self.written.picked(WORD, flag, yes, no)
    }
    fn repeat<const N: usize>(
        &self,
        first: [Term; N],
        holds: impl Fn([Term; N]) -> Term,
        step: impl Fn([Term; N]) -> [Term; N],
    ) -> [Term; N] {
        match self.rounds {
            Rounds::Many => self.written.repeated(WORD, first, holds, step),
            Rounds::AtMost(rounds) => (0..rounds).fold(first, |words, _| {
                let flag = holds(words);
                self.pick(flag, || step(words), || words)
            }),
        }
    }
    fn lookup(&self, table: &'static [u128], index: Term) -> Term {
        let halves = |&word: &u128| [word as u64, (word >> 64) as u64];
        let at = self.tables.place(table.iter().flat_map(halves));
        let last = table.len().saturating_sub(1);
        // Where nobody asks for the word, its index may be anything.
        let row = self.made(&format!("{at}u + 2u * u32(min({{}}.x, {last}lu))"), [index]);
        self.of_one(&self.pair("rv_table({})", "rv_table({} + 1u)"), row)
    }

    fn mul_high(&self, a: Term, b: Term) -> Term {
        match self.has_calls {
            true => self.made("rv_wide_mul_high({}, {})", [a, b]),
            false => wide::mul_high(self, a, b),
        }
    }
    fn fraction(&self, n: Term, d: Term) -> Term {
        match self.has_calls {
            true => self.made("rv_wide_fraction({}, {})", [n, d]),
            false => wide::fraction(self, n, d),
        }
    }
    fn round_shift(&self, value: Term, shift: Term) -> Term {
        match self.has_calls {
            true => self.made("rv_wide_round_shift({}, {})", [value, shift]),
            false => wide::round_shift(self, value, shift),
        }
    }
}
