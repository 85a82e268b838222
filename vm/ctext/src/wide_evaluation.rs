//! Symbolic evaluation of the fixed-point functions. The interpreter's own source is executed on C variables instead of
//! words, and each executed operation adds a line of C. This module is independent of the individual functions.

use std::cell::RefCell;

use reviver_isa::number::fixed::WideOps;

use crate::identifiers::fnv;

/// The C type of a 128-bit word.
const WORD: &str = "rv_uint128";

/// A value in a generated function, given by its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideTerm(usize);

/// The text that denotes a term.
#[derive(Clone, Debug)]
enum WideTermText {
    Given(String),
    /// The variable whose name contains the number of this term.
    Variable,
}

/// A line of a generated function.
#[derive(Clone, Debug)]
enum WideLine {
    Let {
        term: WideTerm,
        of: &'static str,
        text: String,
        uses: Vec<WideTerm>,
    },
    Pick {
        flag: WideTerm,
        results: Vec<WideTerm>,
        arms: [WideLines; 2],
    },
    /// A loop. While the condition `test` holds, `step` computes the new values of the variables `state`.
    Repeat {
        state: Vec<WideTerm>,
        first: Vec<WideTerm>,
        test: WideLines,
        step: WideLines,
    },
}

/// A nested list of lines, and the terms that are its results.
#[derive(Clone, Debug)]
struct WideLines {
    lines: Vec<WideLine>,
    gives: Vec<WideTerm>,
}

#[derive(Debug, Default)]
struct WideFunctionState {
    terms: Vec<WideTermText>,
    lines: Vec<WideLine>,
    /// The names and texts of tables, in the order of their first use.
    tables: Vec<(String, String)>,
}

/// A C function on words that is being generated.
#[derive(Debug, Default)]
pub(crate) struct TextWords {
    written: RefCell<WideFunctionState>,
    /// True if products, quotients and roundings become calls of helper functions.
    has_calls: bool,
}

impl TextWords {
    /// Starts a function that calls helpers for products, quotients and roundings.
    pub fn with_calls() -> TextWords {
        TextWords { has_calls: true, ..TextWords::default() }
    }

    /// Adds a term for a C expression. The generated text may contain the expression several times.
    pub fn given(&self, text: &str) -> WideTerm {
        self.term(WideTermText::Given(text.to_owned()))
    }

    fn term(&self, spelling: WideTermText) -> WideTerm {
        let terms = &mut self.written.borrow_mut().terms;
        terms.push(spelling);
        WideTerm(terms.len() - 1)
    }

    /// Adds a line that defines a new term. Each `{}` in `text` is replaced by the next term of `uses`.
    fn made<const N: usize>(&self, of: &'static str, text: &str, uses: [WideTerm; N]) -> WideTerm {
        let mut parts = text.split("{}");
        let mut line = parts.next().unwrap_or_default().to_owned();
        for (term, part) in uses.iter().zip(parts) {
            line.push_str(&text_of(&self.written.borrow().terms, *term));
            line.push_str(part);
        }
        let term = self.term(WideTermText::Variable);
        let line = WideLine::Let { term, of, text: line, uses: uses.to_vec() };
        self.written.borrow_mut().lines.push(line);
        term
    }

    fn word_made<const N: usize>(&self, text: &str, uses: [WideTerm; N]) -> WideTerm {
        self.made(WORD, text, uses)
    }

    fn flag_made<const N: usize>(&self, text: &str, uses: [WideTerm; N]) -> WideTerm {
        self.made("int", text, uses)
    }

    /// Returns the lines that `write` adds as a separate list.
    fn apart<const N: usize>(&self, write: impl FnOnce() -> [WideTerm; N]) -> WideLines {
        let before = std::mem::take(&mut self.written.borrow_mut().lines);
        let gives = write().to_vec();
        let lines = std::mem::replace(&mut self.written.borrow_mut().lines, before);
        WideLines { lines, gives }
    }

    /// Returns the lines on which the terms `gives` depend, the texts of these terms, and the tables that the lines
    /// may use.
    pub fn body(self, gives: &[WideTerm]) -> (String, Vec<String>, Vec<(String, String)>) {
        let WideFunctionState { terms, lines, tables } = self.written.into_inner();
        let mut needed = vec![false; terms.len()];
        gives.iter().for_each(|term| needed[term.0] = true);
        let kept = alive(&lines, &mut needed);
        let mut text = String::new();
        write_lines(&kept, &terms, 1, &mut text);
        (text, gives.iter().map(|&term| text_of(&terms, term)).collect(), tables)
    }
}

fn text_of(terms: &[WideTermText], term: WideTerm) -> String {
    match &terms[term.0] {
        WideTermText::Given(text) => text.clone(),
        WideTermText::Variable => format!("t{}", term.0),
    }
}

