//! Tests of conversions to floats, integers and whole numbers.

use crate::inputs::{Random, edges};
use reviver_isa::fault::Fault;
use reviver_isa::number::fixed;

/// Tests conversions against float arithmetic, in which scaling by a power of two is exact.
#[test]
fn floats_convert_to_nearest() {
    let mut source = Random::new();
    for frac in fixed::MIN_FRAC..=fixed::MAX_FRAC {
        let scale = 2_f64.powi(frac as i32);
        let random: Vec<i64> = (0..2000).map(|_| source.magnitude()).collect();
        for raw in random.into_iter().chain(edges(frac)) {
            let float = fixed::to_f64(raw, frac);
            assert_eq!(float.to_bits(), (raw as f64 / scale).to_bits(), "{raw} with {frac}");
            let other = raw as f64 / scale / 1048576.0;
            for v in [float, other, -other, f64::from_bits(source.bits())] {
                let scaled = (v * scale).round_ties_even();
                let fits = (-2_f64.powi(63)..2_f64.powi(63)).contains(&scaled);
                let expected = if fits { Ok(scaled as i64) } else { Err(Fault::Overflow) };
                assert_eq!(fixed::from_f64(v, frac), expected, "{v} with {frac}");
            }
        }
        for v in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN] {
            assert_eq!(fixed::from_f64(v, frac), Err(Fault::Overflow));
        }
        for v in [0.0, -0.0, f64::MIN_POSITIVE, f64::from_bits(1), -f64::from_bits(1)] {
            assert_eq!(fixed::from_f64(v, frac), Ok(0));
        }
    }
}

#[test]
fn conversions_to_and_from_integers_are_exact() {
    let mut source = Random::new();
    for frac in fixed::MIN_FRAC..=fixed::MAX_FRAC {
        let one = 1_i128 << frac;
        let mut inputs: Vec<i64> = (0..1000).map(|_| source.magnitude()).collect();
        // Halves are the ties.
        inputs.extend((-9..=9).map(|halves| halves << (frac - 1)));
        inputs.extend(edges(frac));
        for raw in inputs {
            let wide = i128::from(raw);
            let floor = wide.div_euclid(one);
            assert_eq!(i128::from(fixed::floor(raw, frac)), floor * one);
            assert_eq!(i128::from(fixed::trunc(raw, frac)), wide / one * one);
            assert_eq!(i128::from(fixed::to_int(raw, frac)), wide / one);
            let rest = wide - floor * one;
            let up = 2 * rest > one || (2 * rest == one && floor % 2 != 0);
            let nearest = i64::try_from((floor + i128::from(up)) * one).map_err(|_| Fault::Overflow);
            assert_eq!(fixed::round(raw, frac), nearest);
            let scaled = i64::try_from(wide * one).map_err(|_| Fault::Overflow);
            assert_eq!(fixed::from_int(raw, frac), scaled);
        }
    }
}
