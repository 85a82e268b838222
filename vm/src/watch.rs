//! Verification of float runs that go forward and back: both sweeps must take the same jumps, and freed cells may hold
//! only rounding errors. The module reads no instructions, and computes no adjoints.
//!
//! A path is identified by the steps at which it jumps. Two runs from the same position stay on the same path until, at
//! some step, one run jumps and the other doesn't. So it suffices to mark each jump by its step number. The forward
//! sweep adds the marks of its jumps to a sum, and the reverse sweep subtracts them. For equal paths the sum is 0.
//! Jumps that rounding can't divert ([`reviver_flow::Flow::may_diverge`]) have no marks, because no divergence starts
//! there.
//!
//! A cell may be freed if it is 0 up to the tolerance. The remainder that rounding leaves of a sum is small compared
//! with the program's numbers ([`Rounding::ulps`]). A larger freed value is accepted if all errors of the reverse sweep
//! together, including cells that it doesn't restore, have a negligible effect on the loss ([`Rounding::of_freed`]).

use reviver_isa::module::RealSystem;
use serde::{Deserialize, Serialize};

use crate::travel::{Clock, Segment, Track, Travel};

/// Bounds on the effects of rounding in a number system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// Bound on the remainder that rounding leaves in a cell, in ulps of the program's largest number.
    pub ulps: f64,
    /// A smaller bound than `ulps`, in the same unit. This bound applies to freed numbers with more than `digits`
    /// binary digits, and to a loss that is 0 up to rounding.
    pub few_ulps: f64,
    /// Maximum number of binary digits of a remainder that rounding leaves of a sum. Such a remainder has few digits,
    /// because it is a small multiple of a summand's ulp.
    pub digits: u32,
    /// Bound on the relative error of a number that isn't 0 at the start, and of the loss.
    pub part: f64,
    /// Bound on the effect of all errors on the loss, relative to the loss's size: half of the digits.
    pub of_loss: f64,
    /// Bound on the effect of all errors on the loss, relative to the loss's size, within which a freed cell may hold
    /// any number.
    pub of_freed: f64,
}

const BINARY64: Rounding = Rounding {
    ulps: 65_536.0,
    few_ulps: 64.0,
    digits: 40,
    part: 1e-6,
    of_loss: 2e-8,
    of_freed: 64.0 * f64::EPSILON,
};
const BINARY32: Rounding = Rounding {
    ulps: 128.0,
    few_ulps: 16.0,
    digits: 18,
    part: 4e-3,
    of_loss: 4e-4,
    of_freed: 64.0 * f32::EPSILON as f64,
};
const FIXED_POINT: Rounding =
    Rounding { ulps: 0.0, few_ulps: 0.0, digits: 0, part: 0.0, of_loss: 0.0, of_freed: 0.0 };

impl Rounding {
    /// Returns the bounds of a number system. They are a reference, because a copy for each call of compiled code would
    /// take a noticeable part of a short call. An error may reach about the last third of the digits of the program's
    /// largest number, and has at most about three quarters of the digits itself.
    #[inline]
    pub fn of(system: RealSystem) -> &'static Rounding {
        match system {
            RealSystem::F64 => &BINARY64,
            RealSystem::F32 => &BINARY32,
            RealSystem::Fixed(_) => &FIXED_POINT,
        }
    }

    /// Returns true if an error preserves the leading digits of the loss, that is, if it is at most [`Rounding::part`]
    /// of the loss. If the loss is 0 up to rounding, such as the loss of a converged fit, the error may be as large as
    /// a rounding error, too. `ulp` is the unit in the last place of the program's largest number.
    pub fn leaves(self, loss: f64, error: f64, ulp: f64) -> bool {
        error <= self.part * loss.abs() || loss.abs().max(error) <= self.few_ulps * ulp
    }

    /// Returns a mask of the binary64 bits that are 0 in numbers with few enough digits to be the remainder
    /// of a sum.
    #[inline]
    pub fn long(self) -> u64 {
        (1 << f64::MANTISSA_DIGITS.saturating_sub(self.digits)) - 1
    }
}

