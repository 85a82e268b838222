//! Interval analysis of generated values. A function's interval is computed from those of its sources; it is `None` if
//! the function might trap. For many functions the domain is built in, for others it is estimated by samples. Program
//! texts are written elsewhere.

use reviver_isa::fault::Eval;
use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};
use reviver_isa::number::{Arithmetic, F64, Wide};

/// Closed interval of integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ints {
    pub lo: i64,
    pub hi: i64,
}

/// Closed interval of reals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reals {
    pub lo: f64,
    pub hi: f64,
}

/// Interval of the values that a cell or a constant may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fact {
    Int(Ints),
    Real(Reals),
}

/// Word and number system of a program, which bound its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub word: Word,
    pub real: RealSystem,
}

impl Ints {
    pub fn new(lo: i64, hi: i64) -> Ints {
        Ints { lo, hi }
    }

    pub fn contains(self, value: i64) -> bool {
        (self.lo..=self.hi).contains(&value)
    }
}

impl Reals {
    pub fn new(lo: f64, hi: f64) -> Reals {
        Reals { lo, hi }
    }

    /// Returns the smallest interval that contains the given values.
    fn hull(values: impl IntoIterator<Item = f64>) -> Reals {
        let start = Reals { lo: f64::INFINITY, hi: f64::NEG_INFINITY };
        values.into_iter().fold(start, |all, v| Reals { lo: all.lo.min(v), hi: all.hi.max(v) })
    }

    /// Returns the interval from -`radius` to `radius`.
    fn ball(radius: f64) -> Reals {
        Reals { lo: -radius, hi: radius }
    }

    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    fn within(self, lo: f64, hi: f64) -> bool {
        lo <= self.lo && self.hi <= hi
    }

    /// Returns true if the interval is so far from 0 that dividing by its values doesn't overflow.
    fn is_far_from_zero(self) -> bool {
        self.lo >= 0.05 || self.hi <= -0.05
    }

    /// Returns sample points, including both ends.
    fn points(self) -> impl Iterator<Item = f64> {
        let part = move |n: u32| self.lo + (self.hi - self.lo) * f64::from(n) / f64::from(SAMPLES - 1);
        (0..SAMPLES).map(part)
    }

    /// Returns the interval of the values of an increasing function, for arguments in this interval.
    fn rising(self, f: impl Fn(f64) -> f64) -> Reals {
        Reals { lo: f(self.lo), hi: f(self.hi) }
    }
}

impl Numbers {
    /// Returns the interval of all integers of the word.
    pub fn any_int(self) -> Ints {
        Ints { lo: *self.word.range().start(), hi: *self.word.range().end() }
    }

    /// Returns the interval that is assumed for a real cell to which a program adds. In a few programs the cell leaves
    /// the interval and overflows, which must be tested, too.
    pub fn any_real(self) -> Reals {
        Reals::ball(self.reach() / 200.0)
    }

    /// Returns a magnitude far below the largest number of the number system.
    pub fn reach(self) -> f64 {
        match self.real {
            RealSystem::Fixed(bits) => f64::min(1e4, 2f64.powi(62 - i32::from(bits)) / 8.0),
            _ => 1e4,
        }
    }

    /// Returns the maximum magnitude of a value that is added to a cell `times` times.
    pub fn allowance(self, times: u64) -> f64 {
        if times <= 2 { self.reach() / 50.0 } else { self.reach() / 2500.0 }
    }

    /// Returns the interval of all values that a cell of a class may have.
    pub fn any(self, class: Class) -> Fact {
        match class {
            Class::Int => Fact::Int(self.any_int()),
            Class::Real => Fact::Real(self.any_real()),
        }
    }

    /// Returns an interval that contains the values of a function for all arguments in the intervals `a` and `b`.
    /// Returns `None` if the function might trap for such arguments.
    pub fn image(self, function: Function, signature: Signature, a: Fact, b: Fact) -> Option<Fact> {
        match (signature, a, b) {
            (Signature::Int, Fact::Int(a), Fact::Int(b)) => self.ints(function, a, b).map(Fact::Int),
            (Signature::Real, Fact::Real(a), Fact::Real(b)) => self.reals(function, a, b).map(Fact::Real),
            (Signature::RealInt, Fact::Real(a), Fact::Int(b)) => self.powi(a, b).map(Fact::Real),
            (Signature::IntsToReal, Fact::Int(a), _) => {
                self.bounded(Reals::new(a.lo as f64, a.hi as f64)).map(Fact::Real)
            }
            (Signature::RealsToInt, Fact::Real(a), _) if function == Function::ToInt => {
                self.to_int(a).map(Fact::Int)
            }
            (Signature::RealsToInt, Fact::Real(_), _) => Some(Fact::Int(Ints::new(0, 1))),
            _ => None,
        }
    }

