//! The operations that an engine implements for the elementary functions, on one format of floats, with
//! operations derived from them. The trait is independent of functions and engines.

use super::format::Format;

/// Operations on floats of one format, and on words of the same width.
///
/// Arithmetic is that of IEEE 754: each operation rounds to nearest, is never contracted or reordered, and
/// supports subnormal numbers. Words are wrapping integers of the format's width in two's complement. A flag
/// is the result of a comparison. No operation faults.
pub trait FloatOps {
    /// The format of the floats, with its constants.
    type Format: Format;
    /// A float: a number, or the engine's name for one.
    type Float: Copy;
    /// An integer of the format's width, or the engine's name for one.
    type Word: Copy;
    /// A truth value, or the engine's name for one.
    type Flag: Copy;

    /// Returns a constant: the float nearest to `value`.
    fn float(&self, value: f64) -> Self::Float;
    /// Returns a constant: the low bits of `value`.
    fn word(&self, value: i64) -> Self::Word;

    /// Adds two floats; rounds to nearest, ties to even.
    fn add(&self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// Subtracts `b` from `a`; rounds to nearest, ties to even.
    fn sub(&self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// Multiplies two floats; rounds to nearest, ties to even.
    fn mul(&self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// Divides `a` by `b`; rounds to nearest, ties to even. A zero divisor yields an infinity or NaN.
    fn div(&self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// Correctly rounded square root; NaN for a negative float.
    fn sqrt(&self, a: Self::Float) -> Self::Float;

    /// Returns the bits of a float.
    fn bits(&self, a: Self::Float) -> Self::Word;
    /// Returns the float with these bits.
    fn of_bits(&self, a: Self::Word) -> Self::Float;
    /// Returns the integer part of a float of magnitude less than 2^(width - 1).
    fn whole(&self, a: Self::Float) -> Self::Word;
    /// Returns the float nearest to a word.
    fn of_word(&self, a: Self::Word) -> Self::Float;

    /// Adds two words, modulo 2^width.
    fn word_add(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Subtracts `b` from `a`, modulo 2^width.
    fn word_sub(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Multiplies two words, modulo 2^width; for the upper word see [`FloatOps::word_mul_upper`].
    fn word_mul(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Bitwise and of two words.
    fn word_and(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Bitwise or of two words.
    fn word_or(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Bitwise exclusive or of two words.
    fn word_xor(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Shifts left by an amount from 0 to width - 1.
    fn word_shl(&self, a: Self::Word, amount: Self::Word) -> Self::Word;
    /// Shifts right logically, by an amount from 0 to width - 1.
    fn word_shr(&self, a: Self::Word, amount: Self::Word) -> Self::Word;
    /// Shifts right arithmetically, by an amount from 0 to width - 1.
    fn word_sar(&self, a: Self::Word, amount: Self::Word) -> Self::Word;

    /// Returns the flag a < b of two floats. The flag is clear if one of the floats is NaN.
    fn lt(&self, a: Self::Float, b: Self::Float) -> Self::Flag;
    /// Returns the flag a ≤ b of two floats. The flag is clear if one of the floats is NaN.
    fn le(&self, a: Self::Float, b: Self::Float) -> Self::Flag;
    /// Returns the flag a = b of two floats. The flag is set for zeros of different signs, and clear if one of
    /// the floats is NaN.
    fn eq(&self, a: Self::Float, b: Self::Float) -> Self::Flag;
    /// Returns the flag a < b of two words as signed integers.
    fn word_lt(&self, a: Self::Word, b: Self::Word) -> Self::Flag;
    /// Returns the flag a = b of two words: all bits are equal.
    fn word_eq(&self, a: Self::Word, b: Self::Word) -> Self::Flag;
    /// Conjunction: set if both flags are set.
    fn both(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    /// Disjunction: set if at least one flag is set.
    fn either(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    /// Negation: set if the flag isn't set.
    fn not(&self, a: Self::Flag) -> Self::Flag;

    /// Returns `yes` if the flag is set, otherwise `no`; both are computed in any case.
    fn select(&self, flag: Self::Flag, yes: Self::Float, no: Self::Float) -> Self::Float;
    /// Returns `yes` if the flag is set, otherwise `no`; both are computed in any case.
    fn word_select(&self, flag: Self::Flag, yes: Self::Word, no: Self::Word) -> Self::Word;
    /// Returns the result of `yes` if the flag is set, otherwise that of `no`. An engine that computes
    /// immediately runs only one closure. Other engines may run both and select, so closures must not have
    /// side effects.
    fn pick<const N: usize>(
        &self,
        flag: Self::Flag,
        yes: impl FnOnce() -> [Self::Float; N],
        no: impl FnOnce() -> [Self::Float; N],
    ) -> [Self::Float; N];
    /// The same as [`FloatOps::pick`], for a second closure that is rarely needed. Engines for which `pick`
    /// runs both closures may run only the first one. Then they must report that the result may not be the
    /// function's value.
    #[inline(always)]
    fn pick_usual<const N: usize>(
        &self,
        is_usual: Self::Flag,
        usual: impl FnOnce() -> [Self::Float; N],
        seldom: impl FnOnce() -> [Self::Float; N],
    ) -> [Self::Float; N] {
        self.pick(is_usual, usual, seldom)
    }

    /// Returns the word of a table at an index, which is reduced modulo the table's length, a power of two.
    fn lookup(&self, table: &'static [i64], index: Self::Word) -> Self::Word;

    // Derived operations, with default implementations.

    /// Returns the float unchanged. The functions call it before they compute the float's rounding error. An
    /// engine that also tracks each float's value without rounding must replace the tracked value by the
    /// float here.
    #[inline(always)]
    fn settled(&self, a: Self::Float) -> Self::Float {
        a
    }

    /// Clears the sign bit, also that of a zero or NaN.
    #[inline(always)]
    fn abs(&self, a: Self::Float) -> Self::Float {
        let sign = self.word(1 << (Self::Format::WIDTH - 1));
        self.of_bits(self.word_and(self.bits(a), self.word_xor(sign, self.word(-1))))
    }

    /// Flips the sign bit, also that of a zero or NaN.
    #[inline(always)]
    fn neg(&self, a: Self::Float) -> Self::Float {
        self.of_bits(self.word_xor(self.bits(a), self.word(1 << (Self::Format::WIDTH - 1))))
    }

    /// Returns the sign bit of a float; all other bits are 0.
    #[inline(always)]
    fn sign(&self, a: Self::Float) -> Self::Word {
        self.word_and(self.bits(a), self.word(1 << (Self::Format::WIDTH - 1)))
    }

    /// Returns a float, with its sign flipped if the sign bit of `sign` is set.
    #[inline(always)]
    fn signed(&self, a: Self::Float, sign: Self::Word) -> Self::Float {
        self.of_bits(self.word_xor(self.bits(a), sign))
    }

    /// Returns the lesser of two floats; the second if they are unordered.
    #[inline(always)]
    fn min(&self, a: Self::Float, b: Self::Float) -> Self::Float {
        self.select(self.lt(a, b), a, b)
    }

    /// Returns the greater of two floats; the second if they are unordered.
    #[inline(always)]
    fn max(&self, a: Self::Float, b: Self::Float) -> Self::Float {
        self.select(self.lt(b, a), a, b)
    }

    /// Returns the upper word of the product of two unsigned words.
    #[inline(always)]
    fn word_mul_upper(&self, a: Self::Word, b: Self::Word) -> Self::Word {
        upper_product(self, a, b)
    }

    /// Returns the lesser of two words, compared as signed integers.
    #[inline(always)]
    fn word_min(&self, a: Self::Word, b: Self::Word) -> Self::Word {
        self.word_select(self.word_lt(a, b), a, b)
    }

    /// Returns the greater of two words, compared as signed integers.
    #[inline(always)]
    fn word_max(&self, a: Self::Word, b: Self::Word) -> Self::Word {
        self.word_select(self.word_lt(b, a), a, b)
    }

    /// Returns the float whose bits a table contains at an index.
    #[inline(always)]
    fn float_at(&self, table: &'static [i64], index: Self::Word) -> Self::Float {
        self.of_bits(self.lookup(table, index))
    }

    /// c₀ + c₁·x + c₂·x² + …, at least one coefficient. Even and odd powers are summed separately, which
    /// takes half as long as Horner's rule. Three or four coefficients are grouped in pairs, which is faster
    /// still (G. Estrin, 1960).
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

    /// Returns the upper half of a float's digits; products of two such floats are exact.
    #[inline(always)]
    fn upper_half(&self, a: Self::Float) -> Self::Float {
        self.of_bits(self.word_and(self.bits(a), self.word(Self::Format::UPPER_HALF)))
    }

    /// Returns the nearest integer, ties to even, as a word and as a float. The argument must be at most a
    /// quarter of 2^digits.
    #[inline(always)]
    fn nearest(&self, a: Self::Float) -> (Self::Word, Self::Float) {
        let shifter = self.float(Self::Format::SHIFTER);
        let shifted = self.add(a, shifter);
        (self.word_sub(self.bits(shifted), self.bits(shifter)), self.sub(shifted, shifter))
    }

    /// 2^k, which must be a normal number.
    #[inline(always)]
    fn power_of_two(&self, k: Self::Word) -> Self::Float {
        let exponent = self.word_add(k, self.word(Self::Format::BIAS));
        self.of_bits(self.word_shl(exponent, self.word(Self::Format::DIGITS - 1)))
    }

    /// a·2^k, rounded once. `a` must be a normal number of about 1, and k at most twice the range of
    /// exponents.
    #[inline(always)]
    fn scale(&self, a: Self::Float, k: Self::Word) -> Self::Float {
        let half = self.word_sar(k, self.word(1));
        let rest = self.word_sub(k, half);
        self.mul(self.mul(a, self.power_of_two(half)), self.power_of_two(rest))
    }
}

/// Computes [`FloatOps::word_mul_upper`] from the other operations.
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
