//! Places in a program's text, as people look them up.

use std::path::Path;

use reviver_isa::module::Structure;

use crate::read;

pub use reviver::places::place;

/// The file and the line of an instruction, as far as a program records them.
pub fn place_of(path: &Path, structure: &Structure, at: Option<u32>) -> (String, Option<u32>) {
    let file = at.and_then(|at| structure.file(at));
    (place(&read::name(path), file, None), at.and_then(|at| structure.line(at)))
}
