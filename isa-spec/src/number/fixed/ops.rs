//! The operations that an engine lends to the functions of fixed point, on words of 128 bits, and what can be said in them for every
//! engine. Knows no function and no engine.

use crate::fault::Fault;

/// Operations on words of 128 bits in two's complement, which wrap. A flag is the outcome of a comparison. Nothing here faults:
/// what may be no number is told by a word beside it ([`FixedOutcome`]).
pub trait WideOps {
    type Word: Copy;
    type Flag: Copy;

    /// A constant.
    fn word(&self, value: u128) -> Self::Word;
    /// A flag that isn't set.
    fn never(&self) -> Self::Flag;

    fn add(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn sub(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn mul(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The quotient without sign, rounded down, by what isn't 0.
    fn div(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn and(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn or(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Shifts by a constant from 0 to 127.
    fn shl(&self, a: Self::Word, amount: u32) -> Self::Word;
    /// Zeros come in.
    fn shr(&self, a: Self::Word, amount: u32) -> Self::Word;
    /// Copies of the sign come in.
    fn sar(&self, a: Self::Word, amount: u32) -> Self::Word;
    /// Shifts by a word from 0 to 127.
    fn shl_by(&self, a: Self::Word, amount: Self::Word) -> Self::Word;
    /// Zeros come in.
    fn shr_by(&self, a: Self::Word, amount: Self::Word) -> Self::Word;
    /// The zeros before the first bit that is set: up to 128.
    fn zeros(&self, a: Self::Word) -> Self::Word;
    /// The square root without sign, rounded down.
    fn root(&self, a: Self::Word) -> Self::Word;

    /// Without sign.
    fn lt(&self, a: Self::Word, b: Self::Word) -> Self::Flag;
    fn eq(&self, a: Self::Word, b: Self::Word) -> Self::Flag;
    fn both(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    fn either(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    fn differ(&self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    fn not(&self, a: Self::Flag) -> Self::Flag;

    /// One of two words that are there.
    fn select(&self, flag: Self::Flag, yes: Self::Word, no: Self::Word) -> Self::Word;
    /// What one of two ways comes to. An engine may go both and select.
    fn pick<const N: usize>(
        &self,
        flag: Self::Flag,
        yes: impl FnOnce() -> [Self::Word; N],
        no: impl FnOnce() -> [Self::Word; N],
    ) -> [Self::Word; N];
    /// What words come to by a step that is made for as long as something holds of them.
    fn repeat<const N: usize>(
        &self,
        first: [Self::Word; N],
        holds: impl Fn([Self::Word; N]) -> Self::Flag,
        step: impl Fn([Self::Word; N]) -> [Self::Word; N],
    ) -> [Self::Word; N];
    /// The word of a table at an index below its length.
    fn lookup(&self, table: &'static [u128], index: Self::Word) -> Self::Word;

    // What the arithmetic of fractions (`wide.rs`) makes of the operations above: an engine has it as it stands there, or calls it.

    fn mul_high(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn fraction(&self, n: Self::Word, d: Self::Word) -> Self::Word;
    fn round_shift(&self, value: Self::Word, shift: Self::Word) -> Self::Word;

    // What the operations above say.

    #[inline(always)]
    fn is_negative(&self, a: Self::Word) -> Self::Flag {
        self.not(self.lt(a, self.word(1 << 127)))
    }
    #[inline(always)]
    fn is_zero(&self, a: Self::Word) -> Self::Flag {
        self.eq(a, self.word(0))
    }
    /// Whether a bit is set.
    #[inline(always)]
    fn has(&self, a: Self::Word, bit: u128) -> Self::Flag {
        self.not(self.is_zero(self.and(a, self.word(bit))))
    }
    #[inline(always)]
    fn neg(&self, a: Self::Word) -> Self::Word {
        self.sub(self.word(0), a)
    }
    #[inline(always)]
    fn negated_where(&self, flag: Self::Flag, a: Self::Word) -> Self::Word {
        self.select(flag, self.neg(a), a)
    }
    #[inline(always)]
    fn magnitude(&self, a: Self::Word) -> Self::Word {
        self.negated_where(self.is_negative(a), a)
    }
    /// The distance of two words without sign.
    #[inline(always)]
    fn abs_diff(&self, a: Self::Word, b: Self::Word) -> Self::Word {
        self.select(self.lt(a, b), self.sub(b, a), self.sub(a, b))
    }
    /// 1 or 0.
    #[inline(always)]
    fn bit(&self, flag: Self::Flag) -> Self::Word {
        self.select(flag, self.word(1), self.word(0))
    }
    /// Zeros come in; by any amount.
    #[inline(always)]
    fn shr_any(&self, a: Self::Word, amount: Self::Word) -> Self::Word {
        let shifted = self.shr_by(a, self.and(amount, self.word(127)));
        self.select(self.lt(amount, self.word(128)), shifted, self.word(0))
    }
    /// No number, for a reason, where something holds.
    #[inline(always)]
    fn fault_where(&self, flag: Self::Flag, fault: Fault) -> Self::Word {
        self.select(flag, self.word(number_of(fault)), self.word(0))
    }
}

/// A number of fixed point, and 0 beside it, or the number of a fault.
pub type FixedOutcome<W> = [W; 2];

/// The faults of functions of fixed point.
const FAULTS: [Fault; 3] = [Fault::Overflow, Fault::Domain, Fault::DivisionByZero];

/// The number of a fault, from 1 on.
#[inline(always)]
fn number_of(fault: Fault) -> u128 {
    match fault {
        Fault::Domain => 2,
        Fault::DivisionByZero => 3,
        _ => 1,
    }
}

/// The fault of a number.
#[inline(always)]
pub(super) fn fault_of(number: u128) -> Option<Fault> {
    match number {
        0 => None,
        n => Some(FAULTS.get(n as usize - 1).copied().unwrap_or(Fault::Overflow)),
    }
}
