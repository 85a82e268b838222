//! Separates approximation errors from rounding errors. This implementation of the operations keeps, for each
//! float, the number that it would be if nothing were rounded. The error of that number at the end is due to
//! polynomials and tables; the rest of the error is due to rounding. Operations on bits discard the number,
//! so their result counts as exact.

use std::cell::RefCell;

use reviver_isa::number::elementary::FloatOps;

use crate::errors::{Random, error, sources};
use crate::real::{Real, Width, int, real};
use crate::subject::SUBJECTS;

/// A reading that tracks unrounded numbers on top of another reading.
pub struct Analysis<N> {
    native: N,
    numbers: RefCell<Vec<Real>>,
}

/// A float, and the index of its unrounded number.
#[derive(Clone, Copy)]
pub struct Shadowed<F> {
    float: F,
    number: usize,
}

impl<N: FloatOps<Flag = bool, Float: Into<f64>>> Analysis<N> {
    /// Returns a function's result: the float, and the number without rounding.
    pub fn of(
        native: N,
        a: f64,
        b: f64,
        function: impl FnOnce(&Self, Shadowed<N::Float>, Shadowed<N::Float>) -> Shadowed<N::Float>,
    ) -> (f64, Real) {
        let analysis = Analysis { native, numbers: RefCell::default() };
        let result = function(&analysis, analysis.float(a), analysis.float(b));
        (result.float.into(), analysis.number(result))
    }

    fn number(&self, a: Shadowed<N::Float>) -> Real {
        self.numbers.borrow()[a.number].clone()
    }

    /// Returns a float with its unrounded number, or with its own value if there is no number.
    fn shadowed(&self, float: N::Float, number: Option<Real>) -> Shadowed<N::Float> {
        let value: f64 = float.into();
        let itself = || if value.is_finite() { real(value) } else { int(0) };
        let number = number.filter(|_| value.is_finite()).unwrap_or_else(itself);
        let mut numbers = self.numbers.borrow_mut();
        numbers.push(number);
        Shadowed { float, number: numbers.len() - 1 }
    }
}

impl<N: FloatOps<Flag = bool, Float: Into<f64>>> FloatOps for Analysis<N> {
    type Format = N::Format;
    type Float = Shadowed<N::Float>;
    type Word = N::Word;
    type Flag = bool;

