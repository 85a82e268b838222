//! A WGSL function that is being generated: its terms, the lines that define the terms, and the elimination of unused
//! lines. This module is independent of operations and number systems.

use std::cell::RefCell;

/// A value in a generated function, given by its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShaderTerm(usize);

/// The text that denotes a term.
#[derive(Clone, Debug)]
enum ShaderTermText {
    /// An expression. If the expression is a literal integer, the number is its value.
    Verbatim(String, Option<u64>),
    /// The variable whose name contains the number of this term.
    Variable,
}

#[derive(Clone, Debug)]
enum ShaderLine {
    Let {
        term: ShaderTerm,
        text: String,
        uses: Vec<ShaderTerm>,
    },
    Pick {
        of: &'static str,
        flag: ShaderTerm,
        results: Vec<ShaderTerm>,
        arms: [ShaderLines; 2],
    },
    /// A loop. While the condition `test` holds, `step` computes the new values of the variables `state`.
    Repeat {
        of: &'static str,
        state: Vec<ShaderTerm>,
        first: Vec<ShaderTerm>,
        test: ShaderLines,
        step: ShaderLines,
    },
}

/// A nested list of lines, and the terms that are its results.
#[derive(Clone, Debug)]
struct ShaderLines {
    lines: Vec<ShaderLine>,
    gives: Vec<ShaderTerm>,
}

#[derive(Debug, Default)]
struct ShaderFunctionState {
    terms: Vec<ShaderTermText>,
    lines: Vec<ShaderLine>,
}

/// A function that is being generated. All values of a symbolic evaluation share the function, and their operations add
/// lines to it.
#[derive(Debug, Default)]
pub(super) struct ShaderFunction(RefCell<ShaderFunctionState>);

impl ShaderFunction {
    /// Adds a term for an expression. The text may contain the expression several times.
    pub fn verbatim(&self, text: impl Into<String>) -> ShaderTerm {
        self.term(ShaderTermText::Verbatim(text.into(), None))
    }

    /// Adds a term for a literal integer.
    pub fn literal(&self, text: String, number: u64) -> ShaderTerm {
        self.term(ShaderTermText::Verbatim(text, Some(number)))
    }

    /// Returns the value of a term that is a literal integer; `None` for other terms.
    pub fn number(&self, term: ShaderTerm) -> Option<u64> {
        match self.0.borrow().terms.get(term.0)? {
            ShaderTermText::Verbatim(_, number) => *number,
            ShaderTermText::Variable => None,
        }
    }

    fn term(&self, spelling: ShaderTermText) -> ShaderTerm {
        let terms = &mut self.0.borrow_mut().terms;
        terms.push(spelling);
        ShaderTerm(terms.len() - 1)
    }

    /// Adds a line that defines a new term. Each `{}` in `text` is replaced by the next term of `uses`.
    pub fn made<const N: usize>(&self, text: &str, uses: [ShaderTerm; N]) -> ShaderTerm {
        let mut parts = text.split("{}");
        let mut line = parts.next().unwrap_or_default().to_owned();
        for (term, part) in uses.iter().zip(parts) {
            line.push_str(&text_of(&self.0.borrow().terms, *term));
            line.push_str(part);
        }
        let term = self.term(ShaderTermText::Variable);
        self.put(ShaderLine::Let { term, text: line, uses: uses.to_vec() });
        term
    }

    /// Adds a branch on the condition `flag`. Each arm computes the results, which become variables of type `of`.
    pub fn picked<const N: usize>(
        &self,
        of: &'static str,
        flag: ShaderTerm,
        yes: impl FnOnce() -> [ShaderTerm; N],
        no: impl FnOnce() -> [ShaderTerm; N],
    ) -> [ShaderTerm; N] {
        let arms = [self.apart(yes), self.apart(no)];
        let results = [(); N].map(|()| self.term(ShaderTermText::Variable));
        self.put(ShaderLine::Pick { of, flag, results: results.to_vec(), arms });
        results
    }

    /// Adds a loop over variables of type `of` with initial values `first`. While the condition `holds` is true,
    /// `step` computes their new values. Returns their final values.
    pub fn repeated<const N: usize>(
        &self,
        of: &'static str,
        first: [ShaderTerm; N],
        holds: impl Fn([ShaderTerm; N]) -> ShaderTerm,
        step: impl Fn([ShaderTerm; N]) -> [ShaderTerm; N],
    ) -> [ShaderTerm; N] {
        let state = [(); N].map(|()| self.term(ShaderTermText::Variable));
        let test = self.apart(|| [holds(state)]);
        let step = self.apart(|| step(state));
        self.put(ShaderLine::Repeat { of, state: state.to_vec(), first: first.to_vec(), test, step });
        state
    }

    fn put(&self, line: ShaderLine) {
        self.0.borrow_mut().lines.push(line);
    }

    /// Returns the lines that `write` adds as a separate list.
    fn apart<const N: usize>(&self, write: impl FnOnce() -> [ShaderTerm; N]) -> ShaderLines {
        let before = std::mem::take(&mut self.0.borrow_mut().lines);
        let gives = write().to_vec();
        let lines = std::mem::replace(&mut self.0.borrow_mut().lines, before);
        ShaderLines { lines, gives }
    }

