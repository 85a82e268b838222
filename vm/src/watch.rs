//! What is watched of a run that goes there and back in floats: whether both ways take the same jumps, and
//! whether what is thrown away is no more than rounding. Knows no instruction and no adjoint rule.
//!
//! A way is known by the steps at which it jumps. Two runs that stand at one place at one step differ
//! first where one jumps and the other doesn't, so the step's number is mark enough: the way there adds
//! the marks of its jumps to a sum, the way back subtracts them, and the sum of equal ways is 0. Jumps that
//! rounding can't lead elsewhere ([`reviver_flow::Flow::may_stray`]) have no marks: no difference begins there.
//!
//! A cell may be freed while it is 0 only up to the tolerance. What rounding leaves of a sum is small beside the
//! program's numbers ([`Rounding::ulps`]). A larger freed value is accepted if all errors of the reverse sweep, missed
//! cells among them, change the loss by next to nothing ([`Rounding::of_freed`]).

use reviver_isa::module::RealSystem;
use serde::{Deserialize, Serialize};

use crate::travel::{Clock, Leg, Track, Travel};

/// What rounding alone may do in a number system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// Bound on what rounding leaves in a cell, in last places of the program's largest number.
    pub ulps: f64,
    /// The same bound for numbers with more than `digits` binary digits, and for a loss that is 0 but for rounding.
    pub few_ulps: f64,
    /// Binary digits of a small multiple of a summand's last place, at most.
    pub digits: u32,
    /// Bound on the error of a number that isn't 0 at the start, and of the loss, relative to the number.
    pub part: f64,
    /// Bound on the effect of all errors on the loss, relative to the loss's size: half of the digits.
    pub of_loss: f64,
    /// Bound on the effect of all errors on the loss, relative to the loss's size, within which a freed cell may hold
    /// any number.
    pub of_freed: f64,
}

impl Rounding {
    /// About a third of the digits for the size of an error, and a quarter for its own.
    pub fn of(system: RealSystem) -> Rounding {
        match system {
            RealSystem::F64 => Rounding {
                ulps: 65_536.0,
                few_ulps: 64.0,
                digits: 40,
                part: 1e-6,
                of_loss: 2e-8,
                of_freed: 64.0 * f64::EPSILON,
            },
            RealSystem::F32 => Rounding {
                ulps: 128.0,
                few_ulps: 16.0,
                digits: 18,
                part: 4e-3,
                of_loss: 4e-4,
                of_freed: 64.0 * f64::from(f32::EPSILON),
            },
            RealSystem::Fixed(_) => {
                Rounding { ulps: 0.0, few_ulps: 0.0, digits: 0, part: 0.0, of_loss: 0.0, of_freed: 0.0 }
            }
        }
    }

    /// Whether an error of the loss leaves the loss its first digits: it is at most [`Rounding::part`] of the loss. A
    /// loss that is 0 but for rounding, as that of a fit that has converged, may be off by as much; `ulp` is the last
    /// place of the program's largest number.
    pub fn leaves(self, loss: f64, error: f64, ulp: f64) -> bool {
        error <= self.part * loss.abs() || loss.abs().max(error) <= self.few_ulps * ulp
    }

    /// Bits of a binary64 that are 0 where it has no more digits than what is left of a sum.
    #[inline]
    pub fn long(self) -> u64 {
        (1 << f64::MANTISSA_DIGITS.saturating_sub(self.digits)) - 1
    }
}

/// What was in a cell that was freed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freed {
    /// Index of the instruction.
    pub at: u32,
    pub value: f64,
}

/// What was seen so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    path: u64,
    largest: Option<Freed>,
    /// The largest of those that have more digits than what is left of a sum.
    unrounded: Option<Freed>,
    /// Σ |value·adjoint| over freed cells.
    error: f64,
}

impl Watch {
    /// Whether the jumps of the way back were those of the way there.
    pub fn is_same_way(&self) -> bool {
        self.path == 0
    }

    /// The sum of the marks of all jumps there: two runs from one place that have the same one have jumped at
    /// the same steps, but for a chance of 2⁻⁶⁴.
    pub fn marks(&self) -> u64 {
        self.path
    }

    /// The largest freed number that is too large to be left by rounding; `ulp` is the last place of the program's
    /// largest number.
    pub fn unexplained(&self, rounding: Rounding, ulp: f64) -> Option<Freed> {
        let beyond = |freed: Option<Freed>, ulps: f64| freed.filter(|freed| freed.value.abs() > ulps * ulp);
        beyond(self.unrounded, rounding.few_ulps).or(beyond(self.largest, rounding.ulps))
    }

    /// True if a cell was freed that wasn't 0.
    pub fn has_freed(&self) -> bool {
        self.largest.is_some()
    }

    /// By how much the loss of the way back may differ from the loss of the way there, to first order:
    /// what was thrown away, times what the loss changes with it.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Whether nothing of it depends on the numbers of steps, or on the order of a sum.
    pub(crate) fn adds_up_in_any_order(&self) -> bool {
        self.path == 0 && self.error == 0.0
    }

