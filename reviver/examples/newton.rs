//! Newton's method: each step solves a linear system with the Hessian as its matrix.
//!
//! `cargo run -p reviver --example newton`

use reviver::{EngineChoice, assemble};

/// Program for the function to minimize: exp(x + y) + x² + 2·y².
const BOWL: &str = "
.inout x: real
.inout y: real
.out f: real
add.exp f, x + y
add.square f, x
add f, 2.0 * (y * y)
";

pub fn main() -> Result<(), reviver::Error> {
    let program = assemble("bowl.rasm", BOWL)?.compile(EngineChoice::Auto)?;
    let (x, y, loss) = (program.reals("x")?, program.reals("y")?, program.loss("f")?);
    let mut call = program.workspace()?;

    let mut at = [1.0, 1.0];
    for step in 0.. {
        call.give_reals(x, &at[..1])?;
        call.give_reals(y, &at[1..])?;
        let here = call.hessian(&loss, &[x, y])?;
        let [slope_x, slope_y] = [here.gradient[0], here.gradient[1]];
        println!("step {step}: f({:.9}, {:.9}) = {:.12}", at[0], at[1], here.value);
        if slope_x.hypot(slope_y) < 1e-12 {
            assert!(step < 10, "Newton's method squares the error at each step");
            break;
        }
        let [[a, b], [c, d]] = [0, 1].map(|row| [here.rows[row][0], here.rows[row][1]]);
        let determinant = a * d - b * c;
        at[0] -= (d * slope_x - b * slope_y) / determinant;
        at[1] -= (a * slope_y - c * slope_x) / determinant;
    }
    // At the minimum the derivative by x is 0: exp(x + y) + 2·x = 0.
    assert!(((at[0] + at[1]).exp() + 2.0 * at[0]).abs() < 1e-11);
    Ok(())
}
