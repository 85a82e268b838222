//! The trait of a number system for reals. The trait handles single reals, and is independent of cells,
//! instructions and output.

use crate::arith::Elementary;
use crate::fault::Eval;
use crate::module::RealSystem;

/// An additive number system: `+=` and `-=` are inverses, exactly or up to rounding.
///
/// Float operations may return values that aren't finite. The machine checks the value that a cell would get
/// by [`Reals::admit`]. Fixed-point operations fault on overflow.
pub trait Reals: Copy + 'static {
    /// The content of a cell. The default is 0.
    type Cell: Copy + Default + PartialEq + PartialOrd + std::fmt::Debug;

    /// The stored form of a cell. The default is the form of the number 0. Equal bits denote equal numbers. One number
    /// may have several forms: the float zeros 0 and -0 have different bits.
    type Bits: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static;

    /// True if numbers carry derivatives in addition to their values.
    const IS_TAYLOR: bool = false;

    /// True if sums are exact, so that undoing an update needs no residue.
    const EXACT: bool;

    /// Returns the number system, for messages.
    fn system(&self) -> RealSystem;

    /// Rounds an f64 to the number system, ties to even.
    fn literal(&self, value: f64) -> Eval<Self::Cell>;
    /// Returns the finite number nearest to a decimal text as written by [`Reals::text`]; `None` if the text
    /// isn't a finite number.
    fn parse(&self, text: &str) -> Option<Self::Cell>;
    /// Returns the nearest f64.
    fn to_f64(&self, a: Self::Cell) -> f64;
    /// Returns the cell's bits; in the low bits of the word if [`Reals::Bits`] is a single word.
    fn to_bits(&self, a: Self::Cell) -> Self::Bits;
    /// Returns the cell with these bits: the inverse of [`Reals::to_bits`].
    fn of_bits(&self, bits: Self::Bits) -> Self::Cell;
    /// Returns the width of a cell in bits.
    fn width(&self) -> u32;
    /// Returns the value unchanged if a cell may hold it, otherwise a fault. A cell of a float system must
    /// not hold an infinity or NaN.
    fn admit(&self, a: Self::Cell) -> Eval<Self::Cell>;
    /// Returns the distance from |a| to the next greater representable number, as an f64.
    fn ulp(&self, a: Self::Cell) -> f64;
    /// Returns the greatest magnitude among the first `orders` derivative coefficients of a Taylor number; 0
    /// in a plain system.
    fn tangent(&self, _a: Self::Cell, _orders: usize) -> f64 {
        0.0
    }
    /// Returns the number as a constant: all its derivatives are 0.
    fn primal(&self, a: Self::Cell) -> Self::Cell {
        a
    }
    /// Returns the shortest decimal text that parses to the same bits.
    fn text(&self, a: Self::Cell) -> String;

    /// Adds two numbers. Fixed-point sums are exact, and fault out of range.
    fn add(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Subtracts `b` from `a`. Fixed-point differences are exact, and fault out of range.
    fn sub(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Multiplies two numbers, to nearest, ties to even.
    fn mul(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Divides `a` by `b`, to nearest, ties to even. Fixed point faults on a zero divisor.
    fn div(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Negates a number. Fixed point faults for its least number.
    fn neg(&self, a: Self::Cell) -> Eval<Self::Cell>;
    /// Raises `a` to a real power; 0⁰ = 1. A negative base needs a whole exponent.
    fn pow(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Raises `a` to an integer power; 0⁰ = 1.
    fn powi(&self, a: Self::Cell, exponent: i64) -> Eval<Self::Cell>;
    /// The angle of the point (x, y), from -π to π.
    fn atan2(&self, y: Self::Cell, x: Self::Cell) -> Eval<Self::Cell>;
    /// The length of the vector (a, b); intermediate squares don't overflow.
    fn hypot(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Evaluates a unary function. Outside its domain or range, fixed point faults, and floats yield NaN or
    /// an infinity.
    fn elementary(&self, function: Elementary, a: Self::Cell) -> Eval<Self::Cell>;
    /// Returns the real nearest to an integer.
    fn of_int(&self, a: i64) -> Eval<Self::Cell>;
    /// Returns the integer part as a 64-bit integer.
    fn to_int(&self, a: Self::Cell) -> Eval<i64>;

    /// Rotates the point (x, y) by an angle in radians.
    fn rotate(&self, x: Self::Cell, y: Self::Cell, angle: Self::Cell) -> Eval<(Self::Cell, Self::Cell)>;
    /// Rotates the point (x, y) by the negated angle.
    fn rotate_back(&self, x: Self::Cell, y: Self::Cell, angle: Self::Cell) -> Eval<(Self::Cell, Self::Cell)>;
}
