//! Parses a program and expands its includes, from text to a single syntax tree.

use reviver_assembler::files::Files;
use reviver_assembler::parser::parse;
use reviver_assembler::source::{FileId, Sources};
use reviver_assembler::tree::{Body, Directive, Statement};

/// Returns the tree of a program. The text must assemble.
///
/// # Errors
/// A file that can't be read.
pub fn read(name: &str, text: &str, files: &dyn Files) -> Result<Body, String> {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    included(&mut sources, file, files)
}

fn included(sources: &mut Sources, file: FileId, files: &dyn Files) -> Result<Body, String> {
    let mut body = Body::new();
    for node in parse(sources, file).0 {
        let Statement::Directive(Directive::Include { path, .. }) = &node.statement else {
            body.push(node);
            continue;
        };
        let (name, bytes) = files.read(path, sources.name(file))?;
        // Each file is included only once.
        if sources.find(&name).is_none() {
            let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
            let file = sources.add(name, text);
            body.extend(included(sources, file, files)?);
        }
    }
    Ok(body)
}
