//! Tests formulas as text: a printed formula has the same value as its row, bit for bit.

use reviver_isa::Function;
use reviver_isa::arith::{Arith, Elementary, Order};
use reviver_isa::formula::{Expr, Formulas, RenderedExpression};
use reviver_isa::function::Signature;
use reviver_isa::module::RealSystem;
use reviver_isa::number::{Arithmetic, F64, Wide};

use crate::numbers::{Random, System};

/// A parser that evaluates a printed formula by its precedences. Panics on errors.
struct Reader<'a> {
    rest: &'a str,
    names: &'a [(String, f64)],
}

const NUMBERS: Arithmetic<Wide, F64> = Arithmetic { words: Wide, reals: F64 };

impl Reader<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn choice(&mut self) -> f64 {
        let condition = self.test();
        if !self.takes(" ? ") {
            return condition;
        }
        let yes = self.test();
        assert!(self.takes(" : "), "{}", self.rest);
        let no = self.choice();
        if condition != 0.0 { yes } else { no }
    }

    fn test(&mut self) -> f64 {
        let a = self.sum();
        // Longer operators are tried first.
        for order in [Order::Eq, Order::Ne, Order::Le, Order::Ge, Order::Lt, Order::Gt] {
            if self.takes(&format!(" {} ", order.symbol())) {
                return f64::from(u8::from(order.holds(a, self.sum())));
            }
        }
        a
    }

    fn sum(&mut self) -> f64 {
        let mut value = if self.takes("-") { -self.product() } else { self.product() };
        loop {
            if self.takes(" + ") {
                value += self.product();
            } else if self.takes(" - ") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.power();
        loop {
            if self.takes("·") {
                value *= self.power();
            } else if self.takes("/") {
                value /= self.power();
            } else {
                return value;
            }
        }
    }

    fn power(&mut self) -> f64 {
        let base = self.atom();
        if !self.takes("^") {
            return base;
        }
        let exponent = self.power();
        NUMBERS.pow(base, exponent).unwrap()
    }

    fn atom(&mut self) -> f64 {
        if self.takes("(") {
            let value = self.choice();
            assert!(self.takes(")"), "{}", self.rest);
            return value;
        }
        let end =
            self.rest.find(|c: char| !c.is_alphanumeric() && !"._".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if !self.takes("(") {
            let named = self.names.iter().find(|(name, _)| name == word).map(|&(_, value)| value);
            return named.unwrap_or_else(|| word.parse().expect(word));
        }
        let a = self.choice();
        let b = if self.takes(", ") { self.choice() } else { 0.0 };
        assert!(self.takes(")"), "{}", self.rest);
        match word {
            "real" => a,
            "trunc" => a.trunc() + 0.0,
            // Functions that are no rows, only derivatives.
            "erf_slope" => NUMBERS.elementary(Elementary::ErfSlope, a).unwrap(),
            "digamma" => NUMBERS.elementary(Elementary::Digamma, a).unwrap(),
            _ => Function::from_name(word).expect(word).real(&NUMBERS, a, b).unwrap(),
        }
    }
}

fn read(text: &str, names: &[(String, f64)]) -> f64 {
    let mut reader = Reader { rest: text, names };
    let value = reader.choice();
    assert_eq!(reader.rest, "", "what is left of {text}");
    value
}

/// Evaluates the last formula with its named parts.
fn evaluate(spelled: &RenderedExpression, a: f64, b: f64) -> f64 {
    let mut names = vec![("a".to_owned(), a), ("b".to_owned(), b)];
    for part in &spelled.parts {
        let (name, formula) = part.split_once(" = ").unwrap();
        let value = read(formula, &names);
        names.push((name.to_owned(), value));
    }
    read(&spelled.formulas.last().unwrap().text, &names)
}

/// Checks that a formula as computed has the row's value to the last bit. A formula in its textbook form has
/// nearly that value, and none at some edges.
fn check(formula: impl Fn(&Formulas, Expr, Expr) -> Expr, value: impl Fn(f64, f64) -> Option<f64>) {
    check_in(Formulas::new(), &formula, &value, |found, expected| found.to_bits() == expected.to_bits());
    let value = |a: f64, b: f64| value(a, b).filter(|_| a != 0.0 && b != 0.0);
    let is_near = |found: f64, expected: f64| (found - expected).abs() <= 1e-12 * expected.abs().max(1.0);
    check_in(Formulas::as_written(), &formula, value, is_near);
}

fn check_in(
    arena: Formulas,
    formula: impl Fn(&Formulas, Expr, Expr) -> Expr,
    value: impl Fn(f64, f64) -> Option<f64>,
    agree: impl Fn(f64, f64) -> bool,
) {
    let expr = formula(&arena, arena.leaf("a"), arena.leaf("b"));
    let spelled = arena.spell(&[expr]);
    let mut random = Random::new();
    for _ in 0..300 {
        // Adding 0.0 avoids -0, which integers don't have.
        let mut some = || random.sign() * (8.0 * random.unit()).round() / 4.0 + 0.0;
        let (a, b) = (some(), some());
        if let Some(expected) = value(a, b) {
            let found = evaluate(&spelled, a, b);
            assert!(agree(found, expected), "{spelled:?} at {a}, {b}: {found}, {expected}");
        }
    }
}

#[test]
fn printed_formulas_compute_what_the_rows_compute() {
    let system = System::of(RealSystem::F64);
    for &function in Function::ALL {
        for signature in function.signatures() {
            let value = |a: f64, b: f64| match signature {
                Signature::Real => system.real(function, a, b).ok(),
                Signature::RealInt if b.fract() == 0.0 => system.real_int(function, a, b as i64).ok(),
                Signature::RealsToInt => system.reals_to_int(function, a, b).ok().map(|v| v as f64),
                _ => None,
            };
            check(|arena, a, b| arena.value(function, signature, a, b).unwrap(), value);
            for source in 0..2 {
                let partial = |a: f64, b: f64| match signature {
                    Signature::Real => system.partial(function, source, a, b).ok(),
                    Signature::RealInt if b.fract() == 0.0 => system.partial_int(function, a, b as i64).ok(),
                    _ => None,
                };
                if has_partial(function, signature, source) {
                    check(|arena, a, b| arena.partial(function, signature, source, a, b).unwrap(), partial);
                }
            }
        }
    }
}

fn text(build: impl Fn(&Formulas, Expr, Expr, Expr) -> Expr) -> String {
    let arena = Formulas::new();
    let expr = build(&arena, arena.leaf("a"), arena.leaf("b"), arena.leaf("-3"));
    arena.spell(&[expr]).formulas[0].text.clone()
}

#[test]
fn parentheses_are_written_only_where_needed() {
    let minus = |s: &Formulas, a, b| s.sub(a, b).unwrap();
    let times = |s: &Formulas, a, b| s.mul(a, b).unwrap();
    let over = |s: &Formulas, a, b| s.div(a, b).unwrap();
    let not = |s: &Formulas, a| s.neg(a).unwrap();
    assert_eq!(text(|s, a, b, _| minus(s, minus(s, a, b), a)), "a - b - a");
    assert_eq!(text(|s, a, b, _| minus(s, a, minus(s, b, a))), "a - (b - a)");
    assert_eq!(text(|s, a, b, _| over(s, over(s, a, b), a)), "a/b/a");
    assert_eq!(text(|s, a, b, _| over(s, a, over(s, b, a))), "a/(b/a)");
    assert_eq!(text(|s, a, b, _| times(s, minus(s, a, b), a)), "(a - b)·a");
    assert_eq!(text(|s, a, b, _| not(s, over(s, a, b))), "-a/b");
    assert_eq!(text(|s, a, b, _| over(s, not(s, a), b)), "(-a)/b");
    assert_eq!(text(|s, a, _, _| not(s, not(s, a))), "-(-a)");
    assert_eq!(text(|s, a, _, three| minus(s, a, three)), "a - (-3)");
    assert_eq!(text(|s, a, _, three| minus(s, three, a)), "-3 - a");
    assert_eq!(text(|s, a, _, three| times(s, a, three)), "a·(-3)");
    assert_eq!(text(|s, a, b, three| s.pow(three, minus(s, a, b)).unwrap()), "(-3)^(a - b)");
    assert_eq!(text(|s, a, b, _| s.pow(a, s.pow(b, a).unwrap()).unwrap()), "a^b^a");
    assert_eq!(text(|s, a, b, _| s.pow(s.pow(a, b).unwrap(), a).unwrap()), "(a^b)^a");
    assert_eq!(text(|s, a, b, _| s.int_shl(s.int_add(a, b), b)), "(a + b) shl b");
    assert_eq!(text(|s, a, b, _| s.int_and(s.int_or(a, b), b)), "(a or b) and b");
    assert_eq!(text(|s, a, b, _| s.atan2(minus(s, a, b), not(s, b)).unwrap()), "atan2(a - b, -b)");
}

#[test]
fn parts_that_repeat_a_choice_have_names_of_their_own() {
    let arena = &Formulas::new();
    let (a, t) = (arena.leaf("a"), arena.leaf("t"));
    let choice = arena.choose(arena.test(Order::Lt, a, t), a, t);
    let square = arena.mul(choice, choice).unwrap();
    let spelled = arena.spell(&[square, choice]);
    assert_eq!(spelled.parts, ["u = a < t ? a : t"]);
    let texts: Vec<&str> = spelled.formulas.iter().map(|formula| formula.text.as_str()).collect();
    assert_eq!(texts, ["u·u", "u"]);
}

fn has_partial(function: Function, signature: Signature, source: usize) -> bool {
    match signature {
        Signature::Real => source < function.arity(),
        Signature::RealInt => source == 0,
        _ => false,
    }
}
