//! IEEE 754 arithmetic, written independently of the machine's. Elementary functions are shared with the machine,
//! because the language defines their bits; tests with 320-bit numbers verify them (`isa-spec/tests/elementary`).
//! Infinities and NaNs are returned unchanged; callers check for them.

use reviver_isa::function::Function;
use reviver_isa::number::elementary::{
    NativeDouble, NativeSingle, exp, inverse_trig, log, power, roots, special, trig,
};

macro_rules! float {
    ($name:ident, $Native:ident, $float:ty) => {
        pub(crate) mod $name {
            use super::{Function, exp, inverse_trig, log, power, roots, special, trig, $Native};

            /// Evaluates a function of reals. Returns `None` for other functions. `b` is ignored if the function has
            /// one source.
            pub(crate) fn function(function: Function, a: $float, b: $float) -> Option<$float> {
                Some(match function {
                    Function::Copy => a,
                    Function::Sum => a + b,
                    Function::Diff => a - b,
                    Function::Mul => a * b,
                    Function::Div => a / b,
                    Function::Inv => 1.0 / a,
                    Function::Square => a * a,
                    Function::Min if b < a => b,
                    Function::Max if b > a => b,
                    Function::Min | Function::Max => a,
                    Function::Abs if a < 0.0 => -a,
                    Function::Abs => a,
                    Function::Relu if a > 0.0 => a,
                    Function::Relu => 0.0,
                    Function::Pow => power::pow(&$Native, a, b),
                    Function::Sqrt => a.sqrt(),
                    Function::Exp => exp::exp(&$Native, a),
                    Function::Log => log::log(&$Native, a),
                    Function::Sin => trig::sin(&$Native, a),
                    Function::Cos => trig::cos(&$Native, a),
                    Function::Tan => trig::tan(&$Native, a),
                    Function::Asin => inverse_trig::asin(&$Native, a),
                    Function::Acos => inverse_trig::acos(&$Native, a),
                    Function::Atan => inverse_trig::atan(&$Native, a),
                    Function::Atan2 => inverse_trig::atan2(&$Native, a, b),
                    Function::Sinh => exp::sinh(&$Native, a),
                    Function::Cosh => exp::cosh(&$Native, a),
                    Function::Tanh => exp::tanh(&$Native, a),
                    Function::Floor => a.floor(),
                    Function::Round => a.round_ties_even(),
                    Function::ExpM1 => exp::exp_m1(&$Native, a),
                    Function::Ln1p => log::ln_1p(&$Native, a),
                    Function::Sigmoid => exp::sigmoid(&$Native, a),
                    Function::Cbrt => roots::cbrt(&$Native, a),
                    Function::Hypot => roots::hypot(&$Native, a, b),
                    Function::Erf => special::erf(&$Native, a),
                    Function::LogGamma => special::log_gamma(&$Native, a),
                    _ => return None,
                })
            }

            /// Returns the derivative of a function, if the derivative is an elementary function that isn't itself in
            /// the instruction table.
            pub(crate) fn slope(function: Function, a: $float) -> Option<$float> {
                match function {
                    Function::Erf => Some(special::erf_slope(&$Native, a)),
                    Function::LogGamma => Some(special::digamma(&$Native, a)),
                    _ => None,
                }
            }

            /// Returns a float to the power of an integer. A float may not represent the exponent, so it is split
            /// into its nearest float and the rest.
            pub(crate) fn whole_power(base: $float, exponent: i64) -> $float {
                let nearest = exponent as $float;
                let rest = (i128::from(exponent) - nearest as i128) as $float;
                power::powi(&$Native, base, (nearest, rest), exponent & 1 == 1)
            }

            /// Rotates the point (x, y) by an angle.
            pub(crate) fn rotate(x: $float, y: $float, angle: $float) -> ($float, $float) {
                let (sin, cos) = (trig::sin(&$Native, angle), trig::cos(&$Native, angle));
                (x * cos - y * sin, x * sin + y * cos)
            }

            /// Rotates the point (x, y) by the negated angle: cos(-θ) = cos θ and sin(-θ) = -sin θ.
            pub(crate) fn rotate_back(x: $float, y: $float, angle: $float) -> ($float, $float) {
                let (sin, cos) = (trig::sin(&$Native, angle), trig::cos(&$Native, angle));
                (x * cos + y * sin, y * cos - x * sin)
            }
        }
    };
}

float!(double, NativeDouble, f64);
float!(single, NativeSingle, f32);
