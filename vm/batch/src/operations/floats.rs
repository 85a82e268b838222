//! Operations on floats that need only a few built-in functions of WGSL. This module has no elementary functions.

use super::number_types::{DOUBLE, FloatType, SINGLE};

/// 2⁶³, the first float beyond the 64-bit integers.
const INT_END: f64 = 9_223_372_036_854_775_808.0;

/// Returns the text of the helper function with this name; `None` if there is none. The functions check signs and range
/// limits by bits, because drivers optimize float comparisons unsafely.
pub(super) fn text(name: &str) -> Option<String> {
    let float = [DOUBLE, SINGLE].into_iter().find(|float| name.ends_with(float.name))?;
    let FloatType { name: of, word, signed, .. } = float;
    let (sign, exponent) = (float.word_literal(float.sign()), float.word_literal(float.exponent()));
    let (start, end) = (float.float(-INT_END), float.float(INT_END));
    Some(match name.strip_suffix(of)? {
        "rv_neg_" => format!(
            "fn rv_neg_{of}(a: {of}) -> {of} {{\n    return bitcast<{of}>(bitcast<{word}>(a) ^ {sign});\n}}\n"
        ),
        // Viewed as unsigned integers, the bits of negative numbers range from those of -0 to those of -∞.
        "rv_magnitude_" => {
            let behind = float.word_literal(float.sign() + 1);
            format!(
                "fn rv_magnitude_{of}(a: {of}) -> {of} {{\n    let bits = bitcast<{word}>(a);\n\
                \x20   return bitcast<{of}>(select(bits, bits ^ {sign}, bits - {behind} < {exponent}));\n}}\n"
            )
        }
        // The built-in `round` is unsafe: some drivers round ties and negative 64-bit floats wrongly, or lose the sign
        // of 0. From `end` on, all floats are integers. So adding `end` rounds a magnitude to an integer, ties to even.
        "rv_round_" => {
            let end = float.float(if float.width == 32 { 8_388_608.0 } else { 4_503_599_627_370_496.0 });
            format!(
                "fn rv_round_{of}(a: {of}) -> {of} {{\n    let sign = bitcast<{word}>(a) & {sign};\n\
                \x20   let magnitude = bitcast<{of}>(bitcast<{word}>(a) ^ sign);\n\
                \x20   let sum = magnitude + {end};\n\
                \x20   let whole = select(magnitude, sum - {end}, magnitude < {end});\n\
                \x20   return bitcast<{of}>(bitcast<{word}>(whole) | sign);\n}}\n"
            )
        }
        "rv_floor_" => {
            let one = float.float(1.0);
            format!(
                "fn rv_floor_{of}(a: {of}) -> {of} {{\n    let nearest = rv_round_{of}(a);\n\
                \x20   return select(nearest, nearest - {one}, nearest > a);\n}}\n"
            )
        }
        "rv_is_finite_" => format!(
            "fn rv_is_finite_{of}(a: {of}) -> bool {{\n\
            \x20   return (bitcast<{word}>(a) & {exponent}) < {exponent};\n}}\n"
        ),
        "rv_has_integer_" => format!(
            "fn rv_has_integer_{of}(a: {of}) -> bool {{\n    return (a >= {start}) & (a < {end});\n}}\n"
        ),
        "rv_integer_" => format!(
            "fn rv_integer_{of}(a: {of}) -> i64 {{\n\
            \x20   return select(0li, i64(a), rv_has_integer_{of}(a));\n}}\n"
        ),
        // An unusual operand fails the lane, so the CPU executes the lane, and the value returned here is irrelevant.
        "rv_usual_" => format!(
            "fn rv_usual_{of}(is_usual: bool, a: {of}) -> {of} {{\n    failed = failed | !is_usual;\n    return a;\n}}\n"
        ),
        "rv_whole_" => {
            let end = float.float(if float.width == 32 { 2_147_483_648.0 } else { INT_END });
            format!(
                "fn rv_whole_{of}(a: {of}) -> {word} {{\n\
                \x20   return {word}(select({signed}(0), {signed}(a), abs(a) < {end}));\n}}\n"
            )
        }
        _ => return None,
    })
}

/// Returns the greatest float of the format that is at most `tolerance`. The tolerance has 64 bits in every number
/// system.
pub(super) fn tolerance(float: FloatType, tolerance: f64) -> f64 {
    let nearest = tolerance as f32;
    match float.width {
        32 if f64::from(nearest) > tolerance => nearest.next_down().into(),
        32 => nearest.into(),
        _ => tolerance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_rounded_down() {
        let tolerances = [1e-9, 1e-9f32.into(), 0.0, 1e300];
        let single = tolerances.map(|wanted| tolerance(SINGLE, wanted));
        assert!(single.iter().zip(tolerances).all(|(rounded, wanted)| *rounded <= wanted));
        assert_eq!([single[1], single[2]], [f64::from(1e-9f32), 0.0]);
        assert_eq!(tolerance(DOUBLE, 1e-9), 1e-9);
    }
}
