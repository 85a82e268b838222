//! `reviver asm`: text to image.

use crate::cli::Asm;
use crate::failure::Outcome;
use crate::write::Target;
use crate::{kinds, load};

pub fn run(options: &Asm) -> Outcome {
    let image = load::encoded(&options.file, &load::module(&options.file)?)?;
    Target::new(&options.output, &kinds::IMAGE, options.force.force)?.write(&image)
}
