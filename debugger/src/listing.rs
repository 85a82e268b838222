//! The program as people read it: its source lines, which instructions came from which line, labels,
//! and the text of the inverse program. Knows no state.

use std::collections::BTreeMap;
use std::sync::Arc;

use reviver_assembler::assemble::{Assembly, assemble};
use reviver_assembler::disassemble::disassemble;
use reviver_assembler::files::Files;
use reviver_assembler::invert::invert_text;
use reviver_assembler::{image, render};
use reviver_isa::Module;
use reviver_isa::text::Speller;
use reviver_isa::update::Update;
use reviver_vm::Program;
use thiserror::Error;

/// A program that can't be debugged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// The text has errors: the diagnostics as they are printed.
    #[error("{0}")]
    Diagnostics(String),
    /// The image is damaged, or the machine refuses the program.
    #[error("{0}")]
    Refused(String),
}

/// A program with its text.
#[derive(Clone, Debug)]
pub struct Subject {
    pub program: Arc<Program>,
    pub listing: Listing,
    /// Warnings of the assembler, as they are printed.
    pub warnings: String,
}

impl Subject {
    /// Opens a `.rasm` text or an image. Includes are found through `files`.
    ///
    /// # Errors
    /// A text with errors, a damaged image, a module that the machine refuses.
    pub fn open(name: &str, bytes: Vec<u8>, files: &dyn Files) -> Result<Subject, OpenError> {
        if bytes.starts_with(&image::MAGIC[..4]) {
            let module = image::decode(&bytes).map_err(|error| OpenError::Refused(error.to_string()))?;
            return Subject::disassembled(name, module, files);
        }
        let mut assembly = assemble(name, bytes.clone(), files);
        match assembly.module.take() {
            Some(module) => Subject::new(module, assembly, bytes, files),
            None => Err(OpenError::Diagnostics(diagnostics(&assembly))),
        }
    }

    /// An image has no text but the one that it is disassembled to; its own line numbers belong to a
    /// text that isn't there.
    fn disassembled(name: &str, mut module: Module, files: &dyn Files) -> Result<Subject, OpenError> {
        let text = disassemble(&module).into_bytes();
        module.structure.lines.clear();
        Subject::new(module, assemble(name, text.clone(), files), text, files)
    }

    fn new(
        module: Module,
        assembly: Assembly,
        text: Vec<u8>,
        files: &dyn Files,
    ) -> Result<Subject, OpenError> {
        let hash = xxhash_rust::xxh3::xxh3_128(&image::encode(&module));
        let program = Program::new(module, hash).map_err(|violations| {
            let messages: Vec<String> = violations.iter().take(20).map(|v| v.message.clone()).collect();
            OpenError::Refused(messages.join("\n"))
        })?;
        let name = assembly.sources.files().next().map_or("", |file| assembly.sources.name(file));
        let inversion = invert_text(name, text, name, files);
        let inverse = inversion.text.map_err(|errors| render::render(&inversion.sources, &errors, false));
        let listing = Listing::new(program.module(), &assembly, inverse);
        Ok(Subject { program: Arc::new(program), listing, warnings: diagnostics(&assembly) })
    }
}

fn diagnostics(assembly: &Assembly) -> String {
    render::render(&assembly.sources, &assembly.diagnostics, false)
}

/// A source file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub lines: Vec<String>,
}

/// A line of a source file; lines count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// Number in [`Listing::files`].
    pub file: u32,
    pub line: u32,
}

/// The text of a program, and the way from it to the instructions and back.
#[derive(Clone, Debug)]
pub struct Listing {
    files: Vec<SourceFile>,
    /// The line of each instruction.
    lines: Vec<Line>,
    /// The instructions of each line, ascending.
    instructions: BTreeMap<Line, Vec<u32>>,
    inverse: Result<Vec<String>, String>,
}

