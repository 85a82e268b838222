//! Compares each elementary function with that of another library: nanoseconds per call of both, measured
//! alternately, and the ratio.

use std::hint::black_box;
use std::time::Instant;

use reviver_isa::number::elementary::{
    NativeDouble, NativeSingle, exp, inverse_trig, log, power, roots, special, trig,
};

const ARGUMENTS: usize = 2048;
const ROUNDS: usize = 60;

/// Returns numbers of a range, evenly distributed; logarithmically if both ends are positive.
fn arguments(least: f64, greatest: f64, seed: u64) -> Vec<f64> {
    let mut bits = seed;
    let mut unit = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    };
    let between = |from: f64, to: f64, unit: f64| from + (to - from) * unit;
    let number = |unit| match least > 0.0 {
        true => between(least.ln(), greatest.ln(), unit).exp(),
        false => between(least, greatest, unit),
    };
    (0..ARGUMENTS).map(|_| number(unit())).collect()
}

/// Measures the nanoseconds per call. Each call depends on the result of the preceding one.
fn time<T: Copy>(
    arguments: &[(T, T)],
    function: impl Fn(T, T) -> T,
    and: impl Fn(T, T) -> T,
    zero: T,
) -> f64 {
    let start = Instant::now();
    let mut last = zero;
    for &(a, b) in arguments {
        last = function(and(a, last), b);
    }
    black_box(last);
    start.elapsed().as_secs_f64() * 1e9 / arguments.len() as f64
}

struct Times {
    ours: [f64; 2],
    theirs: [f64; 2],
}

macro_rules! timed {
    ($times:expr, $slot:literal, $float:ty, $numbers:expr, $ours:expr, $theirs:expr) => {
        let arguments: Vec<($float, $float)> =
            $numbers.iter().map(|&(a, b)| (a as $float, b as $float)).collect();
        for _ in 0..ROUNDS {
            // Returns the argument of the next call unchanged, but in a way that depends on the preceding
            // result.
            let and =
                |a: $float, last: $float| <$float>::from_bits(a.to_bits() ^ (last.to_bits() & black_box(0)));
            $times.ours[$slot] = $times.ours[$slot].min(time(&arguments, $ours, and, 0.0));
            $times.theirs[$slot] = $times.theirs[$slot].min(time(&arguments, $theirs, and, 0.0));
        }
    };
}

macro_rules! unary {
    ($name:literal, $least:expr, $greatest:expr, $family:ident::$function:ident, $double:path, $single:path) => {
        let numbers: Vec<(f64, f64)> =
            arguments($least, $greatest, 88172645463325252).iter().map(|&a| (a, 0.0)).collect();
        let mut times = Times { ours: [f64::INFINITY; 2], theirs: [f64::INFINITY; 2] };
        timed!(times, 0, f64, numbers, |a, _| $family::$function(&NativeDouble, a), |a, _| $double(a));
        timed!(times, 1, f32, numbers, |a, _| $family::$function(&NativeSingle, a), |a, _| $single(a));
        report($name, &times);
    };
}

macro_rules! binary {
    ($name:literal, $first:expr, $second:expr, $family:ident::$function:ident, $double:path, $single:path) => {
        let first = arguments($first[0], $first[1], 88172645463325252);
        let second = arguments($second[0], $second[1], 1234567890123456789);
        let numbers: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        let mut times = Times { ours: [f64::INFINITY; 2], theirs: [f64::INFINITY; 2] };
        timed!(times, 0, f64, numbers, |a, b| $family::$function(&NativeDouble, a, b), $double);
        timed!(times, 1, f32, numbers, |a, b| $family::$function(&NativeSingle, a, b), $single);
        report($name, &times);
    };
}

fn report(name: &str, times: &Times) {
    let ratio = |slot: usize| times.ours[slot] / times.theirs[slot];
    let [double, single] = times.ours;
    println!("| {name} | {double:.1} | {:.2} | {single:.1} | {:.2} |", ratio(0), ratio(1));
}

fn main() {
    println!("| function | f64 (ns) | ÷ libm | f32 (ns) | ÷ libm |\n|---|---|---|---|---|");
    unary!("exp", -50.0, 50.0, exp::exp, libm::exp, libm::expf);
    unary!("exp_m1", -2.0, 4.0, exp::exp_m1, libm::expm1, libm::expm1f);
    unary!("sinh", -10.0, 10.0, exp::sinh, libm::sinh, libm::sinhf);
    unary!("cosh", -10.0, 10.0, exp::cosh, libm::cosh, libm::coshf);
    unary!("tanh", -3.0, 3.0, exp::tanh, libm::tanh, libm::tanhf);
    unary!("log", 1e-10, 1e10, log::log, libm::log, libm::logf);
    unary!("ln_1p", -0.5, 4.0, log::ln_1p, libm::log1p, libm::log1pf);
    unary!("erf", -3.0, 3.0, special::erf, libm::erf, libm::erff);
    unary!("lgamma", 0.01, 100.0, special::log_gamma, libm::lgamma, libm::lgammaf);
    unary!("cbrt", 1e-10, 1e10, roots::cbrt, libm::cbrt, libm::cbrtf);
    for (least, greatest) in [(-0.75, 0.75), (-100.0, 100.0), (400.0, 1e5), (1e6, 1e30)] {
        println!("| angles from {least} to {greatest} | | | | |");
        unary!("sin", least, greatest, trig::sin, libm::sin, libm::sinf);
        unary!("cos", least, greatest, trig::cos, libm::cos, libm::cosf);
        unary!("tan", least, greatest, trig::tan, libm::tan, libm::tanf);
    }
    println!("| | | | | |");
    unary!("asin", -1.0, 1.0, inverse_trig::asin, libm::asin, libm::asinf);
    unary!("acos", -1.0, 1.0, inverse_trig::acos, libm::acos, libm::acosf);
    unary!("atan", -4.0, 4.0, inverse_trig::atan, libm::atan, libm::atanf);
    binary!("atan2", [-10.0, 10.0], [-10.0, 10.0], inverse_trig::atan2, libm::atan2, libm::atan2f);
    binary!("hypot", [-10.0, 10.0], [-10.0, 10.0], roots::hypot, libm::hypot, libm::hypotf);
    binary!("pow", [0.01, 100.0], [-5.0, 5.0], power::pow, libm::pow, libm::powf);
}
