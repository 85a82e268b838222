//! Names of a program as identifiers of C. Knows no declaration.

use std::collections::HashSet;

/// Words that C, C++ or the headers that the text includes have taken, and those of the text itself.
const TAKEN: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
    "NAN",
    "INFINITY",
    "NULL",
    "memory",
    "status",
    "largest",
    "loss",
    "main",
    "unix",
    "linux",
];

/// What a name becomes: letters, digits and underscores, with a letter first.
pub(crate) fn identifier(name: &str) -> String {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let mut text: String = name.chars().map(|sign| if is_part(sign) { sign } else { '_' }).collect();
    if !text.starts_with(|sign: char| sign.is_ascii_alphabetic()) {
        text.insert(0, 'x');
    }
    if TAKEN.contains(&text.as_str()) {
        text.push('_');
    }
    text
}

/// Identifiers that differ from each other, in the order of the names.
pub(crate) fn different<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut known = HashSet::new();
    let mut unique = |name: &str| {
        let mut text = identifier(name);
        while !known.insert(text.clone()) {
            text.push('_');
        }
        text
    };
    names.map(&mut unique).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_that_differ() {
        let names = ["x", "int", "a$2", "a_2", "9", "_t", "x"];
        assert_eq!(different(names.into_iter()), ["x", "int_", "a_2", "a_2_", "x9", "x_t", "x_"]);
    }
}
