//! Reals of all number systems in one type. The functions take numbers, not cells.

use std::cmp::Ordering;

use num_bigint::BigInt;
use reviver_isa::function::Function;
use reviver_isa::module::RealSystem;
use reviver_isa::update::Update;

use crate::fixed;
use crate::float::{double, single};
use crate::integer;
use crate::order::truth;
use crate::outcome::{Step, Trap, trap, unsupported};

/// Real in the number system of its program.
#[derive(Clone, Debug)]
pub(crate) enum Real {
    Double(f64),
    Single(f32),
    /// Fixed-point number, an integer in units of 2^-fraction.
    Fixed {
        units: BigInt,
        fraction: u32,
    },
}

impl Real {
    /// Returns the number of the number system that is nearest to a literal.
    pub(crate) fn literal(value: f64, system: RealSystem) -> Step<Real> {
        match system {
            RealSystem::F64 => Ok(Real::Double(value)),
            RealSystem::F32 => Ok(Real::Single(value as f32)),
            RealSystem::Fixed(bits) => {
                let fraction = u32::from(bits);
                fixed::of_float(value, fraction).map(|units| Real::Fixed { units, fraction })
            }
        }
    }

    /// Returns the number nearest to a decimal text. Returns `None` if the text isn't a number.
    pub(crate) fn parse(text: &str, system: RealSystem) -> Option<Real> {
        match system {
            RealSystem::F64 => text.parse().ok().filter(|v: &f64| v.is_finite()).map(Real::Double),
            RealSystem::F32 => text.parse().ok().filter(|v: &f32| v.is_finite()).map(Real::Single),
            RealSystem::Fixed(bits) => {
                let fraction = u32::from(bits);
                fixed::of_text(text, fraction).map(|units| Real::Fixed { units, fraction })
            }
        }
    }

    pub(crate) fn zero(system: RealSystem) -> Real {
        match system {
            RealSystem::F64 => Real::Double(0.0),
            RealSystem::F32 => Real::Single(0.0),
            RealSystem::Fixed(bits) => Real::Fixed { units: BigInt::ZERO, fraction: u32::from(bits) },
        }
    }

    /// Returns the number nearest to an integer of the machine.
    pub(crate) fn of_integer(value: &BigInt, system: RealSystem) -> Step<Real> {
        let word = || i64::try_from(value).map_or_else(|_| unsupported("integers above 64 bits"), Ok);
        match system {
            RealSystem::F64 => Ok(Real::Double(word()? as f64)),
            RealSystem::F32 => Ok(Real::Single(word()? as f32)),
            RealSystem::Fixed(bits) => {
                let fraction = u32::from(bits);
                fixed::admit(value << fraction).map(|units| Real::Fixed { units, fraction })
            }
        }
    }

    /// Returns the number, rounded toward 0 to an integer. Traps if the integer doesn't fit into a word of `bits` bits.
    pub(crate) fn to_integer(&self, bits: u32) -> Step<BigInt> {
        let (significand, exponent) = match self {
            Real::Double(value) => fixed::decompose(*value),
            Real::Single(value) => fixed::decompose(f64::from(*value)),
            Real::Fixed { units, fraction } => (units.clone(), -(*fraction as i32)),
        };
        let scale = BigInt::ONE << exponent.unsigned_abs();
        let whole = if exponent >= 0 { significand * scale } else { significand / scale };
        if integer::fits(&whole, bits) { Ok(whole) } else { trap(Trap::Fault) }
    }

    /// Returns the bits that a machine cell has for this number.
    pub(crate) fn bits(&self) -> u64 {
        match self {
            Real::Double(value) => value.to_bits(),
            Real::Single(value) => u64::from(value.to_bits()),
            Real::Fixed { units, .. } => {
                let pattern = units & BigInt::from(u64::MAX);
                u64::try_from(pattern).unwrap_or_default()
            }
        }
    }

    /// Returns the float that equals the number. Halts the run if there is none.
    pub(crate) fn to_float(&self) -> Step<f64> {
        match self {
            Real::Double(value) => Ok(*value),
            Real::Single(value) => Ok(f64::from(*value)),
            Real::Fixed { units, fraction } => match i64::try_from(units) {
                Ok(units) if i128::from(units) == (units as f64) as i128 => {
                    Ok(units as f64 / 2f64.powi(*fraction as i32))
                }
                _ => unsupported("a fixed-point constant of more than 53 bits"),
            },
        }
    }

    pub(crate) fn system(&self) -> RealSystem {
        match self {
            Real::Double(_) => RealSystem::F64,
            Real::Single(_) => RealSystem::F32,
            Real::Fixed { fraction, .. } => RealSystem::Fixed(*fraction as u8),
        }
    }

    /// Returns true for 0 of either sign.
    pub(crate) fn is_zero(&self) -> bool {
        self.is_vacant(0.0)
    }

    pub(crate) fn is_below(&self, other: &Real) -> Step<bool> {
        self.is(other, Ordering::is_lt)
    }

    pub(crate) fn equals(&self, other: &Real) -> Step<bool> {
        self.is(other, Ordering::is_eq)
    }

    /// Compares two numbers; `ordered` returns true for the wanted orders. A comparison with NaN is false.
    fn is(&self, other: &Real, ordered: fn(Ordering) -> bool) -> Step<bool> {
        if [self, other].iter().any(|real| real.is_nan()) {
            return Ok(false);
        }
        self.compare(other).map(ordered)
    }

    fn is_nan(&self) -> bool {
        match self {
            Real::Double(value) => value.is_nan(),
            Real::Single(value) => value.is_nan(),
            Real::Fixed { .. } => false,
        }
    }

