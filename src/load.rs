//! From a file argument to a module or a program: text or image, whichever it is.

use std::io::{ErrorKind, IsTerminal as _, Read as _};
use std::path::Path;
use std::sync::Arc;

use reviver_assembler::assemble::{Assembly, assemble};
use reviver_assembler::diagnostic::Severity;
use reviver_assembler::files::Disk;
use reviver_assembler::{image, render};
use reviver_isa::Module;
use reviver_isa::module::Structure;
use reviver_isa::verify::{Site, Violation};
use reviver_vm::Program;

use crate::failure::{Exit, Failure, Outcome, counted};
use crate::{output, write};

/// The bytes of a file; `-` is standard input.
pub fn bytes(path: &Path) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    let outcome = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    outcome.map_err(|error| unreadable(path, &error))?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let name = name(path);
    match error.kind() {
        ErrorKind::NotFound => Failure::load(format_args!("there is no file {name}")),
        ErrorKind::PermissionDenied => Failure::load(format_args!("can't read {name}: permission denied")),
        ErrorKind::IsADirectory => Failure::load(format_args!("can't read {name}: it is a folder")),
        _ => Failure::load(format_args!("can't read {name}: {error}")),
    }
}

/// What a file is called in messages and in `.include`.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".into() } else { path.display().to_string() }
}

/// Whether a file is an image rather than a text. A damaged image must not be taken for a text.
pub fn is_image(path: &Path, bytes: &[u8]) -> bool {
    let magic = image::MAGIC;
    bytes.starts_with(&magic[..4]) || path.extension().is_some_and(|extension| extension == "rbc")
}

/// The module in a text or an image. Warnings are printed on the way.
pub fn module(path: &Path) -> Outcome<Module> {
    module_of(path, bytes(path)?)
}

/// The same, of a file that has been read.
pub fn module_of(path: &Path, bytes: Vec<u8>) -> Outcome<Module> {
    if is_image(path, &bytes) {
        return image::decode(&bytes).map_err(|error| Failure::load(format_args!("{}: {error}", name(path))));
    }
    assembled(path, bytes)
}

fn assembled(path: &Path, bytes: Vec<u8>) -> Outcome<Module> {
    let assembly = assemble(&name(path), bytes, &Disk);
    let text = render_diagnostics(&assembly);
    let errors = assembly.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    match assembly.module {
        Some(module) if errors == 0 => {
            write::complain(&text);
            Ok(module)
        }
        _ => Err(Failure {
            exit: Exit::Load,
            message: format!("{text}{}: nothing was assembled\n", counted(errors, "error")),
        }),
    }
}

fn render_diagnostics(assembly: &Assembly) -> String {
    render::render(&assembly.sources, &assembly.diagnostics, color())
}

/// Whether diagnostics are coloured: on a terminal, unless `NO_COLOR` is set.
pub fn color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A module as a program that can run.
pub fn program(path: &Path, module: Module) -> Outcome<Arc<Program>> {
    let structure = module.structure.clone();
    let hash = xxhash_rust::xxh3::xxh3_128(&image::encode(&module));
    Program::new(module, hash).map(Arc::new).map_err(|violations| refused(path, &structure, &violations))
}

/// Why an image (or a text, in other numbers than its own) is no program.
pub fn refused(path: &Path, structure: &Structure, violations: &[Violation]) -> Failure {
    const SHOWN: usize = 20;
    let mut message: String = violations.iter().take(SHOWN).map(|v| described(path, structure, v)).collect();
    if violations.len() > SHOWN {
        message.push_str(&format!("… and {} more\n", violations.len() - SHOWN));
    }
    Failure { exit: Exit::Load, message }
}

/// A violation in the manner of the diagnostics, as far as an image tells its place.
fn described(path: &Path, structure: &Structure, violation: &Violation) -> String {
    let at = match violation.site {
        Site::Instruction(at) | Site::Operand(at, _) => Some(at),
        Site::Global(_) | Site::Procedure(_) | Site::Module => None,
    };
    let file = at.and_then(|at| structure.file(at));
    let place = output::place(&name(path), file, at.and_then(|at| structure.line(at)));
    let help = violation.help.iter().map(|help| format!("  = help: {help}\n"));
    format!("error: {}\n --> {place}\n{}", violation.message, help.collect::<String>())
}
