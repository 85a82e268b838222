//! From a file argument to a module or a program: text or image, whichever it is.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;
use std::sync::Arc;

use reviver_assembler::assemble::{Assembly, assemble};
use reviver_assembler::diagnostic::Severity;
use reviver_assembler::files::Disk;
use reviver_assembler::{image, render};
use reviver_isa::Module;
use reviver_isa::verify::Violation;
use reviver_vm::Program;

use crate::failure::{Exit, Failure, Outcome};

/// The bytes of a file; `-` is standard input.
pub fn bytes(path: &Path) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    let outcome = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    outcome.map_err(|error| Failure::new(Exit::Load, format_args!("can't read {}: {error}", path.display())))?;
    Ok(bytes)
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
    let bytes = bytes(path)?;
    if is_image(path, &bytes) {
        return image::decode(&bytes)
            .map_err(|error| Failure::new(Exit::Load, format_args!("{}: {error}", name(path))));
    }
    assembled(path, bytes)
}

fn assembled(path: &Path, bytes: Vec<u8>) -> Outcome<Module> {
    let assembly = assemble(&name(path), bytes, &Disk);
    let text = render_diagnostics(&assembly);
    let errors = assembly.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    match assembly.module {
        Some(module) if errors == 0 => {
            eprint!("{text}");
            Ok(module)
        }
        _ => Err(Failure { exit: Exit::Load, message: format!("{text}{}", count(errors)) }),
    }
}

fn render_diagnostics(assembly: &Assembly) -> String {
    render::render(&assembly.sources, &assembly.diagnostics, color())
}

fn count(errors: usize) -> String {
    let plural = if errors == 1 { "" } else { "s" };
    format!("{errors} error{plural}: nothing was assembled\n")
}

/// Whether diagnostics are coloured: on a terminal, unless `NO_COLOR` is set.
pub fn color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A module as a program that can run.
pub fn program(path: &Path, module: Module) -> Outcome<Arc<Program>> {
    let hash = xxhash_rust::xxh3::xxh3_128(&image::encode(&module));
    Program::new(module, hash).map(Arc::new).map_err(|violations| refused(path, &violations))
}

/// Why an image (or a text, in other numbers than its own) is no program.
fn refused(path: &Path, violations: &[Violation]) -> Failure {
    let mut message = String::new();
    for violation in violations.iter().take(20) {
        message.push_str(&format!("error: {}: {}\n", name(path), violation.message));
        if let Some(help) = &violation.help {
            message.push_str(&format!("  = help: {help}\n"));
        }
    }
    if violations.len() > 20 {
        message.push_str(&format!("… and {} more\n", violations.len() - 20));
    }
    Failure { exit: Exit::Load, message }
}
