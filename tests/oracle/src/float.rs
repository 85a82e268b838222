//! Floats: IEEE 754 arithmetic, and elementary functions from `libm`, which the language names as
//! their definition. Results that are not finite are returned as they are; whoever stores one judges.

use reviver_isa::function::Function;

macro_rules! float {
    ($name:ident, $float:ty, $exp:ident $log:ident $sin:ident $cos:ident $tan:ident $asin:ident
     $acos:ident $atan:ident $sinh:ident $cosh:ident $tanh:ident $pow:ident $atan2:ident
     $floor:ident $round:ident $sqrt:ident) => {
        pub(crate) mod $name {
            use super::Function;

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
                    Function::Pow => libm::$pow(a, b),
                    Function::Sqrt => libm::$sqrt(a),
                    Function::Exp => libm::$exp(a),
                    Function::Log => libm::$log(a),
                    Function::Sin => libm::$sin(a),
                    Function::Cos => libm::$cos(a),
                    Function::Tan => libm::$tan(a),
                    Function::Asin => libm::$asin(a),
                    Function::Acos => libm::$acos(a),
                    Function::Atan => libm::$atan(a),
                    Function::Atan2 => libm::$atan2(a, b),
                    Function::Sinh => libm::$sinh(a),
                    Function::Cosh => libm::$cosh(a),
                    Function::Tanh => libm::$tanh(a),
                    Function::Floor => libm::$floor(a),
                    Function::Round => libm::$round(a),
                    _ => return None,
                })
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

float!(double, f64, exp log sin cos tan asin acos atan sinh cosh tanh pow atan2 floor rint sqrt);
float!(single, f32, expf logf sinf cosf tanf asinf acosf atanf sinhf coshf tanhf powf atan2f
       floorf rintf sqrtf);
