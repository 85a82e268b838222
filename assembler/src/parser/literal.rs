//! Number literals: their exact values, or error messages. A sign is an operator and no part of a literal.
//! Lowering checks that a value fits into a word.

use super::{Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::Token;
use crate::tree::ExpressionKind;
use reviver_isa::codes::ProblemCode;

/// The error message of a literal, and the suggestion.
type LiteralProblem = (String, Option<&'static str>);

impl Parser<'_> {
    /// Returns the value of a number token.
    pub(super) fn literal(&mut self, token: Token) -> Parse<ExpressionKind> {
        let text = self.text(token);
        match value(text) {
            Ok(kind) => Ok(kind),
            Err((message, cure)) => {
                let problem = Diagnostic::error(
                    ProblemCode::MalformedNumber,
                    message,
                    self.span(token),
                    "malformed literal",
                );
                self.fail(match cure {
                    Some(cure) => problem.help(cure),
                    None => problem,
                })
            }
        }
    }
}

fn value(text: &str) -> Result<ExpressionKind, LiteralProblem> {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.get(1)) {
        (Some(b'0'), Some(b'x')) => pattern(text, 16),
        (Some(b'0'), Some(b'o')) => pattern(text, 8),
        (Some(b'0'), Some(b'b')) => pattern(text, 2),
        (Some(b'0'), Some(b'X' | b'O' | b'B')) => {
            Err((format!("`{text}` has an unknown base"), Some("write `0x`, `0o` or `0b` in lower case")))
        }
        _ if text.contains(['.', 'e', 'E']) => real(text),
        _ => decimal(text),
    }
}

/// Returns digits without their underscores. The text is copied only if there are any.
fn plain(digits: &str) -> std::borrow::Cow<'_, str> {
    if digits.contains('_') { digits.replace('_', "").into() } else { digits.into() }
}

fn decimal(text: &str) -> Result<ExpressionKind, LiteralProblem> {
    let digits = plain(text);
    if let Some(stranger) = digits.chars().find(|c| !c.is_ascii_digit()) {
        let cure =
            "separate a number from a name by a blank or an operator; a name begins with a letter or `_`";
        return Err((format!("`{text}` is not a number: it contains `{stranger}`"), Some(cure)));
    }
    // Most literals fit into 64 bits.
    if let Ok(value) = digits.parse::<u64>() {
        return Ok(ExpressionKind::Int { value, pattern: false });
    }
    let value = digits.parse::<i128>().map_err(|_| too_large(text))?;
    Ok(ExpressionKind::LongInt { value: Box::new(value), pattern: false })
}

fn pattern(text: &str, base: u32) -> Result<ExpressionKind, LiteralProblem> {
    let digits = plain(text.get(2..).unwrap_or(""));
    if digits.is_empty() {
        return Err((format!("`{text}` has no digits"), None));
    }
    if let Some(stranger) = digits.chars().find(|c| !c.is_digit(base)) {
        return Err((format!("`{stranger}` is not a digit in base {base}"), None));
    }
    let value = i128::from_str_radix(&digits, base).map_err(|_| too_large(text))?;
    Ok(match u64::try_from(value) {
        Ok(value) => ExpressionKind::Int { value, pattern: true },
        Err(_) => ExpressionKind::LongInt { value: Box::new(value), pattern: true },
    })
}

fn too_large(text: &str) -> LiteralProblem {
    let digits = text.len();
    (
        format!("an integer of {digits} digits is too large"),
        Some("write a smaller number: words have at most 64 bits"),
    )
}

fn real(text: &str) -> Result<ExpressionKind, LiteralProblem> {
    let digits = plain(text);
    if !is_real(&digits) {
        let range =
            text.split_once('.').is_some_and(|(_, to)| to.starts_with(|c: char| c.is_ascii_alphabetic()));
        let cure = match range {
            true => "write a range with two dots: `0..n`",
            false => "write digits on both sides of the point: `0.5`, `1.0`, `2.5e-3`",
        };
        return Err((format!("`{}` is not a number", shortened(text)), Some(cure)));
    }
    let value: f64 = digits.parse().map_err(|_| (format!("`{}` is not a number", shortened(text)), None))?;
    if !value.is_finite() {
        return Err((
            format!("`{}` is too large for a real", shortened(text)),
            Some("write a real of at most about 1.8e308"),
        ));
    }
    let mantissa = digits.split(['e', 'E']).next().unwrap_or("");
    if value == 0.0 && mantissa.bytes().any(|b| matches!(b, b'1'..=b'9')) {
        return Err((
            format!("`{}` is too small for a real", shortened(text)),
            Some("write 0.0: the number would be rounded to 0"),
        ));
    }
    Ok(ExpressionKind::Real(value))
}

/// Returns true if a text has the form `digits[.digits][e[sign]digits]`.
fn is_real(text: &str) -> bool {
    let some_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let unsigned = |exponent: &str| some_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    some_digits(whole) && fraction.is_none_or(some_digits) && exponent.is_none_or(unsigned)
}

/// Returns the text of a literal for a message, shortened if it is long.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.get(..SHOWN) {
        Some(start) if text.len() > SHOWN => format!("{start}…"),
        _ => text.into(),
    }
}
