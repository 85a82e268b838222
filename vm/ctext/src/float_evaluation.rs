//! Symbolic evaluation of the elementary functions. The interpreter's own source is executed on C variables instead of
//! floats, and each executed operation adds a line of C. This module is independent of the individual functions.

use std::cell::RefCell;
use std::marker::PhantomData;

use reviver_isa::number::elementary::{FloatOps, Format};

use crate::identifiers::fnv;
use crate::numbers;

/// A float format in C, with the integer types of the same width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CFloat {
    pub name: &'static str,
    pub suffix: &'static str,
    pub word: &'static str,
    pub signed: &'static str,
    pub width: i64,
}

pub(crate) const DOUBLE: CFloat =
    CFloat { name: "double", suffix: "f64", word: "uint64_t", signed: "int64_t", width: 64 };
pub(crate) const SINGLE: CFloat =
    CFloat { name: "float", suffix: "f32", word: "uint32_t", signed: "int32_t", width: 32 };

/// A value in a generated function, given by its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatTerm(usize);

/// The text that denotes a term.
#[derive(Clone, Debug)]
enum TermText {
    Literal(String),
    Argument(String),
    /// The variable whose name contains the number of this term.
    Variable,
}

/// A line of a generated function.
#[derive(Clone, Debug)]
enum FunctionLine {
    Let { term: FloatTerm, of: &'static str, text: String, uses: Vec<FloatTerm> },
    Pick { flag: FloatTerm, results: Vec<FloatTerm>, arms: [Arm; 2] },
}

/// One arm of a branch: its lines, and the terms that are its results.
#[derive(Clone, Debug)]
struct Arm {
    lines: Vec<FunctionLine>,
    gives: Vec<FloatTerm>,
}

#[derive(Debug, Default)]
struct FloatFunctionState {
    terms: Vec<TermText>,
    lines: Vec<FunctionLine>,
    /// The names and texts of tables, in the order of their first use.
    tables: Vec<(String, String)>,
}

/// A C function on floats that is being generated.
#[derive(Debug)]
pub(crate) struct TextFloats<F> {
    float: CFloat,
    written: RefCell<FloatFunctionState>,
    format: PhantomData<F>,
}

impl<F: Format> TextFloats<F> {
    pub fn new(float: CFloat) -> TextFloats<F> {
        TextFloats { float, written: RefCell::default(), format: PhantomData }
    }

    /// Returns the term that denotes a parameter of the function.
    pub fn argument(&self, name: &str) -> FloatTerm {
        self.term(TermText::Argument(name.to_owned()))
    }

    fn term(&self, spelling: TermText) -> FloatTerm {
        let terms = &mut self.written.borrow_mut().terms;
        terms.push(spelling);
        FloatTerm(terms.len() - 1)
    }

    fn text_of(&self, term: FloatTerm) -> String {
        text_of(&self.written.borrow().terms, term)
    }

    /// Adds a line that defines a new term. Each `{}` in `text` is replaced by the next term of `uses`.
    fn made<const N: usize>(&self, of: &'static str, text: &str, uses: [FloatTerm; N]) -> FloatTerm {
        let mut parts = text.split("{}");
        let mut line = parts.next().unwrap_or_default().to_owned();
        for (term, part) in uses.iter().zip(parts) {
            line.push_str(&self.text_of(*term));
            line.push_str(part);
        }
        let term = self.term(TermText::Variable);
        let line = FunctionLine::Let { term, of, text: line, uses: uses.to_vec() };
        self.written.borrow_mut().lines.push(line);
        term
    }

    fn float_made<const N: usize>(&self, text: &str, uses: [FloatTerm; N]) -> FloatTerm {
        self.made(self.float.name, text, uses)
    }

    fn word_made<const N: usize>(&self, text: &str, uses: [FloatTerm; N]) -> FloatTerm {
        self.made(self.float.word, text, uses)
    }

    fn flag_made<const N: usize>(&self, text: &str, uses: [FloatTerm; N]) -> FloatTerm {
        self.made("int", text, uses)
    }

    /// Returns the lines that `write` adds as a separate list.
    fn arm<const N: usize>(&self, write: impl FnOnce() -> [FloatTerm; N]) -> Arm {
        let before = std::mem::take(&mut self.written.borrow_mut().lines);
        let gives = write().to_vec();
        let lines = std::mem::replace(&mut self.written.borrow_mut().lines, before);
        Arm { lines, gives }
    }