    fn float(&self, value: f64) -> Self::Float {
        self.shadowed(self.native.float(value), None)
    }
    fn word(&self, value: i64) -> N::Word {
        self.native.word(value)
    }
    fn add(&self, a: Self::Float, b: Self::Float) -> Self::Float {
        self.shadowed(self.native.add(a.float, b.float), Some(self.number(a) + self.number(b)))
    }
    fn sub(&self, a: Self::Float, b: Self::Float) -> Self::Float {
        self.shadowed(self.native.sub(a.float, b.float), Some(self.number(a) - self.number(b)))
    }
    fn mul(&self, a: Self::Float, b: Self::Float) -> Self::Float {
        self.shadowed(self.native.mul(a.float, b.float), Some(self.number(a) * self.number(b)))
    }
    fn div(&self, a: Self::Float, b: Self::Float) -> Self::Float {
        let divisor = self.number(b);
        let quotient = (divisor != int(0)).then(|| self.number(a) / divisor);
        self.shadowed(self.native.div(a.float, b.float), quotient)
    }
    fn sqrt(&self, a: Self::Float) -> Self::Float {
        let square = self.number(a);
        self.shadowed(self.native.sqrt(a.float), (square >= int(0)).then(|| square.sqrt()))
    }
    fn bits(&self, a: Self::Float) -> N::Word {
        self.native.bits(a.float)
    }
    fn of_bits(&self, a: N::Word) -> Self::Float {
        self.shadowed(self.native.of_bits(a), None)
    }
    fn whole(&self, a: Self::Float) -> N::Word {
        self.native.whole(a.float)
    }
    fn of_word(&self, a: N::Word) -> Self::Float {
        self.shadowed(self.native.of_word(a), None)
    }
    fn word_add(&self, a: N::Word, b: N::Word) -> N::Word {
        self.native.word_add(a, b)
    }
    fn word_sub(&self, a: N::Word, b: N::Word) -> N::Word {
        self.native.word_sub(a, b)
    }
    fn word_mul(&self, a: N::Word, b: N::Word) -> N::Word {
        self.native.word_mul(a, b)
    }
    fn word_and(&self, a: N::Word, b: N::Word) -> N::Word {
        self.native.word_and(a, b)
    }
    fn word_or(&self, a: N::Word, b: N::Word) -> N::Word {
        self.native.word_or(a, b)
    }
    fn word_xor(&self, a: N::Word, b: N::Word) -> N::Word {
        self.native.word_xor(a, b)
    }
    fn word_shl(&self, a: N::Word, amount: N::Word) -> N::Word {
        self.native.word_shl(a, amount)
    }
    fn word_shr(&self, a: N::Word, amount: N::Word) -> N::Word {
        self.native.word_shr(a, amount)
    }
    fn word_sar(&self, a: N::Word, amount: N::Word) -> N::Word {
        self.native.word_sar(a, amount)
    }
    fn lt(&self, a: Self::Float, b: Self::Float) -> bool {
        self.native.lt(a.float, b.float)
    }
    fn le(&self, a: Self::Float, b: Self::Float) -> bool {
        self.native.le(a.float, b.float)
    }
    fn eq(&self, a: Self::Float, b: Self::Float) -> bool {
        self.native.eq(a.float, b.float)
    }
    fn word_lt(&self, a: N::Word, b: N::Word) -> bool {
        self.native.word_lt(a, b)
    }
    fn word_eq(&self, a: N::Word, b: N::Word) -> bool {
        self.native.word_eq(a, b)
    }
    fn both(&self, a: bool, b: bool) -> bool {
        a & b
    }
    fn either(&self, a: bool, b: bool) -> bool {
        a | b
    }
    fn not(&self, a: bool) -> bool {
        !a
    }
    fn select(&self, flag: bool, yes: Self::Float, no: Self::Float) -> Self::Float {
        if flag { yes } else { no }
    }
    fn word_select(&self, flag: bool, yes: N::Word, no: N::Word) -> N::Word {
        self.native.word_select(flag, yes, no)
    }
    fn pick<const K: usize>(
        &self,
        flag: bool,
        yes: impl FnOnce() -> [Self::Float; K],
        no: impl FnOnce() -> [Self::Float; K],
    ) -> [Self::Float; K] {
        if flag { yes() } else { no() }
    }
    fn lookup(&self, table: &'static [i64], index: N::Word) -> N::Word {
        self.native.lookup(table, index)
    }

    fn settled(&self, a: Self::Float) -> Self::Float {
        self.shadowed(a.float, None)
    }

    // These operations override default methods on bits, for which the unrounded numbers would be wrong or missing.

    fn abs(&self, a: Self::Float) -> Self::Float {
        let is_negative = self.native.word_lt(self.native.bits(a.float), self.native.word(0));
        if is_negative { self.neg(a) } else { a }
    }
    fn neg(&self, a: Self::Float) -> Self::Float {
        self.shadowed(self.native.neg(a.float), Some(-self.number(a)))
    }
    fn signed(&self, a: Self::Float, sign: N::Word) -> Self::Float {
        if self.native.word_lt(sign, self.native.word(0)) { self.neg(a) } else { a }
    }
    fn nearest(&self, a: Self::Float) -> (N::Word, Self::Float) {
        let (word, whole) = self.native.nearest(a.float);
        (word, self.shadowed(whole, None))
    }
}

/// Tests that polynomials and tables contribute only a small part of the errors, in units of the last place.
#[test]
fn errors_are_rounding_mostly() {
    for subject in SUBJECTS {
        for width in Width::ALL {
            let (mut random, mut worst) = (Random::new(), (0.0, (0.0, 0.0)));
            for _ in 0..400 {
                let (a, b) = sources(&mut random, width, subject);
                let (float, number) = (subject.analyzed)(width, a, b);
                assert_eq!(float, subject.value(width, a, b), "{}({a:?}, {b:?})", subject.name);
                let exact = subject.exact(a, b);
                // The difference is measured only if the float is in range.
                let part = if float.is_finite() { error(width, &number, &exact, subject.unit) } else { 0.0 };
                if part > worst.0 {
                    worst = (part, (a, b));
                }
            }
            println!("{:9} {} {:.4} at {:?}", subject.name, width.name(), worst.0, worst.1);
            assert!(worst.0 < subject.formula, "{}: {worst:?} in {}", subject.name, width.name());
        }
    }
}
