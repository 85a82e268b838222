//! The methods by which all other code evaluates function rows and update rows. Each method passes its
//! arguments or its result through the hooks of [`mutants`], so that tests can inject faults. The rows
//! themselves contain no hooks.

use std::sync::LazyLock;

use crate::arith::{Arith, Order};
use crate::fault::Eval;
use crate::function::{Function, FunctionRow, Signature};
use crate::mutants;
use crate::number::{Arithmetic, F64, Reals, Wide};
use crate::step::{AnyFunction, Functions};
use crate::update::{PlanePoint, Update};

impl Function {
    /// Evaluates the signature integers → integer.
    #[inline(always)]
    pub fn int<S: Arith>(self, s: &S, a: S::Int, b: S::Int) -> Eval<S::Int> {
        let (row, a, b) = mutants::asked(self, a, b);
        mutants::answered_int(self, s, row.row_int(s, a, b))
    }

    /// Evaluates the signature reals → real.
    #[inline(always)]
    pub fn real<S: Arith>(self, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
        let (row, a, b) = mutants::asked(self, a, b);
        mutants::answered_real(self, s, row.row_real(s, a, b))
    }

    /// Evaluates the signature (real, integer) → real.
    #[inline(always)]
    pub fn real_int<S: Arith>(self, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real> {
        mutants::answered_real(self, s, self.row_real_int(s, a, b))
    }

    /// Evaluates the signature reals → integer.
    #[inline(always)]
    pub fn reals_to_int<S: Arith>(self, s: &S, a: S::Real, b: S::Real) -> Eval<S::Int> {
        let (row, a, b) = mutants::asked(self, a, b);
        mutants::answered_int(self, s, row.row_reals_to_int(s, a, b))
    }

    /// Evaluates the signature integers → real.
    #[inline(always)]
    pub fn ints_to_real<S: Arith>(self, s: &S, a: S::Int, b: S::Int) -> Eval<S::Real> {
        let (row, a, b) = mutants::asked(self, a, b);
        mutants::answered_real(self, s, row.row_ints_to_real(s, a, b))
    }

    /// ∂f/∂a of the signature reals → real.
    #[inline(always)]
    pub fn d_a<S: Arith>(self, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
        mutants::partial(self, 0, s, self.row_d_a(s, a, b))
    }

    /// ∂f/∂b of the signature reals → real.
    #[inline(always)]
    pub fn d_b<S: Arith>(self, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
        mutants::partial(self, 1, s, self.row_d_b(s, a, b))
    }

    /// ∂f/∂a of the signature (real, integer) → real.
    #[inline(always)]
    pub fn d_a_int<S: Arith>(self, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real> {
        mutants::partial(self, 0, s, self.row_d_a_int(s, a, b))
    }

    /// Returns the ordering that a comparison of two sources tests, or `None` if the function isn't such a
    /// comparison. To find the ordering, the row is evaluated for three pairs of sources: the first source is
    /// less than, equal to, or greater than the second one.
    pub fn order(self) -> Option<Order> {
        if !(self.is_condition() && self.arity() == 2) {
            return None;
        }
        let words = Arithmetic { words: Wide, reals: F64 };
        let samples = [(0, 1), (0, 0), (1, 0)];
        let orders = [Order::Eq, Order::Ne, Order::Lt, Order::Le, Order::Gt, Order::Ge];
        orders.into_iter().find(|order| {
            samples.iter().all(|&(a, b)| self.int(&words, a, b) == Ok(i64::from(order.holds(a, b))))
        })
    }
}

/// Sample points for [`Function::may_lack_partial`]: the ends of the functions' domains, and points next to
/// them.
const EDGES: [f64; 9] = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0];

/// A table indexed by the function's byte and by source (0 or 1). An entry is true if, at some sample point,
/// the function has a value but its partial derivative with respect to the source is infinite or undefined.
static LACKING: LazyLock<[[bool; 2]; 256]> = LazyLock::new(|| {
    let mut all = [[false; 2]; 256];
    for &function in Function::ALL {
        all[usize::from(function.byte())] = [0, 1].map(|source| function.lacks_partial(source));
    }
    all
});

impl Function {
    /// Returns true if the partial derivative with respect to a source (0 or 1) is infinite or undefined at
    /// some point where the function has a value. Determined by evaluating the row at samples.
    pub fn may_lack_partial(self, source: u8) -> bool {
        LACKING[usize::from(self.byte())][usize::from(source.min(1))]
    }

