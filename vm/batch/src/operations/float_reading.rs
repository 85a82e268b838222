//! Symbolic evaluation of the elementary functions, with WGSL variables as floats. The functions themselves are the
//! interpreter's. Independent of the individual functions.

use std::marker::PhantomData;

use reviver_isa::number::elementary::{FloatOps, Format};

use super::spelling::FloatType;
use super::tables::Tables;
use super::written::{ShaderFunction, WrittenTerm};

/// A function of floats under construction.
pub(super) struct ShaderFloats<'t, F> {
    float: FloatType,
    written: ShaderFunction,
    tables: &'t Tables,
    format: PhantomData<F>,
}

impl<'t, F: Format> ShaderFloats<'t, F> {
    pub fn new(float: FloatType, tables: &'t Tables) -> ShaderFloats<'t, F> {
        ShaderFloats { float, written: ShaderFunction::default(), tables, format: PhantomData }
    }

    /// Returns the term of a function's parameter.
    pub fn argument(&self, name: &str) -> WrittenTerm {
        self.written.given(name)
    }

    /// Returns the lines of a function with this result.
    pub fn body(self, gives: WrittenTerm) -> String {
        let (lines, gives) = self.written.body(&[gives]);
        format!("{lines}    return {};\n", gives.concat())
    }

    fn made<const N: usize>(&self, text: &str, uses: [WrittenTerm; N]) -> WrittenTerm {
        self.written.made(text, uses)
    }

    /// Adds a shift; the amount becomes a `u32`.
    fn shifted(&self, text: [&str; 3], a: WrittenTerm, amount: WrittenTerm) -> WrittenTerm {
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

impl<F: Format> FloatOps for ShaderFloats<'_, F> {
    type Format = F;
    type Float = WrittenTerm;
    type Word = WrittenTerm;
    type Flag = WrittenTerm;

    fn float(&self, value: f64) -> WrittenTerm {
        self.written.given(self.float.float(value))
    }
    fn word(&self, value: i64) -> WrittenTerm {
        let bits = if self.float.width == 32 { u64::from(value as u32) } else { value as u64 };
        self.written.literal(self.float.word_literal(bits), bits)
    }
    fn add(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} + {}", [a, b])
    }
    fn sub(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} - {}", [a, b])
    }
    fn mul(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} * {}", [a, b])
    }
    fn div(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} / {}", [a, b])
    }
    fn sqrt(&self, a: WrittenTerm) -> WrittenTerm {
        self.made("sqrt({})", [a])
    }
    fn bits(&self, a: WrittenTerm) -> WrittenTerm {
        self.made(&format!("bitcast<{}>({{}})", self.float.word), [a])
    }
    fn of_bits(&self, a: WrittenTerm) -> WrittenTerm {
        self.made(&format!("bitcast<{}>({{}})", self.float.name), [a])
    }
    fn whole(&self, a: WrittenTerm) -> WrittenTerm {
        self.made(&format!("rv_whole_{}({{}})", self.float.name), [a])
    }
    fn of_word(&self, a: WrittenTerm) -> WrittenTerm {
        let FloatType { name, signed, .. } = self.float;
        self.made(&format!("{name}({signed}({{}}))"), [a])
    }
    fn word_add(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} + {}", [a, b])
    }
    fn word_sub(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} - {}", [a, b])
    }
    fn word_mul(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} * {}", [a, b])
    }
    fn word_and(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} & {}", [a, b])
    }
    fn word_or(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} | {}", [a, b])
    }
    fn word_xor(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} ^ {}", [a, b])
    }
    fn word_shl(&self, a: WrittenTerm, amount: WrittenTerm) -> WrittenTerm {
        self.shifted(["", " << ", ""], a, amount)
    }
    fn word_shr(&self, a: WrittenTerm, amount: WrittenTerm) -> WrittenTerm {
        self.shifted(["", " >> ", ""], a, amount)
    }
    fn word_sar(&self, a: WrittenTerm, amount: WrittenTerm) -> WrittenTerm {
        let FloatType { word, signed, .. } = self.float;
        let before = format!("{word}({signed}(");
        self.shifted([&before, ") >> ", ")"], a, amount)
    }
    fn lt(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} < {}", [a, b])
    }
    fn le(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} <= {}", [a, b])
    }
    fn eq(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} == {}", [a, b])
    }
    fn word_lt(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        let signed = self.float.signed;
        self.made(&format!("{signed}({{}}) < {signed}({{}})"), [a, b])
    }
    fn word_eq(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} == {}", [a, b])
    }
    fn both(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} & {}", [a, b])
    }
    fn either(&self, a: WrittenTerm, b: WrittenTerm) -> WrittenTerm {
        self.made("{} | {}", [a, b])
    }
    fn not(&self, a: WrittenTerm) -> WrittenTerm {
        self.made("!{}", [a])
    }
    fn select(&self, flag: WrittenTerm, yes: WrittenTerm, no: WrittenTerm) -> WrittenTerm {
        self.made("select({}, {}, {})", [no, yes, flag])
    }
    fn word_select(&self, flag: WrittenTerm, yes: WrittenTerm, no: WrittenTerm) -> WrittenTerm {
        self.made("select({}, {}, {})", [no, yes, flag])
    }
    fn pick<const N: usize>(
        &self,
        flag: WrittenTerm,
        yes: impl FnOnce() -> [WrittenTerm; N],
        no: impl FnOnce() -> [WrittenTerm; N],
    ) -> [WrittenTerm; N] {
        self.written.picked(self.float.name, flag, yes, no)
    }
    /// Emits only the usual branch; lanes that need the other one fail and are left to the CPU. Otherwise the other
    /// branch would cost run time and compile time in all lanes.
    fn pick_usual<const N: usize>(
        &self,
        is_usual: WrittenTerm,
        usual: impl FnOnce() -> [WrittenTerm; N],
        _: impl FnOnce() -> [WrittenTerm; N],
    ) -> [WrittenTerm; N] {
        let text = format!("rv_usual_{}({{}}, {{}})", self.float.name);
        usual().map(|term| self.made(&text, [is_usual, term]))
    }
    fn lookup(&self, table: &'static [i64], index: WrittenTerm) -> WrittenTerm {
        let word = |&word: &i64| if self.float.width == 32 { u64::from(word as u32) } else { word as u64 };
        let at = self.tables.place(table.iter().map(word));
        let text = format!("{}(rv_table({at}u + (u32({{}}) & {}u)))", self.float.word, table.len() - 1);
        self.made(&text, [index])
    }
}
