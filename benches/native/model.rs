//! Interface of differentiable models in plain Rust, and the vacancy check of their reversible versions. This module
//! depends on neither particular models nor machines.

/// Differentiable model at one input.
pub trait Model {
    /// Returns the real inputs to differentiate by, with their names in the program.
    fn inputs(&self) -> Vec<(&'static str, Vec<f64>)>;

    /// Returns the other real inputs.
    fn data(&self) -> Vec<(&'static str, Vec<f64>)> {
        Vec::new()
    }

    /// Computes the value in the usual way, without reversibility.
    fn objective(&self) -> f64;

    /// Computes the value by the program's operations: in the same order, with the same uncomputation and checks.
    fn reversible(&self) -> f64;

    /// Computes value and gradient by a handwritten adjoint. Overwrites `gradient`, in the order of
    /// [`Model::inputs`].
    fn gradient(&self, gradient: &mut [f64]) -> f64;
}

/// Checks that a float counts as vacant, and sets it to 0. Panics where a machine would trap.
#[inline(always)]
pub fn vacate(cell: &mut f64, tolerance: f64) {
    assert!(cell.abs() <= tolerance, "the ancilla must be vacant");
    *cell = 0.0;
}
