//! Loads modules and programs from file arguments: texts or images.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use reviver::source::{self, NoModule, NoProgram, ReadModule, is_image};
use reviver_assembler::assemble::assemble_with;
use reviver_assembler::constants::{GivenConstant, Replacements};
use reviver_assembler::diagnostic::{Diagnostic, Severity};
use reviver_assembler::disassemble::disassemble;
use reviver_assembler::source::Sources;
use reviver_assembler::{image, render};
use reviver_isa::Module;
use reviver_isa::module::Structure;
use reviver_isa::verify::{Violation, verify};
use reviver_vm::Program;
use reviver_vm::allocation::OutOfMemory;
use serde_json::Value as Json;

use crate::cli::{Constants, Given};
use crate::constants;
use crate::failure::{Exit, Failure, Fallible, counted};
use crate::given::assignments;
use crate::output::diagnostics;
use crate::output::places::place;
use crate::read::{self, files, name, shown};
use crate::refused::{self, CommandWork};
use crate::streams::{self, complain_styled};

/// Text of the program that the command assembled first, for reports of traps.
static TEXT: OnceLock<Sources> = OnceLock::new();

/// Returns the text of the program that the command assembled first; `None` for an image.
pub fn kept_text() -> Option<&'static Sources> {
    TEXT.get()
}

/// Loads the module of a text or image, and prints warnings.
pub fn module(path: &Path, constants: &Constants) -> Fallible<Module> {
    module_of(path, read::source(path)?, constants)
}

/// Loads the module of a text or image, for derivatives, and prints warnings.
pub fn differentiable_module(path: &Path, constants: &Constants) -> Fallible<Module> {
    with_statements(path, read::source(path)?, (constants, &[]))
}

/// Loads the module of a file that has been read, for derivatives, and prints warnings.
pub fn differentiable_of(path: &Path, bytes: Vec<u8>) -> Fallible<Module> {
    with_statements(path, bytes, (&Constants::default(), &[]))
}

/// Loads the module of a file that has been read, and that runs with these inputs. Prints warnings.
pub fn module_with(given: &Given, bytes: Vec<u8>) -> Fallible<Module> {
    let constants = constants::given(&given.constants)?;
    let replacements =
        Replacements { constants: &constants, cells: &whole_cells(&given.set), ..Replacements::default() };
    read_module(&given.file, bytes, replacements).and_then(reported).map(|it| it.0)
}

/// Loads the module of a file that has been read, for derivatives: gradients that the program computes itself become
/// statements. Prints warnings.
pub fn differentiable(given: &Given, bytes: Vec<u8>) -> Fallible<Module> {
    let cells = whole_cells(&given.set);
    with_statements(&given.file, bytes, (&given.constants, &cells))
}

/// Loads a module whose own gradients become statements. An image is disassembled if need be. Prints warnings.
fn with_statements(
    path: &Path,
    bytes: Vec<u8>,
    (constants, cells): (&Constants, &[String]),
) -> Fallible<Module> {
    let given = constants::given(constants)?;
    let replacements = Replacements { constants: &given, cells, own_gradients: true };
    let is_image = is_image(path, &bytes);
    let found = read_module(path, bytes, replacements)?;
    if is_image && found.module.switches_mode() {
        let text = text_of(path, &found.module)?.into_bytes();
        return read_module(&path.with_extension("rasm"), text, replacements).map(|it| it.module);
    }
    reported(found).map(|it| it.0)
}

/// Returns the names of the cells and arrays of which `--set` gives all values.
pub fn whole_cells(set: &[String]) -> Vec<String> {
    let given = set.iter().flat_map(|argument| assignments("--set", argument));
    given.filter_map(|assignment| Some(assignment.ok()?.0)).filter(|name| !name.contains('[')).collect()
}

/// Loads the module of a file that has been read.
pub fn module_of(path: &Path, bytes: Vec<u8>, constants: &Constants) -> Fallible<Module> {
    with_warnings(path, bytes, constants).map(|(module, _)| module)
}

/// Loads a module, and prints warnings about its text. The warnings are also returned as JSON; null for an image.
pub fn with_warnings(path: &Path, bytes: Vec<u8>, constants: &Constants) -> Fallible<(Module, Json)> {
    let given = constants::given(constants)?;
    read_module(path, bytes, Replacements::constants(&given)).and_then(reported)
}

/// Prints the warnings about a module's text.
fn reported(found: ReadModule) -> Fallible<(Module, Json)> {
    let Some(sources) = found.sources else { return Ok((found.module, Json::Null)) };
    complain_styled(&render::render(&sources, &found.warnings, color()));
    let warnings = diagnostics::json(&sources, &found.warnings);
    // The module's places refer to another text, from which this one was disassembled; that text isn't available.
    if found.is_own {
        TEXT.get_or_init(|| sources);
    }
    Ok((found.module, warnings))
}

