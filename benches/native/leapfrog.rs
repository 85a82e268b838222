//! Kepler orbit by drift-kick-drift: a float loop with checked ancillas. This module depends on no machine.

use std::hint::black_box;

/// Steps of the integration.
const STEPS: i64 = 200_000;

/// Runs the loop of `leapfrog.rasm`.
pub fn run() {
    let (mut x, mut y, mut vx, mut vy) = black_box((1.0f64, 0.0f64, 0.0f64, 1.0f64));
    let (dt, half) = black_box((0.001f64, 0.0005f64));
    let steps = black_box(STEPS);
    let mut i = 0i64;
    loop {
        x += half * vx;
        y += half * vy;
        let mut s = 0.0;
        s += x * x;
        s += y * y;
        let mut r = 0.0;
        r += s.sqrt();
        let mut c = 0.0;
        c += s * r;
        let mut g = 0.0;
        g += dt / c;
        vx -= g * x;
        vy -= g * y;
        g -= dt / c;
        c -= s * r;
        r -= s.sqrt();
        s -= y * y;
        s -= x * x;
        assert!(
            g.abs() <= 1e-9 && c.abs() <= 1e-9 && r.abs() <= 1e-9 && s.abs() <= 1e-9,
            "ancillas are vacant"
        );
        x += half * vx;
        y += half * vy;
        i += 1;
        if i >= steps {
            break;
        }
        assert!(i > 0, "the condition of the join is false after a jump");
    }
    black_box((x, y, vx, vy));
}
