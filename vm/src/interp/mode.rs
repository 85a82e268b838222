//! The gradient mode bit as a type, so that a loop is compiled for each mode.

use reviver_isa::number::Reals;

/// The gradient mode that a loop is compiled for.
pub(crate) trait Mode {
    /// True if steps propagate adjoints.
    const ON: bool;
}

/// Gradient mode is off: steps compute values only.
pub(crate) struct Plain;

/// Gradient mode is on: steps propagate adjoints.
pub(crate) struct WithAdjoints;

impl Mode for Plain {
    const ON: bool = false;
}

impl Mode for WithAdjoints {
    const ON: bool = true;
}

/// Returns true if a cotangent and all its tangents are zero.
#[inline(always)]
pub(crate) fn is_silent<R: Reals>(reals: R, cotangent: R::Cell) -> bool {
    cotangent == R::Cell::default() && reals.tangent(cotangent, usize::MAX) == 0.0
}
