//! Gradient descent: a program is assembled and compiled once, and called in a loop. Inputs and gradients are passed in
//! slices.
//!
//! `cargo run -p reviver --example value_and_gradient`

use reviver::{EngineChoice, assemble};

/// Program for Rosenbrock's valley, (1 - x)² + 100·(y - x²)². Its minimum is at (1, 1).
const VALLEY: &str = "
.inout p[2]: real
.out height: real
compute
    local a = 1.0 - p[0]
    local b = p[1] - p[0] * p[0]
apply
    add.square height, a
    add height, 100.0 * (b * b)
uncompute
";

pub fn main() -> Result<(), reviver::Error> {
    let program = assemble("valley.rasm", VALLEY)?.compile(EngineChoice::Auto)?;
    let (point, loss) = (program.reals("p")?, program.loss("height")?);
    let mut call = program.workspace()?;

    let (mut at, mut slope) = ([-1.2, 1.0], [0.0; 2]);
    let mut height = call.gradient_at(&loss, point, &at, &mut slope)?.value;
    // Backtracking line search: the step is halved until it descends far enough.
    let mut steps = 0;
    while slope.iter().any(|s| s.abs() > 1e-6) && steps < 50_000 {
        let fall: f64 = slope.iter().map(|s| s * s).sum();
        let (from, downhill, mut length) = (at, slope, 1.0);
        loop {
            at = [0, 1].map(|i| from[i] - length * downhill[i]);
            let below = call.gradient_at(&loss, point, &at, &mut slope)?.value;
            if below <= height - 1e-4 * length * fall {
                height = below;
                break;
            }
            length /= 2.0;
        }
        steps += 1;
    }
    println!("{height:.3e} at ({:.6}, {:.6}) after {steps} steps", at[0], at[1]);
    assert!(at.iter().all(|x| (x - 1.0).abs() < 1e-4));
    Ok(())
}
