//! Tests every function of integers against the manual: exhaustively at 8 bits, by samples and edges at the
//! other widths. The expected values are computed with big integers and strings of bits, independently of the
//! rows.

use reviver_isa::Function;
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::function::Signature;
use reviver_isa::module::{RealSystem, Word};

use crate::bytes::is_frozen;
use crate::numbers::{Random, System, edge_words};

/// Returns the bits of a number, the lowest first.
pub fn bit_string(value: i128, width: u32) -> Vec<bool> {
    (0..width).map(|place| value.div_euclid(1 << place) % 2 != 0).collect()
}

/// Returns the two's complement number with these bits.
pub fn number(bits: &[bool]) -> i128 {
    let weight = |(place, &bit): (usize, &bool)| i128::from(bit) << place;
    let unsigned: i128 = bits.iter().enumerate().map(weight).sum();
    if bits[bits.len() - 1] { unsigned - (1 << bits.len()) } else { unsigned }
}

/// Returns the word that a number wraps to.
fn wrapped(value: i128, width: u32) -> i128 {
    number(&bit_string(value, width))
}

fn bitwise(a: i128, b: i128, width: u32, both: fn(bool, bool) -> bool) -> i128 {
    let (a, b) = (bit_string(a, width), bit_string(b, width));
    number(&a.iter().zip(&b).map(|(&a, &b)| both(a, b)).collect::<Vec<_>>())
}

/// Shifts the bits toward the higher end; zeros are shifted in.
fn raised(a: i128, amount: i128, width: u32) -> i128 {
    let Some(amount) = usize::try_from(amount).ok().filter(|&n| n < width as usize) else { return 0 };
    let mut bits = vec![false; amount];
    bits.extend(bit_string(a, width));
    number(&bits[..width as usize])
}

/// Shifts the bits toward the lower end; copies of `incoming` are shifted in.
fn lowered(a: i128, amount: i128, width: u32, incoming: bool) -> i128 {
    let amount = usize::try_from(amount).map_or(width as usize, |n| n.min(width as usize));
    let mut bits = bit_string(a, width)[amount..].to_vec();
    bits.resize(width as usize, incoming);
    number(&bits)
}

/// Returns the quotient truncated toward zero.
fn quotient(a: i128, b: i128) -> i128 {
    let magnitude = a.abs() / b.abs();
    if (a < 0) == (b < 0) { magnitude } else { -magnitude }
}

fn power(a: i128, exponent: i128, width: u32) -> i128 {
    // Repeated squaring, because the exponent has up to 63 bits.
    let (mut product, mut square) = (1, a);
    for place in 0..63 {
        if exponent >> place & 1 == 1 {
            product = wrapped(product * square, width);
        }
        square = wrapped(square * square, width);
    }
    product
}

/// Returns a function's value according to the manual; `None` for functions that this test doesn't know.
fn by_the_manual(name: &str, a: i128, b: i128, width: u32) -> Option<Eval<i128>> {
    let truth = |holds: bool| i128::from(holds);
    let value = match name {
        "copy" => a,
        "sum" => a + b,
        "diff" => a - b,
        "mul" => a * b,
        "div" | "rem" | "floordiv" | "mod" if b == 0 => return Some(Err(Fault::DivisionByZero)),
        "div" => quotient(a, b),
        "rem" => a - b * quotient(a, b),
        // The greater one of two neighbours that isn't above the exact quotient.
        "floordiv" => {
            [quotient(a, b), quotient(a, b) - 1].into_iter().find(|q| (a - q * b) * b.signum() >= 0)?
        }
        "mod" if b > 0 => a.rem_euclid(b),
        "mod" => -(-a).rem_euclid(-b),
        "ltu" => truth(bit_string(a, width).iter().rev().lt(bit_string(b, width).iter().rev())),
        "leu" => truth(bit_string(a, width).iter().rev().le(bit_string(b, width).iter().rev())),
        "gtu" => truth(bit_string(a, width).iter().rev().gt(bit_string(b, width).iter().rev())),
        "geu" => truth(bit_string(a, width).iter().rev().ge(bit_string(b, width).iter().rev())),
        "pow" if b < 0 => return Some(Err(Fault::NegativeExponent)),
        "pow" => power(a, b, width),
        "min" => [a, b].into_iter().min()?,
        "max" => [a, b].into_iter().max()?,
        "abs" => a.abs(),
        "square" => a * a,
        "relu" if a > 0 => a,
        "relu" => 0,
        "and" => bitwise(a, b, width, |a, b| a && b),
        "or" => bitwise(a, b, width, |a, b| a || b),
        "xor" => bitwise(a, b, width, |a, b| a != b),
        "shl" => raised(a, b, width),
        "shr" if b < 0 => 0,
        "shr" => lowered(a, b, width, false),
        "sar" => lowered(a, if b < 0 { width.into() } else { b }, width, a < 0),
        "eq" => truth(a - b == 0),
        "ne" => truth(a - b != 0),
        "lt" => truth((a - b).is_negative()),
        "le" => truth(!(b - a).is_negative()),
        "gt" => truth((b - a).is_negative()),
        "ge" => truth(!(a - b).is_negative()),
        "always" => 1,
        _ => return None,
    };
    Some(Ok(wrapped(value, width)))
}

fn check(function: Function, word: Word, a: i64, b: i64) {
    let system = System { word, reals: RealSystem::F64 };
    let bits = word.bits();
    let found = system.int(function, a, b);
    if let Some(expected) = by_the_manual(function.name(), a.into(), b.into(), bits) {
        let expected = expected.map(|value| value as i64);
        assert_eq!(found, expected, "{}({a}, {b}) of {bits} bits", function.name());
    } else if let Ok(value) = found {
        assert!(word.range().contains(&value), "{}({a}, {b}) of {bits} bits is {value}", function.name());
    }
}

/// Checks every pair of 8-bit words, and samples of other widths.
pub fn check_function(function: Function) {
    for a in -128..=127 {
        for b in -128..=127 {
            check(function, Word::W8, a, b);
        }
    }
    let mut random = Random::new();
    for word in [Word::W16, Word::W32, Word::W64] {
        let edges = edge_words(word);
        for &a in &edges {
            edges.iter().for_each(|&b| check(function, word, a, b));
        }
        for _ in 0..4000 {
            let (a, b) = (random.word(word), random.word(word));
            check(function, word, a, b);
            check(function, word, a, b & 127);
        }
    }
}

pub fn functions() -> impl Iterator<Item = Function> {
    Function::ALL
        .iter()
        .copied()
        .filter(|function| function.signatures().any(|signature| signature == Signature::Int))
}

#[test]
fn functions_of_integers_match_the_manual() {
    functions().for_each(check_function);
}

#[test]
fn every_released_function_of_integers_is_tested() {
    for function in functions().filter(|&function| is_frozen(function)) {
        assert!(by_the_manual(function.name(), 1, 1, 8).is_some(), "{} has no proof", function.name());
    }
}

#[test]
fn unary_functions_ignore_the_second_source() {
    for function in functions().filter(|function| function.arity() < 2) {
        for a in -128..=127 {
            let system = System { word: Word::W8, reals: RealSystem::F64 };
            assert_eq!(system.int(function, a, 0), system.int(function, a, 93));
        }
    }
}