    /// Returns the lines of the function's body, and the tables that the lines may use. `gives` is the result of the
    /// function.
    pub fn body(self, gives: FloatTerm) -> (String, Vec<(String, String)>) {
        let FloatFunctionState { terms, lines, tables } = self.written.into_inner();
        let mut needed = vec![false; terms.len()];
        needed[gives.0] = true;
        let kept = alive(&lines, &mut needed);
        let mut text = String::new();
        write_lines(&kept, &terms, self.float, 1, &mut text);
        text.push_str(&format!("    return {};\n", text_of(&terms, gives)));
        (text, tables)
    }
}

fn text_of(terms: &[TermText], term: FloatTerm) -> String {
    match &terms[term.0] {
        TermText::Literal(text) | TermText::Argument(text) => text.clone(),
        TermText::Variable => format!("t{}", term.0),
    }
}

/// Returns the lines that define needed terms, and marks the terms that these lines use as needed. Visits the lines
/// from last to first.
fn alive(lines: &[FunctionLine], needed: &mut [bool]) -> Vec<FunctionLine> {
    let mut kept = Vec::new();
    for line in lines.iter().rev() {
        match line {
            FunctionLine::Let { term, uses, .. } if needed[term.0] => {
                uses.iter().for_each(|term| needed[term.0] = true);
                kept.push(line.clone());
            }
            FunctionLine::Let { .. } => {}
            FunctionLine::Pick { flag, results, arms } => {
                let is_needed: Vec<bool> = results.iter().map(|term| needed[term.0]).collect();
                let only = |terms: &[FloatTerm]| -> Vec<FloatTerm> {
                    terms
                        .iter()
                        .zip(&is_needed)
                        .filter(|(_, needed)| **needed)
                        .map(|(term, _)| *term)
                        .collect()
                };
                let results = only(results);
                if results.is_empty() {
                    continue;
                }
                let arms = arms.each_ref().map(|arm| {
                    let gives = only(&arm.gives);
                    gives.iter().for_each(|term| needed[term.0] = true);
                    Arm { lines: alive(&arm.lines, needed), gives }
                });
                needed[flag.0] = true;
                kept.push(FunctionLine::Pick { flag: *flag, results, arms });
            }
        }
    }
    kept.reverse();
    kept
}

fn write_lines(lines: &[FunctionLine], terms: &[TermText], float: CFloat, depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    for line in lines {
        match line {
            FunctionLine::Let { term, of, text: line, .. } => {
                text.push_str(&format!("{indent}const {of} t{} = {line};\n", term.0));
            }
            FunctionLine::Pick { flag, results, arms: [yes, no] } => {
                let names: Vec<String> = results.iter().map(|&term| text_of(terms, term)).collect();
                text.push_str(&format!("{indent}{} {};\n", float.name, names.join(", ")));
                text.push_str(&format!("{indent}if ({}) {{\n", text_of(terms, *flag)));
                for (n, arm) in [yes, no].into_iter().enumerate() {
                    if n == 1 {
                        text.push_str(&format!("{indent}}} else {{\n"));
                    }
                    write_lines(&arm.lines, terms, float, depth + 1, text);
                    for (name, &gives) in names.iter().zip(&arm.gives) {
                        text.push_str(&format!("{indent}    {name} = {};\n", text_of(terms, gives)));
                    }
                }
                text.push_str(&format!("{indent}}}\n"));
            }
        }
    }
}

/// Returns the name of a table. The name is derived from the table's content, so that functions share equal tables.
fn table_name(float: CFloat, table: &[i64]) -> String {
    let hash = fnv(table.iter().flat_map(|word| word.to_le_bytes()));
    format!("rv_table_{}_{hash:016x}", float.suffix)
}

fn table_text(float: CFloat, name: &str, table: &[i64]) -> String {
    let word = |&word: &i64| match float.width {
        32 => format!("UINT32_C(0x{:08x})", word as u32),
        _ => format!("UINT64_C(0x{word:016x})"),
    };
    let words: Vec<String> = table.iter().map(word).collect();
    let rows: Vec<String> = words.chunks(4).map(|row| format!("    {},\n", row.join(", "))).collect();
    format!("static const {} {name}[{}] = {{\n{}}};\n", float.word, table.len(), rows.concat())
}

impl<F: Format> FloatOps for TextFloats<F> {
    type Format = F;
    type Float = FloatTerm;
    type Word = FloatTerm;
    type Flag = FloatTerm;

