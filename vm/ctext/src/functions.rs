//! Elementary functions of floats as C functions, selected by a name such as `rv_exp_f64`. The functions are generated
//! from the interpreter's own source by symbolic evaluation: the source is executed on terms instead of numbers.

use reviver_compile::op::{Coordinate, OpKind};
use reviver_isa::arith::Elementary;
use reviver_isa::number::elementary::{
    FloatOps, Format, NativeDouble, NativeSingle, exp, inverse_trig, log, power, roots, special, trig,
};

use crate::float_evaluation::{CFloat, DOUBLE, FloatTerm, SINGLE, TextFloats};

/// An operation on reals that is a helper function of the C text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatFunction {
    Elementary(Elementary),
    Pow,
    /// A power with an integer exponent.
    Powi,
    /// A power with an integer exponent. The caller passes the exponent in two parts, with a flag for odd exponents.
    PowiOfParts,
    Atan2,
    Hypot,
    Turn {
        back: bool,
        axis: Coordinate,
    },
}

/// Lists all functions of one operand. The macro's `match` makes the compiler report a function that is missing in the
/// list.
macro_rules! all_elementary {
    ($($Name:ident)+) => {
        const ELEMENTARY: &[Elementary] = &[$(Elementary::$Name),+];
        const _: fn(Elementary) = |function| match function { $(Elementary::$Name => {}),+ };
    };
}

all_elementary!(Sqrt Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Floor Round ExpM1 Ln1p Sigmoid Cbrt Erf ErfSlope
    LogGamma Digamma);

/// The functions that aren't elementary functions of one operand.
const OTHERS: [FloatFunction; 9] = [
    FloatFunction::Pow,
    FloatFunction::Powi,
    FloatFunction::PowiOfParts,
    FloatFunction::Atan2,
    FloatFunction::Hypot,
    FloatFunction::Turn { back: false, axis: Coordinate::X },
    FloatFunction::Turn { back: false, axis: Coordinate::Y },
    FloatFunction::Turn { back: true, axis: Coordinate::X },
    FloatFunction::Turn { back: true, axis: Coordinate::Y },
];

impl FloatFunction {
    /// Returns the helper function of an operation; `None` if it has none.
    pub fn of(kind: OpKind) -> Option<FloatFunction> {
        match kind {
            OpKind::Elementary(function) => Some(FloatFunction::Elementary(function)),
            OpKind::Pow => Some(FloatFunction::Pow),
            OpKind::Powi => Some(FloatFunction::Powi),
            OpKind::Atan2 => Some(FloatFunction::Atan2),
            OpKind::Hypot => Some(FloatFunction::Hypot),
            OpKind::Turn { back, axis } => Some(FloatFunction::Turn { back, axis }),
            _ => None,
        }
    }

    /// Returns all operations on reals that are helper functions.
    pub fn all() -> impl Iterator<Item = FloatFunction> {
        let elementary = ELEMENTARY.iter().map(|&function| FloatFunction::Elementary(function));
        elementary.chain(OTHERS)
    }

    /// Returns the name of the function in C, without the suffix of the format.
    pub fn name(self) -> String {
        match self {
            FloatFunction::Elementary(function) => format!("rv_{}", function.name()),
            FloatFunction::Pow => "rv_pow".to_owned(),
            FloatFunction::Powi => "rv_powi".to_owned(),
            FloatFunction::PowiOfParts => "rv_powi_of_parts".to_owned(),
            FloatFunction::Atan2 => "rv_atan2".to_owned(),
            FloatFunction::Hypot => "rv_hypot".to_owned(),
            FloatFunction::Turn { back, axis } => {
                let (back, axis) =
                    (if back { "_back" } else { "" }, if axis == Coordinate::X { "x" } else { "y" });
                format!("rv_turned{back}_{axis}")
            }
        }
    }
}

/// Returns the text of the function with this name, and the tables that it may use, each with its name. Returns
/// `None` if there is no such function.
pub(crate) fn text(name: &str) -> Option<(String, Vec<(String, String)>)> {
    let float = [DOUBLE, SINGLE].into_iter().find(|float| name.ends_with(float.suffix))?;
    let stem = name.strip_suffix(float.suffix)?.strip_suffix('_')?;
    let function = FloatFunction::all().find(|function| function.name() == stem)?;
    Some(match float.width {
        32 => function.text::<<NativeSingle as FloatOps>::Format>(float),
        _ => function.text::<<NativeDouble as FloatOps>::Format>(float),
    })
}

impl FloatFunction {
    fn text<F: Format>(self, float: CFloat) -> (String, Vec<(String, String)>) {
        match self {
            FloatFunction::Elementary(function) => elementary::<F>(float, function),
            FloatFunction::Pow => read::<F>(float, "rv_pow", ["a", "b"], |s, [a, b]| power::pow(s, a, b)),
            FloatFunction::Atan2 => {
                read::<F>(float, "rv_atan2", ["y", "x"], |s, [y, x]| inverse_trig::atan2(s, y, x))
            }
            FloatFunction::Hypot => {
                read::<F>(float, "rv_hypot", ["a", "b"], |s, [a, b]| roots::hypot(s, a, b))
            }
            FloatFunction::PowiOfParts => {
                let s = TextFloats::<F>::new(float);
                let [a, n, rest, is_odd] = ["a", "n", "rest", "is_odd"].map(|name| s.argument(name));
                let made = power::powi(&s, a, (n, rest), is_odd);
                let (body, tables) = s.body(made);
                let CFloat { name, suffix, .. } = float;
                let head = format!(
                    "static {name} rv_powi_of_parts_{suffix}({name} a, {name} n, {name} rest, int is_odd) {{\n"
                );
                (head + &body + "}\n", tables)
            }
            FloatFunction::Powi => (powi(float), Vec::new()),
            FloatFunction::Turn { back, axis } => (turned(float, back, axis), Vec::new()),
        }
    }
}

