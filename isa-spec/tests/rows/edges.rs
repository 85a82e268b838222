//! Tests the documented edges of every row. Each sentence of the manual has a case here that checks it; a
//! sentence without a case fails the test.

use reviver_isa::Function::{self, *};
use reviver_isa::fault::Fault;
use reviver_isa::module::{RealSystem, Word};

use crate::numbers::System;

/// The functions, a sentence of their edges, and a test of that sentence.
type Case = (&'static [Function], &'static str, fn(Function));

const CASES: &[Case] = &[
    (&[Sum, Diff, Square], "Integers wrap; fixed point traps on overflow", |f| {
        wraps(f);
        fixed_overflows(f);
    }),
    (&[Mul], "Integers wrap; fixed point rounds to even and traps on overflow", |f| {
        wraps(f);
        fixed_overflows(f);
        for system in System::fixed() {
            let ulp = system.ulp();
            for (units, half) in [(1.0, 0.0), (3.0, 2.0), (5.0, 2.0), (-3.0, -2.0)] {
                assert_eq!(system.real(f, units * ulp, 0.5), Ok(half * ulp));
            }
        }
    }),
    (&[Div], "Division by zero traps", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, 5, 0), Err(Fault::DivisionByZero));
            assert_eq!(ints(word).int(f, 0, 0), Err(Fault::DivisionByZero));
        }
        for system in System::each() {
            for dividend in [1.0, -1.0, 0.0] {
                traps(system.real(f, dividend, 0.0));
                traps(system.partial(f, 0, dividend, 0.0));
                traps(system.partial(f, 1, dividend, 0.0));
            }
            traps(system.real(f, 1.0, -0.0));
        }
    }),
    (&[Div], "Integer MIN / -1 wraps to MIN", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, min(word), -1), Ok(min(word)));
            assert_eq!(ints(word).int(f, min(word), 1), Ok(min(word)));
        }
    }),
    (&[Div], "Fixed point rounds to even and traps on overflow", |f| {
        for system in System::fixed() {
            let ulp = system.ulp();
            assert_eq!(system.real(f, ulp, 2.0), Ok(0.0));
            assert_eq!(system.real(f, 3.0 * ulp, 2.0), Ok(2.0 * ulp));
            assert_eq!(system.real(f, system.max() / 2.0, 0.25), Err(Fault::Overflow));
        }
    }),
    (&[Rem], "A zero divisor traps", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, 5, 0), Err(Fault::DivisionByZero));
        }
    }),
    (&[Rem], "MIN rem -1 is 0", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, min(word), -1), Ok(0));
        }
    }),
    (&[Floordiv], "Division by zero traps", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, 5, 0), Err(Fault::DivisionByZero));
        }
    }),
    (&[Floordiv], "Integer MIN / -1 wraps to MIN", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, min(word), -1), Ok(min(word)));
        }
    }),
    (&[Mod], "A zero divisor traps", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, -5, 0), Err(Fault::DivisionByZero));
        }
    }),
    (&[Mod], "MIN mod -1 is 0", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, min(word), -1), Ok(0));
        }
    }),
    (&[Pow], "0 to the 0 is 1", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, 0, 0), Ok(1));
        }
        for system in System::each() {
            assert_eq!(system.real(f, 0.0, 0.0), Ok(1.0));
        }
    }),
    (&[Pow], "Integers wrap, and a negative integer exponent traps", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, 2, i64::from(word.bits()) - 1), Ok(min(word)));
            assert_eq!(ints(word).int(f, 2, word.bits().into()), Ok(0));
            for base in [0, 1, -1, 2] {
                assert_eq!(ints(word).int(f, base, -1), Err(Fault::NegativeExponent));
                assert_eq!(ints(word).int(f, base, min(word)), Err(Fault::NegativeExponent));
            }
        }
    }),
    (&[Pow], "A negative real base traps unless the exponent is whole; 0 to a negative power traps", |f| {
        for system in System::each() {
            traps(system.real(f, -2.0, 0.5));
            traps(system.real(f, -2.0, -1.5));
            assert_eq!(system.real(f, -2.0, 3.0), Ok(-8.0));
            assert_eq!(system.real(f, -2.0, -1.0), Ok(-0.5));
            traps(system.real(f, 0.0, -1.0));
            traps(system.real(f, 0.0, -0.5));
            assert_eq!(system.real(f, 0.0, 0.5), Ok(0.0));
        }
    }),
    (
        &[Pow],
        "The derivative by the base is 0 where the exponent is 0; \
         the derivative by the exponent traps where the base is not positive",
        |f| {
            for system in System::each() {
                for base in [0.0, 2.0, -2.0] {
                    assert_eq!(system.partial(f, 0, base, 0.0).map(f64::abs), Ok(0.0));
                }
                assert_eq!(system.partial(f, 0, -2.0, 3.0), Ok(12.0));
                assert_eq!(system.partial(f, 0, 0.0, 1.0), Ok(1.0));
                traps(system.partial(f, 1, 0.0, 2.0));
                traps(system.partial(f, 1, -2.0, 2.0));
            }
        },
    ),
    (&[Powi], "0 to the 0 is 1; 0 to a negative power traps", |f| {
        for system in System::each() {
            assert_eq!(system.real_int(f, 0.0, 0), Ok(1.0));
            traps(system.real_int(f, 0.0, -1));
            traps(system.real_int(f, 0.0, i64::MIN));
            assert_eq!(system.real_int(f, 0.0, i64::MAX), Ok(0.0));
        }
    }),
    (&[Powi], "The derivative is 0 where the exponent is 0", |f| {
        for system in System::each() {
            for base in [0.0, 2.0, -2.0] {
                assert_eq!(system.partial_int(f, base, 0), Ok(0.0));
            }
            assert_eq!(system.partial_int(f, 0.0, 1), Ok(1.0));
            assert_eq!(system.partial_int(f, 0.0, 2), Ok(0.0));
            traps(system.partial_int(f, 0.0, -1));
        }
    }),
    (
        &[Powi],
        "Fixed point traps on overflow; \
         its derivative also traps if the exponent is too large for fixed point",
        |f| {
            for system in System::fixed() {
                assert_eq!(system.real_int(f, 2.0, 63), Err(Fault::Overflow));
                assert_eq!(system.partial_int(f, 0.5, 1 << 62), Err(Fault::Overflow));
                assert_eq!(system.real_int(f, 0.5, 1 << 62), Ok(0.0));
            }
        },
    ),
    (
        &[Min, Max],
        "Equal sources, including ±0, give the first source, which then gets the whole derivative",
        |f| {
            for system in System::floats() {
                assert_eq!(system.real(f, -0.0, 0.0).map(f64::to_bits), Ok((-0.0_f64).to_bits()));
                assert_eq!(system.real(f, 0.0, -0.0).map(f64::to_bits), Ok(0.0_f64.to_bits()));
            }
            for system in System::each() {
                for tie in [-2.0, 0.0, 1.5] {
                    assert_eq!(system.real(f, tie, tie), Ok(tie));
                    assert_eq!(system.partial(f, 0, tie, tie), Ok(1.0));
                    assert_eq!(system.partial(f, 1, tie, tie), Ok(0.0));
                }
            }
            for word in Word::ALL {
                assert_eq!(ints(word).int(f, 7, 7), Ok(7));
            }
        },
    ),
    (&[Abs], "The integer MIN wraps to MIN; in fixed point it traps", |f| {
        for word in Word::ALL {
            assert_eq!(ints(word).int(f, min(word), 0), Ok(min(word)));
        }
        for system in System::fixed() {
            assert_eq!(system.real(f, least(system), 0.0), Err(Fault::Overflow));
            assert_eq!(system.real(f, least(system) / 2.0, 0.0), Ok(-least(system) / 2.0));
        }
    }),
    (&[Abs], "The float zero -0 stays -0", |f| {
        for system in System::floats() {
            assert_eq!(system.real(f, -0.0, 0.0).map(f64::to_bits), Ok((-0.0_f64).to_bits()));
        }
    }),
    (&[Abs, Relu], "The derivative at 0 is 0", |f| {
        for system in System::each() {
            assert_eq!(system.partial(f, 0, 0.0, 0.0), Ok(0.0));
            assert_eq!(system.partial(f, 0, -0.0, 0.0), Ok(0.0));
            assert_eq!(system.partial(f, 0, system.ulp(), 0.0), Ok(1.0));
        }
    }),
    (&[Inv], "0 traps", |f| {
        for system in System::each() {
            traps(system.real(f, 0.0, 0.0));
            traps(system.real(f, -0.0, 0.0));
            traps(system.partial(f, 0, 0.0, 0.0));
        }
    }),
    (&[Inv], "Fixed point rounds to even and traps on overflow", |f| {
        for system in System::fixed() {
            if system.reals == RealSystem::Fixed(16) {
                // Half a unit of the last place is rounded to 0, and no reciprocal is out of range.
                assert_eq!(system.real(f, 2_f64.powi(17), 0.0), Ok(0.0));
                assert_eq!(system.real(f, system.ulp(), 0.0), Ok(1.0 / system.ulp()));
            } else {
                assert_eq!(system.real(f, system.ulp(), 0.0), Err(Fault::Overflow));
            }
        }
    }),
    (&[Sqrt], "A negative source traps; so does the derivative at 0", |f| {
        for system in System::each() {
            traps(system.real(f, -1.0, 0.0));
            traps(system.real(f, -system.ulp(), 0.0));
            assert_eq!(system.real(f, 0.0, 0.0), Ok(0.0));
            traps(system.partial(f, 0, 0.0, 0.0));
            traps(system.partial(f, 0, -1.0, 0.0));
        }
    }),
    (&[Exp], "A result out of range traps", |f| {
        for system in System::each() {
            traps(system.real(f, 100.0, 0.0).and_then(|_| system.real(f, 1000.0, 0.0)));
            assert_eq!(system.real(f, -60.0, 0.0).map(|v| v < 1e-20), Ok(true));
        }
    }),
    (&[Sinh, Cosh], "A result out of range traps", |f| {
        for system in System::each() {
            for sign in [1.0, -1.0] {
                traps(system.real(f, sign * 100.0, 0.0).and_then(|_| system.real(f, sign * 1000.0, 0.0)));
            }
        }
    }),
    (&[Tan], "A result out of range traps", |f| {
        let close = std::f64::consts::FRAC_PI_2;
        let narrow = System::of(RealSystem::Fixed(56));
        assert_eq!(narrow.real(f, close, 0.0), Err(Fault::Overflow));
        // No float is close enough to a pole for an overflow.
        for system in System::floats() {
            assert!(system.real(f, close, 0.0).is_ok());
        }
    }),
    (&[Log], "A source that is not positive traps", |f| {
        for system in System::each() {
            for source in [0.0, -0.0, -system.ulp(), -1.0] {
                traps(system.real(f, source, 0.0));
            }
            assert!(system.real(f, system.ulp(), 0.0).is_ok());
        }
    }),
    (&[Asin, Acos], "A source outside [-1, 1] traps; so does the derivative at ±1", |f| {
        for system in System::each() {
            for sign in [1.0, -1.0] {
                traps(system.real(f, sign * (1.0 + system.ulp().max(f64::EPSILON)), 0.0));
                assert!(system.real(f, sign, 0.0).is_ok());
                traps(system.partial(f, 0, sign, 0.0));
                traps(system.partial(f, 0, sign * 1.5, 0.0));
                assert!(system.partial(f, 0, sign * 0.99, 0.0).is_ok());
            }
        }
    }),
    (
        &[Atan2],
        "The angle of the origin is 0, or ±0 or ±π by the signs of float zeros; the derivative at the origin traps",
        |f| {
            use std::f64::consts::PI;
            for system in System::each() {
                assert_eq!(system.real(f, 0.0, 0.0), Ok(0.0));
                traps(system.partial(f, 0, 0.0, 0.0));
                traps(system.partial(f, 1, 0.0, 0.0));
            }
            for (y, x, angle) in [(-0.0, 0.0, -0.0_f64), (0.0, -0.0, PI), (-0.0, -0.0, -PI)] {
                let found = System::of(RealSystem::F64).real(f, y, x);
                assert_eq!(found.map(f64::to_bits), Ok(angle.to_bits()));
            }
        },
    ),
    (&[Floor, Round], "The derivative is 0 everywhere", |f| {
        for system in System::each() {
            for source in [-1.5, -1.0, 0.0, 0.5, 2.0] {
                assert_eq!(system.partial(f, 0, source, 0.0), Ok(0.0));
            }
        }
    }),
    (&[Round], "Fixed point traps where the neighbour is out of range", |f| {
        for system in System::fixed() {
            // The f64 nearest to the greatest number may be out of range; half a unit below it is in range.
            let whole = -least(system);
            assert_eq!(system.real(f, whole - 0.5, 0.0), Err(Fault::Overflow));
            assert_eq!(system.real(f, whole - 0.75, 0.0), Ok(whole - 1.0));
            assert_eq!(system.real(f, least(system), 0.0), Ok(least(system)));
        }
    }),
    (&[Shl, Shr], "Amounts below 0 or at least the width give 0", |f| {
        for word in Word::ALL {
            for amount in outside(word) {
                assert_eq!(ints(word).int(f, -1, amount), Ok(0));
            }
            assert_ne!(ints(word).int(f, -1, i64::from(word.bits()) - 1), Ok(0));
        }
    }),
    (&[Sar], "Amounts below 0 or at least the width give the sign: 0 or -1", |f| {
        for word in Word::ALL {
            for amount in outside(word) {
                assert_eq!(ints(word).int(f, min(word), amount), Ok(-1));
                assert_eq!(ints(word).int(f, 5, amount), Ok(0));
            }
        }
    }),
    (&[Eq, Ne, Lt, Le, Gt, Ge], "The float zeros -0 and +0 are equal", |f| {
        for system in System::floats() {
            for (a, b) in [(-0.0, 0.0), (0.0, -0.0)] {
                let equal = matches!(f, Eq | Le | Ge);
                assert_eq!(system.reals_to_int(f, a, b), Ok(equal.into()));
            }
        }
    }),
    (&[ToReal], "Fixed point traps out of range", |f| {
        for system in System::fixed() {
            assert_eq!(system.ints_to_real(f, i64::MAX), Err(Fault::Overflow));
            assert_eq!(system.ints_to_real(f, i64::MIN), Err(Fault::Overflow));
            assert_eq!(system.ints_to_real(f, least(system) as i64), Ok(least(system)));
            assert_eq!(system.ints_to_real(f, -(least(system) as i64)), Err(Fault::Overflow));
        }
    }),
    (&[ToInt], "A real out of the integers' range traps", |f| {
        for word in Word::ALL {
            for reals in [RealSystem::F64, RealSystem::F32, RealSystem::Fixed(16)] {
                let system = System { word, reals };
                let end = -(min(word) as f64);
                if end < system.max() {
                    assert_eq!(system.reals_to_int(f, end, 0.0), Err(Fault::OutOfRange));
                    assert_eq!(system.reals_to_int(f, -end * 1.5, 0.0), Err(Fault::OutOfRange));
                    assert_eq!(system.reals_to_int(f, -end, 0.0), Ok(min(word)));
                }
            }
        }
    }),
    (&[ExpM1], "A result out of range traps", |f| {
        for system in System::each() {
            traps(system.real(f, 100.0, 0.0).and_then(|_| system.real(f, 1000.0, 0.0)));
            assert_eq!(system.real(f, -60.0, 0.0), Ok(-1.0));
        }
    }),
    (&[ExpM1], "The derivative is 1 more than the result, and traps out of range", |f| {
        System::each().for_each(|system| assert_eq!(system.partial(f, 0, 0.0, 0.0), Ok(1.0)));
        let system = System::of(RealSystem::Fixed(43));
        assert!(system.real(f, 13.862943849617457, 0.0).is_ok());
        traps(system.partial(f, 0, 13.862943849617457, 0.0));
    }),
    (&[Ln1p], "A source that is not above -1 traps", |f| {
        for system in System::each() {
            for source in [-1.0, -1.0 - system.ulp().max(f64::EPSILON), -2.0] {
                traps(system.real(f, source, 0.0));
            }
            assert!(system.real(f, -1.0 + system.ulp().max(f64::EPSILON), 0.0).is_ok());
            traps(system.partial(f, 0, -1.0, 0.0));
        }
    }),
    (&[Cbrt], "The derivative at 0 traps", |f| {
        for system in System::each() {
            for zero in [0.0, -0.0] {
                assert_eq!(system.real(f, zero, 0.0), Ok(0.0));
                traps(system.partial(f, 0, zero, 0.0));
            }
            assert_eq!(system.real(f, -8.0, 0.0), Ok(-2.0));
        }
    }),
    (&[Hypot], "A result out of range traps; a square out of range does not", |f| {
        for system in System::each() {
            let large = system.max() / 4.0;
            traps(system.real(f, system.max(), system.max()));
            assert!(system.real(f, large, large).is_ok_and(|length| length > 1.4 * large));
            assert!(system.partial(f, 0, large, large).is_ok());
        }
        for system in System::floats() {
            let small =
                if system.reals == RealSystem::F32 { f32::MIN_POSITIVE.into() } else { f64::MIN_POSITIVE };
            assert_eq!(system.real(f, 3.0 * small, -4.0 * small), Ok(5.0 * small));
        }
    }),
    (&[Hypot], "The derivative traps if both sources are 0", |f| {
        for system in System::each() {
            assert_eq!(system.real(f, 0.0, 0.0), Ok(0.0));
            traps(system.partial(f, 0, 0.0, 0.0));
            traps(system.partial(f, 1, 0.0, 0.0));
            assert_eq!(system.partial(f, 0, -2.0, 0.0), Ok(-1.0));
        }
    }),
    (&[LogGamma], "A source that is not positive traps, and so does a result out of range", |f| {
        for system in System::each() {
            for source in [0.0, -0.0, -system.ulp(), -0.5, -1.0] {
                traps(system.real(f, source, 0.0));
                traps(system.partial(f, 0, source, 0.0));
            }
            traps(system.real(f, system.max(), 0.0));
            assert_eq!([1.0, 2.0].map(|source| system.real(f, source, 0.0)), [Ok(0.0), Ok(0.0)]);
        }
    }),
];

