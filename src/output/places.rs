//! Places in a program's text, as people look them up.

use std::path::Path;

use crate::read;
use reviver_isa::module::Structure;
use reviver_isa::names::printable;

/// The file and the line of an instruction, as far as a program records them.
pub fn place_of(path: &Path, structure: &Structure, at: Option<u32>) -> (String, Option<u32>) {
    let file = at.and_then(|at| structure.file(at));
    (place(&read::name(path), file, None), at.and_then(|at| structure.line(at)))
}

/// `file:line` as people look it up: in the included file, if the line is of one. `file` is the
/// program's, from whose folder the path of the included one leads on.
pub fn place(file: &str, included: Option<&str>, line: Option<u32>) -> String {
    let place = match included {
        Some(path) => Path::new(file).with_file_name(path).display().to_string(),
        None => file.to_owned(),
    };
    let place = printable(&place);
    match line {
        Some(line) => format!("{place}:{line}"),
        None => place.into_owned(),
    }
}
