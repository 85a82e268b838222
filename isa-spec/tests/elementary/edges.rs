//! Edge cases, and arguments with exact results.

use reviver_isa::number::elementary::ops::upper_product;
use reviver_isa::number::elementary::{FloatOps, NativeDouble, NativeSingle, trig};

use crate::real::Width;
use crate::subject::{SUBJECTS, Subject};

fn subject(name: &str) -> &'static Subject {
    SUBJECTS.iter().find(|subject| subject.name == name).expect("a function")
}

/// Checks that a function has the same expected value in both formats, bit for bit.
fn is(name: &str, a: f64, b: f64, expected: f64) {
    for width in Width::ALL {
        let found = subject(name).value(width, a, b);
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(same, "{name}({a:?}, {b:?}) is {found:?} in {}, not {expected:?}", width.name());
    }
}

const INF: f64 = f64::INFINITY;

#[test]
fn limits_and_zeros() {
    for name in ["sinh", "tanh", "exp_m1", "ln_1p", "cbrt", "erf"] {
        is(name, 0.0, 0.0, 0.0);
        is(name, -0.0, 0.0, -0.0);
        is(name, f64::NAN, 0.0, f64::NAN);
    }
    for (name, a, value) in [
        ("exp", 0.0, 1.0),
        ("exp", -0.0, 1.0),
        ("exp", INF, INF),
        ("exp", -INF, 0.0),
        ("exp", 1e30, INF),
        ("exp", -1e30, 0.0),
        ("exp_m1", INF, INF),
        ("exp_m1", -INF, -1.0),
        ("exp_m1", -1e30, -1.0),
        ("sinh", INF, INF),
        ("sinh", -1e30, -INF),
        ("cosh", 0.0, 1.0),
        ("cosh", -INF, INF),
        ("cosh", 1e30, INF),
        ("tanh", INF, 1.0),
        ("tanh", -1e30, -1.0),
        ("sigmoid", 0.0, 0.5),
        ("sigmoid", INF, 1.0),
        ("sigmoid", -INF, 0.0),
        ("sigmoid", -1e30, 0.0),
        ("erf", INF, 1.0),
        ("erf", -1e30, -1.0),
        ("lgamma", 0.0, INF),
        ("lgamma", 1.0, 0.0),
        ("lgamma", 2.0, 0.0),
        ("lgamma", -0.5, f64::NAN),
        ("lgamma", INF, INF),
        ("digamma", 0.0, -INF),
        ("digamma", -0.5, f64::NAN),
        ("digamma", INF, INF),
        ("erf_slope", 1e30, 0.0),
        ("erf_slope", -INF, 0.0),
        ("log", 1.0, 0.0),
        ("log", 0.0, -INF),
        ("log", -0.0, -INF),
        ("log", -1.0, f64::NAN),
        ("log", INF, INF),
        ("ln_1p", -1.0, -INF),
        ("ln_1p", -1.5, f64::NAN),
        ("ln_1p", INF, INF),
    ] {
        is(name, a, 0.0, value);
    }
    for name in ["exp", "cosh", "sigmoid", "log", "lgamma", "digamma", "erf_slope"] {
        is(name, f64::NAN, 0.0, f64::NAN);
    }
}

#[test]
fn powers_at_their_edges() {
    for (a, b, value) in [
        (0.0, 0.0, 1.0),
        (-0.0, 0.0, 1.0),
        (5.0, -0.0, 1.0),
        (INF, 0.0, 1.0),
        (0.0, 1e-30, 0.0),
        (0.0, 2.5, 0.0),
        (0.0, -1.0, INF),
        (-0.0, 3.0, -0.0),
        (-0.0, 4.0, 0.0),
        (-0.0, 2.5, 0.0),
        (-0.0, -3.0, -INF),
        (-0.0, -2.0, INF),
        (-1.0, 1e30, 1.0),
        (-1.0, 3.0, -1.0),
        (-1.0, 0.5, f64::NAN),
        (-8.0, 1.0 / 4.0, f64::NAN),
        (1.0, 1e30, 1.0),
        (1.0, -1e30, 1.0),
        (2.0, 1e30, INF),
        (2.0, -1e30, 0.0),
        (0.5, 1e30, 0.0),
        (-2.0, 1e7, INF),
        (-2.0, 9_999_999.0, -INF),
        (INF, 2.0, INF),
        (INF, -2.0, 0.0),
        (3.0, 1e-30, 1.0),
    ] {
        is("pow", a, b, value);
    }
    assert_eq!(subject("pow").value(Width::Single, 1e30, 1.0), f64::from(1e30_f32));
}

