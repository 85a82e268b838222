//! Files with test cases: texts, each after a line `### title`.

use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::parser::parse;
use reviver_assembler::render::render;
use reviver_assembler::source::Sources;

/// Returns the cases of a file, with title and text.
pub fn cases(file: &str) -> impl Iterator<Item = (&str, &str)> {
    file.split("### ").skip(1).filter_map(|case| case.split_once('\n'))
}

/// Returns the printed diagnostics of a text.
pub fn complaints(text: impl Into<String>) -> String {
    let mut sources = Sources::new();
    let file = sources.add("case.rasm", text);
    let (_, diagnostics) = parse(&sources, file);
    complaints_of(&sources, &diagnostics)
}

/// Returns diagnostics as printed text.
pub fn complaints_of(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    render(sources, diagnostics, false)
}
