//! From a text or an image to a program, whichever it is. The one file of the library that reads others; knows no command line
//! and prints nothing.

use std::path::Path;
use std::sync::Arc;

use reviver_assembler::assemble as assembler;
use reviver_assembler::constants::{GivenConstant, RefusedConstant};
use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::files::{Disk, Files};
use reviver_assembler::source::Sources;
use reviver_assembler::{image, render};
use reviver_files::{Content, UsedFiles};
use reviver_flow::IndependentCells;
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_isa::verify::Violation;
use reviver_vm::room::OutOfMemory;
use reviver_vm::{Machine, Program};

use super::cells::NamedCells;
use super::engine::CompileOptions;
use super::error::Error;
use super::executable::Executable;

/// A program that was assembled, or read from an image.
#[derive(Clone, Debug)]
pub struct Assembled {
    name: String,
    program: Arc<Program>,
    warnings: Vec<Diagnostic>,
    rendered: String,
}

/// Assembles a text. `name` is its file's name: it stands in errors, and from its folder `.include` reads the disk.
///
/// # Errors
/// [`Error::Text`], with every diagnostic.
pub fn assemble(name: &str, text: &str) -> Result<Assembled, Error> {
    assemble_with(name, text.as_bytes().to_vec(), &Disk, &[])
}

/// The program in a file: a `.rasm` text or a `.rbc` image.
///
/// # Errors
/// The file can't be read, or is no program.
pub fn open(path: impl AsRef<Path>) -> Result<Assembled, Error> {
    let (path, name) = (path.as_ref(), path.as_ref().display().to_string());
    let read = UsedFiles::default().read(path, Content::Text);
    let bytes = read.map_err(|error| Error::Unreadable { name: name.clone(), why: error.to_string() })?;
    assemble_with(&name, bytes, &Disk, &[])
}

/// A text or an image, with the files that it includes, and with other values for some of its constants; an image takes none.
///
/// # Errors
/// The text or the image is no program, or has no such constant.
pub fn assemble_with(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    constants: &[GivenConstant],
) -> Result<Assembled, Error> {
    let found = module(name, bytes, files, constants).map_err(|error| error.named(name))?;
    let program = program(found.module).map_err(|error| error.named(name))?;
    let rendered =
        found.sources.map_or_else(String::new, |sources| render::render(&sources, &found.warnings, false));
    Ok(Assembled { name: name.to_owned(), program, warnings: found.warnings, rendered })
}

impl Assembled {
    /// Makes it ready to be called.
    ///
    /// # Errors
    /// There is no such engine here, it can't leave checks out, or there is no memory for the program's cells.
    pub fn compile(&self, options: impl Into<CompileOptions>) -> Result<Executable, Error> {
        Executable::new(&self.name, &self.program, options)
    }

    /// The same, prepared for derivatives with respect to the reals of these names alone. Derivatives by others aren't found, and need
    /// not exist.
    ///
    /// # Errors
    /// There are no such cells, or they are integers; there is no memory for the program's cells.
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

    /// The program, for everything that the libraries below this one can do with it.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What is doubtful in the text; nothing is known of an image.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The warnings as text, with the lines that they are about.
    pub fn rendered_warnings(&self) -> &str {
        &self.rendered
    }
}

/// A module, and what is known of its text.
#[derive(Debug)]
pub struct ReadModule {
    pub module: Module,
    pub warnings: Vec<Diagnostic>,
    /// The text and what it includes; none of an image.
    pub sources: Option<Sources>,
    /// Whether the module's places are those of this text, and not of another that was disassembled to it.
    pub is_own: bool,
}

/// Why bytes are no module.
#[derive(Debug)]
pub enum NoModule {
    Image(image::LoadError),
    Constant(RefusedConstant),
    Text { sources: Sources, diagnostics: Vec<Diagnostic> },
}

/// The module of a text or an image.
///
/// # Errors
/// Why there is none.
pub fn module(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    constants: &[GivenConstant],
) -> Result<ReadModule, NoModule> {
    if is_image(Path::new(name), &bytes) {
        let module = image::decode(&bytes).map_err(NoModule::Image)?;
        if let Some(constant) = constants.first() {
            let (name, known) = (constant.name.clone(), Vec::new());
            return Err(NoModule::Constant(RefusedConstant::Unknown { name, is_cell: false, known }));
        }
        return Ok(ReadModule { module, warnings: Vec::new(), sources: None, is_own: false });
    }
    let mut assembly = assembler::assemble_with(name, bytes, files, constants);
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

/// Whether a file is an image rather than a text, by its name or its first bytes. A damaged image must not be taken for a text.
pub fn is_image(path: &Path, bytes: &[u8]) -> bool {
    let is_called_image = path.extension().is_some_and(|extension| extension == "rbc");
    is_called_image || image::MAGIC.get(..4).is_some_and(|magic| bytes.starts_with(magic))
}

/// Why a module is no program.
#[derive(Debug)]
pub enum NoProgram {
    /// For its image, by which state files know it.
    NoMemory(OutOfMemory),
    Violations(Vec<Violation>),
}

/// A module as a program that can run.
///
/// # Errors
/// The rules that it breaks.
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