/// The content of a freed cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freed {
    /// The index of the instruction.
    pub at: u32,
    /// The signed content, converted to binary64.
    pub value: f64,
}

/// The observations of a float run: its path, the largest freed values, and the estimated error of the loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    path: u64,
    largest: Option<Freed>,
    /// The largest freed number with more digits than the remainder of a sum has.
    unrounded: Option<Freed>,
    /// Σ |value·adjoint| over freed cells.
    error: f64,
}

impl Watch {
    /// Returns true if the reverse sweep took the same jumps as the forward sweep.
    pub fn has_same_path(&self) -> bool {
        self.path == 0
    }

    /// Returns the sum of the marks of all jumps. Two runs from the same place with equal sums have jumped at
    /// the same steps, except with a probability of 2⁻⁶⁴.
    pub fn marks(&self) -> u64 {
        self.path
    }

    /// Returns the largest freed number that is too large for a rounding error. `ulp` is the unit in the last place of
    /// the program's largest number.
    pub fn unexplained(&self, rounding: &Rounding, ulp: f64) -> Option<Freed> {
        let beyond = |freed: Option<Freed>, ulps: f64| freed.filter(|freed| freed.value.abs() > ulps * ulp);
        beyond(self.unrounded, rounding.few_ulps).or(beyond(self.largest, rounding.ulps))
    }

    /// Returns true if a cell was freed that wasn't 0.
    pub fn has_freed(&self) -> bool {
        self.largest.is_some()
    }

    /// Returns a first-order estimate of the difference between the losses of the reverse and the forward
    /// sweep: the sum of discarded values times their adjoints.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns true if the observations are independent of step numbers and of the order of sums.
    pub(crate) fn is_order_independent(&self) -> bool {
        self.path == 0 && self.error == 0.0
    }

    /// Adds the observations of a watch that followed this one.
    pub(crate) fn absorb(&mut self, other: &Watch) {
        let keep = |kept: &mut Option<Freed>, freed: Option<Freed>| {
            if let Some(freed) = freed
                && kept.is_none_or(|kept| freed.value.abs() > kept.value.abs())
            {
                *kept = Some(freed);
            }
        };
        keep(&mut self.largest, other.largest);
        keep(&mut self.unrounded, other.unrounded);
    }

    /// Adds a sum of marks of jumps.
    pub(crate) fn jumped(&mut self, travel: Travel, marks: u64) {
        self.path = match travel {
            Travel::Forward => self.path.wrapping_add(marks),
            Travel::Backward => self.path.wrapping_sub(marks),
        };
    }

    /// Returns the instructions that freed the remembered values.
    pub(crate) fn freed_at(&self) -> impl Iterator<Item = u32> {
        self.largest.iter().chain(&self.unrounded).map(|freed| freed.at)
    }

    /// Notes a freed cell that isn't 0.
    pub(crate) fn freed(&mut self, freed: Freed, adjoint: f64, rounding: &Rounding) {
        let keep = |kept: &mut Option<Freed>| {
            if kept.is_none_or(|kept| freed.value.abs() > kept.value.abs()) {
                *kept = Some(freed);
            }
        };
        keep(&mut self.largest);
        if digits(freed.value) > rounding.digits {
            keep(&mut self.unrounded);
        }
        self.error += (freed.value * adjoint).abs();
    }
}

/// Returns the number of binary digits, without trailing zeros.
fn digits(value: f64) -> u32 {
    let fraction = value.to_bits() & ((1 << (f64::MANTISSA_DIGITS - 1)) - 1);
    f64::MANTISSA_DIGITS - fraction.trailing_zeros().min(f64::MANTISSA_DIGITS - 1)
}