    /// What another one has seen after this one.
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

    /// Counts the marked jumps of a stretch, whose marks sum up to `marks`.
    pub(crate) fn jumped(&mut self, travel: Travel, marks: u64) {
        self.path = match travel {
            Travel::Forward => self.path.wrapping_add(marks),
            Travel::Backward => self.path.wrapping_sub(marks),
        };
    }

    /// The instructions that have freed what is remembered.
    pub(crate) fn freed_at(&self) -> impl Iterator<Item = u32> {
        self.largest.iter().chain(&self.unrounded).map(|freed| freed.at)
    }

    /// A cell is freed that isn't 0.
    pub(crate) fn freed(&mut self, freed: Freed, adjoint: f64, rounding: Rounding) {
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

/// The binary digits of a number, without the zeros at its end.
fn digits(value: f64) -> u32 {
    let fraction = value.to_bits() & ((1 << (f64::MANTISSA_DIGITS - 1)) - 1);
    f64::MANTISSA_DIGITS - fraction.trailing_zeros().min(f64::MANTISSA_DIGITS - 1)
}

/// A watch in the hands of somebody else than the interpreter who makes steps of a run.
#[derive(Debug)]
pub struct Watcher<'w> {
    pub(crate) watch: &'w mut Watch,
    pub(crate) clock: Clock,
    pub(crate) rounding: Rounding,
}

impl<'w> Watcher<'w> {
    /// Who watches a stretch of the program's own steps that begins where so many were made.
    #[inline]
    pub fn new(watch: &'w mut Watch, Leg { travel, budget }: Leg, made: i64, rounding: Rounding) -> Self {
        Watcher { watch, clock: Clock { travel, budget, track: Track::Program, start: made }, rounding }
    }

    /// A marked branch is taken, with so many steps made before since the watcher was asked for.
    pub fn jumped(&mut self, made: u64) {
        self.watch.jumped(self.clock.travel, mark(self.clock, self.clock.budget - made));
    }

    /// The number of the interval that the first step crosses; each further one's is greater by [`Watcher::sign`].
    #[inline]
    pub fn first_interval(&self) -> i64 {
        self.clock.interval(self.clock.budget).number
    }

    /// 1 where steps lead away from step 0 of the run's beginning, else -1.
    pub fn sign(&self) -> i64 {
        self.clock.travel.sign()
    }

    /// Branches were taken whose marks ([`MARK_ROUNDS`]) have this sum.
    #[inline]
    pub fn marked(&mut self, marks: u64) {
        self.watch.jumped(self.clock.travel, marks);
    }

    /// The run turns after `made` steps: at most `budget` further ones go back.
    pub fn turn(&mut self, made: u64, budget: u64) {
        let start = self.clock.start + made as i64;
        self.clock = Clock { travel: Travel::Backward, budget, start, ..self.clock };
    }

    /// The bounds on rounding that the watcher applies.
    pub fn rounding(&self) -> Rounding {
        self.rounding
    }

    /// A real is freed that isn't 0, with its adjoint.
    pub fn freed(&mut self, freed: Freed, adjoint: f64) {
        self.watch.freed(freed, adjoint, self.rounding);
    }

    /// What is remembered of freed cells, for whoever looks at small ones alone.
    #[inline]
    pub fn freed_so_far(&self) -> FreedSoFar {
        let largest = self.watch.largest.map_or(0.0, |freed| freed.value.abs());
        FreedSoFar { largest, long: self.rounding.long(), error: self.watch.error }
    }

    /// The error, as whoever looked at small ones alone has summed it up.
    #[inline]
    pub fn has_error(&mut self, error: f64) {
        self.watch.error = error;
    }
}

/// What is remembered of freed cells. One that is no greater than the largest and has none of the `long` bits changes only the error, to which
/// |value·adjoint| is added.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct FreedSoFar {
    pub largest: f64,
    /// Bits of a binary64 that only numbers have which rounding doesn't explain.
    pub long: u64,
    pub error: f64,
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), as rounds: a
/// number is combined by exclusive or with itself, shifted right so far, and multiplied by a factor. All wraps.
pub const MARK_ROUNDS: [(u32, u64); 2] = [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)];
/// What the number of an interval is multiplied by before the rounds: the odd number next to 2⁶⁴ divided by the golden ratio.
pub const MARK_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// How far it is shifted behind them.
pub const MARK_SHIFT: u32 = 31;

/// The mark of a jump at the step that is next: of the step's number.
#[inline(always)]
pub(crate) fn mark(clock: Clock, left: u64) -> u64 {
    let mut mark = (clock.interval(left).number as u64).wrapping_mul(MARK_FACTOR);
    for (shift, factor) in MARK_ROUNDS {
        mark = (mark ^ (mark >> shift)).wrapping_mul(factor);
    }
    mark ^ (mark >> MARK_SHIFT)
}
