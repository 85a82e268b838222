//! `reviver asm`: assembles a text to an image.

use crate::cli::AsmOptions;
use crate::failure::Fallible;
use crate::write::OutputTarget;
use crate::{kinds, load};

pub fn run(options: &AsmOptions) -> Fallible {
    let image = load::encoded(&options.file, &load::module(&options.file, &options.constants)?)?;
    OutputTarget::new(&options.output, &kinds::IMAGE, options.force.force)?.write(&image)
}
