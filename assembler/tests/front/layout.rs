//! Tests of the canonical layout.

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_assembler::format::format;
use reviver_assembler::source::Sources;
use reviver_isa::Module;

use super::cases::complaints_of;

/// Returns the canonical text of a valid text.
pub fn formatted(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("sample.rasm", text);
    match format(&sources, file) {
        Ok(text) => text,
        Err(diagnostics) => panic!("{}", complaints_of(&sources, &diagnostics)),
    }
}

#[test]
fn sample() {
    insta::assert_snapshot!(formatted(include_str!("cases/sample.rasm")));
}

#[test]
fn formatting_twice_changes_nothing() {
    let once = formatted(include_str!("cases/sample.rasm"));
    assert_eq!(formatted(&once), once);
}

#[test]
fn line_ends_of_other_systems_are_accepted() {
    let sample = include_str!("cases/sample.rasm");
    assert_eq!(formatted(&sample.replace('\n', "\r\n")), formatted(sample));
}

/// Returns the module of a program without line numbers.
fn module(text: &str) -> Module {
    let assembly = assemble("program.rasm", text.into(), &FilesInMemory::new());
    let said = complaints_of(&assembly.sources, &assembly.diagnostics);
    let mut module = assembly.module.unwrap_or_else(|| panic!("{said}"));
    module.structure.set_text(Vec::new(), Vec::new(), Vec::new());
    module
}

#[test]
fn formatting_changes_no_module() {
    for program in [
        include_str!("../support/blocks.rasm"),
        include_str!("../support/declarations.rasm"),
        include_str!("../support/fibonacci.rasm"),
        include_str!("../support/macros.rasm"),
        include_str!("../support/procedures.rasm"),
        include_str!("../support/reals.rasm"),
    ] {
        let once = formatted(program);
        assert_eq!(formatted(&once), once);
        assert_eq!(module(&once), module(program));
    }
}
