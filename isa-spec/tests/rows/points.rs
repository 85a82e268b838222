//! Tests the points at which rows have a value but no derivative, or a kink, as determined by evaluating the
//! rows.

use reviver_isa::function::{Function, Signature};
use reviver_isa::number::{Arithmetic, F64, Wide};
use reviver_isa::step::Operation;
use reviver_isa::update::Update;

/// Tests that the only sources that may lose a derivative are those whose row has a value but no derivative at some
/// point. Division has no such point: where its derivative doesn't exist, its value doesn't exist either.
#[test]
fn rows_describe_missing_derivatives() {
    let sources = Function::ALL.iter().flat_map(|&function| [(function, 0), (function, 1)]);
    let lacking: Vec<_> = sources.filter(|(function, source)| function.may_lack_partial(*source)).collect();
    let expected = [
        (Function::Pow, 0),
        (Function::Pow, 1),
        (Function::Sqrt, 0),
        (Function::Asin, 0),
        (Function::Acos, 0),
        (Function::Atan2, 0),
        (Function::Atan2, 1),
        (Function::Cbrt, 0),
        (Function::Hypot, 0),
        (Function::Hypot, 1),
    ];
    assert_eq!(lacking, expected);
}

/// Tests that a row has no kink where it compares numbers only in order to keep intermediate results in
/// range.
#[test]
fn rows_describe_their_kinks() {
    let numbers = Arithmetic { words: Wide, reals: F64 };
    let operation =
        |function, signature| Operation { update: Update::Add, function, signature, undoes: false };
    let with_kinks = Function::ALL.iter().filter(|&&function| {
        operation(function, Signature::Real).may_tie()
            && function.signatures().any(|signature| signature == Signature::Real)
    });
    let expected = [Function::Min, Function::Max, Function::Abs, Function::Relu];
    assert_eq!(with_kinks.copied().collect::<Vec<_>>(), expected);
    let ties = |function, a: f64, b: f64| {
        operation(function, Signature::Real).finds_tie(&numbers, (a, b), |a, b| a == b)
    };
    assert!(ties(Function::Max, 2.0, 2.0) && !ties(Function::Max, 2.0, 3.0));
    assert!(
        ties(Function::Abs, 0.0, 0.0) && ties(Function::Relu, -0.0, 0.0) && !ties(Function::Abs, 1.0, 1.0)
    );
    let below = Operation {
        update: Update::Add,
        function: Function::Lt,
        signature: Signature::RealsToInt,
        undoes: false,
    };
    assert!(below.finds_tie(&numbers, (1.0, 1.0), |a, b| a == b));
}
