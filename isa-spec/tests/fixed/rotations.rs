//! Tests that rotations are exact bijections, and close to the real ones.

use crate::inputs::{FRACS, Random, edges};
use crate::oracle::{ErrorMeter, PRECISION, Real, int, raw, real, value};
use reviver_isa::fault::Fault;
use reviver_isa::number::fixed;

pub fn assert_bijective(x: i64, y: i64, theta: i64, frac: u32) {
    if let Ok((u, v)) = fixed::rot(x, y, theta, frac) {
        assert_eq!(fixed::irot(u, v, theta, frac), Ok((x, y)), "rot({x}, {y}, {theta}) with {frac}");
    }
    if let Ok((u, v)) = fixed::irot(x, y, theta, frac) {
        assert_eq!(fixed::rot(u, v, theta, frac), Ok((x, y)), "irot({x}, {y}, {theta}) with {frac}");
    }
}

#[test]
fn rotations_are_undone_exactly() {
    let mut source = Random::new();
    let mut undone = 0;
    for round in 0..120_000 {
        let frac = fixed::MIN_FRAC + round % (fixed::MAX_FRAC - fixed::MIN_FRAC + 1);
        let edges = edges(frac);
        let mut any = || match source.below(8) {
            0 => edges[source.below(edges.len() as u64) as usize],
            _ => source.magnitude(),
        };
        let (x, y, theta) = (any(), any(), any());
        assert_bijective(x, y, theta, frac);
        undone += u32::from(fixed::rot(x, y, theta, frac).is_ok());
    }
    assert!(undone >= 80_000, "only {undone} rotations succeeded");
}

#[test]
fn small_rotations_are_permutations() {
    // Angles of more than a full turn in both directions, on all points of a square.
    for theta in (-450_000..450_000).step_by(2003) {
        let mut images = Vec::new();
        for x in -12..=12 {
            for y in -12..=12 {
                assert_bijective(x, y, theta, 16);
                images.push(fixed::rot(x, y, theta, 16).expect("small values fit"));
            }
        }
        images.sort_unstable();
        images.dedup();
        assert_eq!(images.len(), 25 * 25);
    }
}

#[test]
fn overflowing_rotations_trap() {
    let quarter = Real::pi(PRECISION) / int(2);
    for frac in FRACS {
        let turn = |quarters: i64| raw(&(int(quarters) * &quarter), frac);
        let min = i64::MIN;
        assert_eq!(fixed::rot(min, min, 0, frac), Ok((min, min)));
        assert_eq!(fixed::rot(0, min, turn(1), frac), Err(Fault::Overflow));
        assert_eq!(fixed::rot(min, 0, turn(2), frac), Err(Fault::Overflow));
        assert_eq!(fixed::rot(min, 0, turn(3), frac), Err(Fault::Overflow));
        assert_eq!(fixed::rot(i64::MAX, i64::MAX, turn(1) / 2, frac), Err(Fault::Overflow));
    }
}

#[test]
fn rotations_are_close() {
    let mut source = Random::new();
    let mut meters = [ErrorMeter::new("rot x", 3.0), ErrorMeter::new("rot y", 3.0)];
    for frac in FRACS {
        for _ in 0..700 {
            let (x, y, theta) = (source.magnitude(), source.magnitude(), source.magnitude());
            let Ok((u, v)) = fixed::rot(x, y, theta, frac) else { continue };
            let angle = real(theta, frac);
            let (sin, cos) = (angle.sin(), angle.cos());
            let (a, b) = (real(x, frac), real(y, frac));
            let exact = [&a * &cos - &b * &sin, &a * &sin + &b * &cos];
            for ((meter, exact), got) in meters.iter_mut().zip(exact).zip([u, v]) {
                meter.check(Ok(got), value(exact), frac, &[x, y, theta]);
            }
        }
    }
    meters.into_iter().for_each(ErrorMeter::finish);
}
