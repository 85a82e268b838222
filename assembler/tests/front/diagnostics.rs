//! Tests of the printed diagnostics of invalid texts.

use super::cases::{cases, complaints};

/// Returns every case of a file with its diagnostics; each must have at least one.
fn transcript(file: &str) -> String {
    let mut transcript = String::new();
    for (title, text) in cases(file) {
        let complaints = complaints(text);
        assert!(!complaints.is_empty(), "nothing is said about {title}");
        transcript.push_str(&format!("### {title}\n{complaints}\n"));
    }
    transcript
}

#[test]
fn lexical() {
    insta::assert_snapshot!(transcript(include_str!("cases/lexical.txt")));
}

#[test]
fn instructions() {
    insta::assert_snapshot!(transcript(include_str!("cases/instructions.txt")));
}

#[test]
fn conditions() {
    insta::assert_snapshot!(transcript(include_str!("cases/conditions.txt")));
}

#[test]
fn blocks() {
    insta::assert_snapshot!(transcript(include_str!("cases/blocks.txt")));
}

#[test]
fn directives() {
    insta::assert_snapshot!(transcript(include_str!("cases/directives.txt")));
}