/// Loads a module from a generated text, without warnings, because the user hasn't written the text.
pub fn made_module(path: &Path, bytes: Vec<u8>, constants: &Constants) -> Fallible<Module> {
    let given = constants::given(constants)?;
    read_module(path, bytes, Replacements::constants(&given)).map(|found| found.module)
}

fn read_module(path: &Path, bytes: Vec<u8>, replacements: Replacements<'_>) -> Fallible<ReadModule> {
    let _work = refused::during(CommandWork::Assembling);
    if is_image(path, &bytes) {
        constants::check_none(replacements.constants, path)?;
    }
    source::module(&name(path), bytes, files(), replacements).map_err(|error| match error {
        NoModule::Image(error) => Failure::load(format_args!("{}: {error}", shown(path))).caused_by(&error),
        NoModule::Constant(refused) => constants::refused(&refused),
        NoModule::Text { sources, diagnostics } => faulty(&sources, &diagnostics, "nothing was assembled"),
    })
}

/// Returns the constants of `--const`. A name that the text doesn't declare is a failure.
pub fn constants(path: &Path, bytes: &[u8], options: &Constants) -> Fallible<Vec<GivenConstant>> {
    let given = constants::given(options)?;
    if !given.is_empty() {
        let assembly = assemble_with(&name(path), bytes.to_vec(), files(), Replacements::constants(&given));
        assembly.refused.first().map_or(Ok(()), |refused| Err(constants::refused(refused)))?;
    }
    Ok(given)
}

/// Failure for a text with errors. `outcome` names the consequence, such as "nothing was assembled".
pub fn faulty(sources: &Sources, diagnostics: &[Diagnostic], outcome: &str) -> Failure {
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    let summary = format!("{}: {outcome}", counted(errors, "error"));
    let text = format!("{}{summary}\n", render::render(sources, diagnostics, color()));
    Failure::styled(Exit::Load, summary, text).detail("diagnostics", diagnostics::json(sources, diagnostics))
}

/// Returns true if diagnostics have colors: on a terminal, unless `NO_COLOR` is set.
pub fn color() -> bool {
    io::stderr().is_terminal() && streams::may_be_colored()
}

/// Disassembles a module. Only a verified module can be disassembled; otherwise names may be missing.
pub fn text_of(path: &Path, module: &Module) -> Fallible<String> {
    let broken = verify(module);
    if broken.is_empty() { Ok(disassemble(module)) } else { Err(refused(path, &module.structure, &broken)) }
}

/// Returns the text of a program, for an image its disassembly.
pub fn text(path: &Path) -> Fallible<Vec<u8>> {
    let bytes = read::source(path)?;
    if !read::is_image(path, &bytes) {
        return Ok(bytes);
    }
    Ok(text_of(path, &module_of(path, bytes, &Constants::default())?)?.into_bytes())
}

/// Encodes a module as an image.
pub fn encoded(path: &Path, module: &Module) -> Fallible<Vec<u8>> {
    image::encode(module).map_err(|error| no_memory(path, &error))
}

/// Failure for an image that doesn't fit into memory.
pub fn no_memory(path: &Path, error: &OutOfMemory) -> Failure {
    Failure::new(Exit::Trap, format_args!("{}: {error} for the image of the program", shown(path)))
}

/// Verifies a module, and prepares it for execution.
pub fn program(path: &Path, module: Module) -> Fallible<Arc<Program>> {
    let structure = module.structure.clone();
    source::program(module).map_err(|error| match error {
        NoProgram::NoMemory(error) => no_memory(path, &error),
        NoProgram::Violations(violations) => refused(path, &structure, &violations),
    })
}

/// Failure for a module that breaks rules of the machine: the module of an image, or of a text that runs in a number
/// system other than its own.
pub fn refused(path: &Path, structure: &Structure, violations: &[Violation]) -> Failure {
    const SHOWN: usize = 20;
    let shown = violations.get(..SHOWN).unwrap_or(violations);
    let mut text: String = shown.iter().map(|v| described(path, structure, v)).collect();
    if violations.len() > SHOWN {
        text.push_str(&format!("… and {} more\n", violations.len() - SHOWN));
    }
    let summary = format!("the program breaks {} of the machine", counted(violations.len(), "rule"));
    Failure::spelled(Exit::Load, summary, text)
        .detail("diagnostics", diagnostics::violations(path, structure, shown))
}

/// Formats a violation like a diagnostic, with its place if the image records the place.
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