/// Returns the lines that define needed terms, and marks the terms that these lines use as needed. Visits the lines
/// from last to first.
fn alive(lines: &[WideLine], needed: &mut [bool]) -> Vec<WideLine> {
    let mut kept = Vec::new();
    for line in lines.iter().rev() {
        match line {
            WideLine::Let { term, uses, .. } if needed[term.0] => {
                uses.iter().for_each(|term| needed[term.0] = true);
                kept.push(line.clone());
            }
            WideLine::Let { .. } => {}
            WideLine::Pick { flag, results, arms } => {
                let is_needed: Vec<bool> = results.iter().map(|term| needed[term.0]).collect();
                let only = |terms: &[WideTerm]| -> Vec<WideTerm> {
                    let both = terms.iter().zip(&is_needed).filter(|(_, needed)| **needed);
                    both.map(|(term, _)| *term).collect()
                };
                let results = only(results);
                if results.is_empty() {
                    continue;
                }
                let arms = arms.each_ref().map(|arm| lines_alive(arm, only(&arm.gives), needed));
                needed[flag.0] = true;
                kept.push(WideLine::Pick { flag: *flag, results, arms });
            }
            WideLine::Repeat { state, first, test, step } => {
                if !state.iter().any(|term| needed[term.0]) {
                    continue;
                }
                // The next iteration may use any of the variables.
                state.iter().chain(first).for_each(|term| needed[term.0] = true);
                let step = lines_alive(step, step.gives.clone(), needed);
                let test = lines_alive(test, test.gives.clone(), needed);
                let (state, first) = (state.clone(), first.clone());
                kept.push(WideLine::Repeat { state, first, test, step });
            }
        }
    }
    kept.reverse();
    kept
}

fn lines_alive(lines: &WideLines, gives: Vec<WideTerm>, needed: &mut [bool]) -> WideLines {
    gives.iter().for_each(|term| needed[term.0] = true);
    WideLines { lines: alive(&lines.lines, needed), gives }
}

fn write_lines(lines: &[WideLine], terms: &[WideTermText], depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    let spell = |term: &WideTerm| text_of(terms, *term);
    for line in lines {
        match line {
            WideLine::Let { term, of, text: line, .. } => {
                text.push_str(&format!("{indent}const {of} {} = {line};\n", spell(term)));
            }
            WideLine::Pick { flag, results, arms: [yes, no] } => {
                let names: Vec<String> = results.iter().map(spell).collect();
                text.push_str(&format!(
                    "{indent}{WORD} {};\n{indent}if ({}) {{\n",
                    names.join(", "),
                    spell(flag)
                ));
                for (n, arm) in [yes, no].into_iter().enumerate() {
                    if n == 1 {
                        text.push_str(&format!("{indent}}} else {{\n"));
                    }
                    write_lines(&arm.lines, terms, depth + 1, text);
                    for (name, gives) in names.iter().zip(&arm.gives) {
                        text.push_str(&format!("{indent}    {name} = {};\n", spell(gives)));
                    }
                }
                text.push_str(&format!("{indent}}}\n"));
            }
            WideLine::Repeat { state, first, test, step } => {
                for (state, first) in state.iter().zip(first) {
                    text.push_str(&format!("{indent}{WORD} {} = {};\n", spell(state), spell(first)));
                }
                text.push_str(&format!("{indent}for (;;) {{\n"));
                write_lines(&test.lines, terms, depth + 1, text);
                let holds: Vec<String> = test.gives.iter().map(spell).collect();
                text.push_str(&format!(
                    "{indent}    if (!{}) {{\n{indent}        break;\n{indent}    }}\n",
                    holds.concat()
                ));
                write_lines(&step.lines, terms, depth + 1, text);
                // All results are computed before a variable is assigned, because a result may be the old value of
                // another variable.
                for (n, gives) in step.gives.iter().enumerate() {
                    text.push_str(&format!("{indent}    const {WORD} next{n} = {};\n", spell(gives)));
                }
                for (n, state) in state.iter().enumerate() {
                    text.push_str(&format!("{indent}    {} = next{n};\n", spell(state)));
                }
                text.push_str(&format!("{indent}}}\n"));
            }
        }
    }
}

/// Returns a literal of a 128-bit word. C has no literals of more than 64 bits, so a larger number is composed of two
/// literals.
fn literal(value: u128) -> String {
    let (high, low) = ((value >> 64) as u64, value as u64);
    match (high, i32::try_from(value)) {
        (_, Ok(small)) => format!("({WORD}){small}"),
        (0, _) => format!("({WORD})UINT64_C(0x{low:x})"),
        _ => format!("(({WORD})UINT64_C(0x{high:x}) << 64 | UINT64_C(0x{low:x}))"),
    }
}

fn table_text(name: &str, table: &[u128]) -> String {
    let rows: String = table.iter().map(|&word| format!("    {},\n", literal(word))).collect();
    format!("static const {WORD} {name}[{}] = {{\n{rows}}};\n", table.len())
}

