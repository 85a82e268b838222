//! Elementary functions of fixed point as C functions. A name such as `rv_exp_fixed40` selects the function and the
//! number of fraction bits. The functions are generated from the interpreter's own source by symbolic evaluation: the
//! source is executed on terms instead of numbers. A C function returns 1 if it fails, otherwise 0.

use reviver_compile::op::{Coordinate, OpKind};
use reviver_isa::arith::Elementary;
use reviver_isa::number::fixed::{arc, exp_log, hyperbolic, power, rotation, special, trig, wide};

use crate::functions::FloatFunction;
use crate::wide_evaluation::{TextWords, WideTerm};

/// Returns the generated function that computes an operation; `None` if there is no such function.
pub(crate) fn of(kind: OpKind) -> Option<FloatFunction> {
    match FloatFunction::of(kind)? {
        FloatFunction::Elementary(Elementary::Sqrt | Elementary::Round | Elementary::Floor)
        | FloatFunction::Hypot => None,
        function => Some(function),
    }
}

/// Returns the text of the function with this name, and the tables that it may use, each with its name. Returns
/// `None` if there is no such function.
pub(crate) fn text(name: &str) -> Option<(String, Vec<(String, String)>)> {
    if let Some(stem) = name.strip_prefix("rv_wide_") {
        return Some((part(stem)?, Vec::new()));
    }
    let (stem, frac) = name.rsplit_once("_fixed")?;
    let frac = frac.parse().ok()?;
    let function = FloatFunction::all().find(|function| function.name() == stem)?;
    function_text(function, name, frac)
}

fn function_text(function: FloatFunction, name: &str, frac: u32) -> Option<(String, Vec<(String, String)>)> {
    let s = TextWords::with_calls();
    let given = |name: &str| s.given(&format!("(rv_uint128)(rv_int128){name}"));
    let parameters: &[&str] = match function {
        FloatFunction::Elementary(_) => &["x"],
        FloatFunction::Pow => &["a", "b"],
        FloatFunction::Powi => &["a", "n"],
        FloatFunction::Atan2 => &["y", "x"],
        FloatFunction::Turn { .. } => &["x", "y", "angle"],
        FloatFunction::Hypot | FloatFunction::PowiOfParts => return None,
    };
    let terms: Vec<WideTerm> = parameters.iter().map(|name| given(name)).collect();
    let [value, fault] = match (function, terms.as_slice()) {
        (FloatFunction::Elementary(function), &[x]) => elementary(&s, function, x, frac)?,
        (FloatFunction::Pow, &[a, b]) => power::pow(&s, a, b, frac),
        (FloatFunction::Powi, &[a, n]) => power::powi(&s, a, n, frac),
        (FloatFunction::Atan2, &[y, x]) => surely(&s, arc::atan2(&s, y, x, frac)),
        (FloatFunction::Turn { back, axis }, &[x, y, angle]) => {
            let [x, y, fault] = match back {
                true => rotation::irot(&s, x, y, angle, frac),
                false => rotation::rot(&s, x, y, angle, frac),
            };
            [if axis == Coordinate::X { x } else { y }, fault]
        }
        _ => return None,
    };
    let (body, gives, tables) = s.body(&[value, fault]);
    let [value, fault] = gives.as_slice() else { return None };
    let parameters: String = parameters.iter().map(|name| format!("int64_t {name}, ")).collect();
    let end = match fault.as_str() {
        SURELY => format!("    *made = (int64_t){value};\n    return 0;\n"),
        _ => format!("    *made = {fault} == 0 ? (int64_t){value} : 0;\n    return {fault} != 0;\n"),
    };
    let text = format!("static int {name}({parameters}int64_t *made) {{\n{body}{end}}}\n");
    Some((text, tables))
}

/// C expression of the failure flag in a function that never fails.
const SURELY: &str = "0";

/// Returns the results of a function that never fails: the value, and the failure flag 0.
fn surely(s: &TextWords, value: WideTerm) -> [WideTerm; 2] {
    [value, s.given(SURELY)]
}

fn elementary(s: &TextWords, function: Elementary, x: WideTerm, frac: u32) -> Option<[WideTerm; 2]> {
    Some(match function {
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

/// Returns the text of a helper function that elementary functions call. The text is generated, or written by hand if C
/// has no operator for the operation.
fn part(stem: &str) -> Option<String> {
    let (read, parameters): (fn(&TextWords, WideTerm, WideTerm) -> WideTerm, _) = match stem {
        "zeros" => return Some(ZEROS.to_owned()),
        "root" => return Some(ROOT.to_owned()),
        "mul_high" => (wide::mul_high, ["a", "b"]),
        "fraction" => (wide::fraction, ["n", "d"]),
        "round_shift" => (wide::round_shift, ["value", "shift"]),
        _ => return None,
    };
    let s = TextWords::default();
    let [a, b] = parameters.map(|name| s.given(name));
    let made = read(&s, a, b);
    let (body, gives, _) = s.body(&[made]);
    let [a, b] = parameters;
    Some(format!(
        "static inline rv_uint128 rv_wide_{stem}(rv_uint128 {a}, rv_uint128 {b}) {{\n{body}    return {};\n}}\n",
        gives.concat()
    ))
}

const ZEROS: &str = "\
/* Returns the number of zeros before the first bit that is set. */
static inline rv_uint128 rv_wide_zeros(rv_uint128 a) {
    rv_uint128 zeros = 128;
    for (int step = 64; step > 0; step /= 2) {
        if (a >> step != 0) {
            a >>= step;
            zeros -= (rv_uint128)step;
        }
    }
    return zeros - a;
}
";

const ROOT: &str = "\
/* Returns the square root, rounded down. */
static inline rv_uint128 rv_wide_root(rv_uint128 square) {
    rv_uint128 rest = square, root = 0, bit = (rv_uint128)1 << 126;
    while (bit > square) {
        bit >>= 2;
    }
    for (; bit != 0; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}
";
