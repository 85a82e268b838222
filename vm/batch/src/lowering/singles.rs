//! Quotients, square roots and comparisons of 32-bit floats, for devices with inexact operations. Vulkan permits an
//! error of 2.5 units in the last place (ulp) in quotients, and permits devices to flush subnormal numbers to 0. This
//! module is independent of shaders.
//!
//! Comparisons check the bits of a difference, which is 0 only if both operands are equal. So no comparison treats a
//! subnormal operand as 0. A comparison with a normal literal uses the device's own comparison, which is right even if
//! the device flushes the other operand to 0. The probe tests these comparisons.
//!
//! There are two methods for correctly rounded quotients and roots. The first method computes digit by digit in integer
//! arithmetic, which is exact on every device. The second method refines an approximation with fused multiply-adds; it
//! is used only if no exponent is near an end of the range.
//!
//! Source: P. Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", IBM J. Res. Dev.
//! 34 (1990). Let `y` be the float nearest to 1/b, and let `q` differ from a/b by at most one ulp. Then the float
//! nearest to `q + (a - b·q)·y` is the float nearest to a/b. If an approximation of 1/b has an error of one ulp, a
//! refinement step gives the nearest float, unless all fraction bits of b are 1.

use naga::BinaryOperator;

/// The implementation of division, comparison and square roots of 32-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoweredSingles {
    /// The device's own operations.
    Native,
    /// Division is native, and so are comparisons with normal literals. Square roots use fused multiply-adds. All other
    /// comparisons check the bits of differences.
    Compared,
    /// The same as `Compared`, but quotients use fused multiply-adds.
    Fused,
    /// Quotients and square roots use integer arithmetic, and comparisons check bits.
    Whole,
}

impl LoweredSingles {
    /// All implementations, the fastest first.
    pub const ALL: [LoweredSingles; 4] =
        [LoweredSingles::Native, LoweredSingles::Compared, LoweredSingles::Fused, LoweredSingles::Whole];

    /// Describes the implementation in words for the user.
    pub(super) fn answer(self) -> &'static str {
        match self {
            LoweredSingles::Native => "the device's own",
            LoweredSingles::Compared => "the device's own, except square roots and comparisons",
            LoweredSingles::Fused => "the device's own, except quotients, square roots and comparisons",
            LoweredSingles::Whole => {
                "the device's own, except comparisons, and quotients and square roots in integer arithmetic"
            }
        }
    }

    /// Returns a call that compares two floats, given by their names. If one operand is a literal, `literal` is its
    /// value. Returns `None` if the device's own comparison is used.
    pub(super) fn comparison(
        self,
        operator: BinaryOperator,
        (a, b): (&str, &str),
        literal: Option<f32>,
    ) -> Option<String> {
        match self {
            LoweredSingles::Native => return None,
            LoweredSingles::Compared if literal.is_some_and(f32::is_normal) => return None,
            LoweredSingles::Compared | LoweredSingles::Fused | LoweredSingles::Whole => {}
        }
        match operator {
            BinaryOperator::Equal => Some(format!("single_eq({a}, {b})")),
            BinaryOperator::NotEqual => Some(format!("!single_eq({a}, {b})")),
            BinaryOperator::Less => Some(format!("single_lt({a}, {b})")),
            BinaryOperator::Greater => Some(format!("single_lt({b}, {a})")),
            BinaryOperator::LessEqual => Some(format!("single_le({a}, {b})")),
            BinaryOperator::GreaterEqual => Some(format!("single_le({b}, {a})")),
            _ => None,
        }
    }

    /// Returns the expression of a float's absolute value.
    pub(super) fn magnitude(self, a: &str) -> String {
        match self {
            LoweredSingles::Native => format!("abs({a})"),
            _ => format!("single_abs({a})"),
        }
    }

    /// Returns the expression of the quotient of two floats, given by their names.
    pub(super) fn quotient(self, a: &str, b: &str) -> String {
        match self {
            LoweredSingles::Native | LoweredSingles::Compared => format!("{a} / {b}"),
            LoweredSingles::Fused => format!("single_quotient_fused({a}, {b})"),
            LoweredSingles::Whole => format!("single_quotient({a}, {b})"),
        }
    }

    /// Returns the expression of a square root.
    pub(super) fn root(self, a: &str) -> String {
        match self {
            LoweredSingles::Native => format!("sqrt({a})"),
            LoweredSingles::Compared | LoweredSingles::Fused => format!("single_root_fused({a})"),
            LoweredSingles::Whole => format!("single_root({a})"),
        }
    }

    /// Returns an upper bound on the iterations of each loop in the helper functions.
    pub(crate) fn iterations(self) -> u32 {
        match self {
            LoweredSingles::Native => 0,
            LoweredSingles::Compared | LoweredSingles::Fused | LoweredSingles::Whole => 26,
        }
    }
}