    /// Returns true if the number is 0, or a float within the tolerance of 0, so that a cell with it counts as
    /// vacant.
    pub(crate) fn is_vacant(&self, tolerance: f64) -> bool {
        match self {
            Real::Double(value) => value.abs() <= tolerance,
            Real::Single(value) => f64::from(value.abs()) <= tolerance,
            Real::Fixed { units, .. } => *units == BigInt::ZERO,
        }
    }

    /// Returns true if the numbers are equal, or floats whose difference is within the tolerance.
    pub(crate) fn is_close(&self, other: &Real, tolerance: f64) -> bool {
        let distance = match (self, other) {
            (Real::Double(a), Real::Double(b)) => (a - b).abs(),
            (Real::Single(a), Real::Single(b)) => (f64::from(*a) - f64::from(*b)).abs(),
            _ => return self.bits() == other.bits(),
        };
        self.bits() == other.bits() || distance <= tolerance
    }

    pub(crate) fn compare(&self, other: &Real) -> Step<Ordering> {
        let ordering = match (self, other) {
            (Real::Double(a), Real::Double(b)) => a.partial_cmp(b),
            (Real::Single(a), Real::Single(b)) => a.partial_cmp(b),
            (Real::Fixed { units: a, .. }, Real::Fixed { units: b, .. }) => Some(a.cmp(b)),
            _ => None,
        };
        ordering.map_or_else(|| unsupported("a comparison of different systems"), Ok)
    }

    /// Evaluates a function of reals. `b` is ignored if the function has one source.
    pub(crate) fn function(function: Function, a: &Real, b: &Real) -> Step<Real> {
        let value = match (a, b) {
            (Real::Double(a), Real::Double(b)) => double::function(function, *a, *b).map(Real::Double),
            (Real::Single(a), Real::Single(b)) => single::function(function, *a, *b).map(Real::Single),
            (Real::Fixed { units, fraction }, Real::Fixed { units: other, .. }) => {
                let units = fixed::function(function, units, other, *fraction)?;
                Some(Real::Fixed { units, fraction: *fraction })
            }
            _ => None,
        };
        value.map_or_else(|| unsupported(format!("`{function:?}` of reals")), Ok)
    }

    /// Returns the derivative of a function, if the derivative is an elementary function that isn't itself in the
    /// instruction table.
    pub(crate) fn slope(function: Function, a: &Real) -> Step<Real> {
        let value = match a {
            Real::Double(a) => double::slope(function, *a).map(Real::Double),
            Real::Single(a) => single::slope(function, *a).map(Real::Single),
            Real::Fixed { .. } => None,
        };
        value.map_or_else(|| unsupported(format!("the derivative of `{function:?}`")), Ok)
    }

    /// Evaluates a comparison of reals: 1 if it holds, otherwise 0.
    pub(crate) fn test(function: Function, a: &Real, b: &Real) -> Step<BigInt> {
        match truth(function, a.compare(b)?) {
            Some(holds) => Ok(BigInt::from(u8::from(holds))),
            None => unsupported(format!("`{function:?}` from reals to an integer")),
        }
    }

    /// Returns a real to the power of an integer.
    pub(crate) fn power(&self, exponent: &BigInt) -> Step<Real> {
        let Ok(exponent) = i64::try_from(exponent) else {
            return unsupported("an exponent above 64 bits");
        };
        match self {
            Real::Double(base) => Ok(Real::Double(double::whole_power(*base, exponent))),
            Real::Single(base) => Ok(Real::Single(single::whole_power(*base, exponent))),
            Real::Fixed { .. } => unsupported("`Powi` in fixed point"),
        }
    }

    /// Returns the number after an update by `f`: for example the sum for `add`.
    pub(crate) fn updated(&self, update: Update, f: &Real) -> Step<Real> {
        let new = match update {
            Update::Add => Real::function(Function::Sum, self, f)?,
            Update::Sub => Real::function(Function::Diff, self, f)?,
            Update::Overwrite => f.clone(),
            _ => return unsupported(format!("`{update:?}` of reals")),
        };
        new.admit()
    }

    pub(crate) fn negated(&self) -> Step<Real> {
        match self {
            Real::Double(value) => Ok(Real::Double(-value)),
            Real::Single(value) => Ok(Real::Single(-value)),
            Real::Fixed { units, fraction } => {
                fixed::admit(-units).map(|units| Real::Fixed { units, fraction: *fraction })
            }
        }
    }

    /// Rotates the point (x, y) by an angle, or by the negated angle if `back` is true.
    pub(crate) fn rotated(x: &Real, y: &Real, angle: &Real, back: bool) -> Step<(Real, Real)> {
        let (x, y) = match (x, y, angle) {
            (Real::Double(x), Real::Double(y), Real::Double(angle)) => {
                let turn = if back { double::rotate_back } else { double::rotate };
                let (x, y) = turn(*x, *y, *angle);
                (Real::Double(x), Real::Double(y))
            }
            (Real::Single(x), Real::Single(y), Real::Single(angle)) => {
                let turn = if back { single::rotate_back } else { single::rotate };
                let (x, y) = turn(*x, *y, *angle);
                (Real::Single(x), Real::Single(y))
            }
            _ => return unsupported("rotation in fixed point"),
        };
        Ok((x.admit()?, y.admit()?))
    }

    /// Returns the number if a cell may hold it. Traps if it isn't finite.
    pub(crate) fn admit(self) -> Step<Real> {
        let finite = match &self {
            Real::Double(value) => value.is_finite(),
            Real::Single(value) => value.is_finite(),
            Real::Fixed { .. } => true,
        };
        if finite { Ok(self) } else { trap(Trap::Fault) }
    }
}
