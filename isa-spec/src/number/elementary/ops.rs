//! The operations that an engine lends to the elementary functions, on one format of floats, and what can be
//! said in them for every engine. Knows no function and no engine.

use super::format::Format;

/// Operations on floats of one format, and on words of the same width.
///
/// Arithmetic is IEEE 754's: each operation rounds to the nearest, is never contracted with another, never
/// reordered, and keeps subnormal numbers. Words are integers of the format's width in two's complement,
/// and wrap. A flag is the outcome of a comparison. Nothing here faults.
pub trait FloatOps {
    type Format: Format;
    type Float: Copy;
    type Word: Copy;
    type Flag: Copy;

    /// A constant: the float nearest to it.
    fn float(&self, value: f64) -> Self::Float;
    /// A constant: the low bits of a number.
    fn word(&self, value: i64) -> Self::Word;

    fn add(&self, a: Self::Float, b: Self::Float) -> Self::Float;
    fn sub(&self, a: Self::Float, b: Self::Float) -> Self::Float;
    fn mul(&self, a: Self::Float, b: Self::Float) -> Self::Float;
    fn div(&self, a: Self::Float, b: Self::Float) -> Self::Float;
    fn sqrt(&self, a: Self::Float) -> Self::Float;

    /// The bits of a float.
    fn bits(&self, a: Self::Float) -> Self::Word;
    /// The float of these bits.
    fn of_bits(&self, a: Self::Word) -> Self::Float;
    /// The whole part of a float whose magnitude is less than 2^(width - 1).
    fn whole(&self, a: Self::Float) -> Self::Word;
    /// The float nearest to a word.
    fn of_word(&self, a: Self::Word) -> Self::Float;

