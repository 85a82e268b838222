//! The expressions that the probe tests, each with its evaluation on the CPU. This module is independent of devices.

use std::cmp::Ordering;

/// A tested expression with the operands `a` and `b`, and with the variables `zero` and `one`. The values of these
/// variables are unknown to drivers at compile time.
pub(super) struct Question<T> {
    /// The name of the tested operation, in words for the user.
    pub about: &'static str,
    /// The expression in WGSL.
    pub wgsl: &'static str,
    /// Evaluates the same expression on the CPU.
    pub cpu: fn(T, T) -> T,
}

macro_rules! of_floats {
    ($name:ident, $float:ty, $integer:ty) => {
        pub(super) const $name: &[Question<$float>] = &[
            Question { about: "sums", wgsl: "a + b", cpu: |a, b| a + b },
            Question { about: "differences", wgsl: "a - b", cpu: |a, b| a - b },
            Question { about: "products", wgsl: "a * b", cpu: |a, b| a * b },
            Question { about: "quotients", wgsl: "a / b", cpu: |a, b| a / b },
            Question { about: "square roots", wgsl: "sqrt(a)", cpu: |a, _| a.sqrt() },
            Question { about: "negation", wgsl: "-a", cpu: |a, _| -a },
            Question { about: "magnitudes", wgsl: "abs(a)", cpu: |a, _| a.abs() },
            Question { about: "sums with products", wgsl: "a * b + a", cpu: |a, b| a * b + a },
            Question { about: "sums minus one of their terms", wgsl: "(a + b) - b", cpu: |a, b| (a + b) - b },
            Question {
                about: "rounding errors of sums",
                wgsl: "(a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a))",
                cpu: |a, b| (a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a)),
            },
            Question { about: "differences of equal numbers", wgsl: "a - a", cpu: |a, _| a - a },
            Question { about: "sums with zero", wgsl: "a + zero", cpu: |a, _| a + 0.0 },
            Question { about: "products with zero", wgsl: "a * zero", cpu: |a, _| a * 0.0 },
            Question { about: "quotients by zero", wgsl: "a / zero", cpu: |a, _| a / 0.0 },
            Question {
                about: "comparisons",
                wgsl: "select(zero, one, a < b)",
                cpu: |a, b| <$float>::from(u8::from(a < b)),
            },
            Question {
                about: "comparisons with small numbers",
                wgsl: "select(zero, one, a < 1e-8) + select(zero, one + one, !(abs(b) <= 1e-8))",
                cpu: |a, b| {
                    let is_beyond =
                        !matches!(b.abs().partial_cmp(&1e-8), Some(Ordering::Less | Ordering::Equal));
                    <$float>::from(u8::from(a < 1e-8)) + <$float>::from(2 * u8::from(is_beyond))
                },
            },
            Question {
                about: "comparisons with large numbers",
                wgsl: "select(zero, one, a > -3.0) + select(zero, one + one, b >= 1e10)",
                cpu: |a, b| <$float>::from(u8::from(a > -3.0)) + <$float>::from(2 * u8::from(b >= 1e10)),
            },
            Question {
                about: "comparisons of equal numbers",
                wgsl: "select(zero, one, a == a)",
                cpu: |a, _| <$float>::from(u8::from(!a.is_nan())),
            },
            Question {
                about: "conversions from floats to integers",
                wgsl: concat!(
                    stringify!($float),
                    "(",
                    stringify!($integer),
                    "(select(zero, a, abs(a) < 1000000.0)))"
                ),
                cpu: |a, _| if a.abs() < 1_000_000.0 { <$float>::trunc(a) + 0.0 } else { 0.0 },
            },
            Question {
                about: "conversions from integers to floats",
                wgsl: concat!(stringify!($float), "(bitcast<", stringify!($integer), ">(a))"),
                cpu: |a, _| a.to_bits() as $integer as $float,
            },
        ];
    };
}

of_floats!(OF_F64, f64, i64);
of_floats!(OF_F32, f32, i32);

/// Returns `b` if `a / b` is defined and doesn't overflow, otherwise 1.
fn divisor(a: i64, b: i64) -> i64 {
    if b == 0 || (a == i64::MIN && b == -1) { 1 } else { b }
}

/// Tests of integers. In the expressions, `c` is `b` if `a / b` is defined, otherwise 1; `n` is a valid shift distance.
pub(super) const OF_I64: &[Question<i64>] = &[
    Question { about: "sums", wgsl: "a + b", cpu: i64::wrapping_add },
    Question { about: "differences", wgsl: "a - b", cpu: i64::wrapping_sub },
    Question { about: "products", wgsl: "a * b", cpu: i64::wrapping_mul },
    Question { about: "quotients", wgsl: "a / c", cpu: |a, b| a / divisor(a, b) },
    Question { about: "remainders", wgsl: "a % c", cpu: |a, b| a % divisor(a, b) },
    Question {
        about: "unsigned quotients",
        wgsl: "bitcast<i64>(bitcast<u64>(a) / bitcast<u64>(c))",
        cpu: |a, b| (a as u64 / divisor(a, b) as u64) as i64,
    },
    Question { about: "left shifts", wgsl: "a << n", cpu: |a, b| a << (b & 63) },
    Question { about: "arithmetic right shifts", wgsl: "a >> n", cpu: |a, b| a >> (b & 63) },
    Question {
        about: "logical right shifts",
        wgsl: "bitcast<i64>(bitcast<u64>(a) >> n)",
        cpu: |a, b| (a as u64 >> (b & 63)) as i64,
    },
    Question { about: "bitwise and", wgsl: "a & b", cpu: |a, b| a & b },
    Question { about: "bitwise or", wgsl: "a | b", cpu: |a, b| a | b },
    Question { about: "bitwise exclusive or", wgsl: "a ^ b", cpu: |a, b| a ^ b },
    Question { about: "comparisons", wgsl: "select(zero, one, a < b)", cpu: |a, b| i64::from(a < b) },
    Question {
        about: "unsigned comparisons",
        wgsl: "select(zero, one, bitcast<u64>(a) < bitcast<u64>(b))",
        cpu: |a, b| i64::from((a as u64) < b as u64),
    },
];