/// Access to a watch for an engine that executes steps instead of the interpreter.
#[derive(Debug)]
pub struct Watcher<'w> {
    pub(crate) watch: &'w mut Watch,
    pub(crate) clock: Clock,
    pub(crate) rounding: &'static Rounding,
}

impl<'w> Watcher<'w> {
    /// Creates a watcher for a segment of the program's own steps; `made` is the number of own steps at its
    /// start.
    #[inline]
    pub fn new(
        watch: &'w mut Watch,
        Segment { travel, budget }: Segment,
        made: i64,
        rounding: &'static Rounding,
    ) -> Self {
        Watcher { watch, clock: Clock { travel, budget, track: Track::Program, start: made }, rounding }
    }

    /// Notes a marked branch that was taken. `made` is the number of steps since the watcher was created.
    pub fn jumped(&mut self, made: u64) {
        self.watch.jumped(self.clock.travel, mark(self.clock, self.clock.budget - made));
    }

    /// Returns the interval number of the first step. The number of each further step is greater by [`Watcher::sign`].
    #[inline]
    pub fn first_interval(&self) -> i64 {
        self.clock.interval(self.clock.budget).number
    }

    /// Returns 1 if steps lead forward, otherwise -1.
    pub fn sign(&self) -> i64 {
        self.clock.travel.sign()
    }

    /// Adds the sum of the marks ([`MARK_ROUNDS`]) of branches that were taken.
    #[inline]
    pub fn marked(&mut self, marks: u64) {
        self.watch.jumped(self.clock.travel, marks);
    }

    /// Notes that the run turns around after `made` steps; at most `budget` steps of the reverse sweep follow.
    pub fn turn(&mut self, made: u64, budget: u64) {
        let start = self.clock.start + made as i64;
        self.clock = Clock { travel: Travel::Backward, budget, start, ..self.clock };
    }

    /// Returns the bounds on rounding.
    pub fn rounding(&self) -> &'static Rounding {
        self.rounding
    }

    /// Notes a freed real that isn't 0, with its adjoint.
    pub fn freed(&mut self, freed: Freed, adjoint: f64) {
        self.watch.freed(freed, adjoint, self.rounding);
    }

    /// Returns the summary of freed cells, for engines that handle small values inline.
    #[inline]
    pub fn freed_so_far(&self) -> FreedSoFar {
        let largest = self.watch.largest.map_or(0.0, |freed| freed.value.abs());
        FreedSoFar { largest, long: self.rounding.long(), error: self.watch.error }
    }

    /// Sets the error to the sum that an engine has accumulated inline.
    #[inline]
    pub fn has_error(&mut self, error: f64) {
        self.watch.error = error;
    }
}

/// A summary of freed cells. A value that is at most `largest` and has none of the `long` bits only adds
/// |value·adjoint| to the error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct FreedSoFar {
    /// The greatest magnitude of a freed value so far.
    pub largest: f64,
    /// Mask of the binary64 bits that are set only in numbers that rounding doesn't explain.
    pub long: u64,
    /// The sum of |value·adjoint| over the freed values so far.
    pub error: f64,
}

/// The rounds of the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014). Each round xors a number with itself shifted right by the first value, and multiplies
/// it by the second. All arithmetic wraps.
pub const MARK_ROUNDS: [(u32, u64); 2] = [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)];
/// The factor for the interval number before the rounds: the odd number next to 2⁶⁴ divided by the golden
/// ratio.
pub const MARK_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// The right shift after the rounds.
pub const MARK_SHIFT: u32 = 31;

/// Returns the mark of a jump at the next step, which is a hash of the step's number.
#[inline(always)]
pub(crate) fn mark(clock: Clock, left: u64) -> u64 {
    let mut mark = (clock.interval(left).number as u64).wrapping_mul(MARK_FACTOR);
    for (shift, factor) in MARK_ROUNDS {
        mark = (mark ^ (mark >> shift)).wrapping_mul(factor);
    }
    mark ^ (mark >> MARK_SHIFT)
}
