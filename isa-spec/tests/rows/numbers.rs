//! A common interface to the number systems, and test numbers.

use reviver_isa::Function;
use reviver_isa::fault::Eval;
use reviver_isa::module::{RealSystem, Word};
use reviver_isa::number::{Arithmetic, F32, F64, FixedPoint, Narrow, Reals};

/// A width of integers and a number system for reals. Reals are passed and returned as f64.
#[derive(Clone, Copy, Debug)]
pub struct System {
    pub word: Word,
    pub reals: RealSystem,
}

pub const REALS: [RealSystem; 5] =
    [RealSystem::F64, RealSystem::F32, RealSystem::Fixed(16), RealSystem::Fixed(43), RealSystem::Fixed(56)];

/// Evaluates an expression with the arithmetic of a system.
macro_rules! with_numbers {
    ($system:expr, |$numbers:ident| $body:expr) => {
        match $system.reals {
            RealSystem::F64 => {
                let $numbers = Arithmetic { words: Narrow($system.word), reals: F64 };
                $body
            }
            RealSystem::F32 => {
                let $numbers = Arithmetic { words: Narrow($system.word), reals: F32 };
                $body
            }
            RealSystem::Fixed(bits) => {
                let $numbers = Arithmetic { words: Narrow($system.word), reals: FixedPoint::new(bits) };
                $body
            }
        }
    };
}

impl System {
    pub fn of(reals: RealSystem) -> System {
        System { word: Word::W64, reals }
    }

    /// Returns every number system with 64-bit words.
    pub fn each() -> impl Iterator<Item = System> {
        REALS.into_iter().map(System::of)
    }

    /// Returns the float systems with 64-bit words.
    pub fn floats() -> impl Iterator<Item = System> {
        System::each().filter(|system| !system.is_fixed())
    }

    /// Returns the fixed-point systems with 64-bit words.
    pub fn fixed() -> impl Iterator<Item = System> {
        System::each().filter(|system| system.is_fixed())
    }

    pub fn is_fixed(self) -> bool {
        matches!(self.reals, RealSystem::Fixed(_))
    }

    /// Returns the greatest real.
    pub fn max(self) -> f64 {
        with_numbers!(self, |n| match self.reals {
            RealSystem::F64 => f64::MAX,
            RealSystem::F32 => f64::from(f32::MAX),
            RealSystem::Fixed(_) => n.reals.to_f64(n.reals.of_bits(i64::MAX as u64)),
        })
    }

    pub fn ulp(self) -> f64 {
        with_numbers!(self, |n| n.reals.ulp(n.reals.literal(1.0).unwrap()))
    }

    pub fn int(self, f: Function, a: i64, b: i64) -> Eval<i64> {
        f.int(&Arithmetic { words: Narrow(self.word), reals: F64 }, a, b)
    }

    /// Returns a function's value as a cell would get it.
    pub fn real(self, f: Function, a: f64, b: f64) -> Eval<f64> {
        with_numbers!(self, |n| {
            let (a, b) = (n.reals.literal(a)?, n.reals.literal(b)?);
            f.real(&n, a, b).and_then(|v| n.reals.admit(v)).map(|v| n.reals.to_f64(v))
        })
    }

    pub fn real_int(self, f: Function, a: f64, b: i64) -> Eval<f64> {
        with_numbers!(self, |n| {
            let value = f.real_int(&n, n.reals.literal(a)?, b);
            value.and_then(|v| n.reals.admit(v)).map(|v| n.reals.to_f64(v))
        })
    }

    pub fn reals_to_int(self, f: Function, a: f64, b: f64) -> Eval<i64> {
        with_numbers!(self, |n| f.reals_to_int(&n, n.reals.literal(a)?, n.reals.literal(b)?))
    }

    pub fn ints_to_real(self, f: Function, a: i64) -> Eval<f64> {
        with_numbers!(self, |n| {
            f.ints_to_real(&n, a, 0).and_then(|v| n.reals.admit(v)).map(|v| n.reals.to_f64(v))
        })
    }

    /// Returns the partial derivative with respect to a source (0 or 1), as the reverse sweep would use it.
    pub fn partial(self, f: Function, source: usize, a: f64, b: f64) -> Eval<f64> {
        with_numbers!(self, |n| {
            let (a, b) = (n.reals.literal(a)?, n.reals.literal(b)?);
            let partial = if source == 0 { f.d_a(&n, a, b) } else { f.d_b(&n, a, b) };
            partial.and_then(|v| n.reals.admit(v)).map(|v| n.reals.to_f64(v))
        })
    }

    /// Returns the partial derivative of the signature (real, int) → real.
    pub fn partial_int(self, f: Function, a: f64, b: i64) -> Eval<f64> {
        with_numbers!(self, |n| {
            let partial = f.d_a_int(&n, n.reals.literal(a)?, b);
            partial.and_then(|v| n.reals.admit(v)).map(|v| n.reals.to_f64(v))
        })
    }
}

/// Marsaglia's xorshift64: the same numbers in every run.
pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(0x2545_f491_4f6c_dd1d)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number uniformly distributed in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2_f64.powi(53)
    }

    pub fn sign(&mut self) -> f64 {
        if self.bits() & (1 << 40) == 0 { 1.0 } else { -1.0 }
    }

    /// Returns a number between 10^low and 10^high; all magnitudes are equally likely.
    pub fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(low + (high - low) * self.unit())
    }

    /// Returns any word of this width; all bit lengths are equally likely.
    pub fn word(&mut self, word: Word) -> i64 {
        let unused = 64 - word.bits();
        let length = (self.bits() >> 33) % u64::from(word.bits());
        (self.bits() as i64) << unused >> unused >> length
    }
}

/// Returns words at which the behaviour of a function may change.
pub fn edge_words(word: Word) -> Vec<i64> {
    let (min, max, bits) = (*word.range().start(), *word.range().end(), i64::from(word.bits()));
    let mut words = vec![min, min + 1, min / 2, -3, -2, -1, 0, 1, 2, 3, 7, max / 2, max - 1, max];
    words.extend([bits - 1, bits, bits + 1, -bits]);
    words
}
