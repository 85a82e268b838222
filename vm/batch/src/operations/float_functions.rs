//! Elementary functions of floats as WGSL functions, selected by a name such as `rv_exp_f64`. The functions are
//! generated from the interpreter's own source by symbolic evaluation: the source is executed on terms instead of
//! numbers.

use reviver_compile::op::Coordinate;
use reviver_isa::arith::Elementary;
use reviver_isa::number::elementary::{
    FloatOps, Format, NativeDouble, NativeSingle, exp, inverse_trig, log, power, roots, special, trig,
};

use super::float_evaluation::ShaderFloats;
use super::function::RealFunction;
use super::number_types::{DOUBLE, FloatType, SINGLE};
use super::shader_function::ShaderTerm;
use super::tables::Tables;

/// Returns the text of the helper function with this name; `None` if there is none.
pub(super) fn text(name: &str, tables: &Tables) -> Option<String> {
    let float = [DOUBLE, SINGLE].into_iter().find(|float| name.ends_with(float.name))?;
    let stem = name.strip_suffix(float.name)?.strip_suffix('_')?;
    match float.width {
        32 => of_format::<<NativeSingle as FloatOps>::Format>(stem, float, tables),
        _ => of_format::<<NativeDouble as FloatOps>::Format>(stem, float, tables),
    }
}

fn of_format<F: Format>(stem: &str, float: FloatType, tables: &Tables) -> Option<String> {
    if stem == "rv_powi_of_parts" {
        return Some(powi_of_parts::<F>(float, tables));
    }
    let function = RealFunction::all().find(|function| function.name() == stem)?;
    match function {
        RealFunction::Elementary(function) => elementary::<F>(float, function, tables),
        RealFunction::Pow => {
            Some(read::<F, 2>(float, stem, ["a", "b"], tables, |s, [a, b]| power::pow(s, a, b)))
        }
        RealFunction::Atan2 => {
            Some(read::<F, 2>(float, stem, ["y", "x"], tables, |s, [y, x]| inverse_trig::atan2(s, y, x)))
        }
        RealFunction::Hypot => {
            Some(read::<F, 2>(float, stem, ["a", "b"], tables, |s, [a, b]| roots::hypot(s, a, b)))
        }
        RealFunction::Powi => Some(powi(float)),
        RealFunction::Turn { back, axis } => Some(turned(float, stem, back, axis)),
    }
}

/// Generates a function with float parameters by symbolic evaluation.
fn read<'t, F: Format, const N: usize>(
    float: FloatType,
    stem: &str,
    parameters: [&str; N],
    tables: &'t Tables,
    function: impl FnOnce(&ShaderFloats<'t, F>, [ShaderTerm; N]) -> ShaderTerm,
) -> String {
    let s = ShaderFloats::<F>::new(float, tables);
    let arguments = parameters.map(|parameter| s.argument(parameter));
    let made = function(&s, arguments);
    let body = s.body(made);
    let of = float.name;
    let parameters = parameters.map(|parameter| format!("{parameter}: {of}")).join(", ");
    format!("fn {stem}_{of}({parameters}) -> {of} {{\n{body}}}\n")
}

fn elementary<'t, F: Format>(float: FloatType, function: Elementary, tables: &'t Tables) -> Option<String> {
    let function_of: fn(&ShaderFloats<'t, F>, ShaderTerm) -> ShaderTerm = match function {
        // These functions aren't computed by series.
        Elementary::Sqrt | Elementary::Floor | Elementary::Round => return None,
        Elementary::Exp => exp::exp,
        Elementary::Log => log::log,
        Elementary::Sin => trig::sin,
        Elementary::Cos => trig::cos,
        Elementary::Tan => trig::tan,
        Elementary::Asin => inverse_trig::asin,
        Elementary::Acos => inverse_trig::acos,
        Elementary::Atan => inverse_trig::atan,
        Elementary::Sinh => exp::sinh,
        Elementary::Cosh => exp::cosh,
        Elementary::Tanh => exp::tanh,
        Elementary::ExpM1 => exp::exp_m1,
        Elementary::Ln1p => log::ln_1p,
        Elementary::Sigmoid => exp::sigmoid,
        Elementary::Cbrt => roots::cbrt,
        Elementary::Erf => special::erf,
        Elementary::ErfSlope => special::erf_slope,
        Elementary::LogGamma => special::log_gamma,
        Elementary::Digamma => special::digamma,
    };
    let stem = RealFunction::Elementary(function).name();
    Some(read::<F, 1>(float, &stem, ["x"], tables, |s, [x]| function_of(s, x)))
}

fn powi_of_parts<F: Format>(float: FloatType, tables: &Tables) -> String {
    let s = ShaderFloats::<F>::new(float, tables);
    let [a, n, rest, is_odd] = ["a", "n", "rest", "is_odd"].map(|name| s.argument(name));
    let made = power::powi(&s, a, (n, rest), is_odd);
    let (body, of) = (s.body(made), float.name);
    format!("fn rv_powi_of_parts_{of}(a: {of}, n: {of}, rest: {of}, is_odd: bool) -> {of} {{\n{body}}}\n")
}

/// Writes a power with an integer exponent. The caller passes the exponent as the nearest float, which may be 2⁶³, and
/// the remaining difference.
fn powi(float: FloatType) -> String {
    let (of, end) = (float.name, float.float(9_223_372_036_854_775_808.0));
    format!(
        "fn rv_powi_{of}(a: {of}, n: i64) -> {of} {{\n    let nearest = {of}(n);\n\
        \x20   let whole = select(0x8000000000000000lu, u64(i64(nearest)), nearest < {end});\n\
        \x20   let rest = i64(u64(n) - whole);\n\
        \x20   return rv_powi_of_parts_{of}(a, nearest, {of}(rest), (n & 1li) == 1li);\n}}\n"
    )
}

fn turned(float: FloatType, stem: &str, back: bool, axis: Coordinate) -> String {
    let of = float.name;
    let made = match (back, axis) {
        (false, Coordinate::X) => "x * cosine - y * sine",
        (false, Coordinate::Y) => "x * sine + y * cosine",
        (true, Coordinate::X) => "x * cosine + y * sine",
        (true, Coordinate::Y) => "y * cosine - x * sine",
    };
    format!(
        "fn {stem}_{of}(x: {of}, y: {of}, angle: {of}) -> {of} {{\n    let sine = rv_sin_{of}(angle);\n\
        \x20   let cosine = rv_cos_{of}(angle);\n    return {made};\n}}\n"
    )
}
