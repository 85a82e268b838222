//! Symbolic evaluation of the elementary functions: the interpreter's own source is executed on WGSL variables instead
//! of floats. This module is independent of the individual functions.

use std::marker::PhantomData;

use reviver_isa::number::elementary::{FloatOps, Format};

use super::number_types::FloatType;
use super::shader_function::{ShaderFunction, ShaderTerm};
use super::tables::Tables;

/// A WGSL function on floats that is being generated.
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

    /// Returns the term that denotes a parameter of the function.
    pub fn argument(&self, name: &str) -> ShaderTerm {
        self.written.verbatim(name)
    }

    /// Returns the lines of the function's body; `gives` is the result.
    pub fn body(self, gives: ShaderTerm) -> String {
        let (lines, gives) = self.written.body(&[gives]);
        format!("{lines}    return {};\n", gives.concat())
    }

    fn made<const N: usize>(&self, text: &str, uses: [ShaderTerm; N]) -> ShaderTerm {
        self.written.made(text, uses)
    }

    /// Adds a line with a shift. The amount is converted to `u32`.
    fn shifted(&self, text: [&str; 3], a: ShaderTerm, amount: ShaderTerm) -> ShaderTerm {
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
    type Float = ShaderTerm;
    type Word = ShaderTerm;
    type Flag = ShaderTerm;

    fn float(&self, value: f64) -> ShaderTerm {
        self.written.verbatim(self.float.float(value))
    }
    fn word(&self, value: i64) -> ShaderTerm {
        let bits = if self.float.width == 32 { u64::from(value as u32) } else { value as u64 };
        self.written.literal(self.float.word_literal(bits), bits)
    }
    fn add(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} + {}", [a, b])
    }
    fn sub(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} - {}", [a, b])
    }
    fn mul(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} * {}", [a, b])
    }
    fn div(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} / {}", [a, b])
    }
    fn sqrt(&self, a: ShaderTerm) -> ShaderTerm {
        self.made("sqrt({})", [a])
    }
    fn bits(&self, a: ShaderTerm) -> ShaderTerm {
        self.made(&format!("bitcast<{}>({{}})", self.float.word), [a])
    }
    fn of_bits(&self, a: ShaderTerm) -> ShaderTerm {
        self.made(&format!("bitcast<{}>({{}})", self.float.name), [a])
    }
    fn whole(&self, a: ShaderTerm) -> ShaderTerm {
        self.made(&format!("rv_whole_{}({{}})", self.float.name), [a])
    }
    fn of_word(&self, a: ShaderTerm) -> ShaderTerm {
        let FloatType { name, signed, .. } = self.float;
        self.made(&format!("{name}({signed}({{}}))"), [a])
    }
    fn word_add(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} + {}", [a, b])
    }
    fn word_sub(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} - {}", [a, b])
    }
    fn word_mul(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} * {}", [a, b])
    }
    fn word_and(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} & {}", [a, b])
    }
    fn word_or(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} | {}", [a, b])
    }
    fn word_xor(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} ^ {}", [a, b])
    }
    fn word_shl(&self, a: ShaderTerm, amount: ShaderTerm) -> ShaderTerm {
        self.shifted(["", " << ", ""], a, amount)
    }
    fn word_shr(&self, a: ShaderTerm, amount: ShaderTerm) -> ShaderTerm {
        self.shifted(["", " >> ", ""], a, amount)
    }
    fn word_sar(&self, a: ShaderTerm, amount: ShaderTerm) -> ShaderTerm {
        let FloatType { word, signed, .. } = self.float;
        let before = format!("{word}({signed}(");
        self.shifted([&before, ") >> ", ")"], a, amount)
    }
    fn lt(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} < {}", [a, b])
    }
    fn le(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} <= {}", [a, b])
    }
    fn eq(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} == {}", [a, b])
    }
    fn word_lt(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        let signed = self.float.signed;
        self.made(&format!("{signed}({{}}) < {signed}({{}})"), [a, b])
    }
    fn word_eq(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} == {}", [a, b])
    }
    fn both(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} & {}", [a, b])
    }
    fn either(&self, a: ShaderTerm, b: ShaderTerm) -> ShaderTerm {
        self.made("{} | {}", [a, b])
    }
    fn not(&self, a: ShaderTerm) -> ShaderTerm {
        self.made("!{}", [a])
    }
    fn select(&self, flag: ShaderTerm, yes: ShaderTerm, no: ShaderTerm) -> ShaderTerm {
        self.made("select({}, {}, {})", [no, yes, flag])
    }
    fn word_select(&self, flag: ShaderTerm, yes: ShaderTerm, no: ShaderTerm) -> ShaderTerm {
        self.made("select({}, {}, {})", [no, yes, flag])
    }
    fn pick<const N: usize>(
        &self,
        flag: ShaderTerm,
        yes: impl FnOnce() -> [ShaderTerm; N],
        no: impl FnOnce() -> [ShaderTerm; N],
    ) -> [ShaderTerm; N] {
        self.written.picked(self.float.name, flag, yes, no)
    }
    /// Emits only the usual branch, because the other branch would cost all lanes run time and compile time. A lane
    /// that needs the other branch fails, so the CPU executes the lane.
    fn pick_usual<const N: usize>(
        &self,
        is_usual: ShaderTerm,
        usual: impl FnOnce() -> [ShaderTerm; N],
        _: impl FnOnce() -> [ShaderTerm; N],
    ) -> [ShaderTerm; N] {
        let text = format!("rv_usual_{}({{}}, {{}})", self.float.name);
        usual().map(|term| self.made(&text, [is_usual, term]))
    }
    fn lookup(&self, table: &'static [i64], index: ShaderTerm) -> ShaderTerm {
        let word = |&word: &i64| if self.float.width == 32 { u64::from(word as u32) } else { word as u64 };
        let at = self.tables.place(table.iter().map(word));
        let text = format!("{}(rv_table({at}u + (u32({{}}) & {}u)))", self.float.word, table.len() - 1);
        self.made(&text, [index])
    }
}
