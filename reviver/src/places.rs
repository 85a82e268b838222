//! Source places as text for users. This module reads no files.

use std::path::Path;

use reviver_isa::module::Structure;
use reviver_isa::names::printable;

/// Formats the source place of an instruction, as far as the program records it.
pub(super) fn place_of(file: &str, structure: &Structure, at: u32) -> String {
    place(file, structure.file(at), structure.line(at))
}

/// Formats a place as `file:line`, in the included file if the line belongs to one. Paths of included files are
/// relative to the folder of `file`, the program's file.
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
