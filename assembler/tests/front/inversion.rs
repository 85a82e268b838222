//! Inverse programs as texts.

use reviver_assembler::format::{format, print_with};
use reviver_assembler::invert::invert;
use reviver_assembler::parser::parse;
use reviver_assembler::source::Sources;

use super::cases::{cases, complaints_of};
use super::layout::formatted;

/// The inverse program's text, which must parse again.
pub fn inverted(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("program.rasm", text);
    let (body, diagnostics) = parse(&sources, file);
    assert!(diagnostics.is_empty(), "{}", complaints_of(&sources, &diagnostics));
    let inverse =
        invert(&body).unwrap_or_else(|diagnostics| panic!("{}", complaints_of(&sources, &diagnostics)));
    print_with(&sources, &inverse)
}

#[test]
fn a_bit_of_everything() {
    insta::assert_snapshot!(inverted(include_str!("cases/invertible.rasm")));
}

#[test]
fn the_inverse_of_the_inverse_is_the_program() {
    let program = formatted(include_str!("cases/invertible.rasm"));
    assert_eq!(program, include_str!("cases/invertible.rasm"), "the sample is canonical");
    let inverse = inverted(&program);
    assert_eq!(formatted(&inverse), inverse, "the inverse is printed as it would be formatted");
    assert_eq!(inverted(&inverse), program);
}

#[test]
fn irreversible_programs() {
    let mut transcript = String::new();
    for (title, text) in cases(include_str!("cases/irreversible.txt")) {
        let mut sources = Sources::new();
        let file = sources.add("case.rasm", text);
        let (body, diagnostics) = parse(&sources, file);
        assert!(diagnostics.is_empty(), "{title} does not parse");
        let verdict = match invert(&body) {
            Ok(inverse) => print_with(&sources, &inverse),
            Err(diagnostics) => complaints_of(&sources, &diagnostics),
        };
        transcript.push_str(&format!("### {title}\n{verdict}\n"));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn a_broken_text_is_not_formatted() {
    let mut sources = Sources::new();
    let file = sources.add("broken.rasm", "        add x\n");
    assert!(format(&sources, file).is_err());
}
