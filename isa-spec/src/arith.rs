//! The arithmetic trait over which all function rows and update rows are written.
//!
//! An implementation of [`Arith`] is a *reading* of the rows: the same row yields numbers, text or code.
//! There are readings for wrapping words, for the reals of a number system, for formulas as text, and for
//! values of a shader or of the JIT. The trait is independent of instructions, cells and directions. New rows
//! need no new methods, because each row combines these few operations.

use crate::fault::Eval;

/// The six orderings of comparisons and conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Equal: `a == b`. The float zeros 0 and -0 are equal.
    Eq,
    /// Not equal: `a != b`.
    Ne,
    /// Less: `a < b`. Integers are compared as signed numbers.
    Lt,
    /// Less or equal: `a <= b`.
    Le,
    /// Greater: `a > b`.
    Gt,
    /// Greater or equal: `a >= b`.
    Ge,
}

impl Order {
    /// Returns true if the ordering holds between two values of a totally ordered type. Reals in a machine
    /// cell are never NaN.
    #[inline(always)]
    pub fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Order::Eq => a == b,
            Order::Ne => a != b,
            Order::Lt => a < b,
            Order::Le => a <= b,
            Order::Gt => a > b,
            Order::Ge => a >= b,
        }
    }

    /// Returns the operator in source text and in formulas, for example `<=`.
    pub fn symbol(self) -> &'static str {
        match self {
            Order::Eq => "==",
            Order::Ne => "!=",
            Order::Lt => "<",
            Order::Le => "<=",
            Order::Gt => ">",
            Order::Ge => ">=",
        }
    }
}

/// The unary elementary functions that each number system implements itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elementary {
    /// The square root, for arguments of at least 0.
    Sqrt,
    /// e to the power of the argument.
    Exp,
    /// The natural logarithm, for arguments above 0.
    Log,
    /// The sine of an angle in radians.
    Sin,
    /// The cosine of an angle in radians.
    Cos,
    /// The tangent of an angle in radians.
    Tan,
    /// The angle in [-π/2, π/2] whose sine is the argument, for arguments in [-1, 1].
    Asin,
    /// The angle in [0, π] whose cosine is the argument, for arguments in [-1, 1].
    Acos,
    /// The angle in (-π/2, π/2) whose tangent is the argument.
    Atan,
    /// The hyperbolic sine: (e^x - e^-x)/2.
    Sinh,
    /// The hyperbolic cosine: (e^x + e^-x)/2.
    Cosh,
    /// The hyperbolic tangent: sinh x/cosh x.
    Tanh,
    /// The greatest whole number that isn't above the argument.
    Floor,
    /// The nearest whole number, ties to even.
    Round,
    /// e^x - 1, with all digits where x is near 0.
    ExpM1,
    /// ln(1 + x) for x above -1, with all digits where x is near 0.
    Ln1p,
    /// The logistic function: 1/(1 + e^-x).
    Sigmoid,
    /// The cube root; that of a negative number is negative.
    Cbrt,
    /// The error function: 2/√π times the integral of e^(-t²) from 0 to the argument.
    Erf,
    /// The derivative of [`Elementary::Erf`]. A separate function, because computing it from a square may
    /// overflow or lose digits.
    ErfSlope,
    /// The logarithm of the gamma function, for arguments above 0.
    LogGamma,
    /// The derivative of [`Elementary::LogGamma`].
    Digamma,
}

impl Elementary {
    /// Returns the function's name in formulas, for example `sqrt`.
    pub fn name(self) -> &'static str {
        match self {
            Elementary::Sqrt => "sqrt",
            Elementary::Exp => "exp",
            Elementary::Log => "log",
            Elementary::Sin => "sin",
            Elementary::Cos => "cos",
            Elementary::Tan => "tan",
            Elementary::Asin => "asin",
            Elementary::Acos => "acos",
            Elementary::Atan => "atan",
            Elementary::Sinh => "sinh",
            Elementary::Cosh => "cosh",
            Elementary::Tanh => "tanh",
            Elementary::Floor => "floor",
            Elementary::Round => "round",
            Elementary::ExpM1 => "exp_m1",
            Elementary::Ln1p => "ln_1p",
            Elementary::Sigmoid => "sigmoid",
            Elementary::Cbrt => "cbrt",
            Elementary::Erf => "erf",
            Elementary::ErfSlope => "erf_slope",
            Elementary::LogGamma => "lgamma",
            Elementary::Digamma => "digamma",
        }
    }
}

/// Arithmetic on one class of integers and one class of reals.
///
/// Integer operations wrap in two's complement unless they document a fault. Real operations return the
/// result of the number system. The machine checks finiteness once, on the final value of the target.
pub trait Arith {
    /// An integer of the reading: a word, the name of a value, or a formula.
    type Int: Copy;
    /// A real of the reading: a number, the name of a value, or a formula.
    type Real: Copy;

