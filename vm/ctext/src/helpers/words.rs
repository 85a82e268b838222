//! Helper functions of integers. Integers are words of the program, sign-extended to 64 bits. Arithmetic is unsigned,
//! so that it wraps.

/// Returns the text of the function with this name, such as `rv_add8`; `None` if there is none.
pub(super) fn text(name: &str) -> Option<String> {
    if name == "rv_bit" {
        return Some(BIT.to_owned());
    }
    let stem = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let bits: u32 = name.get(stem.len()..)?.parse().ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
    let word = WordText { bits };
    Some(match stem {
        "rv_wrap" => return Some(word.wrap()),
        "rv_add" => word.binary(stem, "b", &["return {wrap}((uint64_t)a + (uint64_t)b);"]),
        "rv_sub" => word.binary(stem, "b", &["return {wrap}((uint64_t)a - (uint64_t)b);"]),
        "rv_mul" => word.binary(stem, "b", &["return {wrap}((uint64_t)a * (uint64_t)b);"]),
        "rv_neg" => word.unary(stem, &["return {wrap}(0 - (uint64_t)a);"]),
        "rv_div" => word.binary(
            stem,
            "b",
            &["if (b == 0) {", "    return 0;", "}", "return b == -1 ? {wrap}(0 - (uint64_t)a) : a / b;"],
        ),
        "rv_rem" => word.binary(stem, "b", &["return b == 0 || b == -1 ? 0 : a % b;"]),
        "rv_pow" => word.binary(
            stem,
            "exponent",
            &[
                "uint64_t power = 1, square = (uint64_t)a;",
                "for (uint64_t left = (uint64_t)exponent; left != 0; left >>= 1) {",
                "    if (left & 1) {",
                "        power *= square;",
                "    }",
                "    square *= square;",
                "}",
                "return {wrap}(power);",
            ],
        ),
        "rv_shl" => word.binary(
            stem,
            "amount",
            &["return (uint64_t)amount < {bits} ? {wrap}((uint64_t)a << amount) : 0;"],
        ),
        "rv_shr" => word.binary(
            stem,
            "amount",
            &["return (uint64_t)amount < {bits} ? {wrap}(((uint64_t)a & {mask}) >> amount) : 0;"],
        ),
        "rv_sar" => word.binary(
            stem,
            "amount",
            &[
                "const int64_t n = (uint64_t)amount < {bits} ? amount : 63;",
                "return a < 0 ? ~(~a >> n) : a >> n;",
            ],
        ),
        "rv_rol" => word.binary(
            stem,
            "amount",
            &[
                "const uint64_t left = (uint64_t)amount & ({bits} - 1);",
                "const uint64_t word = (uint64_t)a & {mask};",
                "return {wrap}(word << left | (word >> ({bits} - 1 - left)) >> 1);",
            ],
        ),
        "rv_ror" => word.binary(
            stem,
            "amount",
            &[
                "const uint64_t right = (uint64_t)amount & ({bits} - 1);",
                "const uint64_t word = (uint64_t)a & {mask};",
                "return {wrap}(word >> right | (word << ({bits} - 1 - right)) << 1);",
            ],
        ),
        _ => return None,
    })
}

const BIT: &str = "\
/* Returns the result of a comparison, as an operand of another comparison. A call avoids a compiler warning. */
static inline int64_t rv_bit(int64_t a) {
    return a;
}
";

/// Writer of the helper functions for one word size.
struct WordText {
    bits: u32,
}

impl WordText {
    /// Returns the function that wraps an integer to the word size. C types of exact width are two's complement, and
    /// compilers convert an integer to such a type by dropping the high bits.
    fn wrap(&self) -> String {
        let bits = self.bits;
        let made = if bits == 64 { "(int64_t)a".to_owned() } else { format!("(int{bits}_t)(uint{bits}_t)a") };
        format!("static inline int64_t rv_wrap{bits}(uint64_t a) {{\n    return {made};\n}}\n")
    }

    fn body(&self, lines: &[&str]) -> String {
        let wrap = format!("rv_wrap{}", self.bits);
        let mask = format!("UINT64_C(0x{:x})", u64::MAX >> (64 - self.bits));
        let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
        body.replace("{wrap}", &wrap).replace("{bits}", &self.bits.to_string()).replace("{mask}", &mask)
    }

    fn unary(&self, stem: &str, lines: &[&str]) -> String {
        format!("static inline int64_t {stem}{}(int64_t a) {{\n{}}}\n", self.bits, self.body(lines))
    }

    fn binary(&self, stem: &str, second: &str, lines: &[&str]) -> String {
        let bits = self.bits;
        format!(
            "static inline int64_t {stem}{bits}(int64_t a, int64_t {second}) {{\n{}}}\n",
            self.body(lines)
        )
    }
}