    fn word_add(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn word_sub(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn word_mul(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn word_and(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn word_or(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn word_xor(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Shifts by an amount from 0 to the width less 1.
    fn word_shl(&self, a: Self::Word, amount: Self::Word) -> Self::Word;
    /// Zeros come in.
    fn word_shr(&self, a: Self::Word, amount: Self::Word) -> Self::Word;
    /// Copies of the sign come in.
    fn word_sar(&self, a: Self::Word, amount: Self::Word) -> Self::Word;

    fn lt(&self, a: Self::Float, b: Self::Float) -> Self::Flag;
    fn le(&self, a: Self::Float, b: Self::Float) -> Self::Flag;
    fn eq(&self, a: Self::Float, b: Self::Float) -> Self::Flag;
    fn word_lt(&self, a: Self::Word, b: Self::Word) -> Self::Flag;
    fn word_eq(&self, a: Self::Word, b: Self::Word) -> Self::Flag;
    fn both(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    fn either(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    fn not(&self, a: Self::Flag) -> Self::Flag;

    /// One of two floats that are there.
    fn select(&self, flag: Self::Flag, yes: Self::Float, no: Self::Float) -> Self::Float;
    /// One of two words that are there.
    fn word_select(&self, flag: Self::Flag, yes: Self::Word, no: Self::Word) -> Self::Word;
    /// What one of two ways comes to. An engine that computes at once goes one of them, others may go both and
    /// select: so neither may do anything but compute.
    fn pick<const N: usize>(
        &self,
        flag: Self::Flag,
        yes: impl FnOnce() -> [Self::Float; N],
        no: impl FnOnce() -> [Self::Float; N],
    ) -> [Self::Float; N];
    /// The same, where hardly anybody comes to the second way. An engine that goes both may go the first one only, if it has a way to say
    /// that what it computes isn't the function's value.
    #[inline(always)]
    fn pick_usual<const N: usize>(
        &self,
        is_usual: Self::Flag,
        usual: impl FnOnce() -> [Self::Float; N],
        seldom: impl FnOnce() -> [Self::Float; N],
    ) -> [Self::Float; N] {
        self.pick(is_usual, usual, seldom)
    }

    /// The word of a table, whose length is a power of two, at an index modulo the length.
    fn lookup(&self, table: &'static [i64], index: Self::Word) -> Self::Word;

    // What the operations above say.

    /// The float itself, where what it was rounded from is told by a second one. Readings that know more of a float than the
    /// float forget it here.
    #[inline(always)]
    fn settled(&self, a: Self::Float) -> Self::Float {
        a
    }

    #[inline(always)]
    fn abs(&self, a: Self::Float) -> Self::Float {
        let sign = self.word(1 << (Self::Format::WIDTH - 1));
        self.of_bits(self.word_and(self.bits(a), self.word_xor(sign, self.word(-1))))
    }

    #[inline(always)]
    fn neg(&self, a: Self::Float) -> Self::Float {
        self.of_bits(self.word_xor(self.bits(a), self.word(1 << (Self::Format::WIDTH - 1))))
    }

    /// The sign bit of a float, with zeros behind it.
    #[inline(always)]
    fn sign(&self, a: Self::Float) -> Self::Word {
        self.word_and(self.bits(a), self.word(1 << (Self::Format::WIDTH - 1)))
    }

    /// A float whose sign is turned where the sign bit is set.
    #[inline(always)]
    fn signed(&self, a: Self::Float, sign: Self::Word) -> Self::Float {
        self.of_bits(self.word_xor(self.bits(a), sign))
    }

    /// The lesser of two floats; the second if they aren't ordered.
    #[inline(always)]
    fn min(&self, a: Self::Float, b: Self::Float) -> Self::Float {
        self.select(self.lt(a, b), a, b)
    }

    /// The greater of two floats; the second if they aren't ordered.
    #[inline(always)]
    fn max(&self, a: Self::Float, b: Self::Float) -> Self::Float {
        self.select(self.lt(b, a), a, b)
    }

    /// The upper word of the product of two words without sign.
    #[inline(always)]
    fn word_mul_upper(&self, a: Self::Word, b: Self::Word) -> Self::Word {
        upper_product(self, a, b)
    }

    #[inline(always)]
    fn word_min(&self, a: Self::Word, b: Self::Word) -> Self::Word {
        self.word_select(self.word_lt(a, b), a, b)
    }

    #[inline(always)]
    fn word_max(&self, a: Self::Word, b: Self::Word) -> Self::Word {
        self.word_select(self.word_lt(b, a), a, b)
    }

    /// The float of a table.
    #[inline(always)]
    fn float_at(&self, table: &'static [i64], index: Self::Word) -> Self::Float {
        self.of_bits(self.lookup(table, index))
    }

    /// c₀ + c₁·x + c₂·x² + …, at least one coefficient: even and odd powers apart, which takes half as long as Horner's rule. Of four
    /// the lower two and the upper two, which takes less yet (G. Estrin, 1960).
    #[inline(always)]
    fn polynomial(&self, x: Self::Float, coefficients: &'static [f64]) -> Self::Float {
        let square = self.mul(x, x);
        match coefficients.len() {
            0 | 1 => self.every_other(square, coefficients),
            3 | 4 => {
                let two = |at: usize| match coefficients.get(at + 1) {
                    Some(&above) => self.add(self.float(coefficients[at]), self.mul(x, self.float(above))),
                    None => self.float(coefficients[at]),
                };
                self.add(two(0), self.mul(square, two(2)))
            }
            _ => {
                let odd = self.every_other(square, &coefficients[1..]);
                self.add(self.every_other(square, coefficients), self.mul(x, odd))
            }
        }
    }

    /// c₀ + c₂·x² + c₄·x⁴ + …, given the square of x.
    #[inline(always)]
    fn every_other(&self, square: Self::Float, coefficients: &'static [f64]) -> Self::Float {
        let mut terms = coefficients.iter().step_by(2).rev();
        let last = terms.next().map_or(0.0, |&c| c);
        terms.fold(self.float(last), |sum, &c| self.add(self.mul(sum, square), self.float(c)))
    }

    /// The upper half of a float's digits: products of two such are exact.
    #[inline(always)]
    fn upper_half(&self, a: Self::Float) -> Self::Float {
        self.of_bits(self.word_and(self.bits(a), self.word(Self::Format::UPPER_HALF)))
    }

    /// The nearest whole number, halves to even, as a word and as a float; of a float of at most a quarter of 2^digits.
    #[inline(always)]
    fn nearest(&self, a: Self::Float) -> (Self::Word, Self::Float) {
        let shifter = self.float(Self::Format::SHIFTER);
        let shifted = self.add(a, shifter);
        (self.word_sub(self.bits(shifted), self.bits(shifter)), self.sub(shifted, shifter))
    }

    /// 2^k, where that is a normal number.
    #[inline(always)]
    fn power_of_two(&self, k: Self::Word) -> Self::Float {
        let exponent = self.word_add(k, self.word(Self::Format::BIAS));
        self.of_bits(self.word_shl(exponent, self.word(Self::Format::DIGITS - 1)))
    }

    /// a·2^k, rounded once, for a normal a of about 1 and a k that leads to at most twice the range on either side.
    #[inline(always)]
    fn scale(&self, a: Self::Float, k: Self::Word) -> Self::Float {
        let half = self.word_sar(k, self.word(1));
        let rest = self.word_sub(k, half);
        self.mul(self.mul(a, self.power_of_two(half)), self.power_of_two(rest))
    }
}

/// [`FloatOps::word_mul_upper`] out of the other operations.
#[inline(always)]
pub fn upper_product<S: FloatOps + ?Sized>(s: &S, a: S::Word, b: S::Word) -> S::Word {
    let half = s.word(S::Format::WIDTH / 2);
    let mask = s.word((1 << (S::Format::WIDTH / 2)) - 1);
    let parts = |a: S::Word| (s.word_shr(a, half), s.word_and(a, mask));
    let ((a_high, a_low), (b_high, b_low)) = (parts(a), parts(b));
    let (cross, cross_low) = parts(s.word_mul(a_low, b_high));
    let carried = s.word_shr(s.word_mul(a_low, b_low), half);
    let middle = s.word_add(s.word_mul(a_high, b_low), s.word_add(cross_low, carried));
    s.word_add(s.word_mul(a_high, b_high), s.word_add(cross, s.word_shr(middle, half)))
}