impl WideOps for TextWords {
    type Word = WideTerm;
    type Flag = WideTerm;

    fn word(&self, value: u128) -> WideTerm {
        self.given(&literal(value))
    }
    fn never(&self) -> WideTerm {
        self.given("0")
    }
    fn add(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.word_made("{} + {}", [a, b])
    }
    fn sub(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.word_made("{} - {}", [a, b])
    }
    fn mul(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.word_made("{} * {}", [a, b])
    }
    fn div(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.word_made("{} / {}", [a, b])
    }
    fn and(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.word_made("{} & {}", [a, b])
    }
    fn or(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.word_made("{} | {}", [a, b])
    }
    fn shl(&self, a: WideTerm, amount: u32) -> WideTerm {
        self.word_made(&format!("{{}} << {amount}"), [a])
    }
    fn shr(&self, a: WideTerm, amount: u32) -> WideTerm {
        self.word_made(&format!("{{}} >> {amount}"), [a])
    }
    fn sar(&self, a: WideTerm, amount: u32) -> WideTerm {
        self.word_made(&format!("({WORD})((rv_int128){{}} >> {amount})"), [a])
    }
    fn shl_by(&self, a: WideTerm, amount: WideTerm) -> WideTerm {
        self.word_made("{} << (int)({} & 127)", [a, amount])
    }
    fn shr_by(&self, a: WideTerm, amount: WideTerm) -> WideTerm {
        self.word_made("{} >> (int)({} & 127)", [a, amount])
    }
    fn zeros(&self, a: WideTerm) -> WideTerm {
        self.word_made("rv_wide_zeros({})", [a])
    }
    fn root(&self, a: WideTerm) -> WideTerm {
        self.word_made("rv_wide_root({})", [a])
    }
    fn lt(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.flag_made("{} < {}", [a, b])
    }
    fn eq(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.flag_made("{} == {}", [a, b])
    }
    fn both(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.flag_made("{} & {}", [a, b])
    }
    fn either(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.flag_made("{} | {}", [a, b])
    }
    fn differ(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        self.flag_made("{} ^ {}", [a, b])
    }
    fn not(&self, a: WideTerm) -> WideTerm {
        self.flag_made("!{}", [a])
    }
    fn is_negative(&self, a: WideTerm) -> WideTerm {
        self.flag_made("(rv_int128){} < 0", [a])
    }
    fn select(&self, flag: WideTerm, yes: WideTerm, no: WideTerm) -> WideTerm {
        self.word_made("{} ? {} : {}", [flag, yes, no])
    }
    fn pick<const N: usize>(
        &self,
        flag: WideTerm,
        yes: impl FnOnce() -> [WideTerm; N],
        no: impl FnOnce() -> [WideTerm; N],
    ) -> [WideTerm; N] {
        let arms = [self.apart(yes), self.apart(no)];
        let results = [(); N].map(|()| self.term(WideTermText::Variable));
        let line = WideLine::Pick { flag, results: results.to_vec(), arms };
        self.written.borrow_mut().lines.push(line);
        results
    }
    fn repeat<const N: usize>(
        &self,
        first: [WideTerm; N],
        holds: impl Fn([WideTerm; N]) -> WideTerm,
        step: impl Fn([WideTerm; N]) -> [WideTerm; N],
    ) -> [WideTerm; N] {
        let state = [(); N].map(|()| self.term(WideTermText::Variable));
        let test = self.apart(|| [holds(state)]);
        let step = self.apart(|| step(state));
        let line = WideLine::Repeat { state: state.to_vec(), first: first.to_vec(), test, step };
        self.written.borrow_mut().lines.push(line);
        state
    }
    fn lookup(&self, table: &'static [u128], index: WideTerm) -> WideTerm {
        let name = format!("rv_table_wide_{:016x}", fnv(table.iter().flat_map(|word| word.to_le_bytes())));
        let text = table_text(&name, table);
        self.written.borrow_mut().tables.push((name.clone(), text));
        self.word_made(&format!("{name}[(int){{}}]"), [index])
    }

    fn mul_high(&self, a: WideTerm, b: WideTerm) -> WideTerm {
        match self.has_calls {
            true => self.word_made("rv_wide_mul_high({}, {})", [a, b]),
            false => reviver_isa::number::fixed::wide::mul_high(self, a, b),
        }
    }
    fn fraction(&self, n: WideTerm, d: WideTerm) -> WideTerm {
        match self.has_calls {
            true => self.word_made("rv_wide_fraction({}, {})", [n, d]),
            false => reviver_isa::number::fixed::wide::fraction(self, n, d),
        }
    }
    fn round_shift(&self, value: WideTerm, shift: WideTerm) -> WideTerm {
        match self.has_calls {
            true => self.word_made("rv_wide_round_shift({}, {})", [value, shift]),
            false => reviver_isa::number::fixed::wide::round_shift(self, value, shift),
        }
    }
}
