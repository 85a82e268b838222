//! A function of WGSL while it is written: terms, the lines that make them, and which lines something comes of. Knows no
//! operation and no number system.

use std::cell::RefCell;

/// The number of something that an expression names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term(usize);

/// How a term is written.
#[derive(Clone, Debug)]
enum Spelling {
    /// As it stands, and its number where it is a literal integer.
    Given(String, Option<u64>),
    /// The variable of this term's number.
    Variable,
}

#[derive(Clone, Debug)]
enum Line {
    Let {
        term: Term,
        text: String,
        uses: Vec<Term>,
    },
    Pick {
        of: &'static str,
        flag: Term,
        results: Vec<Term>,
        ways: [Lines; 2],
    },
    /// Variables that are changed by steps, for as long as something holds.
    Repeat {
        of: &'static str,
        state: Vec<Term>,
        first: Vec<Term>,
        test: Lines,
        step: Lines,
    },
}

/// Lines, and what they come to.
#[derive(Clone, Debug)]
struct Lines {
    lines: Vec<Line>,
    gives: Vec<Term>,
}

#[derive(Debug, Default)]
struct State {
    terms: Vec<Spelling>,
    lines: Vec<Line>,
}

/// A function while it is written. Those who write it share it.
#[derive(Debug, Default)]
pub(super) struct WrittenFunction(RefCell<State>);

impl WrittenFunction {
    /// What an expression is, which may be written more than once.
    pub fn given(&self, text: impl Into<String>) -> Term {
        self.term(Spelling::Given(text.into(), None))
    }

    /// A literal integer.
    pub fn literal(&self, text: String, number: u64) -> Term {
        self.term(Spelling::Given(text, Some(number)))
    }

    /// The number of a literal integer.
    pub fn number(&self, term: Term) -> Option<u64> {
        match self.0.borrow().terms.get(term.0)? {
            Spelling::Given(_, number) => *number,
            Spelling::Variable => None,
        }
    }

    fn term(&self, spelling: Spelling) -> Term {
        let terms = &mut self.0.borrow_mut().terms;
        terms.push(spelling);
        Term(terms.len() - 1)
    }

    /// A line that makes a term. `{}` in the text stand for the operands, in their order.
    pub fn made<const N: usize>(&self, text: &str, uses: [Term; N]) -> Term {
        let mut parts = text.split("{}");
        let mut line = parts.next().unwrap_or_default().to_owned();
        for (term, part) in uses.iter().zip(parts) {
            line.push_str(&spelled(&self.0.borrow().terms, *term));
            line.push_str(part);
        }
        let term = self.term(Spelling::Variable);
        self.put(Line::Let { term, text: line, uses: uses.to_vec() });
        term
    }

    /// What one of two ways comes to, in variables of a type.
    pub fn picked<const N: usize>(
        &self,
        of: &'static str,
        flag: Term,
        yes: impl FnOnce() -> [Term; N],
        no: impl FnOnce() -> [Term; N],
    ) -> [Term; N] {
        let ways = [self.apart(yes), self.apart(no)];
        let results = [(); N].map(|()| self.term(Spelling::Variable));
        self.put(Line::Pick { of, flag, results: results.to_vec(), ways });
        results
    }

    /// What variables of a type come to by a step that is made for as long as something holds.
    pub fn repeated<const N: usize>(
        &self,
        of: &'static str,
        first: [Term; N],
        holds: impl Fn([Term; N]) -> Term,
        step: impl Fn([Term; N]) -> [Term; N],
    ) -> [Term; N] {
        let state = [(); N].map(|()| self.term(Spelling::Variable));
        let test = self.apart(|| [holds(state)]);
        let step = self.apart(|| step(state));
        self.put(Line::Repeat { of, state: state.to_vec(), first: first.to_vec(), test, step });
        state
    }

    fn put(&self, line: Line) {
        self.0.borrow_mut().lines.push(line);
    }

    /// What is written meanwhile, apart from the lines before it.
    fn apart<const N: usize>(&self, write: impl FnOnce() -> [Term; N]) -> Lines {
        let before = std::mem::take(&mut self.0.borrow_mut().lines);
        let gives = write().to_vec();
        let lines = std::mem::replace(&mut self.0.borrow_mut().lines, before);
        Lines { lines, gives }
    }

