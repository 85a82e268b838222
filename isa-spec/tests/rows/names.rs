//! Tests that the language reserves the words that the assembler rejects as names.

use reviver_isa::language::{DIRECTIVES, KEYWORDS};
use reviver_isa::names::{is_identifier, is_name, is_operand_name, is_reserved};
use reviver_isa::{Function, Update};

const LANGUAGE: &str = include_str!("../../../docs/language.md");

/// Returns the words in code of the language's description.
fn words_in_code() -> Vec<&'static str> {
    let code = LANGUAGE.split("```").skip(1).step_by(2);
    let spans = LANGUAGE.split('`').skip(1).step_by(2);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    code.chain(spans).flat_map(|text| text.split(move |c: char| !is_part(c))).collect()
}

#[test]
fn every_keyword_and_directive_is_described() {
    let words = words_in_code();
    for word in KEYWORDS.iter().chain(DIRECTIVES) {
        assert!(words.contains(word), "docs/language.md doesn't show `{word}`");
        let page = reviver_isa::manual::page(word).unwrap_or_default();
        assert!(page.contains("Written: "), "`{word}` has no page: {page}");
    }
}

/// Tests that words at the beginning of a statement and in operator positions are either reserved or names of
/// the examples.
#[test]
fn every_word_of_the_structured_statements_is_reserved() {
    let chapters = ["## Structured statements", "## Macros"].map(|title| LANGUAGE.find(title).unwrap());
    let chapter = &LANGUAGE[chapters[0]..chapters[1]];
    let code = chapter.split("```").nth(1).unwrap();
    let text = code.lines().map(|line| line.split(';').next().unwrap());
    let examples = ["rasm", "a", "b", "c", "i", "n", "t", "v"];
    for word in text.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric())) {
        let is_example = examples.contains(&word) || Function::from_name(word).is_some();
        assert!(!is_identifier(word) || is_example || is_reserved(word), "`{word}` isn't reserved");
    }
}

#[test]
fn mnemonics_and_keywords_are_not_names() {
    for update in Update::ALL {
        assert!(is_reserved(update.name()) && !is_name(update.name()));
    }
    for keyword in KEYWORDS {
        assert!(is_identifier(keyword) && !is_name(keyword));
    }
}

#[test]
fn cells_have_all_names_but_those_of_operands() {
    let words = Update::ALL.iter().map(|update| update.name()).chain(KEYWORDS.iter().copied());
    for word in words.filter(|word| is_identifier(word)) {
        assert_eq!(is_operand_name(word), !["mode", "pi"].contains(&word), "{word}");
    }
    for word in ["", "1a", "$", "a-b", "a'", "ä", "a b"] {
        assert!(!is_operand_name(word), "{word}");
    }
}

#[test]
fn names_have_the_required_form() {
    for name in ["a", "_", "A9", "loop1", "If", "x$1", "exp", "r0"] {
        assert!(is_name(name), "{name}");
    }
    for word in ["", "1a", "$", "a-b", "a'", "ä", "a b", "if", "add", "pi"] {
        assert!(!is_name(word), "{word}");
    }
}
