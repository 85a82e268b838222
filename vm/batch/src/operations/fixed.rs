//! Fixed-point operations that are computed exactly in 128-bit integers. A function that may fail also returns a
//! failure flag. No function in this module sums a series.

/// Returns the text of the helper function with this name; `None` if there is none.
pub(super) fn text(name: &str) -> Option<String> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
}

const ALL: &[(&str, &str)] = &[
    (
        "rv_outcome",
        "\
/* The result of a function that may fail. If it fails, `value` is arbitrary. */
struct rv_outcome {
    value: i64,
    fails: bool,
}
",
    ),
    (
        "rv_fixed_taken",
        "\
/* Converts a number to 64 bits. Fails if the number doesn't fit. */
fn rv_fixed_taken(a: vec2<u64>) -> rv_outcome {
    return rv_outcome(i64(a.x), !(a.y == u64(i64(a.x) >> 63u)));
}
",
    ),
    (
        "rv_fixed_add",
        "\
fn rv_fixed_add(a: i64, b: i64) -> rv_outcome {
    let sum = a + b;
    return rv_outcome(sum, ((sum ^ a) & (sum ^ b)) < 0li);
}
",
    ),
    (
        "rv_fixed_sub",
        "\
fn rv_fixed_sub(a: i64, b: i64) -> rv_outcome {
    let difference = a - b;
    return rv_outcome(difference, ((a ^ b) & (a ^ difference)) < 0li);
}
",
    ),
    (
        "rv_fixed_neg",
        "\
fn rv_fixed_neg(a: i64) -> rv_outcome {
    return rv_outcome(0li - a, a == i64(0x8000000000000000lu));
}
",
    ),
    (
        "rv_fixed_magnitude",
        "\
fn rv_fixed_magnitude(a: i64) -> u64 {
    return u64(select(a, 0li - a, a < 0li));
}
",
    ),
    (
        "rv_fixed_rounded",
        "\
/* Returns product / 2^shift, rounded to nearest, ties to even. The shift is 1 to 63. */
fn rv_fixed_rounded(product: vec2<u64>, shift: u32) -> vec2<u64> {
    let up = ((1lu << (shift - 1u)) - 1lu) + ((product.x >> shift) & 1lu);
    let sum = rv_wide_add(product, vec2<u64>(up, 0lu));
    return vec2<u64>((sum.x >> shift) | (sum.y << (64u - shift)), u64(i64(sum.y) >> shift));
}
",
    ),
    (
        "rv_fixed_mul",
        "\
fn rv_fixed_mul(a: i64, b: i64, fraction: u32) -> rv_outcome {
    return rv_fixed_taken(rv_fixed_rounded(rv_wide_mul(rv_wide_of(a), rv_wide_of(b)), fraction));
}
",
    ),
    (
        "rv_fixed_signed",
        "\
/* Gives a magnitude its sign. Fails if the result doesn't fit in 64 bits. */
fn rv_fixed_signed(magnitude: vec2<u64>, is_negative: bool) -> rv_outcome {
    let most = 0x7ffffffffffffffflu + select(0lu, 1lu, is_negative);
    let value = i64(magnitude.x);
    return rv_outcome(select(value, 0li - value, is_negative), (magnitude.y > 0lu) | (magnitude.x > most));
}
",
    ),
    (
        "rv_fixed_div",
        "\
fn rv_fixed_div(a: i64, b: i64, fraction: u32) -> rv_outcome {
    let dividend = rv_wide_shl(vec2<u64>(rv_fixed_magnitude(a), 0lu), fraction);
    let divisor = vec2<u64>(rv_fixed_magnitude(b), 0lu);
    let whole = rv_wide_div(dividend, divisor);
    let rest = rv_wide_sub(dividend, rv_wide_mul(whole, divisor)).x;
    /* The rest isn't doubled for the comparison, because twice the rest may have 65 bits. */
    let left = divisor.x - rest;
    let up = (rest > left) | ((rest == left) & ((whole.x & 1lu) == 1lu));
    let nearest = rv_wide_add(whole, vec2<u64>(select(0lu, 1lu, up), 0lu));
    let made = rv_fixed_signed(nearest, (a ^ b) < 0li);
    return rv_outcome(made.value, made.fails | (b == 0li));
}
",
    ),
    (
        "rv_fixed_root",
        "\
/* Returns the square root, rounded to nearest. A tie is impossible. Fails if the root doesn't fit in 64 bits. */
fn rv_fixed_root(square: vec2<u64>) -> rv_outcome {
    let root = rv_wide_root(square);
    let up = rv_wide_lt(root, rv_wide_sub(square, rv_wide_mul(root, root)));
    return rv_fixed_signed(rv_wide_add(root, vec2<u64>(select(0lu, 1lu, up), 0lu)), false);
}
",
    ),
    (
        "rv_fixed_sqrt",
        "\
fn rv_fixed_sqrt(a: i64, fraction: u32) -> rv_outcome {
    let root = rv_fixed_root(rv_wide_shl(vec2<u64>(rv_fixed_magnitude(a), 0lu), fraction));
    return rv_outcome(root.value, root.fails | (a < 0li));
}
",
    ),
    (
        "rv_fixed_hypot",
        "\
fn rv_fixed_hypot(a: i64, b: i64) -> rv_outcome {
    let x = rv_fixed_magnitude(a);
    let y = rv_fixed_magnitude(b);
    return rv_fixed_root(rv_wide_add(rv_wide_product(x, x), rv_wide_product(y, y)));
}
",
    ),
    (
        "rv_fixed_floor",
        "\
fn rv_fixed_floor(a: i64, fraction: u32) -> i64 {
    return (a >> fraction) << fraction;
}
",
    ),
    (
        "rv_fixed_round",
        "\
fn rv_fixed_round(a: i64, fraction: u32) -> rv_outcome {
    return rv_fixed_taken(rv_wide_shl(rv_fixed_rounded(rv_wide_of(a), fraction), fraction));
}
",
    ),
    (
        "rv_fixed_of_integer",
        "\
fn rv_fixed_of_integer(a: i64, fraction: u32) -> rv_outcome {
    return rv_fixed_taken(rv_wide_shl(rv_wide_of(a), fraction));
}
",
    ),
    (
        "rv_fixed_integer",
        "\
/* Returns the integer part, rounded toward 0. */
fn rv_fixed_integer(a: i64, fraction: u32) -> i64 {
    let below = (1li << fraction) - 1li;
    return (a + select(0li, below, a < 0li)) >> fraction;
}
",
    ),
];
