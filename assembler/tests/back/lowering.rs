//! What each construct becomes, as the disassembler writes it.

use reviver_assembler::disassemble::disassemble;
use reviver_isa::instruction::{Class, Operand};
use reviver_isa::module::BlockKind;

use crate::support::module;

/// The flat text without declarations, structure and comments.
fn flat(text: &str) -> String {
    let text = disassemble(&module(text));
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with('.') && !line.trim_start().starts_with(';');
    let lines: Vec<&str> = text.lines().filter(is_code).collect();
    lines.join("\n")
}

#[track_caller]
fn becomes(text: &str, expected: &str) {
    let found = flat(text);
    let expected: Vec<&str> = expected.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(found, expected.join("\n"), "\n{found}\n");
}
