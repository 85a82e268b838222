//! What a differentiable model is, in plain Rust, and how its reversible version checks itself.
//! Knows no model and no machine.

/// A model at one input.
pub trait Model {
    /// The real inputs that it is differentiated by, under the names that the program gives them.
    fn inputs(&self) -> Vec<(&'static str, Vec<f64>)>;

    /// The other real inputs.
    fn data(&self) -> Vec<(&'static str, Vec<f64>)> {
        Vec::new()
    }

    /// The value, as one would compute it if nothing had to be undone.
    fn objective(&self) -> f64;

    /// The value by the operations of the program: in the same order, uncomputed like there, and with
    /// the same checks.
    fn reversible(&self) -> f64;

    /// Value and gradient by a hand-written adjoint. The gradient is laid out as [`Model::inputs`], one
    /// after the other, and is overwritten.
    fn gradient(&self, gradient: &mut [f64]) -> f64;
}

/// Checks that a float counts as vacant, and makes it so. Panics where a machine would trap.
#[inline(always)]
pub fn vacate(cell: &mut f64, tolerance: f64) {
    assert!(cell.abs() <= tolerance, "the ancilla is vacant");
    *cell = 0.0;
}
