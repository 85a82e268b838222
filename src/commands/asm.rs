//! `reviver asm`: text to image.

use reviver_assembler::image;

use crate::cli::Asm;
use crate::failure::Outcome;
use crate::write::Target;
use crate::{kinds, load};

pub fn run(options: &Asm) -> Outcome {
    let module = load::module(&options.file)?;
    Target::new(&options.output, &kinds::IMAGE, options.force.force)?.write(&image::encode(&module))
}
