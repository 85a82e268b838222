//! Formats numbers for axes and descriptions, with as few digits as possible. This module depends on no
//! picture.

/// Returns a number with at most six significant digits.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.fract() == 0.0 && size < 1e6 {
        return format!("{value:.0}");
    }
    if !(1e-4..1e6).contains(&size) {
        let text = format!("{value:.3e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    let places = (5 - size.log10().floor() as i32).clamp(0, 9) as usize;
    trimmed(&format!("{value:.places$}")).to_owned()
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// Formats a count with thousands separators, for example `12,345`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (-3.0, "-3"),
            (9232.0, "9232"),
            (0.5, "0.5"),
            (1.039_999_88, "1.04"),
            (1e-12, "1e-12"),
            (2.5e9, "2.5e9"),
            (-0.001_234_567, "-0.00123457"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
