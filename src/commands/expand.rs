//! `reviver expand`: shows the lines of a text next to their expansion.

use reviver_assembler::expand::expand;

use crate::cli::ExpandOptions;
use crate::failure::{Failure, Fallible};
use crate::{load, write};

pub fn run(options: &ExpandOptions) -> Fallible {
    let module = load::module(&options.file, &options.constants)?;
    match load::kept_text() {
        Some(sources) => write::text(&options.written, &expand(&module, sources)),
        None => Err(Failure::load(format_args!(
            "{}: there are no source lines to show; `reviver disasm` prints the instructions alone",
            options.file.display()
        ))),
    }
}