    /// Returns an integer literal.
    fn int(&self, value: i64) -> Self::Int;
    /// Adds two integers, modulo 2^width.
    fn int_add(&self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Subtracts `b` from `a`, modulo 2^width.
    fn int_sub(&self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Negates an integer; MIN stays MIN.
    fn int_neg(&self, a: Self::Int) -> Self::Int;
    /// Multiplies two integers, modulo 2^width.
    fn int_mul(&self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Truncating division; `MIN / -1` wraps. Faults on a zero divisor.
    fn int_div(&self, a: Self::Int, b: Self::Int) -> Eval<Self::Int>;
    /// Remainder with the dividend's sign; `MIN % -1` is 0. Faults on a zero divisor.
    fn int_rem(&self, a: Self::Int, b: Self::Int) -> Eval<Self::Int>;
    /// Wrapping power; 0⁰ = 1. Faults on a negative exponent.
    fn int_pow(&self, a: Self::Int, exponent: Self::Int) -> Eval<Self::Int>;
    /// Bitwise and of two integers.
    fn int_and(&self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Bitwise or of two integers.
    fn int_or(&self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Bitwise exclusive or of two integers.
    fn int_xor(&self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Flips all bits of an integer: -1 - a.
    fn int_not(&self, a: Self::Int) -> Self::Int;
    /// Rotates the bits of `a` left by the amount modulo the width.
    fn int_rol(&self, a: Self::Int, amount: Self::Int) -> Self::Int;
    /// Rotates the bits of `a` right by the amount modulo the width.
    fn int_ror(&self, a: Self::Int, amount: Self::Int) -> Self::Int;
    /// Shift left; 0 for amounts below 0 or at least the width.
    fn int_shl(&self, a: Self::Int, amount: Self::Int) -> Self::Int;
    /// Logical shift right; 0 for amounts below 0 or at least the width.
    fn int_shr(&self, a: Self::Int, amount: Self::Int) -> Self::Int;
    /// Arithmetic shift right; the sign (0 or -1) for amounts below 0 or at least the width.
    fn int_sar(&self, a: Self::Int, amount: Self::Int) -> Self::Int;
    /// Returns 1 if the ordering holds, otherwise 0.
    fn int_test(&self, order: Order, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Returns `yes` if `condition` is not 0, otherwise `no`.
    fn int_choose(&self, condition: Self::Int, yes: Self::Int, no: Self::Int) -> Self::Int;

    /// Returns a real literal: the f64 value, rounded to even into the number system.
    fn real(&self, value: f64) -> Eval<Self::Real>;
    /// Adds two reals. Fixed point faults if the sum is out of range.
    fn add(&self, a: Self::Real, b: Self::Real) -> Eval<Self::Real>;
    /// Subtracts `b` from `a`. Fixed point faults if the difference is out of range.
    fn sub(&self, a: Self::Real, b: Self::Real) -> Eval<Self::Real>;
    /// Multiplies two reals, to nearest, ties to even. Fixed point faults if the product is out of range.
    fn mul(&self, a: Self::Real, b: Self::Real) -> Eval<Self::Real>;
    /// Divides `a` by `b`, to nearest, ties to even. Fixed point faults on a zero divisor or a quotient out
    /// of range.
    fn div(&self, a: Self::Real, b: Self::Real) -> Eval<Self::Real>;
    /// Negates a real. Fixed point faults for its least number, the negation of which is out of range.
    fn neg(&self, a: Self::Real) -> Eval<Self::Real>;
    /// Raises `a` to a real power; 0⁰ = 1.
    fn pow(&self, a: Self::Real, b: Self::Real) -> Eval<Self::Real>;
    /// Raises `a` to an integer power; 0⁰ = 1.
    fn powi(&self, a: Self::Real, exponent: Self::Int) -> Eval<Self::Real>;
    /// The angle of the point (x, y), in radians.
    fn atan2(&self, y: Self::Real, x: Self::Real) -> Eval<Self::Real>;
    /// The length of the vector (a, b).
    fn hypot(&self, a: Self::Real, b: Self::Real) -> Eval<Self::Real>;
    /// Evaluates a unary function. Outside its domain or range, fixed point faults, and floats yield NaN or
    /// an infinity.
    fn elementary(&self, function: Elementary, a: Self::Real) -> Eval<Self::Real>;
    /// Rotates the point (x, y) by an angle in radians: (x·cos - y·sin, x·sin + y·cos).
    fn rotate(&self, point: (Self::Real, Self::Real), angle: Self::Real) -> Eval<(Self::Real, Self::Real)>;
    /// Rotates the point (x, y) by the negated angle.
    fn rotate_back(
        &self,
        point: (Self::Real, Self::Real),
        angle: Self::Real,
    ) -> Eval<(Self::Real, Self::Real)>;
    /// Returns 1 if the ordering holds, otherwise 0.
    fn test(&self, order: Order, a: Self::Real, b: Self::Real) -> Self::Int;
    /// Returns `yes` if `condition` is not 0, otherwise `no`.
    fn choose(&self, condition: Self::Int, yes: Self::Real, no: Self::Real) -> Self::Real;
    /// Returns the real nearest to an integer.
    fn real_of(&self, a: Self::Int) -> Eval<Self::Real>;
    /// Returns the integer part, rounded toward zero. Faults outside the integers' range.
    fn int_of(&self, a: Self::Real) -> Eval<Self::Int>;

    /// Evaluates `computed`, the formula that programs execute. `computed` may differ from the textbook formula
    /// `written` in order to stay in range, to keep digits, or to have a value at an edge. Where both formulas
    /// have a value, the values are equal except for rounding. The readings for people and the search for ties
    /// override this method, to evaluate `written` instead.
    #[inline(always)]
    fn written_as(
        &self,
        _written: impl FnOnce() -> Eval<Self::Real>,
        computed: impl FnOnce() -> Eval<Self::Real>,
    ) -> Eval<Self::Real> {
        computed()
    }
}
