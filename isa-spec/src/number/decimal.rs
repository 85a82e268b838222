//! Fixed-point numbers as decimal text: parsed exactly, written in the shortest form. This module handles
//! digits only.

/// Returns the shortest decimal that [`parse`] converts to the same number.
///
/// Digits of the fraction are generated until the remainder is within half a unit of the last place (the
/// free-format algorithm of Steele and White, 1990).
pub fn shortest(raw: i64, fraction_bits: u32) -> String {
    let magnitude = u128::from(raw.unsigned_abs());
    let sign = if raw < 0 { "-" } else { "" };
    let unit = 1u128 << fraction_bits;
    let mut text = format!("{sign}{}.", magnitude / unit);
    // All quantities are multiplied by 2, so that half a unit in the last place is an integer.
    let scale = 2 * unit;
    let (mut rest, mut half) = (2 * (magnitude % unit), 1u128);
    loop {
        rest *= 10;
        half *= 10;
        let digit = (rest / scale) as u8;
        rest %= scale;
        let (low, high) = (rest < half, rest > scale - half.min(scale));
        if low || high {
            let up = high && (!low || 2 * rest >= scale);
            text.push(char::from(b'0' + digit + u8::from(up)));
            return text;
        }
        text.push(char::from(b'0' + digit));
    }
}

/// The maximum number of digits in a text; more digits can't affect a 64-bit number.
const MAX_DIGITS: usize = 400;

/// Returns the fixed-point number nearest to a decimal text, ties to even. `None` if the text isn't a number
/// or the number is out of range.
pub fn parse(text: &str, fraction_bits: u32) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, point) = digits(text)?;
    let magnitude = scaled(&digits, point, fraction_bits)?;
    let signed = if negative { -magnitude } else { magnitude };
    i64::try_from(signed).ok()
}

/// Returns the decimal digits of an unsigned number, and the position of its decimal point: the number of
/// digits before the point, plus the exponent. Returns `None` if the text isn't such a number.
fn digits(text: &str) -> Option<(Vec<u8>, i64)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|b| b.wrapping_sub(b'0')).collect();
    let sound = !digits.is_empty() && digits.len() <= MAX_DIGITS && digits.iter().all(|&d| d <= 9);
    sound.then(|| (digits, whole.len() as i64 + i64::from(exponent)))
}

/// Returns 0.d₁d₂… · 10^point · 2^fraction_bits, rounded to the nearest integer, ties to even; `None` if it
/// is too large.
fn scaled(digits: &[u8], point: i64, fraction_bits: u32) -> Option<i128> {
    let leading = digits.iter().take_while(|&&d| d == 0).count();
    let (digits, point) = (&digits[leading..], point - leading as i64);
    if digits.is_empty() || point < -(MAX_DIGITS as i64) {
        return Some(0);
    }
    if point > 20 {
        return None; // more than 64 bits
    }
    let digit = |place: i64| usize::try_from(place).ok().and_then(|p| digits.get(p)).copied().unwrap_or(0);
    let mut value = (0..point).fold(0i128, |sum, place| sum * 10 + i128::from(digit(place)));
    let mut fraction: Vec<u8> = (point.min(0)..digits.len() as i64)
        .filter(|&place| place >= point)
        .map(|place| if place < 0 { 0 } else { digit(place) })
        .collect();
    for _ in 0..fraction_bits {
        value = 2 * value + i128::from(double(&mut fraction));
    }
    let half = double(&mut fraction);
    let exact = fraction.iter().all(|&d| d == 0);
    Some(value + i128::from(half && (!exact || value & 1 == 1)))
}

/// Doubles a decimal fraction. Returns true if that carries into the integer part.
fn double(fraction: &mut [u8]) -> bool {
    let mut carry = 0;
    for digit in fraction.iter_mut().rev() {
        let doubled = 2 * *digit + carry;
        *digit = doubled % 10;
        carry = doubled / 10;
    }
    carry == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_decimals_are_read_back() {
        let mut raw = 1i64;
        for step in 0..20_000i64 {
            raw = raw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = raw >> (step % 64);
            for bits in [16, 43, 56] {
                let text = shortest(value, bits);
                assert_eq!(parse(&text, bits), Some(value), "{text} with {bits} bits");
            }
        }
        assert_eq!(shortest(i64::MIN, 16), "-140737488355328.0");
        assert_eq!(parse("-140737488355328.0", 16), Some(i64::MIN));
    }

    #[test]
    fn simple_numbers_are_short() {
        assert_eq!(shortest(1 << 43, 43), "1.0");
        assert_eq!(shortest(3 << 42, 43), "1.5");
        assert_eq!(shortest(parse("0.1", 43).unwrap(), 43), "0.1");
        assert_eq!(shortest(-(1 << 42), 43), "-0.5");
    }

    #[test]
    fn text_is_rounded_to_even_and_bounded() {
        assert_eq!(parse("0.00000762939453125", 16), Some(0)); // half a unit
        assert_eq!(parse("0.000007629394531250001", 16), Some(1));
        assert_eq!(parse("1e-5", 20), Some(10));
        assert_eq!(parse("12.5e1", 16), Some(125 << 16));
        assert_eq!(parse("1e30", 16), None);
        assert_eq!(parse("1e-999999999", 16), Some(0));
        for wrong in ["", ".", "-", "1.2.3", "0x10", "1e", "nan", "inf", "1_0"] {
            assert_eq!(parse(wrong, 16), None, "{wrong}");
        }
    }
}
