//! `reviver asm`: text to image.

use std::fs::canonicalize;

use reviver_assembler::image;

use crate::cli::Asm;
use crate::failure::{Failure, Outcome};
use crate::{load, write};

pub fn run(options: &Asm) -> Outcome {
    if overwrites_its_text(options) {
        let name = options.file.display();
        return Err(Failure::usage(format_args!("the image would overwrite its own text, {name}")));
    }
    let module = load::module(&options.file)?;
    write::whole(&options.output, &image::encode(&module))
}

fn overwrites_its_text(options: &Asm) -> bool {
    let text = canonicalize(&options.file).ok().filter(|path| path.is_file());
    text.is_some() && text == canonicalize(&options.output).ok()
}
