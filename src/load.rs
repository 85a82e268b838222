//! From a file argument to a module or a program: text or image, whichever it is.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use reviver::source::{self, NoModule, NoProgram, ReadModule, is_image};
use reviver_assembler::assemble::assemble_with;
use reviver_assembler::constants::GivenConstant;
use reviver_assembler::diagnostic::{Diagnostic, Severity};
use reviver_assembler::disassemble::disassemble;
use reviver_assembler::source::Sources;
use reviver_assembler::{image, render};
use reviver_isa::Module;
use reviver_isa::module::Structure;
use reviver_isa::verify::{Violation, verify};
use reviver_vm::Program;
use reviver_vm::room::OutOfMemory;
use serde_json::Value as Json;

use crate::cli::Constants;
use crate::constants;
use crate::failure::{Exit, Failure, Fallible, counted};
use crate::output::diagnostics;
use crate::output::places::place;
use crate::read::{self, files, name, shown};
use crate::refused::{self, CommandWork};
use crate::streams::{self, complain_styled};

/// A command runs one program. Its text is kept for reports of what happens to it later.
static TEXT: OnceLock<Sources> = OnceLock::new();

/// The text of the program that was assembled first; none of an image and of what came of one.
pub fn kept_text() -> Option<&'static Sources> {
    TEXT.get()
}

/// The module in a text or an image. Warnings are printed on the way.
pub fn module(path: &Path, constants: &Constants) -> Fallible<Module> {
    module_of(path, read::source(path)?, constants)
}

/// The same, of a file that has been read.
pub fn module_of(path: &Path, bytes: Vec<u8>, constants: &Constants) -> Fallible<Module> {
    with_warnings(path, bytes, constants).map(|(module, _)| module)
}

/// The same, with the warnings once more, as JSON. Of an image there are none to be had: null.
pub fn with_warnings(path: &Path, bytes: Vec<u8>, constants: &Constants) -> Fallible<(Module, Json)> {
    let found = read_module(path, bytes, constants)?;
    let Some(sources) = found.sources else { return Ok((found.module, Json::Null)) };
    complain_styled(&render::render(&sources, &found.warnings, color()));
    let warnings = diagnostics::json(&sources, &found.warnings);
    // A disassembly speaks of another text, which isn't here.
    if found.is_own {
        TEXT.get_or_init(|| sources);
    }
    Ok((found.module, warnings))
}

/// The module in a text that a command has made of a file. Nobody has written it, so of its warnings nobody is told.
pub fn made_module(path: &Path, bytes: Vec<u8>, constants: &Constants) -> Fallible<Module> {
    read_module(path, bytes, constants).map(|found| found.module)
}

fn read_module(path: &Path, bytes: Vec<u8>, constants: &Constants) -> Fallible<ReadModule> {
    let _work = refused::during(CommandWork::Assembling);
    if is_image(path, &bytes) {
        constants::check_none(constants, path)?;
    }
    let given = constants::given(constants)?;
    source::module(&name(path), bytes, files(), &given).map_err(|error| match error {
        NoModule::Image(error) => Failure::load(format_args!("{}: {error}", shown(path))).caused_by(&error),
        NoModule::Constant(refused) => constants::refused(&refused),
        NoModule::Text { sources, diagnostics } => faulty(&sources, &diagnostics, "nothing was assembled"),
    })
}

/// The constants that were given, of which the text has every one.
pub fn constants(path: &Path, bytes: &[u8], options: &Constants) -> Fallible<Vec<GivenConstant>> {
    let given = constants::given(options)?;
    if !given.is_empty() {
        let assembly = assemble_with(&name(path), bytes.to_vec(), files(), &given);
        assembly.refused.first().map_or(Ok(()), |refused| Err(constants::refused(refused)))?;
    }
    Ok(given)
}

/// Why nothing comes of a text. `outcome` says what doesn't.
pub fn faulty(sources: &Sources, diagnostics: &[Diagnostic], outcome: &str) -> Failure {
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    let summary = format!("{}: {outcome}", counted(errors, "error"));
    let text = format!("{}{summary}\n", render::render(sources, diagnostics, color()));
    Failure::styled(Exit::Load, summary, text).detail("diagnostics", diagnostics::json(sources, diagnostics))
}

/// Whether diagnostics are coloured: on a terminal, unless `NO_COLOR` is set.
pub fn color() -> bool {
    io::stderr().is_terminal() && streams::may_be_colored()
}

/// The text of a module. Only of a program one can say how it is written: in anything else, names may be
/// none.
pub fn text_of(path: &Path, module: &Module) -> Fallible<String> {
    let broken = verify(module);
    if broken.is_empty() { Ok(disassemble(module)) } else { Err(refused(path, &module.structure, &broken)) }
}

/// A module as an image.
pub fn encoded(path: &Path, module: &Module) -> Fallible<Vec<u8>> {
    image::encode(module).map_err(|error| no_memory(path, &error))
}

/// There is no memory for the program's image.
pub fn no_memory(path: &Path, error: &OutOfMemory) -> Failure {
    Failure::new(Exit::Trap, format_args!("{}: {error} for the image of the program", shown(path)))
}

/// A module as a program that can run.
pub fn program(path: &Path, module: Module) -> Fallible<Arc<Program>> {
    let structure = module.structure.clone();
    source::program(module).map_err(|error| match error {
        NoProgram::NoMemory(error) => no_memory(path, &error),
        NoProgram::Violations(violations) => refused(path, &structure, &violations),
    })
}

/// Why an image (or a text, in other numbers than its own) is no program.
pub fn refused(path: &Path, structure: &Structure, violations: &[Violation]) -> Failure {
    const SHOWN: usize = 20;
    let shown = violations.get(..SHOWN).unwrap_or(violations);
    let mut text: String = shown.iter().map(|v| described(path, structure, v)).collect();
    if violations.len() > SHOWN {
        text.push_str(&format!("… and {} more\n", violations.len() - SHOWN));
    }
    let summary = format!("{} of the program can't be kept", counted(violations.len(), "rule"));
    Failure::spelled(Exit::Load, summary, text)
        .detail("diagnostics", diagnostics::violations(path, structure, shown))
}

/// A violation in the manner of the diagnostics, as far as an image tells its place.
fn described(path: &Path, structure: &Structure, violation: &Violation) -> String {
    let at = diagnostics::instruction(violation.site);
    let file = at.and_then(|at| structure.file(at));
    let place = place(&name(path), file, at.and_then(|at| structure.line(at)));
    let help = violation.help.iter().map(|help| format!("  = help: {help}\n"));
    format!(
        "error[{}]: {}\n --> {place}\n{}",
        violation.code.text(),
        violation.message,
        help.collect::<String>()
    )
}
