//! The oracle: real numbers of 320 bits, and the check of a result by them.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use reviver_isa::fault::{Eval, Fault};

pub type Real = FBig<HalfEven, 2>;

pub const PRECISION: usize = 320;

pub fn precise(value: Real) -> Real {
    value.with_precision(PRECISION).value()
}

pub fn int(i: i64) -> Real {
    precise(Real::from(i))
}

/// Returns the value of a raw number.
pub fn real(raw: i64, frac: u32) -> Real {
    int(raw) >> frac as isize
}

pub fn ln2() -> Real {
    int(2).ln()
}

/// Returns the raw number nearest to a value, clamped to the range of i64.
pub fn raw(value: &Real, frac: u32) -> i64 {
    let scaled = (value.clone() << frac as isize).round();
    if scaled > int(i64::MAX) {
        return i64::MAX;
    }
    if scaled < int(i64::MIN) {
        return i64::MIN;
    }
    i64::try_from(scaled.to_int().value()).expect("within range")
}

/// The exact value of a function, or the fault that it must return.
pub enum Exact {
    Value(Real),
    /// A positive value above every range.
    Huge,
    /// A positive value far below one ulp.
    Tiny,
    Fault(Fault),
}

pub fn value(value: Real) -> Exact {
    Exact::Value(value)
}

/// e^x, without computing numbers of millions of bits.
pub fn exact_exp(x: &Real) -> Exact {
    if *x > int(64) {
        Exact::Huge
    } else if *x < int(-64) {
        Exact::Tiny
    } else {
        value(x.exp())
    }
}

/// a^b for a > 0.
pub fn exact_power(a: &Real, b: &Real) -> Exact {
    exact_exp(&(a.ln() * b))
}

/// The error bound of the elementary functions, in ulp.
pub const NEAREST: f64 = 0.51;

/// A checker that compares results with exact values and records the worst error.
pub struct ErrorMeter {
    name: &'static str,
    bound: f64,
    cases: usize,
    worst: f64,
    worst_at: String,
}

impl ErrorMeter {
    pub fn new(name: &'static str, bound: f64) -> Self {
        Self { name, bound, cases: 0, worst: 0.0, worst_at: String::new() }
    }

    pub fn check(&mut self, got: Eval<i64>, exact: Exact, frac: u32, at: &[i64]) {
        self.cases += 1;
        let place = format!("{}({at:?}) with {frac} fraction bits", self.name);
        match exact {
            Exact::Fault(fault) => assert_eq!(got, Err(fault), "{place}"),
            Exact::Huge => assert_eq!(got, Err(Fault::Overflow), "{place}"),
            Exact::Tiny => assert_eq!(got, Ok(0), "{place}"),
            Exact::Value(value) => self.check_value(got, value << frac as isize, place),
        }
    }

    /// Checks a result against the exact number of ulps.
    pub fn check_value(&mut self, got: Eval<i64>, exact: Real, place: String) {
        let got = match got {
            Ok(got) => got,
            Err(fault) => {
                assert_eq!(fault, Fault::Overflow, "{place}");
                let fits = exact > int(i64::MIN) && exact < int(i64::MAX);
                assert!(!fits, "{place}: overflow, but the value is {exact} ulp");
                return;
            }
        };
        let error = (int(got) - exact).to_f64().value().abs();
        assert!(error < self.bound, "{place}: {got} is {error} ulp off");
        if error > self.worst {
            self.worst = error;
            self.worst_at = place;
        }
    }

    pub fn finish(self) {
        assert!(self.cases >= 2000, "{}: only {} cases", self.name, self.cases);
        println!("{:6} {:6} cases, worst {:.6} ulp at {}", self.name, self.cases, self.worst, self.worst_at);
    }
}
