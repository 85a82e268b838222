//! `reviver invert`: writes the inverse program as readable text.

use reviver_assembler::invert::{Inversion, invert_text};

use crate::cli::InvertOptions;
use crate::failure::Fallible;
use crate::{load, read, write};

pub fn run(options: &InvertOptions) -> Fallible {
    let bytes = load::text(&options.file)?;
    let name = read::name(&options.file);
    // The name of the output determines the paths in `.include` lines. If the inverse is printed, there is no
    // output file, so the name of the program is used.
    let inverse_name = options.written.output.as_deref().map_or_else(|| name.clone(), read::name);
    let inversion = invert_text(&name, bytes, &inverse_name, read::files());
    let Inversion { sources, text, .. } = inversion;
    let text = text.map_err(|diagnostics| load::faulty(&sources, &diagnostics, "no inverse"))?;
    write::text(&options.written, &text)
}
