//! Programs for the tests, opened as a user would.

use reviver_assembler::files::Disk;
use reviver_debugger::listing::OpenedProgram;

/// Returns the text of a program of the repository's `programs` folder.
pub fn text(name: &str) -> String {
    let path = path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn path(name: &str) -> String {
    format!("{}/../programs/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Opens a text as a program in the `programs` folder.
pub fn subject(text: &str) -> OpenedProgram {
    OpenedProgram::open(&path("test.rasm"), text.as_bytes().to_vec(), &Disk)
        .unwrap_or_else(|error| panic!("{error}"))
}
