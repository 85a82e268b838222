//! `reviver disasm`: image (or text) to flat text.

use crate::cli::Disasm;
use crate::failure::Outcome;
use crate::{load, write};

pub fn run(options: &Disasm) -> Outcome {
    let module = load::module(&options.file)?;
    write::text(&options.written, &load::text_of(&options.file, &module)?)
}
