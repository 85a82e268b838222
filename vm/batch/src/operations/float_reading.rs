//! The reading of the elementary functions whose floats are variables of WGSL. The functions themselves are those that the
//! interpreter computes with. Knows none of them by name.

use std::marker::PhantomData;

use reviver_isa::number::elementary::{FloatOps, Format};

use super::spelling::FloatType;
use super::tables::Tables;
use super::written::{Term, WrittenFunction};

/// A function of floats while it is written.
pub(super) struct TextFloats<'t, F> {
    float: FloatType,
    written: WrittenFunction,
    tables: &'t Tables,
    format: PhantomData<F>,
}

impl<'t, F: Format> TextFloats<'t, F> {
    pub fn new(float: FloatType, tables: &'t Tables) -> TextFloats<'t, F> {
        TextFloats { float, written: WrittenFunction::default(), tables, format: PhantomData }
    }

    /// What a parameter of the function holds.
    pub fn argument(&self, name: &str) -> Term {
        self.written.given(name)
    }

    /// The lines of a function that gives a term back.
    pub fn body(self, gives: Term) -> String {
        let (lines, gives) = self.written.body(&[gives]);
        format!("{lines}    return {};\n", gives.concat())
    }

    fn made<const N: usize>(&self, text: &str, uses: [Term; N]) -> Term {
        self.written.made(text, uses)
    }

    /// A shift, by a number of `u32`.
    fn shifted(&self, text: [&str; 3], a: Term, amount: Term) -> Term {
        let [before, between, behind] = text;
        let most = u64::from(self.float.width - 1);
        match self.written.number(amount) {
            Some(amount) => self.made(&format!("{before}{{}}{between}{}u{behind}", amount & most), [a]),
            None => {
                let text = format!("{before}{{}}{between}(u32({{}}) & {most}u){behind}");
                self.made(&text, [a, amount])
            }
        }
    }
}

impl<F: Format> FloatOps for TextFloats<'_, F> {
    type Format = F;
    type Float = Term;
    type Word = Term;
    type Flag = Term;

    fn float(&self, value: f64) -> Term {
        self.written.given(self.float.float(value))
    }
    fn word(&self, value: i64) -> Term {
        let bits = if self.float.width == 32 { u64::from(value as u32) } else { value as u64 };
        self.written.literal(self.float.word_literal(bits), bits)
    }
    fn add(&self, a: Term, b: Term) -> Term {
        self.made("{} + {}", [a, b])
    }
    fn sub(&self, a: Term, b: Term) -> Term {
        self.made("{} - {}", [a, b])
    }
    fn mul(&self, a: Term, b: Term) -> Term {
        self.made("{} * {}", [a, b])
    }
    fn div(&self, a: Term, b: Term) -> Term {
        self.made("{} / {}", [a, b])
    }
    fn sqrt(&self, a: Term) -> Term {
        self.made("sqrt({})", [a])
    }
    fn bits(&self, a: Term) -> Term {
        self.made(&format!("bitcast<{}>({{}})", self.float.word), [a])
    }
    fn of_bits(&self, a: Term) -> Term {
        self.made(&format!("bitcast<{}>({{}})", self.float.name), [a])
    }
    fn whole(&self, a: Term) -> Term {
        self.made(&format!("rv_whole_{}({{}})", self.float.name), [a])
    }
    fn of_word(&self, a: Term) -> Term {
        let FloatType { name, signed, .. } = self.float;
        self.made(&format!("{name}({signed}({{}}))"), [a])
    }
    fn word_add(&self, a: Term, b: Term) -> Term {
        self.made("{} + {}", [a, b])
    }
    fn word_sub(&self, a: Term, b: Term) -> Term {
        self.made("{} - {}", [a, b])
    }
    fn word_mul(&self, a: Term, b: Term) -> Term {
        self.made("{} * {}", [a, b])
    }
    fn word_and(&self, a: Term, b: Term) -> Term {
        self.made("{} & {}", [a, b])
    }
    fn word_or(&self, a: Term, b: Term) -> Term {
        self.made("{} | {}", [a, b])
    }
    fn word_xor(&self, a: Term, b: Term) -> Term {
        self.made("{} ^ {}", [a, b])
    }
    fn word_shl(&self, a: Term, amount: Term) -> Term {
        self.shifted(["", " << ", ""], a, amount)
    }
    fn word_shr(&self, a: Term, amount: Term) -> Term {
        self.shifted(["", " >> ", ""], a, amount)
    }
    fn word_sar(&self, a: Term, amount: Term) -> Term {
        let FloatType { word, signed, .. } = self.float;
        let before = format!("{word}({signed}(");
        self.shifted([&before, ") >> ", ")"], a, amount)
    }
    fn lt(&self, a: Term, b: Term) -> Term {
        self.made("{} < {}", [a, b])
    }
    fn le(&self, a: Term, b: Term) -> Term {
        self.made("{} <= {}", [a, b])
    }
    fn eq(&self, a: Term, b: Term) -> Term {
        self.made("{} == {}", [a, b])
    }
    fn word_lt(&self, a: Term, b: Term) -> Term {
        let signed = self.float.signed;
        self.made(&format!("{signed}({{}}) < {signed}({{}})"), [a, b])
    }
    fn word_eq(&self, a: Term, b: Term) -> Term {
        self.made("{} == {}", [a, b])
    }
    fn both(&self, a: Term, b: Term) -> Term {
        self.made("{} & {}", [a, b])
    }
    fn either(&self, a: Term, b: Term) -> Term {
        self.made("{} | {}", [a, b])
    }
    fn not(&self, a: Term) -> Term {
        self.made("!{}", [a])
    }
    fn select(&self, flag: Term, yes: Term, no: Term) -> Term {
        self.made("select({}, {}, {})", [no, yes, flag])
    }
    fn word_select(&self, flag: Term, yes: Term, no: Term) -> Term {
        self.made("select({}, {}, {})", [no, yes, flag])
    }
    fn pick<const N: usize>(
        &self,
        flag: Term,
        yes: impl FnOnce() -> [Term; N],
        no: impl FnOnce() -> [Term; N],
    ) -> [Term; N] {
        self.written.picked(self.float.name, flag, yes, no)
    }
    fn lookup(&self, table: &'static [i64], index: Term) -> Term {
        let word = |&word: &i64| if self.float.width == 32 { u64::from(word as u32) } else { word as u64 };
        let at = self.tables.place(table.iter().map(word));
        let text = format!("{}(rv_table({at}u + (u32({{}}) & {}u)))", self.float.word, table.len() - 1);
        self.made(&text, [index])
    }
}
