//! `reviver invert`: writes the inverse program as readable text.

use reviver_assembler::invert::{Inversion, invert_text};

use crate::cli::{Constants, InvertOptions};
use crate::failure::Fallible;
use crate::{load, read, write};

pub fn run(options: &InvertOptions) -> Fallible {
    let mut bytes = read::source(&options.file)?;
    if read::is_image(&options.file, &bytes) {
        bytes =
            load::text_of(&options.file, &load::module(&options.file, &Constants::default())?)?.into_bytes();
    }
    let name = read::name(&options.file);
    // The name of the output determines the paths in `.include` lines. If the inverse is printed, there is no
    // output file, so the name of the program is used.
    let inverse_name = options.written.output.as_deref().map_or_else(|| name.clone(), read::name);
    let inversion = invert_text(&name, bytes, &inverse_name, read::files());
    let Inversion { sources, text, .. } = inversion;
    let text = text.map_err(|diagnostics| load::faulty(&sources, &diagnostics, "no inverse"))?;
    write::text(&options.written, &text)
}
