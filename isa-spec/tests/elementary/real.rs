//! Real numbers of 320 bits, and the two float formats.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;

pub type Real = FBig<HalfEven, 2>;

pub const PRECISION: usize = 320;

pub fn precise(value: Real) -> Real {
    value.with_precision(PRECISION).value()
}

pub fn int(value: i64) -> Real {
    precise(Real::from(value))
}

/// Returns the exact value of a finite float.
pub fn real(value: f64) -> Real {
    precise(Real::try_from(value).expect("a finite float"))
}

pub fn ratio(above: i64, below: i64) -> Real {
    int(above) / int(below)
}

/// Returns x to an integer power.
pub fn power(x: &Real, n: usize) -> Real {
    (0..n).fold(int(1), |product, _| product * x)
}

/// A format of floats, with its properties needed by tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    Double,
    Single,
}

impl Width {
    pub const ALL: [Width; 2] = [Width::Double, Width::Single];

    pub fn name(self) -> &'static str {
        match self {
            Width::Double => "f64",
            Width::Single => "f32",
        }
    }

    /// Returns the nearest float of the format.
    pub fn nearest(self, value: &Real) -> f64 {
        match self {
            Width::Double => value.to_f64().value(),
            Width::Single => value.to_f32().value().into(),
        }
    }

    /// Returns the bits of a float of this format.
    pub fn bits(self, value: f64) -> i64 {
        match self {
            Width::Double => value.to_bits() as i64,
            Width::Single => i64::from((value as f32).to_bits() as i32),
        }
    }

    pub fn digits(self) -> isize {
        match self {
            Width::Double => 53,
            Width::Single => 24,
        }
    }

    /// Selects one of two values by format.
    pub fn of<T>(self, double: T, single: T) -> T {
        match self {
            Width::Double => double,
            Width::Single => single,
        }
    }

    /// Returns a number as two floats: the nearest one, and the one nearest to the remainder.
    pub fn in_parts(self, value: &Real) -> [f64; 2] {
        let high = self.nearest(value);
        [high, self.nearest(&(value - real(high)))]
    }

    /// Returns a number as two floats, of which the first is a multiple of 2^-places.
    pub fn in_parts_after(self, value: &Real, places: isize) -> [f64; 2] {
        let high = (value.clone() << places).round() >> places;
        [self.nearest(&high), self.nearest(&(value - &high))]
    }
}
