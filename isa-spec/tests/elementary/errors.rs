//! How far each function is from its exact value, over random arguments of all sizes, and whether it rises where it should.

use std::env;

use crate::real::{Real, Width, int, real};
use crate::subject::{SUBJECTS, Second, Subject};

/// Numbers without a clock.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Any float of a range: some of any exponent, of moderate ones, close to 1, and evenly spread.
    fn within(&mut self, width: Width, least: f64, greatest: f64) -> f64 {
        loop {
            let sign = if self.bits() >> 63 == 0 { 1.0 } else { -1.0 };
            let value = match self.bits() >> 61 {
                0..3 => match width {
                    Width::Double => f64::from_bits(self.bits()),
                    Width::Single => f32::from_bits((self.bits() >> 32) as u32).into(),
                },
                3 => sign * (self.unit() * 8.0 - 4.0).exp2(),
                4 => 1.0 + sign * (self.unit() * -53.0).exp2(),
                5 => sign * (self.unit() * -53.0).exp2(),
                _ => least / 2.0 + self.unit() * (greatest / 2.0 - least / 2.0) + least / 2.0,
            };
            let value = round(width, value);
            if value.is_finite() && value >= least && value <= greatest && value != 0.0 {
                return value;
            }
        }
    }
}

impl Random {
    fn second(&mut self, width: Width, subject: &Subject, a: f64) -> f64 {
        let sign = if self.bits() >> 63 == 0 { 1.0 } else { -1.0 };
        let value = match subject.domain.second {
            Second::Unused => 1.0,
            Second::Beside => a * sign * (self.unit() * 80.0 - 40.0).exp2(),
            Second::Exponent => match self.bits() >> 62 {
                0 => sign * (self.unit() * 30.0 - 15.0).exp2(),
                _ => self.within(width, width.of(-760.0, -110.0), width.of(715.0, 92.0)) / a.ln(),
            },
        };
        let limit = width.of(f64::MAX, f32::MAX.into());
        let value = round(width, value.clamp(-limit, limit));
        if value.is_finite() && value != 0.0 { value } else { 1.0 }
    }
}

fn round(width: Width, value: f64) -> f64 {
    match width {
        Width::Double => value,
        Width::Single => f64::from(value as f32),
    }
}

impl Subject {
    pub fn value(&self, width: Width, a: f64, b: f64) -> f64 {
        match width {
            Width::Double => (self.double)(a, b),
            Width::Single => (self.single)(a as f32, b as f32).into(),
        }
    }

    fn range(&self, width: Width) -> [f64; 2] {
        let limit = width.of(f64::MAX, f32::MAX.into());
        [self.domain.least.max(-limit), self.domain.greatest.min(limit)]
    }
}

/// The error of a result in units of the last place that the exact value has.
pub fn error(width: Width, found: f64, exact: &Real) -> f64 {
    let (greatest, least_exponent) = width.of((f64::MAX, -1074), (f64::from(f32::MAX), -149));
    if exact == &int(0) {
        return if found == 0.0 { 0.0 } else { f64::INFINITY };
    }
    // The exponent by way of a float: one of a value that is near 1, in a few bits.
    let exponent = exponent(exact);
    let ulp = (exponent - width.digits() + 1).max(least_exponent);
    if !found.is_finite() {
        // It overflows where the next number beyond the greatest would be nearer.
        let beyond = real(greatest) + (int(1) << (width.of(970, 103)));
        let sign = if found > 0.0 { exact.clone() } else { -exact };
        return if sign >= beyond { 0.0 } else { f64::INFINITY };
    }
    ((real(found) - exact) >> ulp).to_f64().value().abs()
}

/// ⌊log₂|x|⌋.
fn exponent(x: &Real) -> isize {
    let repr = x.repr();
    let digits = repr.digits() as isize;
    repr.exponent() + digits - 1
}

/// What a function came to.
struct Measured {
    worst: f64,
    at: (f64, f64),
}

fn measure(subject: &Subject, width: Width, count: usize) -> Measured {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let [least, greatest] = subject.range(width);
    let mut measured = Measured { worst: 0.0, at: (0.0, 0.0) };
    for _ in 0..count {
        let a = random.within(width, least, greatest);
        let b = random.second(width, subject, a);
        let error = error(width, subject.value(width, a, b), &subject.exact(a, b));
        if error.is_nan() || error > measured.worst {
            measured = Measured { worst: error, at: (a, b) };
        }
    }
    measured
}

#[test]
fn errors_are_bounded() {
    let count = env::var("REVIVER_CAMPAIGN").ok().and_then(|count| count.parse().ok()).unwrap_or(4000);
    let mut bad = 0;
    for subject in SUBJECTS {
        for width in Width::ALL {
            let measured = measure(subject, width, count);
            println!("{:8} {} {:.4} ulp at {:?}", subject.name, width.name(), measured.worst, measured.at);
            bad += i32::from(measured.worst >= subject.bound);
        }
    }
    assert_eq!(bad, 0, "functions are too far from their values");
}

#[test]
fn functions_that_rise_rise_from_neighbour_to_neighbour() {
    for subject in SUBJECTS.iter().filter(|subject| subject.monotone != 0) {
        for width in Width::ALL {
            let mut random = Random(0x1234_5678_9abc_def1);
            let [least, greatest] = subject.range(width);
            for _ in 0..3000 {
                let a = random.within(width, least, greatest / 2.0);
                let b = random.second(width, subject, a);
                climb(subject, width, [a, b], greatest);
            }
        }
    }
}

/// Some neighbours in turn.
fn climb(subject: &Subject, width: Width, [mut a, b]: [f64; 2], greatest: f64) {
    let falls = subject.domain.second == Second::Exponent && b < 0.0;
    let direction = f64::from(subject.monotone) * if falls { -1.0 } else { 1.0 };
    let mut value = subject.value(width, a, b);
    for _ in 0..16 {
        let next = width.of(a.next_up(), f64::from((a as f32).next_up()));
        if next > greatest {
            return;
        }
        let above = subject.value(width, next, b);
        let name = width.name();
        assert!(
            (above - value) * direction >= 0.0 || above == value,
            "{} falls at {a:?}, {b:?} in {name}",
            subject.name
        );
        (a, value) = (next, above);
    }
}