    /// The lines that terms come of, and how these are written.
    pub fn body(self, gives: &[Term]) -> (String, Vec<String>) {
        let State { terms, lines } = self.0.into_inner();
        let mut needed = vec![false; terms.len()];
        gives.iter().for_each(|term| needed[term.0] = true);
        let kept = alive(&lines, &mut needed);
        let mut text = String::new();
        write_lines(&kept, &terms, 1, &mut text);
        (text, gives.iter().map(|&term| spelled(&terms, term)).collect())
    }
}

fn spelled(terms: &[Spelling], term: Term) -> String {
    match &terms[term.0] {
        Spelling::Given(text, _) => text.clone(),
        Spelling::Variable => format!("t{}", term.0),
    }
}

/// The lines that something comes of, the last ones first looked at.
fn alive(lines: &[Line], needed: &mut [bool]) -> Vec<Line> {
    let mut kept = Vec::new();
    for line in lines.iter().rev() {
        match line {
            Line::Let { term, uses, .. } if needed[term.0] => {
                uses.iter().for_each(|term| needed[term.0] = true);
                kept.push(line.clone());
            }
            Line::Let { .. } => {}
            Line::Pick { of, flag, results, ways } => {
                let is_needed: Vec<bool> = results.iter().map(|term| needed[term.0]).collect();
                let only = |terms: &[Term]| -> Vec<Term> {
                    let both = terms.iter().zip(&is_needed).filter(|(_, needed)| **needed);
                    both.map(|(term, _)| *term).collect()
                };
                let results = only(results);
                if results.is_empty() {
                    continue;
                }
                let ways = ways.each_ref().map(|way| lines_alive(way, only(&way.gives), needed));
                needed[flag.0] = true;
                kept.push(Line::Pick { of, flag: *flag, results, ways });
            }
            Line::Repeat { of, state, first, test, step } => {
                if !state.iter().any(|term| needed[term.0]) {
                    continue;
                }
                // Each of them may be asked for by the next step.
                state.iter().chain(first).for_each(|term| needed[term.0] = true);
                let step = lines_alive(step, step.gives.clone(), needed);
                let test = lines_alive(test, test.gives.clone(), needed);
                let (state, first) = (state.clone(), first.clone());
                kept.push(Line::Repeat { of, state, first, test, step });
            }
        }
    }
    kept.reverse();
    kept
}

fn lines_alive(lines: &Lines, gives: Vec<Term>, needed: &mut [bool]) -> Lines {
    gives.iter().for_each(|term| needed[term.0] = true);
    Lines { lines: alive(&lines.lines, needed), gives }
}

fn write_lines(lines: &[Line], terms: &[Spelling], depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    let spell = |term: &Term| spelled(terms, *term);
    for line in lines {
        match line {
            Line::Let { term, text: line, .. } => {
                text.push_str(&format!("{indent}let {} = {line};\n", spell(term)));
            }
            Line::Pick { of, flag, results, ways: [yes, no] } => {
                let names: Vec<String> = results.iter().map(spell).collect();
                names.iter().for_each(|name| text.push_str(&format!("{indent}var {name}: {of};\n")));
                text.push_str(&format!("{indent}if ({}) {{\n", spell(flag)));
                for (n, way) in [yes, no].into_iter().enumerate() {
                    if n == 1 {
                        text.push_str(&format!("{indent}}} else {{\n"));
                    }
                    write_lines(&way.lines, terms, depth + 1, text);
                    for (name, gives) in names.iter().zip(&way.gives) {
                        text.push_str(&format!("{indent}    {name} = {};\n", spell(gives)));
                    }
                }
                text.push_str(&format!("{indent}}}\n"));
            }
            Line::Repeat { of, state, first, test, step } => {
                for (state, first) in state.iter().zip(first) {
                    text.push_str(&format!("{indent}var {}: {of} = {};\n", spell(state), spell(first)));
                }
                text.push_str(&format!("{indent}loop {{\n"));
                write_lines(&test.lines, terms, depth + 1, text);
                let holds: Vec<String> = test.gives.iter().map(spell).collect();
                text.push_str(&format!("{indent}    if (!{}) {{ break; }}\n", holds.concat()));
                write_lines(&step.lines, terms, depth + 1, text);
                // All at once: what one comes to may be another one, as it was.
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
    fn only_what_something_comes_of_is_written() {
        let s = WrittenFunction::default();
        let (x, one) = (s.given("x"), s.literal("1lu".to_owned(), 1));
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
        let s = WrittenFunction::default();
        let (x, two) = (s.given("x"), s.literal("2lu".to_owned(), 2));
        assert_eq!([x, two, s.made("{}", [two])].map(|term| s.number(term)), [None, Some(2), None]);
    }
}
