//! Names of a program as identifiers of C. Knows no declaration.
//!
//! A cell may be called what it likes: `int`, `M_PI`, `size_t`. What stands for it in the text therefore has a form that no
//! word of C, no macro and no function of its headers, and nothing else in the text has. Parameters end with `_`, values
//! of functions with `__` and a number; nothing that begins with the prefix of the program does.

use std::collections::HashSet;

/// What a name becomes: letters, digits and underscores, with a letter first. It may be a word of C: something is added to it
/// wherever it is declared.
pub(crate) fn identifier(name: &str) -> String {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let mut text: String = name.chars().map(|sign| if is_part(sign) { sign } else { '_' }).collect();
    if !text.starts_with(|sign: char| sign.is_ascii_alphabetic()) {
        text.insert(0, 'x');
    }
    text
}

/// What the value of a number is called that has to do with a cell.
pub(crate) fn of_value(stem: &str, number: usize) -> String {
    format!("{stem}__{number}")
}

/// What parameters are called that stand for cells. They differ from each other.
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

/// The words of a text of C. What stands in comments, where cells have their own names, isn't of C.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let code = text.split("/*").enumerate().map(|(n, part)| match n {
        0 => part,
        _ => part.split_once("*/").map_or("", |(_, code)| code),
    });
    code.flat_map(move |code| code.split(move |sign| !is_part(sign)))
}

/// What tells names apart by what they stand for: FNV-1a by G. Fowler, L. C. Noll and K.-P. Vo.
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
