//! Places in a program's text, as people look them up. Reads no file.

use std::path::Path;

use reviver_isa::module::Structure;
use reviver_isa::names::printable;

/// Where an instruction stands in the text, as far as the program records it.
pub(super) fn place_of(file: &str, structure: &Structure, at: u32) -> String {
    place(file, structure.file(at), structure.line(at))
}

/// `file:line` as people look it up: in the included file, if the line is of one. `file` is the program's, from whose folder
/// the path of the included one leads on.
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
