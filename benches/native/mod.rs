//! The benchmarked programs, written by hand: what a reversible program costs natively.

use std::hint::black_box;

/// Iterations of the Fibonacci loop.
pub const FIBONACCI: i64 = 1_000_000;

/// The Fibonacci pair: the loop of `fibonacci.rasm`, join conditions checked.
pub fn fibonacci() {
    let (mut n, mut a, mut b) = (black_box(FIBONACCI), black_box(0i64), black_box(1i64));
    assert!(a == 0, "the loop is entered from above");
    while n != 0 {
        a = a.wrapping_add(b);
        std::mem::swap(&mut a, &mut b);
        n -= 1;
        // Coming back, the join's condition must hold.
        if a == 0 {
            panic!("the join was reached by a jump it denies");
        }
    }
    black_box((a, b));
}

/// Steps of the orbit.
pub const LEAPFROG: i64 = 200_000;

/// A Kepler orbit by drift-kick-drift: the loop of `leapfrog.rasm`.
pub fn leapfrog() {
    let (mut x, mut y, mut vx, mut vy) = black_box((1.0f64, 0.0f64, 0.0f64, 1.0f64));
    let (dt, half) = black_box((0.001f64, 0.0005f64));
    let steps = black_box(LEAPFROG);
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
        assert!(i > 0, "the join was reached by a jump it denies");
    }
    black_box((x, y, vx, vy));
}

/// Rows and columns of the matrices.
pub const MATRIX: usize = 100;

/// C += A·B, element by element: the loops of `matrix.rasm`, every index checked.
pub fn matrix() {
    let a = black_box(vec![0.5f64; MATRIX * MATRIX]);
    let b = black_box(vec![0.25f64; MATRIX * MATRIX]);
    let mut c = vec![0.0f64; MATRIX * MATRIX];
    let n = black_box(MATRIX);
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                let (f, g) = (a[i * n + k], b[k * n + j]);
                c[i * n + j] += f * g;
            }
        }
    }
    black_box(c);
}