    fn ints(self, function: Function, a: Ints, b: Ints) -> Option<Ints> {
        let fits = |lo: Option<i64>, hi: Option<i64>| match (lo, hi) {
            (Some(lo), Some(hi)) if self.any_int().contains(lo) && self.any_int().contains(hi) => {
                Ints { lo, hi }
            }
            _ => self.any_int(),
        };
        Some(match function {
            Function::Copy => a,
            Function::Sum => fits(a.lo.checked_add(b.lo), a.hi.checked_add(b.hi)),
            Function::Diff => fits(a.lo.checked_sub(b.hi), a.hi.checked_sub(b.lo)),
            Function::Div | Function::Rem | Function::Floordiv | Function::Mod if b.contains(0) => {
                return None;
            }
            Function::Mod if b.lo == b.hi && b.lo > 0 => Ints::new(0, b.lo - 1),
            Function::Ltu | Function::Leu | Function::Gtu | Function::Geu => Ints::new(0, 1),
            Function::Rem if b.lo == b.hi && b.lo > 0 => {
                Ints::new(if a.lo >= 0 { 0 } else { 1 - b.lo }, b.lo - 1)
            }
            Function::Pow if b.lo < 0 => return None,
            Function::And if b.lo >= 0 => Ints::new(0, b.hi),
            Function::And if a.lo >= 0 => Ints::new(0, a.hi),
            Function::Min => Ints::new(a.lo.min(b.lo), a.hi.min(b.hi)),
            Function::Max => Ints::new(a.lo.max(b.lo), a.hi.max(b.hi)),
            f if f.is_condition() => Ints::new(0, 1),
            _ => self.any_int(),
        })
    }

    fn reals(self, function: Function, a: Reals, b: Reals) -> Option<Reals> {
        let corners = |f: fn(f64, f64) -> f64| {
            Reals::hull([f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)])
        };
        let when = |legal: bool, value: Reals| legal.then_some(value);
        let value = match function {
            Function::Copy => Some(a),
            Function::Floor | Function::Round => Some(Reals::new(a.lo - 1.0, a.hi + 1.0)),
            Function::Sum => Some(Reals::new(a.lo + b.lo, a.hi + b.hi)),
            Function::Diff => Some(Reals::new(a.lo - b.hi, a.hi - b.lo)),
            Function::Mul => Some(corners(|x, y| x * y)),
            Function::Div => when(b.is_far_from_zero(), corners(|x, y| x / y)),
            Function::Pow => when(a.lo >= 0.05 && b.magnitude() <= 8.0, corners(f64::powf)),
            Function::Min => Some(Reals::new(a.lo.min(b.lo), a.hi.min(b.hi))),
            Function::Max => Some(Reals::new(a.lo.max(b.lo), a.hi.max(b.hi))),
            Function::Abs | Function::Relu => Some(Reals::new(0.0, a.magnitude())),
            Function::Square => Some(Reals::new(0.0, a.magnitude() * a.magnitude())),
            Function::Inv => when(a.is_far_from_zero(), Reals::hull([1.0 / a.lo, 1.0 / a.hi])),
            Function::Sqrt => when(a.lo >= 0.0, a.rising(f64::sqrt)),
            Function::Exp => when(a.magnitude() <= 6.0, a.rising(f64::exp)),
            Function::Log => when(a.lo >= 0.05, a.rising(f64::ln)),
            Function::Sin | Function::Cos | Function::Tanh => Some(Reals::ball(1.0)),
            Function::Tan => when(a.magnitude() <= 1.2, a.rising(f64::tan)),
            Function::Asin => when(a.within(-1.0, 1.0), Reals::ball(1.6)),
            Function::Acos => when(a.within(-1.0, 1.0), Reals::new(0.0, 3.2)),
            Function::Atan => Some(Reals::ball(1.6)),
            Function::Atan2 => Some(Reals::ball(3.2)),
            Function::Sinh => when(a.magnitude() <= 6.0, a.rising(f64::sinh)),
            Function::Cosh => when(a.magnitude() <= 6.0, Reals::new(1.0, a.magnitude().cosh())),
            function => sampled(function, a, b),
        }?;
        self.bounded(value)
    }

    fn powi(self, a: Reals, b: Ints) -> Option<Reals> {
        if b.lo < -6 || b.hi > 6 || b.lo < 0 && !a.is_far_from_zero() {
            return None;
        }
        let nearest = a.lo.abs().min(a.hi.abs());
        let greatest = a.magnitude().powi(b.hi as i32).max(1.0);
        let of_inverse = if b.lo < 0 { nearest.powi(b.lo as i32) } else { 1.0 };
        self.bounded(Reals::ball(greatest.max(of_inverse)))
    }

    fn to_int(self, a: Reals) -> Option<Ints> {
        let range = Ints::new(a.lo.trunc() as i64, a.hi.trunc() as i64);
        let fits =
            a.magnitude() < 1e9 && self.any_int().contains(range.lo) && self.any_int().contains(range.hi);
        fits.then_some(range)
    }

    /// Returns the interval itself, if the number system can hold sums of such values; otherwise `None`.
    fn bounded(self, value: Reals) -> Option<Reals> {
        (value.magnitude() <= self.reach()).then_some(value)
    }
}

