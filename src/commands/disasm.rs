//! `reviver disasm`: disassembles an image (or a text) to flat text.

use crate::cli::DisasmOptions;
use crate::failure::Fallible;
use crate::{load, write};

pub fn run(options: &DisasmOptions) -> Fallible {
    let module = load::module(&options.file, &options.constants)?;
    write::text(&options.written, &load::text_of(&options.file, &module)?)
}
