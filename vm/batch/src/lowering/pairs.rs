//! Helper functions of rewritten shaders: arithmetic on 64-bit integers as pairs of words, low word first, and opaque
//! results. These functions have no loops and use no float arithmetic. This module is independent of shaders.

/// The name of the variable that is 0. Its value is unknown to drivers at compile time.
pub(super) const OPAQUE_ZERO: &str = "opaque_zero";

/// The name and the text of each function.
pub(super) const ALL: &[(&str, &str)] = &[
    (OPAQUE_ZERO, "var<private> opaque_zero: u32;\n"),
    (
        "opaque_f32",
        "\
fn opaque_f32(a: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(a) ^ opaque_zero);
}
",
    ),
    (
        "opaque_f64",
        "\
fn opaque_f64(a: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(a) ^ u64(opaque_zero));
}
",
    ),
    ("opaque_i32", "fn opaque_i32(a: i32) -> i32 {\n    return a ^ bitcast<i32>(opaque_zero);\n}\n"),
    ("opaque_u32", "fn opaque_u32(a: u32) -> u32 {\n    return a ^ opaque_zero;\n}\n"),
    ("opaque_i64", "fn opaque_i64(a: i64) -> i64 {\n    return a ^ i64(opaque_zero);\n}\n"),
    ("opaque_u64", "fn opaque_u64(a: u64) -> u64 {\n    return a ^ u64(opaque_zero);\n}\n"),
    (
        "pair_add",
        "\
fn pair_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
",
    ),
    (
        "pair_sub",
        "\
fn pair_sub(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}
",
    ),
    (
        "pair_neg",
        "\
fn pair_neg(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(0u - a.x, ~a.y + select(0u, 1u, a.x == 0u));
}
",
    ),
    (
        "pair_abs",
        "\
fn pair_abs(a: vec2<u32>) -> vec2<u32> {
    return select(a, pair_neg(a), (a.y >> 31u) == 1u);
}
",
    ),
    (
        "pair_mul",
        "\
/* Returns the product modulo 2^64. Products of halves give the upper word of the product of the lower words. */
fn pair_mul(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let a0 = a.x & 0xffffu;
    let a1 = a.x >> 16u;
    let b0 = b.x & 0xffffu;
    let b1 = b.x >> 16u;
    let cross = a0 * b1 + ((a0 * b0) >> 16u);
    let middle = a1 * b0 + (cross & 0xffffu);
    let high = a1 * b1 + (cross >> 16u) + (middle >> 16u);
    return vec2<u32>(a.x * b.x, high + a.x * b.y + a.y * b.x);
}
",
    ),
    ("pair_eq", "fn pair_eq(a: vec2<u32>, b: vec2<u32>) -> bool {\n    return (a.x == b.x) & (a.y == b.y);\n}\n"),
    (
        "pair_lt_u",
        "\
fn pair_lt_u(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}
",
    ),
    (
        "pair_lt_s",
        "\
fn pair_lt_s(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (bitcast<i32>(a.y) < bitcast<i32>(b.y)) | ((a.y == b.y) & (a.x < b.x));
}
",
    ),
    (
        "pair_min_u",
        "fn pair_min_u(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n    return select(a, b, pair_lt_u(b, a));\n}\n",
    ),
    (
        "pair_max_u",
        "fn pair_max_u(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n    return select(a, b, pair_lt_u(a, b));\n}\n",
    ),
    (
        "pair_min_s",
        "fn pair_min_s(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n    return select(a, b, pair_lt_s(b, a));\n}\n",
    ),
    (
        "pair_max_s",
        "fn pair_max_s(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n    return select(a, b, pair_lt_s(a, b));\n}\n",
    ),
    (
        "pair_shl",
        "\
/* Shifts to the left by an amount modulo 64. */
fn pair_shl(a: vec2<u32>, amount: u32) -> vec2<u32> {
    let within = amount & 31u;
    let low = a.x << within;
    let high = (a.y << within) | ((a.x >> 1u) >> (31u - within));
    return select(vec2<u32>(low, high), vec2<u32>(0u, low), (amount & 32u) != 0u);
}
",
    ),
    (
        "pair_shr_u",
        "\
/* Shifts to the right by an amount modulo 64. */
fn pair_shr_u(a: vec2<u32>, amount: u32) -> vec2<u32> {
    let within = amount & 31u;
    let high = a.y >> within;
    let low = (a.x >> within) | ((a.y << 1u) << (31u - within));
    return select(vec2<u32>(low, high), vec2<u32>(high, 0u), (amount & 32u) != 0u);
}
",
    ),
    (
        "pair_shr_s",
        "\
/* Shifts to the right by an amount modulo 64, with copies of the sign bit. */
fn pair_shr_s(a: vec2<u32>, amount: u32) -> vec2<u32> {
    let within = amount & 31u;
    let high = bitcast<u32>(bitcast<i32>(a.y) >> within);
    let low = (a.x >> within) | ((a.y << 1u) << (31u - within));
    let signs = bitcast<u32>(bitcast<i32>(a.y) >> 31u);
    return select(vec2<u32>(low, high), vec2<u32>(high, signs), (amount & 32u) != 0u);
}
",
    ),
    (
        "pair_digit",
        "\
/* Returns the next 16 bits of a quotient, and the new rest. The dividend is a rest, which must be less than the divisor,
   followed by 16 bits. The highest bit of the divisor must be set.
   Knuth, TAOCP volume 2, 4.3.1, algorithm D: the estimate is at most 2 too large. */
fn pair_digit(rest: u32, next: u32, divisor: u32) -> vec2<u32> {
    let upper = divisor >> 16u;
    let lower = divisor & 0xffffu;
    let first = rest / upper;
    let first_rest = rest - first * upper;
    let first_is_large = (first > 0xffffu) | (first * lower > ((first_rest << 16u) | next));
    let second = select(first, first - 1u, first_is_large);
    let second_rest = select(first_rest, first_rest + upper, first_is_large);
    let second_is_large = (second > 0xffffu) | (second * lower > ((second_rest << 16u) | next));
    let is_large = first_is_large & (second_rest <= 0xffffu) & second_is_large;
    let digit = select(second, second - 1u, is_large);
    return vec2<u32>(digit, ((rest << 16u) | next) - digit * divisor);
}
",
    ),
    (
        "pair_divided",
        "\
/* Returns a quotient, and in the upper half the remainder. A divisor of 0 counts as 1. For a divisor of one word, the
   upper word of the quotient is computed first. For a divisor of two words, the quotient by its upper 32 bits is at most 1 too
   large (H. Warren, Hacker's Delight, 9-5). Both cases compute two digits of 16 bits. */
fn pair_divided(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    let is_wide = b.y != 0u;
    let low_divisor = max(b.x, 1u);
    let shift = countLeadingZeros(select(low_divisor, b.y, is_wide));
    let whole = a.y / low_divisor;
    let rest = a.y - whole * low_divisor;
    let narrow = pair_shl(vec2<u32>(a.x, rest), shift);
    let half = vec2<u32>((a.x >> 1u) | (a.y << 31u), a.y >> 1u);
    let dividend = select(narrow, half, is_wide);
    let divisor = select(low_divisor << shift, pair_shl(b, shift).y, is_wide);
    let upper = pair_digit(dividend.y, dividend.x >> 16u, divisor);
    let lower = pair_digit(upper.y, dividend.x & 0xffffu, divisor);
    let found = (upper.x << 16u) | lower.x;
    let estimate = found >> (31u - shift);
    let quotient = estimate - min(estimate, 1u);
    let left = pair_sub(a, pair_mul(b, vec2<u32>(quotient, 0u)));
    let is_small = !pair_lt_u(left, b);
    let wide_left = select(left, pair_sub(left, b), is_small);
    let wide = vec4<u32>(quotient + select(0u, 1u, is_small), 0u, wide_left);
    return select(vec4<u32>(found, whole, lower.y >> shift, 0u), wide, is_wide);
}
",
    ),
    (
        "pair_signed",
        "\
/* Returns a number, or its negative if the highest bit of `sign` is set. */
fn pair_signed(a: vec2<u32>, sign: u32) -> vec2<u32> {
    return select(a, pair_neg(a), (sign >> 31u) == 1u);
}
",
    ),
    (
        "pair_div_u",
        "fn pair_div_u(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n    return pair_divided(a, b).xy;\n}\n",
    ),
    (
        "pair_rem_u",
        "fn pair_rem_u(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n    return pair_divided(a, b).zw;\n}\n",
    ),
    (
        "pair_div_s",
        "\
fn pair_div_s(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return pair_signed(pair_divided(pair_abs(a), pair_abs(b)).xy, a.y ^ b.y);
}
",
    ),
    (
        "pair_rem_s",
        "\
fn pair_rem_s(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return pair_signed(pair_divided(pair_abs(a), pair_abs(b)).zw, a.y);
}
",
    ),
    (
        "pair_float_u",
        "\
/* Returns the nearest float, ties to even. The lowest bit of `upper` is set if any bit below the upper word is set. If the
   mantissa is rounded up to 2^24, the addition increments the exponent. */
fn pair_float_u(a: vec2<u32>) -> f32 {
    let zeros = select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
    let first = pair_shl(a, zeros);
    let upper = first.y | min(first.x, 1u);
    let mantissa = upper >> 8u;
    let below = upper & 0xffu;
    let is_up = (below > 0x80u) | ((below == 0x80u) & ((mantissa & 1u) == 1u));
    let bits = ((189u - zeros) << 23u) + mantissa + select(0u, 1u, is_up);
    return bitcast<f32>(select(bits, 0u, zeros == 64u));
}
",
    ),
    (
        "pair_float_s",
        "\
fn pair_float_s(a: vec2<u32>) -> f32 {
    return bitcast<f32>(bitcast<u32>(pair_float_u(pair_abs(a))) | (a.y & 0x80000000u));
}
",
    ),
    (
        "pair_of_float",
        "\
/* Rounds a float toward 0. Out of range, returns the nearest integer; for NaN, returns 0. */
fn pair_of_float(a: f32) -> vec2<u32> {
    let bits = bitcast<u32>(a);
    let exponent = (bits >> 23u) & 0xffu;
    let mantissa = (bits & 0x7fffffu) | 0x800000u;
    let large = pair_shl(vec2<u32>(mantissa, 0u), min(exponent - min(exponent, 150u), 63u));
    let small = vec2<u32>(mantissa >> min(150u - min(exponent, 150u), 31u), 0u);
    let within = pair_signed(select(small, large, exponent > 150u), bits);
    let sign = bits >> 31u;
    let most = vec2<u32>(sign - 1u, 0x7fffffffu + sign);
    let is_number = (bits & 0x7fffffffu) <= 0x7f800000u;
    return select(vec2<u32>(), select(within, most, exponent > 189u), is_number);
}
",
    ),
];
