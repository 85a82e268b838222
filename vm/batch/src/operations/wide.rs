//! Arithmetic on unsigned 128-bit words. A 128-bit word is a vector of two 64-bit words, the low word first. The
//! functions have no loops. This module is independent of fixed point.

/// The WGSL type of a 128-bit word.
pub(super) const WORD: &str = "vec2<u64>";

/// Returns a literal of a 128-bit word.
pub(super) fn literal(value: u128) -> String {
    format!("{WORD}(0x{:x}lu, 0x{:x}lu)", value as u64, (value >> 64) as u64)
}

/// Returns the expression of a left shift by a constant amount less than 128. `{}` is a placeholder for the operand.
pub(super) fn shl(amount: u32) -> String {
    match amount {
        0 => "{}".to_owned(),
        64 => format!("{WORD}(0lu, {{}}.x)"),
        1..64 => format!("{WORD}({{}}.x << {amount}u, ({{}}.y << {amount}u) | ({{}}.x >> {}u))", 64 - amount),
        _ => format!("{WORD}(0lu, {{}}.x << {}u)", amount - 64),
    }
}

/// Returns the expression of a logical right shift by a constant amount. `{}` is a placeholder for the operand.
pub(super) fn shr(amount: u32) -> String {
    match amount {
        0 => "{}".to_owned(),
        64 => format!("{WORD}({{}}.y, 0lu)"),
        1..64 => format!("{WORD}(({{}}.x >> {amount}u) | ({{}}.y << {}u), {{}}.y >> {amount}u)", 64 - amount),
        _ => format!("{WORD}({{}}.y >> {}u, 0lu)", amount - 64),
    }
}

/// Returns the expression of an arithmetic right shift by a constant amount. `{}` is a placeholder for the operand.
pub(super) fn sar(amount: u32) -> String {
    let sign = "u64(i64({}.y) >> 63u)";
    match amount {
        0 => "{}".to_owned(),
        64 => format!("{WORD}({{}}.y, {sign})"),
        1..64 => format!(
            "{WORD}(({{}}.x >> {amount}u) | ({{}}.y << {}u), u64(i64({{}}.y) >> {amount}u))",
            64 - amount
        ),
        _ => format!("{WORD}(u64(i64({{}}.y) >> {}u), {sign})", amount - 64),
    }
}

/// Returns the text of the helper function with this name; `None` if there is none.
pub(super) fn text(name: &str) -> Option<String> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
}

