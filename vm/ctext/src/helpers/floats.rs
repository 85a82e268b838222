//! Helper functions of floats that aren't elementary functions: bits, conversions, checks, and the hash of jumps, which
//! verifies a gradient.

use crate::float_evaluation::{CFloat, DOUBLE, SINGLE};

/// Returns the text of the function with this name, such as `rv_bits_f64`; `None` if there is none.
pub(super) fn text(name: &str) -> Option<String> {
    if name == "rv_mark" {
        return Some(MARK.to_owned());
    }
    let float = [DOUBLE, SINGLE].into_iter().find(|float| name.ends_with(float.suffix))?;
    let CFloat { name: of, suffix, word, signed, width } = float;
    let (own, most) = if width == 32 { ("f", "FLT_MAX") } else { ("", "DBL_MAX") };
    Some(match name.strip_suffix(suffix)? {
        "rv_bits_" => format!(
            "static inline {word} rv_bits_{suffix}({of} a) {{\n    {word} bits;\n    memcpy(&bits, &a, sizeof bits);\n\
            \x20   return bits;\n}}\n"
        ),
        "rv_of_bits_" => format!(
            "static inline {of} rv_of_bits_{suffix}({word} bits) {{\n    {of} a;\n    memcpy(&a, &bits, sizeof a);\n\
            \x20   return a;\n}}\n"
        ),
        "rv_whole_" => {
            let end = format!("0x1p{}{own}", width - 1);
            format!(
                "static inline {word} rv_whole_{suffix}({of} a) {{\n\
                \x20   return a > -{end} && a < {end} ? ({word})({signed})a : 0;\n}}\n"
            )
        }
        "rv_sar_" => format!(
            "static inline {word} rv_sar_{suffix}({word} a, {word} amount) {{\n\
            \x20   const {word} n = amount & {};\n    return a >> n | (a >> {} != 0 ? ~(~({word})0 >> n) : 0);\n}}\n",
            width - 1,
            width - 1
        ),
        "rv_is_finite_" => {
            format!(
                "static inline int rv_is_finite_{suffix}({of} a) {{\n    return fabs{own}(a) <= {most};\n}}\n"
            )
        }
        "rv_is_vacant_" => format!(
            "static inline int rv_is_vacant_{suffix}({of} a, double tolerance) {{\n    return fabs((double)a) <= tolerance;\n}}\n"
        ),
        "rv_is_number_" => {
            format!(
                "static inline int rv_is_number_{suffix}({of} a) {{\n    return fabs{own}(a) <= ({of})INFINITY;\n}}\n"
            )
        }
        "rv_has_integer_" => format!(
            "static inline int rv_has_integer_{suffix}({of} a) {{\n    return a >= -0x1p63{own} && a < 0x1p63{own};\n}}\n"
        ),
        "rv_integer_" => format!(
            "static inline int64_t rv_integer_{suffix}({of} a) {{\n    return rv_has_integer_{suffix}(a) ? (int64_t)a : 0;\n}}\n"
        ),
        "rv_ulp_" => format!(
            "static inline double rv_ulp_{suffix}({of} a) {{\n    const {word} bits = rv_bits_{suffix}(fabs{own}(a));\n\
            \x20   const {of} next = rv_of_bits_{suffix}(bits + 1);\n\
            \x20   return next <= {most} ? (double)next - (double)fabs{own}(a)\n\
            \x20                         : (double)fabs{own}(a) - (double)rv_of_bits_{suffix}(bits - 1);\n}}\n"
        ),
        _ => return None,
    })
}

/// The hash of a jump's step number. The interpreter computes the same hash.
const MARK: &str = "\
/* The finalizer of SplitMix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t rv_mark(int64_t step) {
    uint64_t mark = (uint64_t)step * UINT64_C(0x9e3779b97f4a7c15);
    mark = (mark ^ (mark >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mark = (mark ^ (mark >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mark ^ (mark >> 31);
}
";
