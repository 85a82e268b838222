//! Tests every function of reals against the platform's own floats, in all number systems.

use reviver_isa::Function;
use reviver_isa::function::Signature;
use reviver_isa::module::{RealSystem, Word};
use reviver_isa::number::{Arithmetic, F32, F64, FixedPoint, Narrow, Reals};

use crate::bytes::is_frozen;
use crate::numbers::{Random, System};

/// Returns the platform's value; `None` for functions that this test doesn't know.
fn by_the_platform(name: &str, a: f64, b: f64) -> Option<f64> {
    Some(match name {
        "copy" => a,
        "sum" => a + b,
        "diff" => a - b,
        "mul" => a * b,
        "div" => a / b,
        "pow" => a.powf(b),
        "min" => a.min(b),
        "max" => a.max(b),
        "abs" => a.abs(),
        "square" => a.powi(2),
        "relu" => a.max(0.0),
        "inv" => a.recip(),
        "sqrt" => a.sqrt(),
        "exp" => a.exp(),
        "log" => a.ln(),
        "sin" => a.sin(),
        "cos" => a.cos(),
        "tan" => a.tan(),
        "asin" => a.asin(),
        "acos" => a.acos(),
        "atan" => a.atan(),
        "atan2" => a.atan2(b),
        "sinh" => a.sinh(),
        "cosh" => a.cosh(),
        "tanh" => a.tanh(),
        "floor" => a.floor(),
        "round" => a.round_ties_even(),
        _ => return None,
    })
}

/// The same as `by_the_platform` for (real, integer) → real.
fn by_the_platform_int(name: &str, a: f64, b: i64) -> Option<f64> {
    (name == "powi").then(|| a.powf(b as f64))
}

/// The same as `by_the_platform` for reals → integer.
fn truth_by_the_platform(name: &str, a: f64, b: f64) -> Option<i64> {
    Some(match name {
        "eq" => (a == b).into(),
        "ne" => (a != b).into(),
        "lt" => (a < b).into(),
        "le" => (a <= b).into(),
        "gt" => (a > b).into(),
        "ge" => (a >= b).into(),
        "toint" => a as i64,
        _ => return None,
    })
}

/// Returns a number of the system, of moderate magnitude.
fn sample(random: &mut Random, system: System) -> f64 {
    let sign = random.sign();
    let value = match random.bits() >> 60 {
        0..=7 => random.magnitude(-3.0, 1.0),
        8..=11 => random.unit(),
        12..=13 => f64::from((random.bits() >> 60) as u32),
        _ => f64::from((random.bits() >> 60) as u32) + 0.5,
    };
    system.real(Function::Copy, sign * value, 0.0).unwrap_or(value)
}

/// Returns the allowed distance between a value and the platform's value, which is the sum of both errors.
/// The platform's error is the smaller one, except in fixed point with many bits.
fn tolerance(system: System, value: f64) -> f64 {
    let relative = 16.0 * f64::EPSILON * value.abs();
    match system.reals {
        RealSystem::Fixed(_) => relative + 1.01 * system.ulp(),
        // Subnormal numbers have fewer digits.
        RealSystem::F64 => 4.0 * system.ulp() * value.abs().max(f64::MIN_POSITIVE),
        RealSystem::F32 => 4.0 * system.ulp() * value.abs().max(f32::MIN_POSITIVE.into()),
    }
}

fn assert_close(function: Function, system: System, found: f64, expected: f64, at: &str) {
    let far = (found - expected).abs() > tolerance(system, expected);
    assert!(!far, "{}({at}) in {} is {found}, not {expected}", function.name(), system.reals);
}

pub fn check_function(function: Function) {
    let name = function.name();
    for signature in function.signatures() {
        for system in System::each() {
            let mut random = Random::new();
            let mut values = 0;
            for _ in 0..3000 {
                let (a, b) = (sample(&mut random, system), sample(&mut random, system));
                let (n, at) = (b.trunc() as i64, format!("{a}, {b}"));
                let compared = match signature {
                    Signature::Real => by_the_platform(name, a, b).zip(system.real(function, a, b).ok()),
                    Signature::RealInt => {
                        by_the_platform_int(name, a, n).zip(system.real_int(function, a, n).ok())
                    }
                    Signature::IntsToReal => Some(n as f64).zip(system.ints_to_real(function, n).ok()),
                    Signature::RealsToInt => {
                        let truth = truth_by_the_platform(name, a, b).map(|v| v as f64);
                        truth.zip(system.reals_to_int(function, a, b).ok().map(|v| v as f64))
                    }
                    Signature::Int => None,
                };
                if let Some((expected, found)) = compared.filter(|(expected, _)| expected.is_finite()) {
                    assert_close(function, system, found, expected, &at);
                    values += 1;
                }
            }
            let checked = signature == Signature::Int || !is_frozen(function) || values > 300;
            assert!(checked, "{name} in {} has {values} values only", system.reals);
        }
    }
}

pub fn functions() -> impl Iterator<Item = Function> {
    Function::ALL
        .iter()
        .copied()
        .filter(|function| function.signatures().any(|signature| signature != Signature::Int))
}

#[test]
fn functions_of_reals_match_the_platform() {
    functions().for_each(check_function);
}