const ALL: &[(&str, &str)] = &[
    (
        "rv_wide_of",
        "\
fn rv_wide_of(a: i64) -> vec2<u64> {
    return vec2<u64>(u64(a), u64(a >> 63u));
}
",
    ),
    (
        "rv_wide_eq",
        "\
fn rv_wide_eq(a: vec2<u64>, b: vec2<u64>) -> bool {
    return (a.x == b.x) & (a.y == b.y);
}
",
    ),
    (
        "rv_wide_lt",
        "\
fn rv_wide_lt(a: vec2<u64>, b: vec2<u64>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}
",
    ),
    (
        "rv_wide_add",
        "\
fn rv_wide_add(a: vec2<u64>, b: vec2<u64>) -> vec2<u64> {
    let low = a.x + b.x;
    return vec2<u64>(low, a.y + b.y + select(0lu, 1lu, low < a.x));
}
",
    ),
    (
        "rv_wide_sub",
        "\
fn rv_wide_sub(a: vec2<u64>, b: vec2<u64>) -> vec2<u64> {
    return vec2<u64>(a.x - b.x, a.y - b.y - select(0lu, 1lu, a.x < b.x));
}
",
    ),
    (
        "rv_wide_product",
        "\
/* Returns the 128-bit product of two 64-bit words. */
fn rv_wide_product(a: u64, b: u64) -> vec2<u64> {
    let a0 = a & 0xfffffffflu;
    let a1 = a >> 32u;
    let b0 = b & 0xfffffffflu;
    let b1 = b >> 32u;
    let lowest = a0 * b0;
    let cross = a0 * b1 + (lowest >> 32u);
    let middle = a1 * b0 + (cross & 0xfffffffflu);
    return vec2<u64>((middle << 32u) | (lowest & 0xfffffffflu), a1 * b1 + (cross >> 32u) + (middle >> 32u));
}
",
    ),
    (
        "rv_wide_mul",
        "\
fn rv_wide_mul(a: vec2<u64>, b: vec2<u64>) -> vec2<u64> {
    let low = rv_wide_product(a.x, b.x);
    return vec2<u64>(low.x, low.y + a.x * b.y + a.y * b.x);
}
",
    ),
    (
        "rv_wide_shl",
        "\
/* Shifts to the left by an amount below 128. */
fn rv_wide_shl(a: vec2<u64>, amount: u32) -> vec2<u64> {
    let within = amount & 63u;
    let up = (a.x >> 1u) >> (63u - within);
    let low = a.x << within;
    return select(vec2<u64>(low, (a.y << within) | up), vec2<u64>(0lu, low), (amount & 64u) != 0u);
}
",
    ),
    (
        "rv_wide_shr",
        "\
/* Shifts to the right by an amount below 128. */
fn rv_wide_shr(a: vec2<u64>, amount: u32) -> vec2<u64> {
    let within = amount & 63u;
    let down = (a.y << 1u) << (63u - within);
    let high = a.y >> within;
    return select(vec2<u64>((a.x >> within) | down, high), vec2<u64>(high, 0lu), (amount & 64u) != 0u);
}
",
    ),
    (
        "rv_zeros",
        "\
/* Returns the number of zeros before the first bit that is set. */
fn rv_zeros(a: u64) -> u32 {
    let high = u32(a >> 32u);
    return select(countLeadingZeros(high), 32u + countLeadingZeros(u32(a & 0xfffffffflu)), high == 0u);
}
",
    ),
    (
        "rv_wide_zeros",
        "\
fn rv_wide_zeros(a: vec2<u64>) -> vec2<u64> {
    return vec2<u64>(u64(select(rv_zeros(a.y), 64u + rv_zeros(a.x), a.y == 0lu)), 0lu);
}
",
    ),
    (
        "rv_wide_digit",
        "\
/* Returns the next 32 bits of a quotient, and the new rest. The dividend is a rest, which must be less than the divisor,
   followed by 32 bits. The highest bit of the divisor must be set.
   Knuth, TAOCP volume 2, 4.3.1, algorithm D: the estimate is at most 2 too large. */
fn rv_wide_digit(rest: u64, next: u64, divisor: u64) -> vec2<u64> {
    let upper = divisor >> 32u;
    let lower = divisor & 0xfffffffflu;
    let first = rest / upper;
    let first_rest = rest - first * upper;
    let first_is_large = (first > 0xfffffffflu) | (first * lower > ((first_rest << 32u) | next));
    let second = select(first, first - 1lu, first_is_large);
    let second_rest = select(first_rest, first_rest + upper, first_is_large);
    let second_is_large = (second > 0xfffffffflu) | (second * lower > ((second_rest << 32u) | next));
    let is_large = first_is_large & (second_rest <= 0xfffffffflu) & second_is_large;
    let digit = select(second, second - 1lu, is_large);
    return vec2<u64>(digit, ((rest << 32u) | next) - digit * divisor);
}
",
    ),
    (
        "rv_wide_limb",
        "\
/* Returns the quotient and the remainder of a 128-bit number by a 64-bit divisor. The highest bit of the divisor must be set,
   and the divisor must exceed the upper 64 bits of the dividend. */
fn rv_wide_limb(dividend: vec2<u64>, divisor: u64) -> vec2<u64> {
    let high = rv_wide_digit(dividend.y, dividend.x >> 32u, divisor);
    let low = rv_wide_digit(high.y, dividend.x & 0xfffffffflu, divisor);
    return vec2<u64>((high.x << 32u) | low.x, low.y);
}
",
    ),
    (
        "rv_wide_div",
        "\
/* Returns the quotient, rounded down; arbitrary if the divisor is 0. For a divisor of more than 64 bits, the quotient by its
   upper 64 bits is at most 1 too large (H. Warren, Hacker's Delight, 9-5). */
fn rv_wide_div(a: vec2<u64>, b: vec2<u64>) -> vec2<u64> {
    if (b.y == 0lu) {
        let divisor = max(b.x, 1lu);
        let high = a.y / divisor;
        let shift = rv_zeros(divisor);
        let rest = rv_wide_shl(vec2<u64>(a.x, a.y - high * divisor), shift);
        return vec2<u64>(rv_wide_limb(rest, divisor << shift).x, high);
    }
    let shift = rv_zeros(b.y);
    let divisor = rv_wide_shl(b, shift).y;
    let half = vec2<u64>((a.x >> 1u) | (a.y << 63u), a.y >> 1u);
    let estimate = rv_wide_limb(half, divisor).x >> (63u - shift);
    let quotient = select(estimate - 1lu, 0lu, estimate == 0lu);
    let rest = rv_wide_sub(a, rv_wide_mul(b, vec2<u64>(quotient, 0lu)));
    return vec2<u64>(select(quotient + 1lu, quotient, rv_wide_lt(rest, b)), 0lu);
}
",
    ),
    (
        "rv_root",
        "\
/* Returns the square root of a number of at least 2^62, with an error of at most 1. Each step of Newton's method doubles the
   number of correct digits (order of steps by M. Dickinson). */
fn rv_root(a: u64) -> u64 {
    let one = 1lu + (a >> 62u);
    let two = (one << 1u) + (a >> 59u) / one;
    let four = (two << 3u) + (a >> 53u) / two;
    let eight = (four << 7u) + (a >> 41u) / four;
    return (eight << 15u) + (a >> 17u) / eight;
}
",
    ),
    (
        "rv_wide_root",
        "\
/* Returns the square root, rounded down. */
fn rv_wide_root(square: vec2<u64>) -> vec2<u64> {
    let shift = u32(rv_wide_zeros(square).x) & 126u;
    let a = rv_wide_shl(square, shift);
    let half = rv_root(a.y);
    let last = rv_wide_div(vec2<u64>((a.x >> 33u) | (a.y << 31u), a.y >> 33u), vec2<u64>(half, 0lu));
    let sum = rv_wide_add(vec2<u64>(half << 31u, half >> 33u), last);
    /* The sum may be 2^64, but the root of a 128-bit number is less. */
    let most = select(sum.x, 0xfffffffffffffffflu, sum.y != 0lu);
    let is_large = rv_wide_lt(a, rv_wide_product(most, most));
    let root = select(most, most - 1lu, is_large) >> (shift >> 1u);
    return vec2<u64>(select(root, 0lu, (a.x | a.y) == 0lu), 0lu);
}
",
    ),
];
