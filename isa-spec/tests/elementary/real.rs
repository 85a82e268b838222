//! Real numbers of 320 bits, and the two formats.

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

/// The exact value of a finite float.
pub fn real(value: f64) -> Real {
    precise(Real::try_from(value).expect("a finite float"))
}

pub fn ratio(above: i64, below: i64) -> Real {
    int(above) / int(below)
}

/// x to a whole power.
pub fn power(x: &Real, n: usize) -> Real {
    (0..n).fold(int(1), |product, _| product * x)
}

/// A format of floats, as far as the tests ask.
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

    /// The nearest float.
    pub fn nearest(self, value: &Real) -> f64 {
        match self {
            Width::Double => value.to_f64().value(),
            Width::Single => value.to_f32().value().into(),
        }
    }

    /// The bits of a float that is of this format.
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

    /// Either of two.
    pub fn of<T>(self, double: T, single: T) -> T {
        match self {
            Width::Double => double,
            Width::Single => single,
        }
    }

    /// A number in two floats: what is nearest, and nearest to the rest.
    pub fn in_parts(self, value: &Real) -> [f64; 2] {
        let high = self.nearest(value);
        [high, self.nearest(&(value - real(high)))]
    }

    /// The same, the first a multiple of 2^-places.
    pub fn in_parts_after(self, value: &Real, places: isize) -> [f64; 2] {
        let high = (value.clone() << places).round() >> places;
        [self.nearest(&high), self.nearest(&(value - &high))]
    }
}
