//! Elementary functions of fixed point as WGSL functions. A name such as `rv_exp_fixed40` selects the function and the
//! number of fraction bits. The functions are generated from the interpreter's own source by symbolic evaluation: the
//! source is executed on terms instead of numbers.

use reviver_compile::op::Coordinate;
use reviver_isa::arith::Elementary;
use reviver_isa::number::fixed::{arc, exp_log, hyperbolic, power, rotation, special, trig, wide};

use super::function::RealFunction;
use super::shader_function::ShaderTerm;
use super::tables::Tables;
use super::wide::WORD;
use super::wide_evaluation::{LoopTranslation, ShaderWords};

/// Returns the text of the helper function with this name; `None` if there is none.
pub(super) fn text(name: &str, tables: &Tables) -> Option<String> {
    if let Some(text) = part(name, tables) {
        return Some(text);
    }
    let (stem, frac) = name.rsplit_once("_fixed")?;
    let frac = frac.parse().ok()?;
    let function = RealFunction::all().find(|function| function.name() == stem)?;
    function_text(function, name, frac, tables)
}

/// Returns an upper bound on the iterations of each loop of a function. Callers need the bound, because drivers may
/// permit a lane only few iterations.
pub(super) fn iterations(function: RealFunction) -> u32 {
    match function {
        // The loop sums a series. Term n is at most (2·6.2²)^n/(1·3·…·(2n + 1)).
        RealFunction::Elementary(Elementary::Erf) => 256,
        // The loop shifts the argument up to 16 in steps of 1.
        RealFunction::Elementary(Elementary::LogGamma | Elementary::Digamma) => 17,
        // The loop has one iteration for each bit of an exponent.
        RealFunction::Powi | RealFunction::Pow => 64,
        RealFunction::Elementary(_)
        | RealFunction::Atan2
        | RealFunction::Hypot
        | RealFunction::Turn { .. } => 0,
    }
}

fn function_text(function: RealFunction, name: &str, frac: u32, tables: &Tables) -> Option<String> {
    let s = ShaderWords::with_calls(tables);
    let parameters: &[&str] = match function {
        RealFunction::Elementary(_) => &["x"],
        RealFunction::Pow => &["a", "b"],
        RealFunction::Powi => &["a", "n"],
        RealFunction::Atan2 => &["y", "x"],
        RealFunction::Turn { .. } => &["x", "y", "angle"],
        RealFunction::Hypot => return None,
    };
    let terms: Vec<ShaderTerm> = parameters.iter().map(|name| s.number(name)).collect();
    let [value, fault] = match (function, terms.as_slice()) {
        (RealFunction::Elementary(function), &[x]) => elementary(&s, function, x, frac)?,
        (RealFunction::Pow, &[a, b]) => power::pow(&s, a, b, frac),
        (RealFunction::Powi, &[a, n]) => power::powi(&s, a, n, frac),
        (RealFunction::Atan2, &[y, x]) => surely(&s, arc::atan2(&s, y, x, frac)),
        (RealFunction::Turn { back, axis }, &[x, y, angle]) => {
            let [x, y, fault] = match back {
                true => rotation::irot(&s, x, y, angle, frac),
                false => rotation::rot(&s, x, y, angle, frac),
            };
            [if axis == Coordinate::X { x } else { y }, fault]
        }
        (
            RealFunction::Elementary(_)
            | RealFunction::Pow
            | RealFunction::Powi
            | RealFunction::Atan2
            | RealFunction::Hypot
            | RealFunction::Turn { .. },
            _,
        ) => return None,
    };
    let (body, gives) = s.body(&[value, fault]);
    let [value, fault] = gives.as_slice() else { return None };
    let parameters: Vec<String> = parameters.iter().map(|name| format!("{name}: i64")).collect();
    Some(format!(
        "fn {name}({}) -> rv_outcome {{\n{body}    return rv_outcome(i64({value}.x), {fault}.x != 0lu);\n}}\n",
        parameters.join(", ")
    ))
}

/// Returns the results of a function that never fails: the value, and the failure flag 0.
fn surely(s: &ShaderWords, value: ShaderTerm) -> [ShaderTerm; 2] {
    [value, s.argument(&super::wide::literal(0))]
}

fn elementary(s: &ShaderWords, function: Elementary, x: ShaderTerm, frac: u32) -> Option<[ShaderTerm; 2]> {
    Some(match function {
        // These functions aren't computed by series.
        Elementary::Sqrt | Elementary::Round | Elementary::Floor => return None,
        Elementary::Exp => exp_log::exp(s, x, frac),
        Elementary::Log => exp_log::log(s, x, frac),
        Elementary::ExpM1 => exp_log::exp_m1(s, x, frac),
        Elementary::Ln1p => exp_log::ln_1p(s, x, frac),
        Elementary::Sin => surely(s, trig::sin(s, x, frac)),
        Elementary::Cos => surely(s, trig::cos(s, x, frac)),
        Elementary::Tan => trig::tan(s, x, frac),
        Elementary::Asin => arc::asin(s, x, frac),
        Elementary::Acos => arc::acos(s, x, frac),
        Elementary::Atan => surely(s, arc::atan(s, x, frac)),
        Elementary::Sinh => hyperbolic::sinh(s, x, frac),
        Elementary::Cosh => hyperbolic::cosh(s, x, frac),
        Elementary::Tanh => surely(s, hyperbolic::tanh(s, x, frac)),
        Elementary::Sigmoid => surely(s, hyperbolic::sigmoid(s, x, frac)),
        Elementary::Cbrt => power::cbrt(s, x, frac),
        Elementary::Erf => special::erf(s, x, frac),
        Elementary::ErfSlope => special::erf_slope(s, x, frac),
        Elementary::LogGamma => special::log_gamma(s, x, frac),
        Elementary::Digamma => special::digamma(s, x, frac),
    })
}

/// Generates a helper function that the elementary functions share.
fn part<'t>(name: &str, tables: &'t Tables) -> Option<String> {
    let (read, parameters): (fn(&ShaderWords<'t>, ShaderTerm, ShaderTerm) -> ShaderTerm, _) = match name {
        "rv_wide_mul_high" => (wide::mul_high, ["a", "b"]),
        "rv_wide_fraction" => (wide::fraction, ["n", "d"]),
        "rv_wide_round_shift" => (wide::round_shift, ["value", "shift"]),
        _ => return None,
    };
    // In this function, an estimate of a quotient is at most 2 too large, so a loop has at most 2 iterations.
    let s = ShaderWords::called(tables, LoopTranslation::AtMost(2));
    let [a, b] = parameters.map(|name| s.argument(name));
    let made = read(&s, a, b);
    let (body, gives) = s.body(&[made]);
    let [a, b] = parameters;
    Some(format!(
        "fn {name}({a}: {WORD}, {b}: {WORD}) -> {WORD} {{\n{body}    return {};\n}}\n",
        gives.concat()
    ))
}
