//! The operations that an engine implements for the fixed-point functions, on 128-bit words, with operations
//! derived from them. The trait is independent of functions and engines.

use crate::fault::Fault;

/// Wrapping operations on 128-bit words in two's complement. A flag is the result of a comparison. No
/// operation faults: functions that may fail return a fault number in a second word ([`FixedOutcome`]).
pub trait WideOps {
    /// A 128-bit word, or the engine's name for one.
    type Word: Copy;
    /// A truth value, or the engine's name for one.
    type Flag: Copy;

    /// Returns a constant word.
    fn word(&self, value: u128) -> Self::Word;
    /// Returns a flag that isn't set.
    fn never(&self) -> Self::Flag;

    /// Adds two words, modulo 2^128.
    fn add(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Subtracts `b` from `a`, modulo 2^128.
    fn sub(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Multiplies two words, modulo 2^128.
    fn mul(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Unsigned quotient, rounded down; the divisor must not be 0.
    fn div(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Bitwise and of two words.
    fn and(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Bitwise or of two words.
    fn or(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Shifts left by a constant from 0 to 127.
    fn shl(&self, a: Self::Word, amount: u32) -> Self::Word;
    /// Shifts right logically by a constant from 0 to 127.
    fn shr(&self, a: Self::Word, amount: u32) -> Self::Word;
    /// Shifts right arithmetically by a constant from 0 to 127.
    fn sar(&self, a: Self::Word, amount: u32) -> Self::Word;
    /// Shifts left by a word from 0 to 127.
    fn shl_by(&self, a: Self::Word, amount: Self::Word) -> Self::Word;
    /// Shifts right logically by a word from 0 to 127.
    fn shr_by(&self, a: Self::Word, amount: Self::Word) -> Self::Word;
    /// Returns the number of leading zeros, up to 128.
    fn zeros(&self, a: Self::Word) -> Self::Word;
    /// Unsigned square root, rounded down.
    fn root(&self, a: Self::Word) -> Self::Word;

    /// Compares unsigned words: a < b.
    fn lt(&self, a: Self::Word, b: Self::Word) -> Self::Flag;
    /// Compares words: a = b, that is, all bits are equal.
    fn eq(&self, a: Self::Word, b: Self::Word) -> Self::Flag;
    /// Conjunction: set if both flags are set.
    fn both(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    /// Disjunction: set if at least one flag is set.
    fn either(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    /// Exclusive or: set if exactly one flag is set.
    fn differ(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    /// Negation: set if the flag isn't set.
    fn not(&self, a: Self::Flag) -> Self::Flag;

    /// Returns `yes` if the flag is set, otherwise `no`. Both words are already computed.
    fn select(&self, flag: Self::Flag, yes: Self::Word, no: Self::Word) -> Self::Word;
    /// Returns the result of `yes` if the flag is set, otherwise that of `no`. An engine may run both closures and
    /// select one result.
    fn pick<const N: usize>(
        &self,
        flag: Self::Flag,
        yes: impl FnOnce() -> [Self::Word; N],
        no: impl FnOnce() -> [Self::Word; N],
    ) -> [Self::Word; N];
    /// Applies `step` to words repeatedly while `holds` is set.
    fn repeat<const N: usize>(
        &self,
        first: [Self::Word; N],
        holds: impl Fn([Self::Word; N]) -> Self::Flag,
        step: impl Fn([Self::Word; N]) -> [Self::Word; N],
    ) -> [Self::Word; N];
    /// Returns a word of a table at an index below the table's length.
    fn lookup(&self, table: &'static [u128], index: Self::Word) -> Self::Word;

    // The operations on fractions defined in `wide.rs`. An engine inlines that definition or calls a
    // function.

    /// Upper 128 bits of an unsigned product, at most 3 units too small: see [`super::wide::mul_high`].
    fn mul_high(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// n / d as 128 fraction bits, rounded down; n < d is required. See [`super::wide::fraction`].
    fn fraction(&self, n: Self::Word, d: Self::Word) -> Self::Word;
    /// `value / 2^shift`, to nearest, ties to even, for any non-negative shift. See
    /// [`super::wide::round_shift`].
    fn round_shift(&self, value: Self::Word, shift: Self::Word) -> Self::Word;

    // Derived operations, with default implementations.

    /// Returns a flag that is set if the top bit of the word is set.
    #[inline(always)]
    fn is_negative(&self, a: Self::Word) -> Self::Flag {
        self.not(self.lt(a, self.word(1 << 127)))
    }
    /// Returns a flag that is set if all bits are 0.
    #[inline(always)]
    fn is_zero(&self, a: Self::Word) -> Self::Flag {
        self.eq(a, self.word(0))
    }
    /// Returns a flag that is set if one of these bits is set.
    #[inline(always)]
    fn has(&self, a: Self::Word, bit: u128) -> Self::Flag {
        self.not(self.is_zero(self.and(a, self.word(bit))))
    }
    /// Negates a word, modulo 2^128; -2^127 stays itself.
    #[inline(always)]
    fn neg(&self, a: Self::Word) -> Self::Word {
        self.sub(self.word(0), a)
    }
    /// Negates a word if the flag is set.
    #[inline(always)]
    fn negated_where(&self, flag: Self::Flag, a: Self::Word) -> Self::Word {
        self.select(flag, self.neg(a), a)
    }
    /// Absolute value of a signed word, as an unsigned word.
    #[inline(always)]
    fn magnitude(&self, a: Self::Word) -> Self::Word {
        self.negated_where(self.is_negative(a), a)
    }
    /// Absolute difference of two unsigned words.
    #[inline(always)]
    fn abs_diff(&self, a: Self::Word, b: Self::Word) -> Self::Word {
        self.select(self.lt(a, b), self.sub(b, a), self.sub(a, b))
    }
    /// Returns 1 if the flag is set, otherwise 0.
    #[inline(always)]
    fn bit(&self, flag: Self::Flag) -> Self::Word {
        self.select(flag, self.word(1), self.word(0))
    }
    /// Shifts right logically by any amount.
    #[inline(always)]
    fn shr_any(&self, a: Self::Word, amount: Self::Word) -> Self::Word {
        let shifted = self.shr_by(a, self.and(amount, self.word(127)));
        self.select(self.lt(amount, self.word(128)), shifted, self.word(0))
    }
    /// Returns the number of a fault if the flag is set, otherwise 0.
    #[inline(always)]
    fn fault_where(&self, flag: Self::Flag, fault: Fault) -> Self::Word {
        self.select(flag, self.word(number_of(fault)), self.word(0))
    }
}

/// A fixed-point number and its fault number, which is 0 if there is no fault.
pub type FixedOutcome<W> = [W; 2];

/// The faults of the fixed-point functions; fault numbers start at 1.
const FAULTS: [Fault; 3] = [Fault::Overflow, Fault::Domain, Fault::DivisionByZero];

/// Returns the number of a fault, starting at 1.
#[inline(always)]
fn number_of(fault: Fault) -> u128 {
    match fault {
        Fault::Domain => 2,
        Fault::DivisionByZero => 3,
        _ => 1,
    }
}

/// Returns the fault that a number denotes; `None` for 0, which denotes no fault.
#[inline(always)]
pub(super) fn fault_of(number: u128) -> Option<Fault> {
    match number {
        0 => None,
        n => Some(FAULTS.get(n as usize - 1).copied().unwrap_or(Fault::Overflow)),
    }
}