/// Tests arguments for which a power, a root or a length is an integer: the result must be that integer.
#[test]
fn exact_results_are_exact() {
    for width in Width::ALL {
        let limit = 2_i64.pow(width.digits() as u32);
        for a in -60_i64..=60 {
            for n in 0..53 {
                let Some(power) = a.checked_pow(n).filter(|power| power.abs() <= limit) else { break };
                assert_eq!(subject("pow").value(width, a as f64, f64::from(n)), power as f64, "{a}^{n}");
                assert_eq!(subject("powi").value(width, a as f64, f64::from(n)), power as f64, "{a}^{n}");
                // For other n, 1/n is no float.
                if a > 0 && n.is_power_of_two() {
                    let root = subject("pow").value(width, power as f64, 1.0 / f64::from(n));
                    assert_eq!(root, a as f64, "{a}, {n}");
                }
            }
        }
        for a in 0_i64..=width.of(208_063, 256) {
            assert_eq!(subject("cbrt").value(width, -(a * a * a) as f64, 0.0), -a as f64);
        }
        for (m, n) in (1_i64..60).flat_map(|m| (1..m).map(move |n| (m, n))) {
            let (a, b, c) = (m * m - n * n, 2 * m * n, m * m + n * n);
            assert_eq!(subject("hypot").value(width, a as f64, -b as f64), c as f64);
        }
        for exponent in 1..width.of(1075, 150) {
            assert_eq!(subject("pow").value(width, 2.0, f64::from(-exponent)), 0.5_f64.powi(exponent));
        }
    }
    for (a, b, value) in [(0.0, -0.0, 0.0), (-INF, 0.0, INF), (3.0, -0.0, 3.0), (f64::NAN, 1.0, f64::NAN)] {
        is("hypot", a, b, value);
    }
    for (width, tiny) in [(Width::Double, f64::from_bits(3)), (Width::Single, f32::from_bits(3).into())] {
        assert_eq!(subject("hypot").value(width, tiny, 0.0), tiny);
        let greatest = width.of(f64::MAX, f32::MAX.into());
        assert_eq!(subject("hypot").value(width, greatest, greatest), INF);
        assert_eq!(subject("hypot").value(width, greatest, 1.0), greatest);
    }
}

#[test]
fn angles_at_their_edges() {
    for name in ["sin", "tan", "asin", "atan"] {
        for least in [0.0, -0.0, 1e-45_f32.into(), (-1e-45_f32).into()] {
            is(name, least, 0.0, least);
        }
    }
    for name in ["sin", "cos", "tan"] {
        for a in [INF, -INF, f64::NAN] {
            is(name, a, 0.0, f64::NAN);
        }
    }
    for name in ["asin", "acos"] {
        for a in [1.5, -1.5, 1e30, INF, -INF, f64::NAN] {
            is(name, a, 0.0, f64::NAN);
        }
    }
    is("cos", 0.0, 0.0, 1.0);
    is("cos", -0.0, 0.0, 1.0);
    is("acos", 1.0, 0.0, 0.0);
    is("atan", f64::NAN, 0.0, f64::NAN);
    is("atan2", f64::NAN, 1.0, f64::NAN);
    is("atan2", 1.0, f64::NAN, f64::NAN);
}

/// Checks that a value is `quarters` times π/4, rounded in each format, including the sign of a zero.
fn is_quarters(name: &str, a: f64, b: f64, quarters: f64) {
    for width in Width::ALL {
        let expected = quarters * std::f64::consts::FRAC_PI_4;
        let expected = width.of(expected, f64::from(expected as f32));
        let found = subject(name).value(width, a, b);
        let name = format!("{name}({a:?}, {b:?})");
        assert_eq!(found.to_bits(), expected.to_bits(), "{name} is {found:?} in {}", width.name());
    }
}

