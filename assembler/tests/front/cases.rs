//! Files of cases: texts, each under a line `### title`.

use reviver_assembler::parser::parse;
use reviver_assembler::render::render;
use reviver_assembler::source::Sources;

/// The cases of a file, title and text.
pub fn cases(file: &str) -> impl Iterator<Item = (&str, &str)> {
    file.split("### ").skip(1).filter_map(|case| case.split_once('\n'))
}

/// What is said about a text, as it is printed.
pub fn complaints(name: &str, text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let (_, diagnostics) = parse(&sources, file);
    render(&sources, &diagnostics, false)
}