    /// Returns the lines on which the terms `gives` depend, and the texts of these terms.
    pub fn body(self, gives: &[ShaderTerm]) -> (String, Vec<String>) {
        let ShaderFunctionState { terms, lines } = self.0.into_inner();
        let mut needed = vec![false; terms.len()];
        gives.iter().for_each(|term| needed[term.0] = true);
        let kept = alive(&lines, &mut needed);
        let mut text = String::new();
        write_lines(&kept, &terms, 1, &mut text);
        (text, gives.iter().map(|&term| text_of(&terms, term)).collect())
    }
}

fn text_of(terms: &[ShaderTermText], term: ShaderTerm) -> String {
    match &terms[term.0] {
        ShaderTermText::Verbatim(text, _) => text.clone(),
        ShaderTermText::Variable => format!("t{}", term.0),
    }
}

/// Returns the lines that define needed terms, and marks the terms that these lines use as needed. Visits the lines
/// from last to first.
fn alive(lines: &[ShaderLine], needed: &mut [bool]) -> Vec<ShaderLine> {
    let mut kept = Vec::new();
    for line in lines.iter().rev() {
        match line {
            ShaderLine::Let { term, uses, .. } if needed[term.0] => {
                uses.iter().for_each(|term| needed[term.0] = true);
                kept.push(line.clone());
            }
            ShaderLine::Let { .. } => {}
            ShaderLine::Pick { of, flag, results, arms } => {
                let is_needed: Vec<bool> = results.iter().map(|term| needed[term.0]).collect();
                let only = |terms: &[ShaderTerm]| -> Vec<ShaderTerm> {
                    let both = terms.iter().zip(&is_needed).filter(|(_, needed)| **needed);
                    both.map(|(term, _)| *term).collect()
                };
                let results = only(results);
                if results.is_empty() {
                    continue;
                }
                let arms = arms.each_ref().map(|arm| lines_alive(arm, only(&arm.gives), needed));
                needed[flag.0] = true;
                kept.push(ShaderLine::Pick { of, flag: *flag, results, arms });
            }
            ShaderLine::Repeat { of, state, first, test, step } => {
                if !state.iter().any(|term| needed[term.0]) {
                    continue;
                }
                // The next iteration may use any of the variables.
                state.iter().chain(first).for_each(|term| needed[term.0] = true);
                let step = lines_alive(step, step.gives.clone(), needed);
                let test = lines_alive(test, test.gives.clone(), needed);
                let (state, first) = (state.clone(), first.clone());
                kept.push(ShaderLine::Repeat { of, state, first, test, step });
            }
        }
    }
    kept.reverse();
    kept
}

fn lines_alive(lines: &ShaderLines, gives: Vec<ShaderTerm>, needed: &mut [bool]) -> ShaderLines {
    gives.iter().for_each(|term| needed[term.0] = true);
    ShaderLines { lines: alive(&lines.lines, needed), gives }
}

fn write_lines(lines: &[ShaderLine], terms: &[ShaderTermText], depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    let spell = |term: &ShaderTerm| text_of(terms, *term);
    for line in lines {
        match line {
            ShaderLine::Let { term, text: line, .. } => {
                text.push_str(&format!("{indent}let {} = {line};\n", spell(term)));
            }
            ShaderLine::Pick { of, flag, results, arms: [yes, no] } => {
                let names: Vec<String> = results.iter().map(spell).collect();
                names.iter().for_each(|name| text.push_str(&format!("{indent}var {name}: {of};\n")));
                text.push_str(&format!("{indent}if ({}) {{\n", spell(flag)));
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
            ShaderLine::Repeat { of, state, first, test, step } => {
                for (state, first) in state.iter().zip(first) {
                    text.push_str(&format!("{indent}var {}: {of} = {};\n", spell(state), spell(first)));
                }
                text.push_str(&format!("{indent}loop {{\n"));
                write_lines(&test.lines, terms, depth + 1, text);
                let holds: Vec<String> = test.gives.iter().map(spell).collect();
                text.push_str(&format!("{indent}    if (!{}) {{ break; }}\n", holds.concat()));
                write_lines(&step.lines, terms, depth + 1, text);
                // All results are computed before a variable is assigned, because a result may be the old value of
                // another variable.
                for (n, gives) in step.gives.iter().enumerate() {
                    text.push_str(&format!("{indent}    let next{n} = {};\n", spell(gives)));
                }
                for (n, state) in state.iter().enumerate() {
                    text.push_str(&format!("{indent}    {} = next{n};\n", spell(state)));
                }
                text.push_str(&format!("{indent}}}\n"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_used_lines_are_written() {
        let s = ShaderFunction::default();
        let (x, one) = (s.verbatim("x"), s.literal("1lu".to_owned(), 1));
        s.made("{} + {}", [x, x]);
        let flag = s.made("{} < {}", [x, one]);
        let [_, kept] = s.picked("u64", flag, || [one, x], || [x, s.made("{} * {}", [x, x])]);
        let (text, gives) = s.body(&[kept]);
        assert_eq!(gives, ["t6"]);
        assert_eq!(
            text,
            "    let t3 = x < 1lu;\n    var t6: u64;\n    if (t3) {\n        t6 = x;\n    } else {\n        \
             let t4 = x * x;\n        t6 = t4;\n    }\n"
        );
    }

    #[test]
    fn literals_have_numbers() {
        let s = ShaderFunction::default();
        let (x, two) = (s.verbatim("x"), s.literal("2lu".to_owned(), 2));
        assert_eq!([x, two, s.made("{}", [two])].map(|term| s.number(term)), [None, Some(2), None]);
    }
}
