//! Compiled programs, from texts and from the files of the repository.

use std::path::{Path, PathBuf};

use reviver::{EngineChoice, Error, Executable, assemble};

/// Interpreter and native code, the engines that every test compares.
pub const ENGINES: [EngineChoice; 2] = [EngineChoice::Interp, EngineChoice::Jit];

/// Compiles a program text.
pub fn compiled(text: &str, engine: EngineChoice) -> Executable {
    assemble("test.rasm", text).unwrap().compile(engine).unwrap()
}

/// Returns the message of an error.
#[track_caller]
pub fn said<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    outcome.unwrap_err().to_string()
}

/// Returns the programs of the repository.
pub fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "rasm")).collect();
    programs.sort();
    programs
}
