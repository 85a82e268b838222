//! The operations on reals for which a shader has helper functions, in any number system.

use reviver_compile::op::{Coordinate, OpKind};
use reviver_isa::arith::Elementary;

/// An operation on reals that is a helper function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RealFunction {
    Elementary(Elementary),
    Pow,
    /// A power with an integer exponent.
    Powi,
    Atan2,
    Hypot,
    Turn {
        back: bool,
        axis: Coordinate,
    },
}

/// Lists all functions of one operand. The macro's `match` makes the compiler report a function that is missing in the
/// list.
macro_rules! all_elementary {
    ($($Name:ident)+) => {
        const ELEMENTARY: &[Elementary] = &[$(Elementary::$Name),+];
        const _: fn(Elementary) = |function| match function { $(Elementary::$Name => {}),+ };
    };
}

all_elementary!(Sqrt Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Floor Round ExpM1 Ln1p Sigmoid Cbrt Erf ErfSlope
    LogGamma Digamma);

/// The functions that aren't elementary functions of one operand.
const OTHERS: [RealFunction; 8] = [
    RealFunction::Pow,
    RealFunction::Powi,
    RealFunction::Atan2,
    RealFunction::Hypot,
    RealFunction::Turn { back: false, axis: Coordinate::X },
    RealFunction::Turn { back: false, axis: Coordinate::Y },
    RealFunction::Turn { back: true, axis: Coordinate::X },
    RealFunction::Turn { back: true, axis: Coordinate::Y },
];

impl RealFunction {
    /// Returns all operations on reals that are helper functions.
    pub fn all() -> impl Iterator<Item = RealFunction> {
        let elementary = ELEMENTARY.iter().map(|&function| RealFunction::Elementary(function));
        elementary.chain(OTHERS)
    }

    /// Returns the operation that the function implements.
    pub fn kind(self) -> OpKind {
        match self {
            RealFunction::Elementary(function) => OpKind::Elementary(function),
            RealFunction::Pow => OpKind::Pow,
            RealFunction::Powi => OpKind::Powi,
            RealFunction::Atan2 => OpKind::Atan2,
            RealFunction::Hypot => OpKind::Hypot,
            RealFunction::Turn { back, axis } => OpKind::Turn { back, axis },
        }
    }

    /// Returns the name of the function in a shader, without the suffix of the number system.
    pub fn name(self) -> String {
        match self {
            RealFunction::Elementary(function) => format!("rv_{}", function.name()),
            RealFunction::Pow => "rv_pow".to_owned(),
            RealFunction::Powi => "rv_powi".to_owned(),
            RealFunction::Atan2 => "rv_atan2".to_owned(),
            RealFunction::Hypot => "rv_hypot".to_owned(),
            RealFunction::Turn { back, axis } => {
                let (back, axis) =
                    (if back { "_back" } else { "" }, if axis == Coordinate::X { "x" } else { "y" });
                format!("rv_turned{back}_{axis}")
            }
        }
    }
}
