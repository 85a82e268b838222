//! Floats: IEEE 754 arithmetic of its own. The elementary functions are the machine's: they are part of what the
//! language defines to the last bit, and numbers of 320 bits judge them (`isa-spec/tests/elementary`). Results that
//! are not finite are returned as they are; whoever stores one judges.

use reviver_isa::function::Function;
use reviver_isa::number::elementary::{NativeDouble, NativeSingle, exp, log, power, roots, special};

macro_rules! float {
    ($name:ident, $Native:ident, $float:ty, $sin:ident $cos:ident $tan:ident $asin:ident
     $acos:ident $atan:ident $atan2:ident) => {
        pub(crate) mod $name {
            use super::{Function, exp, log, power, roots, special, $Native};

            /// A function of reals; `None` if it is none. A source that it doesn't take is ignored.
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
                    Function::Sin => libm::$sin(a),
                    Function::Cos => libm::$cos(a),
                    Function::Tan => libm::$tan(a),
                    Function::Asin => libm::$asin(a),
                    Function::Acos => libm::$acos(a),
                    Function::Atan => libm::$atan(a),
                    Function::Atan2 => libm::$atan2(a, b),
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

            /// The derivative of a function, where that is an elementary function without a row of its own.
            pub(crate) fn slope(function: Function, a: $float) -> Option<$float> {
                match function {
                    Function::Erf => Some(special::erf_slope(&$Native, a)),
                    Function::LogGamma => Some(special::digamma(&$Native, a)),
                    _ => None,
                }
            }

            /// A base to a whole power, which a float may have no room for: its nearest float, and the rest.
            pub(crate) fn whole_power(base: $float, exponent: i64) -> $float {
                let nearest = exponent as $float;
                let rest = (i128::from(exponent) - nearest as i128) as $float;
                power::powi(&$Native, base, (nearest, rest), exponent & 1 == 1)
            }

            /// The point (x, y) turned by an angle.
            pub(crate) fn rotate(x: $float, y: $float, angle: $float) -> ($float, $float) {
                let (sin, cos) = (libm::$sin(angle), libm::$cos(angle));
                (x * cos - y * sin, x * sin + y * cos)
            }

            /// The point (x, y) turned by the negated angle: cos(-θ) = cos θ and sin(-θ) = -sin θ.
            pub(crate) fn rotate_back(x: $float, y: $float, angle: $float) -> ($float, $float) {
                let (sin, cos) = (libm::$sin(angle), libm::$cos(angle));
                (x * cos + y * sin, y * cos - x * sin)
            }
        }
    };
}

float!(double, NativeDouble, f64, sin cos tan asin acos atan atan2);
float!(single, NativeSingle, f32, sinf cosf tanf asinf acosf atanf atan2f);
