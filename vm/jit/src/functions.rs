//! Functions that native code calls, such as operations on reals that are too long to inline. They have the same
//! implementation as in the interpreter. This module is independent of SSA functions.

use reviver_compile::op::{Coordinate, OpKind};
use reviver_isa::arith::Elementary;
use reviver_isa::fault::Eval;
use reviver_isa::module::RealSystem;
use reviver_isa::number::{F32, F64, FixedPoint, Reals, Wide, Words};
use reviver_vm::watch::Freed;

use crate::context::CodeContext;

/// Machine address of a function's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address(pub usize);

macro_rules! address {
    ($function:ident as $type:ty) => {
        Address($function as $type as *const () as usize)
    };
}

/// Returns the address of the helper function for an elementary function. The macro `made` generates the helper
/// function for each name.
macro_rules! of_elementary {
    ($function:expr, $made:ident) => {
        of_elementary!($function, $made, Sqrt Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Floor Round ExpM1 Ln1p
            Sigmoid Cbrt Erf ErfSlope LogGamma Digamma)
    };
    ($function:expr, $made:ident, $($Name:ident)+) => {
        match $function { $( Elementary::$Name => $made!(Elementary::$Name), )+ }
    };
}

/// Defines the functions of a float system. An operation that is undefined for its operands gives NaN.
macro_rules! float {
    ($module:ident, $System:expr, $float:ty) => {
        mod $module {
            use super::*;

            fn value(found: Eval<$float>) -> $float {
                found.unwrap_or(<$float>::NAN)
            }

            macro_rules! unary {
                ($function:expr) => {{
                    extern "C" fn call(a: $float) -> $float {
                        value($System.elementary($function, a))
                    }
                    address!(call as extern "C" fn($float) -> $float)
                }};
            }

            pub fn elementary(function: Elementary) -> Address {
                of_elementary!(function, unary)
            }

            macro_rules! binary {
                ($method:ident) => {{
                    extern "C" fn call(a: $float, b: $float) -> $float {
                        value($System.$method(a, b))
                    }
                    address!(call as extern "C" fn($float, $float) -> $float)
                }};
            }

            macro_rules! turn {
                ($method:ident, $coordinate:tt) => {{
                    extern "C" fn call(x: $float, y: $float, angle: $float) -> $float {
                        value($System.$method(x, y, angle).map(|turned| turned.$coordinate))
                    }
                    address!(call as extern "C" fn($float, $float, $float) -> $float)
                }};
            }

            extern "C" fn powi(a: $float, exponent: i64) -> $float {
                value($System.powi(a, exponent))
            }

            pub fn of(kind: OpKind) -> Option<Address> {
                Some(match kind {
                    OpKind::Elementary(function) => elementary(function),
                    OpKind::Pow => binary!(pow),
                    OpKind::Atan2 => binary!(atan2),
                    OpKind::Hypot => binary!(hypot),
                    OpKind::Powi => address!(powi as extern "C" fn($float, i64) -> $float),
                    OpKind::Turn { back, axis } => match (back, axis) {
                        (false, Coordinate::X) => turn!(rotate, 0),
                        (false, Coordinate::Y) => turn!(rotate, 1),
                        (true, Coordinate::X) => turn!(rotate_back, 0),
                        (true, Coordinate::Y) => turn!(rotate_back, 1),
                    },
                    _ => return None,
                })
            }
        }
    };
}

float!(double, F64, f64);
float!(single, F32, f32);

/// Functions of fixed point. Each function takes the context, and sets [`CodeContext::has_failed`] to 1 if the
/// operation has no result, otherwise to 0.
mod fixed {
    use super::*;

    fn value(context: &mut CodeContext, found: impl FnOnce(FixedPoint) -> Eval<i64>) -> i64 {
        let found = found(FixedPoint::new(context.fraction_bits as u8));
        context.has_failed = found.is_err().into();
        found.unwrap_or(0)
    }

    macro_rules! unary {
        ($function:expr) => {{
            extern "C" fn call(context: &mut CodeContext, a: i64) -> i64 {
                value(context, |system| system.elementary($function, a))
            }
            address!(call as extern "C" fn(&mut CodeContext, i64) -> i64)
        }};
    }