fn ints(word: Word) -> System {
    System { word, reals: RealSystem::F64 }
}

fn min(word: Word) -> i64 {
    *word.range().start()
}

/// The least number of a fixed-point system, a power of two.
fn least(system: System) -> f64 {
    -(2_f64.powi(63) * system.ulp())
}

/// Returns shift amounts below 0 or at least the width.
fn outside(word: Word) -> [i64; 5] {
    let bits = i64::from(word.bits());
    [bits, bits + 1, -1, min(word), *word.range().end()]
}

#[track_caller]
fn traps<T: std::fmt::Debug>(result: Result<T, Fault>) {
    assert!(result.is_err(), "{result:?}");
}

/// Checks that integers wrap: a result out of range is reduced modulo the width.
fn wraps(f: Function) {
    for word in Word::ALL {
        let (max, range) = (*word.range().end(), 1_i128 << word.bits());
        let (b, exact) = match f {
            Sum => (max, i128::from(max) * 2),
            Diff => (-max - 1, i128::from(max) * 2 + 1),
            _ => (max, i128::from(max) * i128::from(max)),
        };
        let wrapped = (exact + range / 2).rem_euclid(range) - range / 2;
        assert_eq!(ints(word).int(f, max, b).map(i128::from), Ok(wrapped));
    }
}