#[test]
fn arcs_at_their_edges() {
    is_quarters("asin", 1.0, 0.0, 2.0);
    is_quarters("asin", -1.0, 0.0, -2.0);
    is_quarters("acos", -1.0, 0.0, 4.0);
    is_quarters("acos", 0.0, 0.0, 2.0);
    is_quarters("acos", -0.0, 0.0, 2.0);
    is_quarters("atan", 1.0, 0.0, 1.0);
    is_quarters("atan", INF, 0.0, 2.0);
    is_quarters("atan", -INF, 0.0, -2.0);
    is_quarters("atan", -1e30, 0.0, -2.0);
    let tiny = f64::from(1e-45_f32);
    for (y, x, quarters) in [
        (0.0, 0.0, 0.0),
        (0.0, -0.0, 4.0),
        (0.0, 2.5, 0.0),
        (0.0, -2.5, 4.0),
        (0.0, tiny, 0.0),
        (0.0, -tiny, 4.0),
        (0.0, INF, 0.0),
        (0.0, -INF, 4.0),
        (3.0, 0.0, 2.0),
        (3.0, -0.0, 2.0),
        (tiny, 0.0, 2.0),
        (tiny, tiny, 1.0),
        (tiny, -tiny, 3.0),
        (1e30, 1e30, 1.0),
        (f32::MAX.into(), (-f32::MAX).into(), 3.0),
        (2.0, INF, 0.0),
        (2.0, -INF, 4.0),
        (INF, 2.0, 2.0),
        (INF, -2.0, 2.0),
        (INF, 0.0, 2.0),
        (INF, INF, 1.0),
        (INF, -INF, 3.0),
    ] {
        is_quarters("atan2", y, x, quarters);
        is_quarters("atan2", -y, x, -quarters);
    }
}

/// Tests that sine and cosine never exceed 1 in magnitude, and that `sin_cos` returns the same values as the
/// separate functions.
#[test]
fn waves_are_at_most_one() {
    for n in 0..2000 {
        let a = f64::from(n) * std::f64::consts::FRAC_PI_2;
        for a in [a, a.next_up(), a * 1.01, a * 1e20] {
            let (sine, cosine) = trig::sin_cos(&NativeDouble, a);
            assert!(sine.abs() <= 1.0 && cosine.abs() <= 1.0, "{a:?}");
            assert_eq!((sine, cosine), (trig::sin(&NativeDouble, a), trig::cos(&NativeDouble, a)));
            let a = a as f32;
            let (sine, cosine) = trig::sin_cos(&NativeSingle, a);
            assert!(sine.abs() <= 1.0 && cosine.abs() <= 1.0, "{a:?}");
            assert_eq!((sine, cosine), (trig::sin(&NativeSingle, a), trig::cos(&NativeSingle, a)));
        }
    }
}

/// Tests the arguments at which rounding is hardest: V. Lefèvre and J.-M. Muller, "Worst cases for correct
/// rounding of the elementary functions in double precision", INRIA research report 4044 (2000). The exact
/// values are within 2^-58 ulp of the middle between two floats. Also tests pairs of sources of very
/// different sizes.
#[test]
fn hard_cases() {
    let small = |digits: u64, exponent: i32| digits as f64 * 2_f64.powi(exponent - 52);
    for (name, a) in [
        ("exp", small(0x19_e9cb_bfd6_080b, -31)),
        ("log", small(0x16_2a88_6136_29b6, 678)),
        ("sin", small(0x1e_0000_0000_01c2, -20)),
        ("cos", small(0x18_0000_0000_0009, -23)),
        ("tan", small(0x1d_ffff_ffff_ff1f, -22)),
        ("atan", small(0x1e_0000_0000_0546, -21)),
    ] {
        let error = subject(name).error(Width::Double, (a, 1.0));
        assert!(error < 0.501, "{name}({a:?}): {error}");
    }
    for (width, y, x) in [
        (Width::Double, 7.244243e-317, 2.299833247428977e-47),
        (Width::Double, -1.0316256383e-313, 0.015629399902663082),
        (Width::Single, f64::from(1.192_5e-42_f32), f64::from(1.351_716_6e-23_f32)),
        (Width::Single, f64::from(-1.026_706_4e-38_f32), f64::from(1.288_067_3_f32)),
    ] {
        for (y, x) in [(y, x), (y, -x), (x, y), (-x, y)] {
            let error = subject("atan2").error(width, (y, x));
            assert!(error < 0.6, "atan2({y:?}, {x:?}) in {}: {error}", width.name());
        }
    }
}

/// Tests that the native upper word of a product equals the one computed from halves of words.
#[test]
fn upper_words_of_products() {
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    let mut word = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        bits as i64
    };
    for n in 0..10_000 {
        let b = match n % 3 {
            0 => -1,
            _ => word(),
        };
        let a = if n % 5 == 0 { -1 } else { word() };
        assert_eq!(NativeDouble.word_mul_upper(a, b), upper_product(&NativeDouble, a, b), "{a:#x}, {b:#x}");
        let (a, b) = ((a >> 32) as i32, b as i32);
        assert_eq!(NativeSingle.word_mul_upper(a, b), upper_product(&NativeSingle, a, b), "{a:#x}, {b:#x}");
    }
}
