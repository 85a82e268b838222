//! The trait of a number system for reals. Knows one real at a time; knows no cells, no
//! instructions, and not how a run is displayed.

use crate::arith::Elementary;
use crate::fault::Eval;
use crate::module::RealSystem;

/// An additive number system: `+=` and `-=` are each other's inverse, exactly or up to rounding.
///
/// Operations of floats may return values that are not finite: the machine judges the value that a
/// cell would get, with [`Reals::admit`]. Operations of fixed point fault where they overflow.
pub trait Reals: Copy + 'static {
    /// What a cell holds. The default is 0.
    type Cell: Copy + Default + PartialEq + PartialOrd + std::fmt::Debug;

    /// How a machine stores a cell. The default is the cell 0. Equal bits are one number; one number may
    /// have several bits (the float zeros).
    type Bits: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static;

    /// True if numbers carry derivatives beside their values.
    const LIFTED: bool = false;

    /// Whether sums are exact, so that undoing an update needs no residue.
    const EXACT: bool;

    /// The number system, for messages.
    fn system(&self) -> RealSystem;

    /// The nearest f64 rounded to even into the system.
    fn literal(&self, value: f64) -> Eval<Self::Cell>;
    /// The finite number nearest to a decimal text, which [`Reals::text`] writes; `None` if it isn't one.
    fn parse(&self, text: &str) -> Option<Self::Cell>;
    /// The nearest f64.
    fn to_f64(&self, a: Self::Cell) -> f64;
    /// The cell's bits; in the low bits of the word where [`Reals::Bits`] is one.
    fn to_bits(&self, a: Self::Cell) -> Self::Bits;
    /// The inverse of [`Reals::to_bits`].
    fn of_bits(&self, bits: Self::Bits) -> Self::Cell;
    /// Bits of a cell.
    fn width(&self) -> u32;
    /// Faults unless the value may stand in a cell.
    fn admit(&self, a: Self::Cell) -> Eval<Self::Cell>;
    /// The distance from |a| to the next greater representable number, as an f64.
    fn ulp(&self, a: Self::Cell) -> f64;
    /// The largest magnitude of what a lifted number carries beside its primal value, of so many orders at most; 0 in a plain system.
    fn tangent(&self, _a: Self::Cell, _orders: usize) -> f64 {
        0.0
    }
    /// The number without what a lifted one carries beside its value: a constant.
    fn primal(&self, a: Self::Cell) -> Self::Cell {
        a
    }
    /// The shortest decimal text that reads back as the same bits.
    fn text(&self, a: Self::Cell) -> String;

    fn add(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    fn sub(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    fn mul(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    fn div(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    fn neg(&self, a: Self::Cell) -> Eval<Self::Cell>;
    fn pow(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    fn powi(&self, a: Self::Cell, exponent: i64) -> Eval<Self::Cell>;
    fn atan2(&self, y: Self::Cell, x: Self::Cell) -> Eval<Self::Cell>;
    fn hypot(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    fn elementary(&self, function: Elementary, a: Self::Cell) -> Eval<Self::Cell>;
    /// The real nearest to an integer.
    fn of_int(&self, a: i64) -> Eval<Self::Cell>;
    /// The integer part, in 64 bits.
    fn to_int(&self, a: Self::Cell) -> Eval<i64>;

    /// The point (x, y) rotated by an angle.
    fn rotate(&self, x: Self::Cell, y: Self::Cell, angle: Self::Cell) -> Eval<(Self::Cell, Self::Cell)>;
    /// The point (x, y) rotated by the negated angle.
    fn rotate_back(&self, x: Self::Cell, y: Self::Cell, angle: Self::Cell) -> Eval<(Self::Cell, Self::Cell)>;
}
