//! `reviver fmt`: rewrites a text in the canonical layout.

use std::path::Path;

use reviver_assembler::format;
use reviver_assembler::source::Sources;

use crate::cli::FmtOptions;
use crate::failure::{Exit, Failure, Fallible};
use crate::write::OutputTarget;
use crate::{load, read, streams};

pub fn run(options: &FmtOptions) -> Fallible {
    let mut unformatted = Vec::new();
    for path in &options.files {
        let (before, after) = formatted(path)?;
        if options.check {
            if before != after {
                unformatted.push(read::shown(path));
            }
        } else if options.write && path != Path::new("-") {
            if before != after {
                OutputTarget::in_place(path)?.write(after.as_bytes())?;
            }
        } else {
            streams::print_document(after.as_bytes())?;
        }
    }
    if unformatted.is_empty() {
        return Ok(());
    }
    let message: String = unformatted.iter().map(|name| format!("not formatted: {name}\n")).collect();
    Err(Failure::spelled(Exit::Check, "not formatted", message))
}

/// Returns the text of a file, and its canonical layout.
fn formatted(path: &Path) -> Fallible<(String, String)> {
    let mut sources = Sources::default();
    let refuse = |sources: &Sources, diagnostics: &[_]| load::faulty(sources, diagnostics, "no program");
    let file = match sources.add_bytes(read::name(path), read::source(path)?) {
        Ok(file) => file,
        Err(diagnostic) => return Err(refuse(&sources, &[*diagnostic])),
    };
    let after = format::format(&sources, file).map_err(|diagnostics| refuse(&sources, &diagnostics))?;
    Ok((sources.file_text(file).to_owned(), after))
}
