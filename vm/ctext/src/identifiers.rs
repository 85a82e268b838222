//! Translates names of a program to C identifiers. This module is independent of declarations.
//!
//! A cell may have any name, such as `int`, `M_PI` or `size_t`. So its C identifier gets an ending that no C keyword,
//! no name of a standard header, and no other name of the text has. The names of parameters end with `_`. The names of
//! values in functions end with `__` and a number. No name that begins with the program's prefix has such an ending.

use std::collections::HashSet;

/// Translates a name to letters, digits and underscores, beginning with a letter. The result may be a C keyword, so
/// declarations must add an ending.
pub(crate) fn identifier(name: &str) -> String {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let mut text: String = name.chars().map(|sign| if is_part(sign) { sign } else { '_' }).collect();
    if !text.starts_with(|sign: char| sign.is_ascii_alphabetic()) {
        text.insert(0, 'x');
    }
    text
}

/// Returns the variable name of a value: `stem`, which is usually the name of a cell, and the value's number.
pub(crate) fn of_value(stem: &str, number: usize) -> String {
    format!("{stem}__{number}")
}

/// Returns a parameter name for each cell; all of them are different.
pub(crate) fn parameters<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut known = HashSet::new();
    let mut unique = |name: &str| {
        let mut text = identifier(name) + "_";
        while !known.insert(text.clone()) {
            text.push('_');
        }
        text
    };
    names.map(&mut unique).collect()
}

/// Returns the words of a C text. Skips comments, because they may contain arbitrary words of the program.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let code = text.split("/*").enumerate().map(|(n, part)| match n {
        0 => part,
        _ => part.split_once("*/").map_or("", |(_, code)| code),
    });
    code.flat_map(move |code| code.split(move |sign| !is_part(sign)))
}

/// Returns the FNV-1a hash (G. Fowler, L. C. Noll and K.-P. Vo) of some bytes. Linker names contain it.
pub(crate) fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_parameters_that_differ() {
        let names = ["x", "int", "a$2", "a_2", "9", "_t", "x", "x_"];
        let expected = ["x_", "int_", "a_2_", "a_2__", "x9_", "x_t_", "x__", "x___"];
        assert_eq!(parameters(names.into_iter()), expected);
    }

    #[test]
    fn words_of_comments_are_left_out() {
        let found: Vec<&str> = words("/* a */b(c); /* d */ e /* f").filter(|word| !word.is_empty()).collect();
        assert_eq!(found, ["b", "c", "e"]);
    }
}
