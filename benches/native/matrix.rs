//! Matrix product: a memory loop with every index checked. This module depends on no machine.

use std::hint::black_box;

/// Rows and columns of the matrices.
const SIZE: usize = 100;

/// Runs the loops of `matrix.rasm`: C += A·B, element by element, with every index checked.
pub fn run() {
    let a = black_box(vec![0.5f64; SIZE * SIZE]);
    let b = black_box(vec![0.25f64; SIZE * SIZE]);
    let mut c = vec![0.0f64; SIZE * SIZE];
    let n = black_box(SIZE);
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