/// The name and the text of each function.
pub(super) const ALL: &[(&str, &str)] = &[
    ("single_abs", "fn single_abs(a: f32) -> f32 {\n    return bitcast<f32>(bitcast<u32>(a) & 0x7fffffffu);\n}\n"),
    (
        "single_both",
        "\
/* Returns true if neither operand is NaN. */
fn single_both(a: f32, b: f32) -> bool {
    return max(bitcast<u32>(a) & 0x7fffffffu, bitcast<u32>(b) & 0x7fffffffu) <= 0x7f800000u;
}
",
    ),
    (
        "single_eq",
        "\
/* Returns true if the difference is 0 or -0, or both operands are the same infinity. */
fn single_eq(a: f32, b: f32) -> bool {
    let is_infinite = (bitcast<u32>(a) & 0x7fffffffu) == 0x7f800000u;
    return ((bitcast<u32>(a - b) << 1u) == 0u) | (is_infinite & (bitcast<u32>(a) == bitcast<u32>(b)));
}
",
    ),
    (
        "single_lt",
        "\
/* Returns true if the difference is negative: its bits are above those of -0, and at most those of minus infinity. */
fn single_lt(a: f32, b: f32) -> bool {
    return bitcast<u32>(a - b) - 0x80000001u < 0x7f800000u;
}
",
    ),
    (
        "single_le",
        "fn single_le(a: f32, b: f32) -> bool {\n    return !single_lt(b, a) & single_both(a, b);\n}\n",
    ),
    (
        "single_quotient",
        "\
/* Divides the fractions as integers of 24 bits. The quotient has 26 bits, and one more bit that is set if a rest is left. */
fn single_quotient(a: f32, b: f32) -> f32 {
    let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
    let x = bitcast<u32>(a) & 0x7fffffffu;
    let y = bitcast<u32>(b) & 0x7fffffffu;
    if x > 0x7f800000u || y > 0x7f800000u || (x == y && (x == 0u || x == 0x7f800000u)) {
        return bitcast<f32>(sign | 0x7fc00000u);
    }
    if y == 0u || x == 0x7f800000u { return bitcast<f32>(sign | 0x7f800000u); }
    if x == 0u || y == 0x7f800000u { return bitcast<f32>(sign); }
    let x_lift = single_lift(x);
    let y_lift = single_lift(y);
    var rest = single_fraction(x, x_lift);
    let divisor = single_fraction(y, y_lift);
    var exponent = single_exponent(x, x_lift) - single_exponent(y, y_lift) + 127;
    if rest < divisor {
        rest = rest << 1u;
        exponent -= 1;
    }
    var quotient = 0u;
    for (var n = 0u; n < 26u; n += 1u) {
        quotient = quotient << 1u;
        if rest >= divisor {
            rest -= divisor;
            quotient = quotient | 1u;
        }
        rest = rest << 1u;
    }
    quotient = (quotient << 1u) | select(0u, 1u, rest != 0u);
    if exponent > 254 { return bitcast<f32>(sign | 0x7f800000u); }
    var above = u32(max(exponent, 1) - 1) << 23u;
    if exponent < 1 {
        let lost = u32(min(1 - exponent, 27));
        let digits = quotient & ((1u << lost) - 1u);
        quotient = (quotient >> lost) | select(0u, 1u, digits != 0u);
        above = 0u;
    }
    let fraction = quotient >> 3u;
    let beyond = quotient & 7u;
    let is_up = beyond > 4u || (beyond == 4u && (fraction & 1u) == 1u);
    return bitcast<f32>(sign | (above + fraction + select(0u, 1u, is_up)));
}
",
    ),
    (
        "single_lift",
        "\
/* Returns the left shift that gives the fraction of a subnormal number 24 bits; 0 for a normal number. */
fn single_lift(bits: u32) -> u32 {
    return select(0u, countLeadingZeros(bits) - 8u, bits < 0x800000u);
}
",
    ),
    (
        "single_fraction",
        "\
fn single_fraction(bits: u32, lift: u32) -> u32 {
    return select((bits & 0x7fffffu) | 0x800000u, bits << lift, bits < 0x800000u);
}
",
    ),
    (
        "single_exponent",
        "\
fn single_exponent(bits: u32, lift: u32) -> i32 {
    return select(bitcast<i32>(bits >> 23u), 1 - bitcast<i32>(lift), bits < 0x800000u);
}
",
    ),
    (
        "single_quotient_fused",
        "\
fn single_quotient_fused(a: f32, b: f32) -> f32 {
    let x = (bitcast<u32>(a) >> 23u) & 0xffu;
    let y = (bitcast<u32>(b) >> 23u) & 0xffu;
    let is_far_from_ends = x - 32u < 191u && y - 32u < 191u && x + 120u - y < 241u;
    if !is_far_from_ends || (bitcast<u32>(b) & 0x7fffffu) == 0x7fffffu { return single_quotient(a, b); }
    let c = -b;
    var inverse = 1.0f / b;
    inverse = fma(fma(c, inverse, 1.0f), inverse, inverse);
    inverse = fma(fma(c, inverse, 1.0f), inverse, inverse);
    var quotient = a * inverse;
    quotient = fma(fma(c, quotient, a), inverse, quotient);
    return fma(fma(c, quotient, a), inverse, quotient);
}
",
    ),
    (
        "single_root",
        "\
/* Computes the root bit by bit, for a fraction of at least 1 and below 4. */
fn single_root(a: f32) -> f32 {
    let bits = bitcast<u32>(a);
    if bits == 0u || bits == 0x7f800000u || bits == 0x80000000u { return a; }
    if bits > 0x7f800000u { return bitcast<f32>(bits | 0x7fc00000u); }
    let lift = single_lift(bits);
    let fraction = single_fraction(bits, lift);
    let exponent = single_exponent(bits, lift);
    let below = 23u + (bitcast<u32>(exponent + 1) & 1u);
    var root = 0u;
    var rest = 0u;
    for (var n = 0u; n < 24u; n += 1u) {
        let place = 46u - 2u * n;
        var digits = fraction << (below - min(place, below));
        if place >= below { digits = fraction >> (place - below); }
        rest = (rest << 2u) | (digits & 3u);
        let odd = (root << 2u) | 1u;
        root = root << 1u;
        if rest >= odd {
            rest -= odd;
            root = root | 1u;
        }
    }
    return single_rooted(root + select(0u, 1u, rest > root), exponent);
}
",
    ),
    (
        "single_rooted",
        "\
/* Composes a root from its 24 bits and the biased exponent of the radicand, which is halved. */
fn single_rooted(root: u32, exponent: i32) -> f32 {
    let half = (exponent + 255) / 2 - 64;
    return bitcast<f32>((bitcast<u32>(half) << 23u) + (root & 0x7fffffu));
}
",
    ),
    (
        "single_root_fused",
        "\
/* Computes the root for a fraction of at least 1 and below 4. No such root is rounded to 2. An approximation is replaced by a
   neighbour if the rest shows that the neighbour is nearer. */
fn single_root_fused(a: f32) -> f32 {
    let bits = bitcast<u32>(a);
    if bits < 0x800000u || bits >= 0x7f800000u { return single_root(a); }
    let exponent = bitcast<i32>(bits >> 23u);
    let x = bitcast<f32>((bits & 0x7fffffu) | ((127u + (bitcast<u32>(exponent + 1) & 1u)) << 23u));
    let inverse = inverseSqrt(x);
    let near = x * inverse;
    let mended = fma(fma(-near, 0.5f * inverse, 0.5f), near, near);
    let root = bitcast<f32>(clamp(bitcast<u32>(mended), 0x3f800000u, 0x3fffffffu));
    let rest = fma(-root, root, x);
    let unit = root * 0.00000011920928955078125f;
    let above = select(0u, 1u, rest > unit);
    let below = select(0u, 1u, rest <= -unit);
    return single_rooted(bitcast<u32>(root) + above - below, exponent);
}
",
    ),
];

