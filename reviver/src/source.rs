//! Loads programs from texts or images. No other module of the library reads files. This module prints nothing.

use std::path::Path;
use std::sync::Arc;

use reviver_assembler::assemble as assembler;
use reviver_assembler::constants::{GivenConstant, RefusedConstant, Replacements};
use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::files::{Disk, Files};
use reviver_assembler::source::Sources;
use reviver_assembler::{image, render};
use reviver_files::{Content, UsedFiles};
use reviver_flow::IndependentCells;
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_isa::module::Word;
use reviver_isa::verify::Violation;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::explain::Explanation;
use reviver_vm::{Machine, Program};

use super::cells::NamedCells;
use super::engine::CompileOptions;
use super::error::Error;
use super::executable::Executable;
use super::real_choice::RealChoice;
use super::trap_report::report;

/// Program that was assembled from a text, or decoded from an image.
#[derive(Clone, Debug)]
pub struct Assembled {
    name: String,
    program: Arc<Program>,
    warnings: Vec<Diagnostic>,
    rendered: String,
    sources: Option<Arc<Sources>>,
}

/// Assembles a text. `name` is the file name of the text, which errors mention. `.include` reads files relative to the
/// folder of `name`.
///
/// # Errors
/// [`Error::Text`], with every diagnostic.
pub fn assemble(name: &str, text: &str) -> Result<Assembled, Error> {
    assemble_with(name, text.as_bytes().to_vec(), &Disk, &[])
}

/// Loads the program in a file: a `.rasm` text or a `.rbc` image.
///
/// # Errors
/// The file can't be read, or isn't a program.
pub fn open(path: impl AsRef<Path>) -> Result<Assembled, Error> {
    let (path, name) = (path.as_ref(), path.as_ref().display().to_string());
    let read = UsedFiles::default().read(path, Content::Text);
    let bytes = read.map_err(|error| Error::Unreadable { name: name.clone(), why: error.to_string() })?;
    assemble_with(&name, bytes, &Disk, &[])
}

/// Loads a text or an image from bytes. `files` gives access to included files, and `constants` replace the values of
/// constants in the text. Images have no constants.
///
/// # Errors
/// The text or image isn't a program, or has no such constant.
pub fn assemble_with(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    constants: &[GivenConstant],
) -> Result<Assembled, Error> {
    let found =
        module(name, bytes, files, Replacements::constants(constants)).map_err(|error| error.named(name))?;
    let program = program(found.module).map_err(|error| error.named(name))?;
    let rendered = found
        .sources
        .as_ref()
        .map_or_else(String::new, |sources| render::render(sources, &found.warnings, false));
    let sources = found.sources.filter(|_| found.is_own).map(Arc::new);
    Ok(Assembled { name: name.to_owned(), program, warnings: found.warnings, rendered, sources })
}

impl Assembled {
    /// Compiles the program, ready for calls.
    ///
    /// # Errors
    /// The engine isn't available, it can't skip checks, or there is no memory for the program's cells.
    pub fn compile(&self, options: impl Into<CompileOptions>) -> Result<Executable, Error> {
        Executable::new(&self.name, &self.program, options)
    }

    /// Prepares derivatives with respect to the named reals only. Derivatives with respect to other reals aren't
    /// computed, and need not exist.
    ///
    /// # Errors
    /// There are no such cells, they are integers, or there is no memory for the program's cells.
    pub fn with_respect_to(&self, names: &[&str]) -> Result<Assembled, Error> {
        let begin = Machine::at_begin(Arc::clone(&self.program))?.into_state();
        let mut independent = IndependentCells { on_tape: true, ..IndependentCells::default() };
        for name in names {
            let cells = NamedCells::find(&self.program, &begin, 0, name, Class::Real)?.range();
            independent.cells.push(cells.start as u32..cells.end as u32);
        }
        let program = Arc::new(self.program.differentiated_by(&independent, None));
        Ok(Assembled { program, ..self.clone() })
    }

    /// Returns the program in other numbers than it declares: reals in another number system, integers in another word.
    ///
    /// # Errors
    /// [`Error::Refused`] if the program can't run in these numbers.
    pub fn in_numbers(&self, real: Option<RealChoice>, word: Option<Word>) -> Result<Assembled, Error> {
        let mut module = self.program.module().clone();
        set_numbers(&mut module, real, word);
        let program = program(module).map_err(|error| error.named(&self.name))?;
        Ok(Assembled { program, ..self.clone() })
    }

    /// Returns the text of the program and its included files. Returns `None` for an image, and for the text of a
    /// disassembly, because its places refer to the original text.
    pub fn sources(&self) -> Option<&Sources> {
        self.sources.as_deref()
    }