    macro_rules! binary {
        ($method:ident) => {{
            extern "C" fn call(context: &mut CodeContext, a: i64, b: i64) -> i64 {
                value(context, |system| system.$method(a, b))
            }
            address!(call as extern "C" fn(&mut CodeContext, i64, i64) -> i64)
        }};
    }

    macro_rules! turn {
        ($method:ident, $coordinate:tt) => {{
            extern "C" fn call(context: &mut CodeContext, x: i64, y: i64, angle: i64) -> i64 {
                value(context, |system| system.$method(x, y, angle).map(|turned| turned.$coordinate))
            }
            address!(call as extern "C" fn(&mut CodeContext, i64, i64, i64) -> i64)
        }};
    }

    extern "C" fn of_int(context: &mut CodeContext, a: i64) -> i64 {
        value(context, |system| system.of_int(a))
    }

    extern "C" fn to_int(context: &mut CodeContext, a: i64) -> i64 {
        value(context, |system| system.to_int(a))
    }

    extern "C" fn neg(context: &mut CodeContext, a: i64) -> i64 {
        value(context, |system| system.neg(a))
    }

    pub fn of(kind: OpKind) -> Option<Address> {
        Some(match kind {
            OpKind::Elementary(function) => of_elementary!(function, unary),
            OpKind::Mul => binary!(mul),
            OpKind::Div => binary!(div),
            OpKind::Pow => binary!(pow),
            OpKind::Powi => binary!(powi),
            OpKind::Atan2 => binary!(atan2),
            OpKind::Hypot => binary!(hypot),
            OpKind::Neg => address!(neg as extern "C" fn(&mut CodeContext, i64) -> i64),
            OpKind::RealOf => address!(of_int as extern "C" fn(&mut CodeContext, i64) -> i64),
            OpKind::IntOf => address!(to_int as extern "C" fn(&mut CodeContext, i64) -> i64),
            OpKind::Turn { back, axis } => match (back, axis) {
                (false, Coordinate::X) => turn!(rotate, 0),
                (false, Coordinate::Y) => turn!(rotate, 1),
                (true, Coordinate::X) => turn!(rotate_back, 0),
                (true, Coordinate::Y) => turn!(rotate_back, 1),
            },
            _ => return None,
        })
    }
}

/// Returns the address of the function for integer powers. The exponent must not be negative. The caller wraps the
/// result to the program's word.
pub fn int_pow() -> Address {
    extern "C" fn call(a: i64, exponent: i64) -> i64 {
        Wide.pow(a, exponent).unwrap_or(0)
    }
    address!(call as extern "C" fn(i64, i64) -> i64)
}

/// Returns the address of the function that reports a freed real to the watcher. Native code calls the function for
/// reals that are neither 0 nor small. The arguments are the context, the index of the instruction, the real, and its
/// adjoint; both reals are in binary64.
pub fn freed() -> Address {
    extern "C" fn call(context: &mut CodeContext, at: u64, value: f64, adjoint: f64) {
        let at = at as u32;
        if let Some(watcher) = &mut context.watcher {
            watcher.has_error(context.freed.error);
            watcher.freed(Freed { at, value }, adjoint);
            context.freed = watcher.freed_so_far();
        }
    }
    address!(call as extern "C" fn(&mut CodeContext, u64, f64, f64))
}

/// Returns the address of the function that records a real that the reverse sweep restored to other bits. The arguments
/// are the context, the row, the real at the start, the real after the sweep, and the real's adjoint; all reals are in
/// binary64. The function returns 1 if rounding doesn't explain the difference, otherwise 0.
pub fn missed() -> Address {
    extern "C" fn call(context: &mut CodeContext, row: u64, from: f64, to: f64, adjoint: f64) -> i64 {
        let rounding = context.rounding;
        i64::from(!context.evidence.miss([from, to], (row as u32, adjoint), rounding))
    }
    address!(call as extern "C" fn(&mut CodeContext, u64, f64, f64, f64) -> i64)
}

/// Returns the address of the function for an operation on reals, or `None` if there is no such function.
pub fn real(kind: OpKind, system: RealSystem) -> Option<Address> {
    match system {
        RealSystem::F64 => double::of(kind),
        RealSystem::F32 => single::of(kind),
        RealSystem::Fixed(_) => fixed::of(kind),
    }
}