#[cfg(test)]
mod tests {
    /// Returns the float that is `units` ulp above `a`, or below it if `units` is negative.
    fn away(a: f32, units: i32) -> f32 {
        f32::from_bits(a.to_bits().wrapping_add_signed(units))
    }

    /// Computes a quotient as the helper `single_quotient_fused` does. The initial inverse has an error of
    /// `units` ulp.
    fn quotient(a: f32, b: f32, units: i32) -> f32 {
        let mut inverse = away(1.0 / b, units);
        inverse = (-b).mul_add(inverse, 1.0).mul_add(inverse, inverse);
        inverse = (-b).mul_add(inverse, 1.0).mul_add(inverse, inverse);
        let mut quotient = a * inverse;
        quotient = (-b).mul_add(quotient, a).mul_add(inverse, quotient);
        (-b).mul_add(quotient, a).mul_add(inverse, quotient)
    }

    /// Computes the root of a number in [1, 4) as the helper `single_root_fused` does. The initial inverse
    /// root has an error of `units` ulp.
    fn root(x: f32, units: i32) -> f32 {
        let inverse = away((1.0 / f64::from(x).sqrt()) as f32, units);
        let near = x * inverse;
        let recomputed = (-near).mul_add(0.5 * inverse, 0.5).mul_add(near, near);
        let root = f32::from_bits(recomputed.to_bits().clamp(0x3f80_0000, 0x3fff_ffff));
        let rest = (-root).mul_add(root, x);
        let unit = root * f32::EPSILON;
        away(root, i32::from(rest > unit) - i32::from(rest <= -unit))
    }

    /// Returns numbers in [1, 2): the first and the last 300 floats, and each 9973rd float (a prime number).
    fn fractions() -> impl Iterator<Item = f32> {
        const ALL: u32 = 1 << 23;
        let ends = (0..300).chain(ALL - 300..ALL);
        ends.chain((0..ALL).step_by(9973)).map(|fraction| f32::from_bits(0x3f80_0000 | fraction))
    }

    #[test]
    fn quotients_are_nearest_for_any_device_approximation() {
        for a in fractions().step_by(7) {
            // Divisors with all fraction bits set are excluded, because they use integer arithmetic.
            for b in fractions().filter(|b| b.to_bits() & 0x7f_ffff != 0x7f_ffff) {
                for units in -3..=3 {
                    assert_eq!(quotient(a, b, units), a / b, "{a} / {b}, {units}");
                }
            }
        }
    }

    #[test]
    fn roots_are_nearest_for_any_device_approximation() {
        for x in fractions().flat_map(|x| [x, 2.0 * x]) {
            for units in -2..=2 {
                assert_eq!(root(x, units), x.sqrt(), "{x}, {units}");
            }
        }
    }
}
