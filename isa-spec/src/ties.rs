//! Ties: points at which the evaluation of a function compares two equal reals that differ at neighbouring
//! points. At a tie, a function may have a kink, and a comparison changes its result. Ties are found by
//! evaluating the textbook form of a row, so this module lists no functions.

use std::cell::Cell;
use std::sync::LazyLock;

use crate::arith::{Arith, Elementary, Order};
use crate::fault::Eval;
use crate::function::{Function, Signature};
use crate::number::{Arithmetic, F64, Wide};
use crate::step::Operation;

/// An arithmetic that records if two reals are compared that are equal at this point but not at neighbouring
/// points.
struct TieFinder<'s, S, F> {
    numbers: &'s S,
    /// Returns true if two reals are equal at this point and differ next to it.
    differ: F,
    found: Cell<bool>,
}

/// A table indexed by the function's byte. An entry is true if the function compares equal reals at a sample
/// point.
static MAY_TIE: LazyLock<[bool; 256]> = LazyLock::new(|| {
    let mut all = [false; 256];
    let numbers = Arithmetic { words: Wide, reals: F64 };
    for &function in Function::ALL {
        let at = |point: f64| {
            let mut signatures = function.signatures();
            signatures
                .any(|signature| finds_tie(function, signature, &numbers, (point, point), |a, b| a == b))
        };
        all[usize::from(function.byte())] = at(0.0) || at(1.0);
    }
    all
});

impl Operation {
    /// Returns false if [`Operation::finds_tie`] returns false at all points, so that a search would be
    /// useless.
    pub fn may_tie(self) -> bool {
        MAY_TIE[usize::from(self.function.byte())]
    }

    /// Evaluates the function at these sources. Returns true if the evaluation compares two reals that are
    /// equal here but not at neighbouring points. `differ` decides that for a pair of reals.
    pub fn finds_tie<S: Arith>(
        self,
        s: &S,
        sources: (S::Real, S::Real),
        differ: impl Fn(S::Real, S::Real) -> bool,
    ) -> bool {
        finds_tie(self.function, self.signature, s, sources, differ)
    }
}

fn finds_tie<S: Arith>(
    function: Function,
    signature: Signature,
    numbers: &S,
    (a, b): (S::Real, S::Real),
    differ: impl Fn(S::Real, S::Real) -> bool,
) -> bool {
    let finder = TieFinder { numbers, differ, found: Cell::new(false) };
    // Only the comparisons during evaluation matter, not the value.
    let _ = match signature {
        Signature::Real => function.real(&finder, a, b).is_ok(),
        Signature::RealsToInt => function.reals_to_int(&finder, a, b).is_ok(),
        Signature::Int | Signature::RealInt | Signature::IntsToReal => false,
    };
    finder.found.get()
}

macro_rules! handed_on {
    ($($name:ident($($argument:ident: $Class:ty),*) -> $Result:ty;)+) => {
        $(
            fn $name(&self, $($argument: $Class),*) -> $Result {
                self.numbers.$name($($argument),*)
            }
        )+
    };
}

impl<S: Arith, F: Fn(S::Real, S::Real) -> bool> Arith for TieFinder<'_, S, F> {
    type Int = S::Int;
    type Real = S::Real;

    fn test(&self, order: Order, a: S::Real, b: S::Real) -> S::Int {
        if (self.differ)(a, b) {
            self.found.set(true);
        }
        self.numbers.test(order, a, b)
    }

    fn written_as(
        &self,
        written: impl FnOnce() -> Eval<S::Real>,
        _computed: impl FnOnce() -> Eval<S::Real>,
    ) -> Eval<S::Real> {
        written()
    }

    handed_on! {
        int(value: i64) -> S::Int;
        int_add(a: S::Int, b: S::Int) -> S::Int;
        int_sub(a: S::Int, b: S::Int) -> S::Int;
        int_neg(a: S::Int) -> S::Int;
        int_mul(a: S::Int, b: S::Int) -> S::Int;
        int_div(a: S::Int, b: S::Int) -> Eval<S::Int>;
        int_rem(a: S::Int, b: S::Int) -> Eval<S::Int>;
        int_pow(a: S::Int, exponent: S::Int) -> Eval<S::Int>;
        int_and(a: S::Int, b: S::Int) -> S::Int;
        int_or(a: S::Int, b: S::Int) -> S::Int;
        int_xor(a: S::Int, b: S::Int) -> S::Int;
        int_not(a: S::Int) -> S::Int;
        int_rol(a: S::Int, amount: S::Int) -> S::Int;
        int_ror(a: S::Int, amount: S::Int) -> S::Int;
        int_shl(a: S::Int, amount: S::Int) -> S::Int;
        int_shr(a: S::Int, amount: S::Int) -> S::Int;
        int_sar(a: S::Int, amount: S::Int) -> S::Int;
        int_test(order: Order, a: S::Int, b: S::Int) -> S::Int;
        int_choose(condition: S::Int, yes: S::Int, no: S::Int) -> S::Int;
        real(value: f64) -> Eval<S::Real>;
        add(a: S::Real, b: S::Real) -> Eval<S::Real>;
        sub(a: S::Real, b: S::Real) -> Eval<S::Real>;
        mul(a: S::Real, b: S::Real) -> Eval<S::Real>;
        div(a: S::Real, b: S::Real) -> Eval<S::Real>;
        neg(a: S::Real) -> Eval<S::Real>;
        pow(a: S::Real, b: S::Real) -> Eval<S::Real>;
        powi(a: S::Real, exponent: S::Int) -> Eval<S::Real>;
        atan2(y: S::Real, x: S::Real) -> Eval<S::Real>;
        hypot(a: S::Real, b: S::Real) -> Eval<S::Real>;
        elementary(function: Elementary, a: S::Real) -> Eval<S::Real>;
        rotate(point: (S::Real, S::Real), angle: S::Real) -> Eval<(S::Real, S::Real)>;
        rotate_back(point: (S::Real, S::Real), angle: S::Real) -> Eval<(S::Real, S::Real)>;
        choose(condition: S::Int, yes: S::Real, no: S::Real) -> S::Real;
        real_of(a: S::Int) -> Eval<S::Real>;
        int_of(a: S::Real) -> Eval<S::Int>;
    }
}