    fn float(&self, value: f64) -> FloatTerm {
        let text = match self.float.width {
            32 => numbers::single(value as f32),
            _ => numbers::double(value),
        };
        self.term(TermText::Literal(text))
    }
    fn word(&self, value: i64) -> FloatTerm {
        let text = match self.float.width {
            32 => format!("UINT32_C(0x{:x})", value as u32),
            _ => format!("UINT64_C(0x{value:x})"),
        };
        self.term(TermText::Literal(text))
    }
    fn add(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.float_made("{} + {}", [a, b])
    }
    fn sub(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.float_made("{} - {}", [a, b])
    }
    fn mul(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.float_made("{} * {}", [a, b])
    }
    fn div(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.float_made("{} / {}", [a, b])
    }
    fn sqrt(&self, a: FloatTerm) -> FloatTerm {
        let text = if self.float.width == 32 { "sqrtf({})" } else { "sqrt({})" };
        self.float_made(text, [a])
    }
    fn bits(&self, a: FloatTerm) -> FloatTerm {
        self.word_made(&format!("rv_bits_{}({{}})", self.float.suffix), [a])
    }
    fn of_bits(&self, a: FloatTerm) -> FloatTerm {
        self.float_made(&format!("rv_of_bits_{}({{}})", self.float.suffix), [a])
    }
    fn whole(&self, a: FloatTerm) -> FloatTerm {
        self.word_made(&format!("rv_whole_{}({{}})", self.float.suffix), [a])
    }
    fn of_word(&self, a: FloatTerm) -> FloatTerm {
        let CFloat { name, signed, .. } = self.float;
        self.float_made(&format!("({name})({signed}){{}}"), [a])
    }
    fn word_add(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.word_made("{} + {}", [a, b])
    }
    fn word_sub(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.word_made("{} - {}", [a, b])
    }
    fn word_mul(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.word_made("{} * {}", [a, b])
    }
    fn word_and(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.word_made("{} & {}", [a, b])
    }
    fn word_or(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.word_made("{} | {}", [a, b])
    }
    fn word_xor(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.word_made("{} ^ {}", [a, b])
    }
    fn word_shl(&self, a: FloatTerm, amount: FloatTerm) -> FloatTerm {
        self.word_made(&format!("{{}} << ({{}} & {})", self.float.width - 1), [a, amount])
    }
    fn word_shr(&self, a: FloatTerm, amount: FloatTerm) -> FloatTerm {
        self.word_made(&format!("{{}} >> ({{}} & {})", self.float.width - 1), [a, amount])
    }
    fn word_sar(&self, a: FloatTerm, amount: FloatTerm) -> FloatTerm {
        self.word_made(&format!("rv_sar_{}({{}}, {{}})", self.float.suffix), [a, amount])
    }
    fn lt(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.flag_made("{} < {}", [a, b])
    }
    fn le(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.flag_made("{} <= {}", [a, b])
    }
    fn eq(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.flag_made("{} == {}", [a, b])
    }
    fn word_lt(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        let signed = self.float.signed;
        self.flag_made(&format!("({signed}){{}} < ({signed}){{}}"), [a, b])
    }
    fn word_eq(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.flag_made("{} == {}", [a, b])
    }
    fn both(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.flag_made("{} & {}", [a, b])
    }
    fn either(&self, a: FloatTerm, b: FloatTerm) -> FloatTerm {
        self.flag_made("{} | {}", [a, b])
    }
    fn not(&self, a: FloatTerm) -> FloatTerm {
        self.flag_made("!{}", [a])
    }
    fn select(&self, flag: FloatTerm, yes: FloatTerm, no: FloatTerm) -> FloatTerm {
        self.float_made("{} ? {} : {}", [flag, yes, no])
    }
    fn word_select(&self, flag: FloatTerm, yes: FloatTerm, no: FloatTerm) -> FloatTerm {
        self.word_made("{} ? {} : {}", [flag, yes, no])
    }
    fn pick<const N: usize>(
        &self,
        flag: FloatTerm,
        yes: impl FnOnce() -> [FloatTerm; N],
        no: impl FnOnce() -> [FloatTerm; N],
    ) -> [FloatTerm; N] {
        let arms = [self.arm(yes), self.arm(no)];
        let results = [(); N].map(|()| self.term(TermText::Variable));
        let line = FunctionLine::Pick { flag, results: results.to_vec(), arms };
        self.written.borrow_mut().lines.push(line);
        results
    }
    fn lookup(&self, table: &'static [i64], index: FloatTerm) -> FloatTerm {
        let name = table_name(self.float, table);
        let text = table_text(self.float, &name, table);
        self.written.borrow_mut().tables.push((name.clone(), text));
        self.word_made(&format!("{name}[{{}} & {}]", table.len() - 1), [index])
    }
}
