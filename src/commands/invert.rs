//! `reviver invert`: the inverse program as readable text.

use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::disassemble::disassemble;
use reviver_assembler::source::Sources;
use reviver_assembler::{format, invert, parser, render};

use crate::cli::Invert;
use crate::failure::{Exit, Failure, Outcome};
use crate::{load, write};

pub fn run(options: &Invert) -> Outcome {
    let mut bytes = load::bytes(&options.file)?;
    if load::is_image(&options.file, &bytes) {
        bytes = disassemble(&load::module(&options.file)?).into_bytes();
    }
    let mut sources = Sources::default();
    let inverse = invert_text(&mut sources, &load::name(&options.file), bytes);
    let text = inverse.map_err(|diagnostics| Failure {
        exit: Exit::Load,
        message: render::render(&sources, &diagnostics, load::color()),
    })?;
    write::text(options.output.as_deref(), &text)
}

fn invert_text(
    sources: &mut Sources,
    name: &str,
    bytes: Vec<u8>,
) -> Result<String, Vec<Diagnostic>> {
    let file = sources.add_bytes(name, bytes).map_err(|diagnostic| vec![*diagnostic])?;
    let (body, diagnostics) = parser::parse(sources, file);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    Ok(format::print_with(sources, &invert::invert(&body)?))
}
