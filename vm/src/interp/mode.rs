//! The gradient mode bit as a type, so that each loop is compiled for one; and whether the run is watched.

use reviver_isa::number::Reals;

/// What a loop is compiled for.
pub(crate) trait Mode {
    /// Whether adjoints are carried.
    const ON: bool;
    /// Whether jumps are counted and peaks kept, where somebody watches: see [`crate::watch`].
    const WATCHED: bool;
}

/// Gradient mode is off: values only.
pub(crate) struct Plain;

/// Values only, on a way that is to be gone back with gradient mode on.
pub(crate) struct Watched;

/// Gradient mode is on: adjoints are carried.
pub(crate) struct WithAdjoints;

impl Mode for Plain {
    const ON: bool = false;
    const WATCHED: bool = false;
}

impl Mode for Watched {
    const ON: bool = false;
    const WATCHED: bool = true;
}

impl Mode for WithAdjoints {
    const ON: bool = true;
    const WATCHED: bool = true;
}

/// Whether a cotangent carries nothing.
#[inline(always)]
pub(crate) fn is_silent<R: Reals>(reals: R, cotangent: R::Cell) -> bool {
    cotangent == R::Cell::default() && reals.tangent(cotangent, usize::MAX) == 0.0
}
