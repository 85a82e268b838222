//! Parsers of counts and temperatures in arguments. They are shared by several options.

use std::num::NonZeroU16;
use std::str::FromStr;

use reviver_vm::workers::MOST_THREADS;

/// Parses a count of at least 0.
pub(super) fn count<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| refusal(text, "0"))
}

/// Parses a count of at least 1. The type `T` doesn't contain 0.
pub(super) fn count_from_1<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| refusal(text, "1"))
}

/// Parses a number of threads, from 1 to [`MOST_THREADS`].
pub(super) fn threads(text: &str) -> Result<NonZeroU16, String> {
    let threads = text.parse().ok().filter(|threads: &NonZeroU16| u32::from(threads.get()) <= MOST_THREADS);
    threads.ok_or_else(|| format!("a whole number from 1 to {MOST_THREADS} is expected"))
}

/// Parses a temperature in kelvin.
pub(super) fn kelvin(text: &str) -> Result<f64, String> {
    let kelvin = text.parse().ok().filter(|kelvin: &f64| kelvin.is_finite() && *kelvin >= 0.0);
    kelvin.ok_or_else(|| "a temperature is a number of kelvin, 0 or more".into())
}

fn refusal(text: &str, least: &str) -> String {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match is_whole && text.bytes().any(|byte| byte != b'0') {
        true => "this number is too large".to_owned(),
        false => format!("a whole number is expected, at least {least}"),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    #[test]
    fn only_counts_are_taken() {
        let at_least = |least| Some(format!("a whole number is expected, at least {least}"));
        assert_eq!(count::<u64>("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(count::<u64>("18446744073709551616").err().as_deref(), Some("this number is too large"));
        for text in ["", "-1", "1.5", "many", "1e6"] {
            assert_eq!(count::<u64>(text).err(), at_least(0), "{text}");
        }
        assert_eq!(count_from_1::<NonZero<u16>>("3").map(NonZero::get), Ok(3));
        assert_eq!(count_from_1::<NonZero<u16>>("65536").err().as_deref(), Some("this number is too large"));
        for text in ["1", "1024"] {
            assert_eq!(threads(text).map(|threads| threads.get().to_string()), Ok(text.into()));
        }
        for text in ["0", "1025", "65537", "18446744073709551616", "-1", "many"] {
            let range = "a whole number from 1 to 1024 is expected".to_owned();
            assert_eq!(threads(text), Err(range), "{text}");
        }
        for text in ["0", "00", "-1", "many"] {
            assert_eq!(count_from_1::<NonZero<u32>>(text).err(), at_least(1), "{text}");
        }
    }
}
