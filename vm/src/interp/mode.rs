//! The gradient mode bit as a type, so that each loop is compiled for one.

use reviver_isa::number::Reals;

/// What a loop is compiled for.
pub(crate) trait Mode {
    /// Whether adjoints are carried.
    const ON: bool;
}

/// Gradient mode is off: values only.
pub(crate) struct Plain;

/// Gradient mode is on: adjoints are carried.
pub(crate) struct WithAdjoints;

impl Mode for Plain {
    const ON: bool = false;
}

impl Mode for WithAdjoints {
    const ON: bool = true;
}

/// Whether a cotangent carries nothing.
#[inline(always)]
pub(crate) fn is_silent<R: Reals>(reals: R, cotangent: R::Cell) -> bool {
    cotangent == R::Cell::default() && reals.tangent(cotangent, usize::MAX) == 0.0
}