/// Number of sample points in each interval.
const SAMPLES: u32 = 9;

/// Maximum magnitude of a derivative at a sample; at steeper points a function counts as not smooth.
const STEEP: f64 = 50.0;

/// Estimates the interval of a function from samples in its sources' intervals, for functions without a built-in
/// domain. Returns `None` if a sample has no value or too large a derivative. The estimate isn't a proof.
fn sampled(function: Function, a: Reals, b: Reals) -> Option<Reals> {
    let arithmetic = Arithmetic { words: Wide, reals: F64 };
    let value = |a, b| {
        let is_flat = |d: Eval<f64>| d.is_ok_and(|d| d.abs() <= STEEP);
        let flat = is_flat(function.d_a(&arithmetic, a, b))
            && (function.arity() < 2 || is_flat(function.d_b(&arithmetic, a, b)));
        function.real(&arithmetic, a, b).ok().filter(|value| flat && value.is_finite())
    };
    let second = if function.arity() < 2 { Reals::new(0.0, 0.0) } else { b };
    let values = a.points().flat_map(|a| second.points().map(move |b| (a, b))).map(|(a, b)| value(a, b));
    let hull = Reals::hull(values.collect::<Option<Vec<f64>>>()?);
    let slack = hull.hi - hull.lo;
    Some(Reals::new(hull.lo - slack, hull.hi + slack))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each function has a value for some intervals. Otherwise it would never occur in random programs.
    #[test]
    fn every_function_of_reals_has_values_somewhere() {
        let numbers = Numbers { word: Word::W64, real: RealSystem::F64 };
        let near = Fact::Real(Reals::new(0.4, 0.6));
        let of_reals =
            |function: &Function| function.signatures().any(|signature| signature == Signature::Real);
        for &function in Function::ALL.iter().filter(|function| of_reals(function)) {
            assert!(numbers.image(function, Signature::Real, near, near).is_some(), "{}", function.name());
        }
    }

    #[test]
    fn a_function_that_is_only_sampled_keeps_away_from_its_poles() {
        let at = |function, lo, hi| sampled(function, Reals::new(lo, hi), Reals::new(lo, hi));
        assert_eq!(at(Function::Ln1p, -1.5, 0.5), None);
        assert_eq!(at(Function::Ln1p, -0.999, 0.5), None);
        assert_eq!(at(Function::Erf, -0.5, f64::NAN), None);
        let image = at(Function::Erf, -0.5, 2.0).unwrap();
        assert!(image.lo <= -0.52 && image.hi >= 0.995 && image.magnitude() < 4.0, "{image:?}");
        assert!(at(Function::Hypot, 0.5, 2.0).unwrap().hi >= 2.8);
    }
}