impl Listing {
    fn new(module: &Module, assembly: &Assembly, inverse: Result<String, String>) -> Listing {
        let sources = &assembly.sources;
        let files = sources
            .files()
            .map(|file| SourceFile {
                name: sources.name(file).to_owned(),
                lines: sources.file_text(file).lines().map(str::to_owned).collect(),
            })
            .collect();
        let lines: Vec<Line> = (0..module.code.len()).map(|at| line_of(module, assembly, at)).collect();
        let mut instructions: BTreeMap<Line, Vec<u32>> = BTreeMap::new();
        for (at, &line) in (0..).zip(&lines) {
            let is_bound =
                module.code.get(at as usize).is_none_or(|i| matches!(i.update, Update::Enter | Update::Exit));
            if !is_bound {
                instructions.entry(line).or_default().push(at);
            }
        }
        let inverse = inverse.map(|text| text.lines().map(str::to_owned).collect());
        Listing { files, lines, instructions, inverse }
    }

    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// A line for people and for commands: `line 12`, and with its file where it isn't the program's own
    /// `lib/vector.rasm:12`.
    pub fn name(&self, line: Line) -> String {
        match self.files.get(line.file as usize) {
            Some(file) if line.file > 0 => format!("{}:{}", file.name, line.line),
            _ => format!("line {}", line.line),
        }
    }

    /// The text of a line; empty where there is none.
    pub fn text(&self, line: Line) -> &str {
        let file = self.files.get(line.file as usize);
        file.and_then(|file| file.lines.get((line.line as usize).checked_sub(1)?)).map_or("", String::as_str)
    }

    /// The line of an instruction.
    pub fn line(&self, at: u32) -> Line {
        self.lines.get(at as usize).copied().unwrap_or(Line { file: 0, line: 1 })
    }

    /// The instructions of a line.
    pub fn instructions(&self, line: Line) -> &[u32] {
        self.instructions.get(&line).map_or(&[], Vec::as_slice)
    }

    /// The first line, from this one on in its file, that has instructions.
    pub fn with_instructions(&self, line: Line) -> Option<Line> {
        let (found, _) = self.instructions.range(line..).next()?;
        (found.file == line.file).then_some(*found)
    }

    /// The number of the file whose name is this, or ends with it after a `/`.
    pub fn file(&self, name: &str) -> Option<u32> {
        let fits = |file: &SourceFile| {
            file.name == name || file.name.strip_suffix(name).is_some_and(|folder| folder.ends_with('/'))
        };
        self.files.iter().position(fits).map(|n| n as u32)
    }

    /// The inverse program line by line, or why there is none.
    pub fn inverse(&self) -> Result<&[String], &str> {
        self.inverse.as_deref().map_err(String::as_str)
    }
}

/// An instruction from a macro belongs to the line of the program that uses it, which the module
/// records; any other one to the line on which it stands.
fn line_of(module: &Module, assembly: &Assembly, at: usize) -> Line {
    let sources = &assembly.sources;
    let span = assembly.spans.get(at).copied().unwrap_or_default();
    let (file, own) = (span.file.0, sources.line(span.file, span.start) as u32);
    let program = sources.files().next().map_or(0, |program| sources.lines(program));
    match module.structure.lines.get(at) {
        Some(&line) if line != own && line as usize <= program => Line { file: 0, line },
        _ => Line { file, line: own },
    }
}

/// An instruction as it would stand in source text; `inverted` shows the one that undoes it.
pub fn spell(program: &Program, at: u32, inverted: bool) -> String {
    let module = program.module();
    let number = program.procedure_of(at.min(module.code.len().saturating_sub(1) as u32));
    let (Some(instruction), Some(procedure)) = (module.code.get(at as usize), module.procedures.get(number))
    else {
        return String::new();
    };
    match instruction.update {
        Update::Enter => return format!(".proc {}", procedure.name),
        Update::Exit => return format!(".end of {}", procedure.name),
        _ => {}
    }
    let speller = Speller { module, procedure };
    let mut instruction = instruction.clone();
    if inverted {
        instruction.update = instruction.update.inverse();
    }
    speller.instruction(&instruction, |other| label(module, other).unwrap_or_else(|| format!("#{other}")))
}

/// The label of a branch half.
pub fn label(module: &Module, at: u32) -> Option<String> {
    let labels = &module.structure.labels;
    let found = labels.binary_search_by_key(&at, |(index, _)| *index).ok()?;
    labels.get(found).map(|(_, label)| label.clone())
}
