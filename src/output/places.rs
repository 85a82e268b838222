//! Source places as text for users.

use std::path::Path;

use reviver_isa::module::Structure;

use crate::read;

pub use reviver::places::place;

/// Returns the file and line of an instruction, as far as the program records them.
pub fn place_of(path: &Path, structure: &Structure, at: Option<u32>) -> (String, Option<u32>) {
    let file = at.and_then(|at| structure.file(at));
    (place(&read::name(path), file, None), at.and_then(|at| structure.line(at)))
}
