//! A text next to its instructions: each source line is a comment at the instructions that execute it. The
//! output is itself a valid program.

use reviver_isa::Module;

use crate::disassemble::flat_text;
use crate::source::{FileId, Sources};

/// Returns the instructions of a verified module that was assembled from these sources. Of the instructions
/// that belong to one line, the first has the line as a comment. The output assembles to the same
/// instructions.
pub fn expand(module: &Module, sources: &Sources) -> String {
    let structure = &module.structure;
    let place = |at: u32| Some((structure.file_number(at), structure.line(at)?));
    flat_text(module, &|at| {
        let (file, line) = place(at)?;
        let before = at.checked_sub(1).and_then(place);
        let is_first = before != Some((file, line));
        let path = structure.path(file).map_or(String::new(), |path| format!("{path}:"));
        is_first.then(|| format!("{path}{line}: {}", statement(sources, FileId(file), line)))
    })
}

/// Returns a line without its indentation and its comment.
fn statement(sources: &Sources, file: FileId, line: u32) -> &str {
    let text = sources.text(sources.line_span(file, line as usize));
    text.split(';').next().unwrap_or_default().trim()
}
