//! The error of each function over random arguments of all sizes, and the monotonicity of functions.

use crate::real::{Real, Width, int, real};
use crate::subject::{SUBJECTS, Second, Subject};

/// A reproducible generator of random numbers.
pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn sign(&mut self) -> f64 {
        if self.bits() >> 63 == 0 { 1.0 } else { -1.0 }
    }

    /// Returns a random float of a range. Its distribution is chosen at random: any bits, moderate
    /// magnitudes, values close to 1 or to 0, or evenly distributed ones.
    fn within(&mut self, width: Width, [least, greatest]: [f64; 2]) -> f64 {
        loop {
            let sign = self.sign();
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

    /// Returns a second source of the kind that the function needs: one near the first source, any float, or
    /// an exponent for which the power is likely in range.
    fn second(&mut self, width: Width, subject: &Subject, a: f64) -> f64 {
        let sign = self.sign();
        let any = self.bits() >> 62 == 0;
        let limit = width.of(f64::MAX, f32::MAX.into());
        let value = match subject.domain.second {
            Second::Unused => 1.0,
            Second::Beside if any => self.within(width, [-limit, limit]),
            Second::Beside => a * sign * (self.unit() * 80.0 - 40.0).exp2(),
            Second::Exponent if any => sign * (self.unit() * 30.0 - 15.0).exp2(),
            Second::Whole if any => (sign * (self.unit() * 10.0).exp2()).round(),
            Second::Exponent => self.within(width, powers(width)) / a.ln(),
            Second::Whole => (self.within(width, powers(width)) / a.ln()).round(),
        };
        let value = round(width, value.clamp(-limit, limit));
        if value.is_finite() && value != 0.0 { value } else { 1.0 }
    }

    /// Returns a float near another one, at a random distance.
    fn beside(&mut self, width: Width, a: f64) -> f64 {
        round(width, a * (1.0 + self.sign() * (self.unit() * -53.0).exp2()))
    }
}

/// Returns the natural logarithms of the least and the greatest result of a power.
fn powers(width: Width) -> [f64; 2] {
    width.of([-760.0, 715.0], [-110.0, 92.0])
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

    /// The error at an argument, in ulp.
    pub fn error(&self, width: Width, (a, b): (f64, f64)) -> f64 {
        error_of_float(width, self.value(width, a, b), &self.exact(a, b), self.unit)
    }

    fn range(&self, width: Width) -> [f64; 2] {
        let limit = width.of(f64::MAX, f32::MAX.into());
        [self.domain.least.max(-limit), self.domain.greatest.min(limit)]
    }
}

/// The error of a result, in units in the last place of the exact value, or in `unit` if that is greater. The
/// error of NaN is infinite.
fn error_of_float(width: Width, found: f64, exact: &Real, unit: f64) -> f64 {
    if found.is_nan() {
        return f64::INFINITY;
    }
    if found.is_infinite() {
        // Overflow is correct if the number after the greatest float would be nearer.
        let greatest = width.of(f64::MAX, f64::from(f32::MAX));
        let beyond = real(greatest) + (int(1) << (width.of(970, 103)));
        let magnitude = if found > 0.0 { exact.clone() } else { -exact };
        return if magnitude >= beyond { 0.0 } else { f64::INFINITY };
    }
    error(width, &real(found), exact, unit)
}

/// The same as `error_of_float` for a number instead of a float.
pub fn error(width: Width, found: &Real, exact: &Real, unit: f64) -> f64 {
    if exact == &int(0) {
        return if found == exact { 0.0 } else { f64::INFINITY };
    }
    let least_exponent = width.of(-1074, -149);
    let exponent = if unit > 0.0 { exponent(exact).max(unit.log2() as isize) } else { exponent(exact) };
    let ulp = (exponent - width.digits() + 1).max(least_exponent);
    ((found - exact) >> ulp).to_f64().value().abs()
}

/// The binary exponent: ⌊log₂|x|⌋.
pub fn exponent(x: &Real) -> isize {
    let repr = x.repr();
    let digits = repr.digits() as isize;
    repr.exponent() + digits - 1
}

/// Returns random arguments within the domain of a function.
pub fn sources(random: &mut Random, width: Width, subject: &Subject) -> (f64, f64) {
    let a = random.within(width, subject.range(width));
    (a, random.second(width, subject, a))
}

/// The greatest error found, and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub error: f64,
    pub at: (f64, f64),
}

/// The number of worst arguments so far whose neighbours are tried.
const WORST: usize = 16;

/// Searches for the greatest error. Half of the arguments are random, the others are neighbours of the worst
/// so far.
pub fn search(subject: &Subject, width: Width, count: usize) -> Found {
    let mut random = Random::new();
    let range = subject.range(width);
    let mut worst: Vec<Found> = Vec::new();
    for n in 0..count {
        let at = match worst.get(random.bits() as usize % (2 * WORST)) {
            Some(found) if n > count / 8 => {
                let (a, b) = found.at;
                let a = random.beside(width, a);
                let b = if subject.domain.second == Second::Beside { random.beside(width, b) } else { b };
                (a, b)
            }
            _ => sources(&mut random, width, subject),
        };
        if !(range[0]..=range[1]).contains(&at.0) || !at.1.is_finite() || at.0 == 0.0 || at.1 == 0.0 {
            continue;
        }
        let found = Found { error: subject.error(width, at), at };
        let place = worst.partition_point(|other| other.error >= found.error);
        // Arguments with an error that is already in the list are left out, so that neighbours of one
        // argument don't fill it.
        if place < WORST && worst.get(place.wrapping_sub(1)).is_none_or(|other| other.error > found.error) {
            worst.insert(place, found);
            worst.truncate(WORST);
        }
    }
    worst.first().copied().unwrap_or(Found { error: 0.0, at: (1.0, 1.0) })
}

#[test]
fn increasing_functions_increase_between_adjacent_numbers() {
    for subject in SUBJECTS.iter().filter(|subject| subject.monotone != 0) {
        for width in Width::ALL {
            let mut random = Random(0x1234_5678_9abc_def1);
            let [least, greatest] = subject.range(width);
            for _ in 0..3000 {
                let a = random.within(width, [least, greatest / 2.0]);
                let b = random.second(width, subject, a);
                climb(subject, width, [a, b], greatest);
            }
        }
    }
}

/// Checks that a monotone function rises, or falls, from an argument to its next neighbours.
fn climb(subject: &Subject, width: Width, [mut a, b]: [f64; 2], greatest: f64) {
    let falls = matches!(subject.domain.second, Second::Exponent | Second::Whole) && b < 0.0;
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