    fn lacks_partial(self, source: u8) -> bool {
        let numbers = Arithmetic { words: Wide, reals: F64 };
        let is_number = |value: Eval<f64>| value.and_then(|value| F64.admit(value)).is_ok();
        let lacks = |value, partial| is_number(value) && !is_number(partial);
        let points = || EDGES.iter().flat_map(|&a| EDGES.iter().map(move |&b| (a, b)));
        self.signatures().any(|signature| match (signature, source) {
            (Signature::Real, 0) => {
                points().any(|(a, b)| lacks(self.real(&numbers, a, b), self.d_a(&numbers, a, b)))
            }
            (Signature::Real, _) if self.arity() > 1 => {
                points().any(|(a, b)| lacks(self.real(&numbers, a, b), self.d_b(&numbers, a, b)))
            }
            (Signature::RealInt, 0) => points().any(|(a, b)| {
                lacks(self.real_int(&numbers, a, b as i64), self.d_a_int(&numbers, a, b as i64))
            }),
            (
                Signature::Real
                | Signature::RealInt
                | Signature::Int
                | Signature::RealsToInt
                | Signature::IntsToReal,
                _,
            ) => false,
        })
    }
}

impl Functions for AnyFunction {
    #[inline(always)]
    fn int<S: Arith>(function: Function, s: &S, a: S::Int, b: S::Int) -> Eval<S::Int> {
        function.int(s, a, b)
    }
    #[inline(always)]
    fn real<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
        function.real(s, a, b)
    }
    #[inline(always)]
    fn real_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real> {
        function.real_int(s, a, b)
    }
    #[inline(always)]
    fn reals_to_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Int> {
        function.reals_to_int(s, a, b)
    }
    #[inline(always)]
    fn ints_to_real<S: Arith>(function: Function, s: &S, a: S::Int, b: S::Int) -> Eval<S::Real> {
        function.ints_to_real(s, a, b)
    }
    #[inline(always)]
    fn d_a<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
        function.d_a(s, a, b)
    }
    #[inline(always)]
    fn d_b<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
        function.d_b(s, a, b)
    }
    #[inline(always)]
    fn d_a_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real> {
        function.d_a_int(s, a, b)
    }
}

/// A single row as the set of functions. The row is evaluated directly, without dispatch on `function`. A
/// build with mutants evaluates `function` through [`Function`] instead, because a mutant may replace the row
/// by another one.
impl<Row: FunctionRow> Functions for Row {
    #[inline(always)]
    fn int<S: Arith>(function: Function, s: &S, a: S::Int, b: S::Int) -> Eval<S::Int> {
        if mutants::POSSIBLE { function.int(s, a, b) } else { Row::int(s, a, b) }
    }
    #[inline(always)]
    fn real<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
        if mutants::POSSIBLE { function.real(s, a, b) } else { Row::real(s, a, b) }
    }
    #[inline(always)]
    fn real_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real> {
        if mutants::POSSIBLE { function.real_int(s, a, b) } else { Row::real_int(s, a, b) }
    }
    #[inline(always)]
    fn reals_to_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Int> {
        if mutants::POSSIBLE { function.reals_to_int(s, a, b) } else { Row::reals_to_int(s, a, b) }
    }
    #[inline(always)]
    fn ints_to_real<S: Arith>(function: Function, s: &S, a: S::Int, b: S::Int) -> Eval<S::Real> {
        if mutants::POSSIBLE { function.ints_to_real(s, a, b) } else { Row::ints_to_real(s, a, b) }
    }
    #[inline(always)]
    fn d_a<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
        if mutants::POSSIBLE { function.d_a(s, a, b) } else { Row::d_a(s, a, b) }
    }
    #[inline(always)]
    fn d_b<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
        if mutants::POSSIBLE { function.d_b(s, a, b) } else { Row::d_b(s, a, b) }
    }
    #[inline(always)]
    fn d_a_int<S: Arith>(function: Function, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real> {
        if mutants::POSSIBLE { function.d_a_int(s, a, b) } else { Row::d_a_int(s, a, b) }
    }
}

impl Update {
    /// Returns the update that undoes this one. The updates `overwrite`, `erase` and `forget` have no inverse
    /// (see [`Update::is_reversible`]): for them, returns the same update.
    #[inline(always)]
    pub fn inverse(self) -> Update {
        mutants::inverse(self, self.row_inverse())
    }

    /// Returns the new value of an integer target, given its old value `y` and the function's value `f`.
    ///
    /// # Errors
    /// Returns [`Fault::NoSignature`](crate::fault::Fault::NoSignature) if the row has no meaning for integers.
    #[inline(always)]
    pub fn int<S: Arith>(self, s: &S, y: S::Int, f: S::Int) -> Eval<S::Int> {
        mutants::updated_int(self, s, self.row_int(s, y, f))
    }

    /// Returns the new value of a real target, given its old value `y` and the function's value `f`.
    ///
    /// # Errors
    /// Returns a fault if the number system can't represent the result, or if the row has no meaning for
    /// reals.
    #[inline(always)]
    pub fn real<S: Arith>(self, s: &S, y: S::Real, f: S::Real) -> Eval<S::Real> {
        mutants::updated_real(self, s, self.row_real(s, y, f))
    }

    /// Returns the point `p` after rotation by `angle`, in radians.
    ///
    /// # Errors
    /// Returns a fault if the number system can't represent the result, or if the row is no rotation.
    #[inline(always)]
    pub fn turn<S: Arith>(self, s: &S, p: PlanePoint<S::Real>, angle: S::Real) -> Eval<PlanePoint<S::Real>> {
        mutants::turned(self, s, self.row_turn(s, p, angle))
    }
}