/// Tests that a literal is the nearest f64, then rounded to even into the system.
#[test]
fn literals_round_to_even() {
    let half_ulp = f64::from(f32::EPSILON) / 2.0;
    for (written, held) in [
        (0.1, f64::from(0.1_f32)),
        (1.0 + half_ulp, 1.0),
        (1.0 + 3.0 * half_ulp, 1.0 + 4.0 * half_ulp),
        (1.0 + half_ulp * 1.000_001, 1.0 + 2.0 * half_ulp),
        (-0.0, -0.0),
        (1e-60, 0.0),
    ] {
        let cell = F32.literal(written).unwrap();
        assert_eq!(f64::from(cell).to_bits(), held.to_bits(), "{written}");
    }
    assert_eq!(F32.literal(1e39).and_then(|cell| F32.admit(cell)).ok(), None);

    let fixed = FixedPoint::new(16);
    let half_ulp = 2_f64.powi(-17);
    for (written, raw) in [
        (1.0, 1 << 16),
        (half_ulp, 0),
        (3.0 * half_ulp, 2),
        (5.0 * half_ulp, 2),
        (-half_ulp, 0),
        (-3.0 * half_ulp, -2),
        (half_ulp * 1.000_001, 1),
        (-0.0, 0),
    ] {
        assert_eq!(fixed.literal(written), Ok(raw), "{written}");
    }
    assert!(fixed.literal(2_f64.powi(47)).is_err());
    assert_eq!(fixed.literal(-(2_f64.powi(47))), Ok(i64::MIN));

    assert_eq!(F64.literal(0.1), Ok(0.1));
}

/// Tests bits, text and magnitude of the cells of every system.
#[test]
fn cells_are_read_back_unchanged() {
    fn check<R: Reals>(reals: R) {
        let mut random = Random::new();
        for _ in 0..2000 {
            let value = random.sign() * random.magnitude(-4.0, 1.5);
            let cell = reals.literal(value).unwrap();
            assert_eq!(reals.of_bits(reals.to_bits(cell)), cell);
            assert_eq!(reals.parse(&reals.text(cell)), Some(cell));
            assert_eq!(reals.literal(reals.to_f64(cell)), Ok(cell));
            assert!(reals.ulp(cell) > 0.0);
            assert!((reals.to_f64(cell) - value).abs() <= reals.ulp(cell) / 2.0);
        }
        assert_eq!(reals.to_bits(R::Cell::default()), R::Bits::default());
    }
    check(F64);
    check(F32);
    [16, 43, 56].into_iter().for_each(|bits| check(FixedPoint::new(bits)));
}

/// Tests that a negative base to an odd power is negative even if the exponent is so large that a float
/// doesn't represent its parity.
#[test]
fn the_parity_of_large_exponents_is_exact() {
    for system in System::each() {
        for n in [3, (1 << 24) + 1, (1 << 53) + 1, i64::MAX, -3, -(1 << 53) - 1] {
            assert_eq!(system.real_int(Function::Powi, -1.0, n), Ok(-1.0), "{n} in {}", system.reals);
            assert_eq!(system.real_int(Function::Powi, -1.0, n - 1), Ok(1.0), "{n} in {}", system.reals);
        }
    }
    for system in System::floats() {
        let zero = system.real_int(Function::Powi, -0.0, (1 << 53) + 1).unwrap();
        assert!(zero == 0.0 && zero.is_sign_negative());
    }
}

#[test]
fn rotations_are_reversible() {
    fn check<R: Reals>(reals: R, tolerance: f64) {
        let mut random = Random::new();
        for _ in 0..2000 {
            let mut some = || reals.literal(random.sign() * random.magnitude(-3.0, 1.5)).unwrap();
            let (x, y, angle) = (some(), some(), some());
            let (p, q, t) = (reals.to_f64(x), reals.to_f64(y), reals.to_f64(angle));
            let (turned_x, turned_y) = reals.rotate(x, y, angle).unwrap();
            let size = tolerance * (1.0 + p.abs() + q.abs());
            assert!((reals.to_f64(turned_x) - (p * t.cos() - q * t.sin())).abs() < size);
            assert!((reals.to_f64(turned_y) - (p * t.sin() + q * t.cos())).abs() < size);
            let (back_x, back_y) = reals.rotate_back(turned_x, turned_y, angle).unwrap();
            assert!((reals.to_f64(back_x) - p).abs() < size && (reals.to_f64(back_y) - q).abs() < size);
            assert!(!R::EXACT || (back_x, back_y) == (x, y));
        }
    }
    check(F64, 1e-15);
    check(F32, 1e-6);
    check(FixedPoint::new(16), 5e-5);
    check(FixedPoint::new(43), 1e-12);
    check(FixedPoint::new(56), 1e-14);
}

/// Tests that a real becomes an integer of the module's width, or traps.
#[test]
fn integer_parts_fit_the_word() {
    for word in Word::ALL {
        let (min, max) = (*word.range().start(), *word.range().end());
        let numbers = Arithmetic { words: Narrow(word), reals: F64 };
        let part = |value: f64| Function::ToInt.reals_to_int(&numbers, value, 0.0).ok();
        // For 64 bits, the greatest float below the end of the range.
        let last = if word == Word::W64 { 2_f64.powi(63) - 1024.0 } else { max as f64 + 0.5 };
        assert_eq!(part(last), Some(last as i64));
        assert_eq!(part(min as f64), Some(min));
        assert_eq!(part(-(min as f64)), None);
        assert_eq!(part(min as f64 * 2.0), None);
        assert_eq!(part(-0.999), Some(0));
    }
}