    /// Returns a trap of the program as a report, with its source lines if the program was assembled from a text.
    pub fn report(&self, explanation: &Explanation) -> String {
        let what = format!("trap[{}]", explanation.code.text());
        report(self.sources(), (&what, &self.name), explanation, false)
    }

    /// Returns the program, for use with the underlying crates.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns the warnings about the text; empty for an image.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Returns the warnings as text, with their source lines.
    pub fn rendered_warnings(&self) -> &str {
        &self.rendered
    }
}

/// Replaces the number system of a module's reals, and the word of its integers.
pub fn set_numbers(module: &mut Module, real: Option<RealChoice>, word: Option<Word>) {
    module.real = real.map_or(module.real, |choice| choice.over(module.real));
    module.word = word.unwrap_or(module.word);
}

/// Module with information about its text.
#[derive(Debug)]
pub struct ReadModule {
    /// The module, after verification.
    pub module: Module,
    /// Warnings about the text, with their places.
    pub warnings: Vec<Diagnostic>,
    /// The text and its included files; `None` for an image.
    pub sources: Option<Sources>,
    /// True if the module's places refer to this text. False for the text of a disassembly, because the places in a
    /// disassembly refer to the original text.
    pub is_own: bool,
}

/// Reason why bytes aren't a module.
#[derive(Debug)]
pub enum NoModule {
    /// An image that can't be decoded.
    Image(image::LoadError),
    /// A value for a constant that the text doesn't declare, or a value that can't be converted to the constant's type.
    Constant(RefusedConstant),
    /// A text with errors.
    Text {
        /// The text and its included files.
        sources: Sources,
        /// Errors and warnings, with their places.
        diagnostics: Vec<Diagnostic>,
    },
}

/// Reads the module of a text or an image.
///
/// # Errors
/// [`NoModule`] with the reason.
pub fn module(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    replacements: Replacements<'_>,
) -> Result<ReadModule, NoModule> {
    if is_image(Path::new(name), &bytes) {
        let module = image::decode(&bytes).map_err(NoModule::Image)?;
        if let Some(constant) = replacements.constants.first() {
            let (name, known) = (constant.name.clone(), Vec::new());
            return Err(NoModule::Constant(RefusedConstant::Unknown { name, is_cell: false, known }));
        }
        return Ok(ReadModule { module, warnings: Vec::new(), sources: None, is_own: false });
    }
    let mut assembly = assembler::assemble_with(name, bytes, files, replacements);
    if !assembly.refused.is_empty() {
        return Err(NoModule::Constant(assembly.refused.swap_remove(0)));
    }
    match assembly.module.take() {
        Some(module) => {
            let is_own = assembly.is_own(&module.structure);
            let (warnings, sources) = (assembly.diagnostics, Some(assembly.sources));
            Ok(ReadModule { module, warnings, sources, is_own })
        }
        None => Err(NoModule::Text { sources: assembly.sources, diagnostics: assembly.diagnostics }),
    }
}

/// Returns true if a file is an image, by its name or its first bytes. A damaged image is reported as such, instead
/// of being parsed as a text.
pub fn is_image(path: &Path, bytes: &[u8]) -> bool {
    let is_called_image = path.extension().is_some_and(|extension| extension == "rbc");
    is_called_image || image::MAGIC.get(..4).is_some_and(|magic| bytes.starts_with(magic))
}

/// Reason why a module isn't a program.
#[derive(Debug)]
pub enum NoProgram {
    /// No memory for the encoded image, whose hash identifies the program in state files.
    NoMemory(OutOfMemory),
    /// Rules of the machine that the module breaks.
    Violations(Vec<Violation>),
}

/// Verifies a module, and prepares it for execution.
///
/// # Errors
/// [`NoProgram::Violations`] with the broken rules.
pub fn program(module: Module) -> Result<Arc<Program>, NoProgram> {
    let image = image::encode(&module).map_err(NoProgram::NoMemory)?;
    let hash = xxhash_rust::xxh3::xxh3_128(&image);
    Program::new(module, hash).map(Arc::new).map_err(NoProgram::Violations)
}

impl NoModule {
    fn named(self, name: &str) -> Error {
        match self {
            NoModule::Image(error) => Error::Image { name: name.to_owned(), error: Box::new(error) },
            NoModule::Constant(refused) => Error::Constant(refused),
            NoModule::Text { sources, diagnostics } => {
                Error::Text { rendered: render::render(&sources, &diagnostics, false), diagnostics }
            }
        }
    }
}

impl NoProgram {
    fn named(self, name: &str) -> Error {
        match self {
            NoProgram::NoMemory(error) => Error::NoMemory(error),
            NoProgram::Violations(violations) => Error::Refused { name: name.to_owned(), violations },
        }
    }
}
