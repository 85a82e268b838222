//! Classes of a function's sources and value, and evaluation of the function. The functions take values, not cells.

use num_bigint::BigInt;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;

use crate::integer;
use crate::outcome::{Step, unsupported};
use crate::plan::Numbers;
use crate::real::Real;
use crate::value::Value;

/// Returns the classes that a function's sources must have, given the target's class and the classes as written. An
/// integer literal may become a real, but a real literal never an integer.
pub(crate) fn source_classes(function: Function, target: Class, written: &[Class]) -> Vec<Class> {
    let uniform = |class| vec![class; written.len()];
    match (target, function) {
        (Class::Real, Function::Powi) => vec![Class::Real, Class::Int],
        (Class::Real, Function::ToReal) => uniform(Class::Int),
        (Class::Real, _) | (Class::Int, Function::ToInt) => uniform(Class::Real),
        (Class::Int, _) => uniform(common(written)),
    }
}

/// Returns the class in which operands are compared: real if any of them is real, otherwise integer.
pub(crate) fn common(written: &[Class]) -> Class {
    if written.contains(&Class::Real) { Class::Real } else { Class::Int }
}

/// Returns the class of a function's value if no target decides it.
pub(crate) fn value_class(function: Function, written: &[Class]) -> Step<Class> {
    use Function::*;
    if matches!(
        function,
        Rem | Floordiv
            | Mod
            | And
            | Or
            | Xor
            | Shl
            | Shr
            | Sar
            | Ltu
            | Leu
            | Gtu
            | Geu
            | Eq
            | Ne
            | Lt
            | Le
            | Gt
            | Ge
            | Always
            | ToInt
    ) {
        Ok(Class::Int)
    } else if matches!(function, Powi | ToReal | Inv | Sqrt | Exp | Log | Sin | Cos | Tan | Asin | Acos)
        || matches!(function, Atan | Atan2 | Sinh | Cosh | Tanh | Floor | Round)
        || matches!(function, ExpM1 | Ln1p | Sigmoid | Cbrt | Hypot | Erf | LogGamma)
    {
        Ok(Class::Real)
    } else if matches!(function, Copy | Sum | Diff | Mul | Div | Pow | Min | Max | Abs | Square | Relu) {
        Ok(common(written))
    } else {
        unsupported(format!("`{function:?}`"))
    }
}

/// Evaluates a function whose value has the given class.
pub(crate) fn evaluate(
    function: Function,
    class: Class,
    sources: &[&Value],
    numbers: Numbers,
) -> Step<Value> {
    // Sources that the function doesn't have are passed as 0 and ignored.
    let zero = Value::Int(BigInt::ZERO);
    let a = sources.first().copied().unwrap_or(&zero);
    let b = sources.get(1).copied().unwrap_or(a);
    match (class, function, a.class()) {
        (Class::Int, _, Class::Int) => {
            integer::function(function, a.int()?, b.int()?, numbers.bits).map(Value::Int)
        }
        (Class::Int, Function::ToInt, Class::Real) => a.real()?.to_integer(numbers.bits).map(Value::Int),
        (Class::Int, _, Class::Real) => Real::test(function, a.real()?, b.real()?).map(Value::Int),
        (Class::Real, Function::Powi, _) => a.real()?.power(b.int()?).map(Value::Real),
        (Class::Real, Function::ToReal, _) => Real::of_integer(a.int()?, numbers.system).map(Value::Real),
        (Class::Real, _, _) => Real::function(function, a.real()?, b.real()?).map(Value::Real),
    }
}