/// Generates a function with two float parameters by symbolic evaluation.
fn read<F: Format>(
    float: CFloat,
    name: &str,
    parameters: [&str; 2],
    function: impl FnOnce(&TextFloats<F>, [FloatTerm; 2]) -> FloatTerm,
) -> (String, Vec<(String, String)>) {
    let s = TextFloats::<F>::new(float);
    let arguments = parameters.map(|parameter| s.argument(parameter));
    let made = function(&s, arguments);
    let (body, tables) = s.body(made);
    let (of, [a, b]) = (float.name, parameters);
    (format!("static {of} {name}_{}({of} {a}, {of} {b}) {{\n{body}}}\n", float.suffix), tables)
}

fn elementary<F: Format>(float: CFloat, function: Elementary) -> (String, Vec<(String, String)>) {
    let s = TextFloats::<F>::new(float);
    let x = s.argument("x");
    let made = match function {
        Elementary::Sqrt => return (exact(float, function, "sqrt"), Vec::new()),
        Elementary::Floor => return (exact(float, function, "floor"), Vec::new()),
        Elementary::Round => return (exact(float, function, "rint"), Vec::new()),
        Elementary::Exp => exp::exp(&s, x),
        Elementary::Log => log::log(&s, x),
        Elementary::Sin => trig::sin(&s, x),
        Elementary::Cos => trig::cos(&s, x),
        Elementary::Tan => trig::tan(&s, x),
        Elementary::Asin => inverse_trig::asin(&s, x),
        Elementary::Acos => inverse_trig::acos(&s, x),
        Elementary::Atan => inverse_trig::atan(&s, x),
        Elementary::Sinh => exp::sinh(&s, x),
        Elementary::Cosh => exp::cosh(&s, x),
        Elementary::Tanh => exp::tanh(&s, x),
        Elementary::ExpM1 => exp::exp_m1(&s, x),
        Elementary::Ln1p => log::ln_1p(&s, x),
        Elementary::Sigmoid => exp::sigmoid(&s, x),
        Elementary::Cbrt => roots::cbrt(&s, x),
        Elementary::Erf => special::erf(&s, x),
        Elementary::ErfSlope => special::erf_slope(&s, x),
        Elementary::LogGamma => special::log_gamma(&s, x),
        Elementary::Digamma => special::digamma(&s, x),
    };
    let (body, tables) = s.body(made);
    let CFloat { name, suffix, .. } = float;
    (format!("static {name} rv_{}_{suffix}({name} x) {{\n{body}}}\n", function.name()), tables)
}

/// Returns a function whose result the C standard defines to the last bit.
fn exact(float: CFloat, function: Elementary, of_c: &str) -> String {
    let CFloat { name, suffix, width, .. } = float;
    let own = if width == 32 { "f" } else { "" };
    format!(
        "static inline {name} rv_{}_{suffix}({name} x) {{\n    return {of_c}{own}(x);\n}}\n",
        function.name()
    )
}

/// Writes a power with an integer exponent. The caller passes the exponent as the nearest float and the remaining
/// difference.
fn powi(float: CFloat) -> String {
    let CFloat { name, suffix, .. } = float;
    let end = if name == "float" { "0x1p63f" } else { "0x1p63" };
    format!(
        "static {name} rv_powi_{suffix}({name} a, int64_t n) {{\n\
        \x20   const {name} nearest = ({name})n;\n\
        \x20   const uint64_t whole = nearest < {end} ? (uint64_t)(int64_t)nearest : UINT64_C(1) << 63;\n\
        \x20   const int64_t rest = (int64_t)((uint64_t)n - whole);\n\
        \x20   return rv_powi_of_parts_{suffix}(a, nearest, ({name})rest, (int)((uint64_t)n & 1));\n}}\n"
    )
}

fn turned(float: CFloat, back: bool, axis: Coordinate) -> String {
    let CFloat { name, suffix, .. } = float;
    let (one, sign, other) = match (back, axis) {
        (false, Coordinate::X) => ("x * cosine", "-", "y * sine"),
        (false, Coordinate::Y) => ("x * sine", "+", "y * cosine"),
        (true, Coordinate::X) => ("x * cosine", "+", "y * sine"),
        (true, Coordinate::Y) => ("y * cosine", "-", "x * sine"),
    };
    let function = FloatFunction::Turn { back, axis }.name();
    format!(
        "static inline {name} {function}_{suffix}({name} x, {name} y, {name} angle) {{\n\
        \x20   const {name} sine = rv_sin_{suffix}(angle);\n    const {name} cosine = rv_cos_{suffix}(angle);\n\
        \x20   const {name} one = {one};\n    const {name} other = {other};\n    return one {sign} other;\n}}\n"
    )
}
