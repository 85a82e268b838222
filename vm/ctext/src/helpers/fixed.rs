//! Helper functions of fixed point. A function that may fail returns 1 if it does, otherwise 0.

/// Returns the text of the function with this name, such as `rv_fixed_mul`; `None` if there is none.
pub(super) fn text(name: &str) -> Option<String> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
}

/// The name and the text of each function. The texts assume that compilers shift negative 128-bit integers
/// arithmetically, and that conversions to smaller types wrap.
const ALL: &[(&str, &str)] = &[
    ("rv_int128", "__extension__ typedef __int128 rv_int128;\n"),
    ("rv_uint128", "__extension__ typedef unsigned __int128 rv_uint128;\n"),
    (
        "rv_fixed_taken",
        "\
/* Converts a number to 64 bits. Fails if the number doesn't fit. */
static inline int rv_fixed_taken(rv_int128 a, int64_t *made) {
    const int fits = a >= INT64_MIN && a <= INT64_MAX;
    *made = fits ? (int64_t)a : 0;
    return !fits;
}
",
    ),
    (
        "rv_fixed_add",
        "\
static inline int rv_fixed_add(int64_t a, int64_t b, int64_t *made) {
    const int fails = b < 0 ? a < INT64_MIN - b : a > INT64_MAX - b;
    *made = fails ? 0 : a + b;
    return fails;
}
",
    ),
    (
        "rv_fixed_sub",
        "\
static inline int rv_fixed_sub(int64_t a, int64_t b, int64_t *made) {
    const int fails = b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b;
    *made = fails ? 0 : a - b;
    return fails;
}
",
    ),
    (
        "rv_fixed_neg",
        "\
static inline int rv_fixed_neg(int64_t a, int64_t *made) {
    *made = a == INT64_MIN ? 0 : -a;
    return a == INT64_MIN;
}
",
    ),
    (
        "rv_fixed_rounded",
        "\
/* Returns product / 2^shift, rounded to nearest, ties to even. */
static inline rv_int128 rv_fixed_rounded(rv_int128 product, int shift) {
    const rv_int128 below_half = ((rv_int128)1 << (shift - 1)) - 1;
    return (product + below_half + ((product >> shift) & 1)) >> shift;
}
",
    ),
    (
        "rv_fixed_mul",
        "\
static inline int rv_fixed_mul(int64_t a, int64_t b, int fraction, int64_t *made) {
    return rv_fixed_taken(rv_fixed_rounded((rv_int128)a * b, fraction), made);
}
",
    ),
    (
        "rv_fixed_magnitude",
        "\
static inline uint64_t rv_fixed_magnitude(int64_t a) {
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}
",
    ),
    (
        "rv_fixed_signed",
        "\
/* Gives a magnitude its sign. Fails if the result doesn't fit in 64 bits. */
static inline int rv_fixed_signed(rv_uint128 magnitude, int is_negative, int64_t *made) {
    if (magnitude > (rv_uint128)1 << 63) {
        *made = 0;
        return 1;
    }
    return rv_fixed_taken(is_negative ? -(rv_int128)magnitude : (rv_int128)magnitude, made);
}
",
    ),
    (
        "rv_fixed_div",
        "\
static inline int rv_fixed_div(int64_t a, int64_t b, int fraction, int64_t *made) {
    *made = 0;
    if (b == 0) {
        return 1;
    }
    const rv_uint128 dividend = (rv_uint128)rv_fixed_magnitude(a) << fraction;
    const rv_uint128 divisor = rv_fixed_magnitude(b);
    const rv_uint128 floor = dividend / divisor;
    const rv_uint128 twice_rest = 2 * (dividend - floor * divisor);
    const int up = twice_rest > divisor || (twice_rest == divisor && (floor & 1) != 0);
    return rv_fixed_signed(floor + (rv_uint128)up, (a < 0) != (b < 0), made);
}
",
    ),
    (
        "rv_fixed_root",
        "\
/* Returns the square root, rounded to nearest. A tie is impossible. */
static inline rv_uint128 rv_fixed_root(rv_uint128 square) {
    const rv_uint128 root = rv_wide_root(square);
    return root + (square - root * root > root);
}
",
    ),
    (
        "rv_fixed_sqrt",
        "\
static inline int rv_fixed_sqrt(int64_t a, int fraction, int64_t *made) {
    *made = 0;
    return a < 0 || rv_fixed_signed(rv_fixed_root((rv_uint128)rv_fixed_magnitude(a) << fraction), 0, made);
}
",
    ),
    (
        "rv_fixed_hypot",
        "\
static inline int rv_fixed_hypot(int64_t a, int64_t b, int64_t *made) {
    const rv_uint128 x = rv_fixed_magnitude(a), y = rv_fixed_magnitude(b);
    return rv_fixed_signed(rv_fixed_root(x * x + y * y), 0, made);
}
",
    ),
    (
        "rv_fixed_floor",
        "\
static inline int64_t rv_fixed_floor(int64_t a, int fraction) {
    return (int64_t)((uint64_t)a & ~((UINT64_C(1) << fraction) - 1));
}
",
    ),
    (
        "rv_fixed_round",
        "\
static inline int rv_fixed_round(int64_t a, int fraction, int64_t *made) {
    return rv_fixed_taken(rv_fixed_rounded(a, fraction) * ((rv_int128)1 << fraction), made);
}
",
    ),
    (
        "rv_fixed_of_integer",
        "\
static inline int rv_fixed_of_integer(int64_t a, int fraction, int64_t *made) {
    return rv_fixed_taken((rv_int128)a * ((rv_int128)1 << fraction), made);
}
",
    ),
    (
        "rv_fixed_integer",
        "\
static inline int64_t rv_fixed_integer(int64_t a, int fraction) {
    return a / (INT64_C(1) << fraction);
}
",
    ),
];
