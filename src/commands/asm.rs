//! `reviver asm`: text to image.

use reviver_assembler::image;

use crate::cli::Asm;
use crate::failure::Outcome;
use crate::{load, write};

pub fn run(options: &Asm) -> Outcome {
    let module = load::module(&options.file)?;
    write::whole(&options.output, &image::encode(&module))
}
