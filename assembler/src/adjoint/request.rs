//! Requests for gradients and tangents as programs. This module is independent of syntax trees.

/// A request for the gradient of a program as a program.
#[derive(Clone, Debug, Default)]
pub struct AdjointRequest {
    /// The differentiated cells with their seeds: one cell with the seed 1 for a gradient, or the cells of a weighted
    /// sum.
    pub seeds: Vec<CellSeed>,
    /// The treatment of the adjoint of a cell that becomes vacant.
    pub dropped: DroppedAdjoints,
    /// The number of `compute` blocks at the end of the program whose `uncompute` the reverse part replaces, because it
    /// changes no differentiated cell.
    pub early_uncomputes: usize,
}

/// A real cell with its seed.
#[derive(Clone, Debug)]
pub struct CellSeed {
    /// The name of the scalar or array.
    pub name: String,
    /// The indices of the element; none for a scalar.
    pub indices: Vec<u64>,
    /// The derivative of the weighted sum by the cell.
    pub seed: f64,
}

/// The treatment of the adjoint of a cell that becomes vacant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DroppedAdjoints {
    /// It is kept on the stack of reals or on the output tape, so that the program stays reversible.
    #[default]
    Pushed,
    /// It is erased, which takes no memory.
    Erased,
}

/// A request for the tangents of a program's results as a program.
#[derive(Clone, Debug, Default)]
pub struct TangentRequest {
    /// The names of the real inputs that change along the direction: scalars or whole arrays.
    pub inputs: Vec<String>,
}

/// The derived program that is requested.
#[derive(Clone, Copy, Debug)]
pub(super) enum Derived<'r> {
    Gradient(&'r AdjointRequest),
    Tangents(&'r TangentRequest),
}

impl Derived<'_> {
    pub fn mode(self) -> Mode {
        match self {
            Derived::Gradient(_) => Mode::Adjoint,
            Derived::Tangents(_) => Mode::Tangent,
        }
    }
}

/// The derivative that accompanies each real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The adjoint of reverse mode.
    Adjoint,
    /// The tangent of forward mode.
    Tangent,
}

impl Mode {
    /// Returns the first choice for the suffix of the derivatives' names.
    pub fn suffix(self) -> &'static str {
        match self {
            Mode::Adjoint => "_bar",
            Mode::Tangent => "_dot",
        }
    }

    /// Returns the noun for the derivative in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Mode::Adjoint => "adjoint",
            Mode::Tangent => "tangent",
        }
    }
}