/// Checks that fixed point traps instead of wrapping on overflow.
fn fixed_overflows(f: Function) {
    for system in System::fixed() {
        let large = -least(system) / 2.0;
        let sign = if f == Diff { -1.0 } else { 1.0 };
        let (a, b) = if f == Mul { (large, 2.0) } else { (large, sign * large) };
        assert_eq!(system.real(f, a, b), Err(Fault::Overflow));
    }
}

/// Returns the sentences of a row's edges, without their full stops.
fn sentences(function: Function) -> Vec<&'static str> {
    let sentences = function.edges().split(". ").map(|sentence| sentence.trim_end_matches('.'));
    sentences.filter(|sentence| !sentence.is_empty()).collect()
}

pub fn check_function(function: Function) {
    for (_, _, case) in CASES.iter().filter(|(functions, ..)| functions.contains(&function)) {
        case(function);
    }
}

#[test]
fn edge_cases_match_the_rows() {
    Function::ALL.iter().copied().for_each(check_function);
}

#[test]
fn every_sentence_about_edges_has_a_case() {
    for &function in Function::ALL {
        for sentence in sentences(function) {
            let has_case = CASES.iter().any(|(fs, about, _)| fs.contains(&function) && *about == sentence);
            assert!(has_case, "no case tries what `{}` says: {sentence}", function.name());
        }
    }
}

#[test]
fn every_case_is_about_a_sentence() {
    for (functions, about, _) in CASES {
        for &function in *functions {
            assert!(sentences(function).contains(about), "`{}` doesn't say: {about}", function.name());
        }
    }
}
