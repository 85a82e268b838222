//! The program as text: source lines, the instructions of each line, labels, and the text of the inverse
//! program. This module needs no state of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use reviver_assembler::assemble::{Assembly, assemble_with};
use reviver_assembler::constants::Replacements;
use reviver_assembler::disassemble::{Disassembly, disassembly};
use reviver_assembler::files::Files;
use reviver_assembler::invert::invert_text;
use reviver_assembler::source::FileId;
use reviver_assembler::{image, render};
use reviver_isa::Module;
use reviver_isa::codec::OutOfMemory;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Instruction, Link, Operand, Place};
use reviver_isa::module::Structure;
use reviver_isa::structure::BlockKind;
use reviver_isa::text::TextRenderer;
use reviver_isa::update::Update;
use reviver_isa::verify::{Violation, verify};
use reviver_vm::Program;
use reviver_vm::explain::Spot;
use thiserror::Error;

/// The reason why a program can't be debugged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// The text has errors; the field holds the rendered diagnostics.
    #[error("{0}")]
    Diagnostics(String),
    /// The image is damaged, or the machine rejects the program.
    #[error("{0}")]
    Refused(String),
    /// There is no memory for the program.
    #[error("{0} for the program")]
    NoMemory(#[from] OutOfMemory),
}

/// A program with its source text.
#[derive(Clone, Debug)]
pub struct OpenedProgram {
    /// The verified program, shared with machines.
    pub program: Arc<Program>,
    /// The source text, with the mapping between lines and instructions.
    pub listing: Listing,
    /// Rendered warnings of the assembler.
    pub warnings: String,
}

impl OpenedProgram {
    /// Opens a `.rasm` text or an image. Included files are read through `files`.
    ///
    /// # Errors
    /// The text has errors, the image is damaged, or the machine rejects the module.
    pub fn open(name: &str, bytes: Vec<u8>, files: &dyn Files) -> Result<OpenedProgram, OpenError> {
        OpenedProgram::open_with(name, bytes, files, Replacements::default())
    }

    /// Opens a text like [`OpenedProgram::open`] and overrides some of its constants. Images have no
    /// constants to override.
    ///
    /// # Errors
    /// The same errors as [`OpenedProgram::open`], and a constant that the text doesn't declare.
    pub fn open_with(
        name: &str,
        bytes: Vec<u8>,
        files: &dyn Files,
        replacements: Replacements<'_>,
    ) -> Result<OpenedProgram, OpenError> {
        if bytes.starts_with(&image::MAGIC[..4]) {
            let module = image::decode(&bytes).map_err(|error| OpenError::Refused(error.to_string()))?;
            return OpenedProgram::disassembled(name, module, files);
        }
        let mut assembly = assemble_with(name, bytes.clone(), files, replacements);
        let warnings = diagnostics(&assembly);
        let Some(mut module) = assembly.module.take() else { return Err(OpenError::Diagnostics(warnings)) };
        let is_own = assembly.is_own(&module.structure);
        let origins = origins(&mut module, is_own, |structure| assembly.set_text(structure));
        let lines = assembly.lines.iter().map(|line| own_line(*line)).collect();
        let reported = TextAtHand { lines, files: source_files(&assembly), origins };
        OpenedProgram::new(name, module, reported, bytes, files)
            .map(|subject| OpenedProgram { warnings, ..subject })
    }

    /// Opens an image with its disassembly as text. The module is verified first, because only a valid
    /// module can be disassembled.
    fn disassembled(name: &str, mut module: Module, files: &dyn Files) -> Result<OpenedProgram, OpenError> {
        let violations = verify(&module);
        if !violations.is_empty() {
            return Err(refused(&violations));
        }
        let Disassembly { text, lines } = disassembly(&module);
        let file = SourceFile { name: name.to_owned(), lines: text.lines().map(str::to_owned).collect() };
        let Structure { lines: known, files: others, paths, .. } = &module.structure;
        let is_own = *known == lines && others.is_empty() && paths.is_empty();
        let set_text = |structure: &mut Structure| structure.set_text(lines.clone(), Vec::new(), Vec::new());
        let origins = origins(&mut module, is_own, set_text);
        let lines = lines.into_iter().map(|line| Line { file: 0, line }).collect();
        OpenedProgram::new(
            name,
            module,
            TextAtHand { lines, files: vec![file], origins },
            text.into_bytes(),
            files,
        )
    }

    fn new(
        name: &str,
        module: Module,
        reported: TextAtHand,
        text: Vec<u8>,
        files: &dyn Files,
    ) -> Result<OpenedProgram, OpenError> {
        let hash = xxhash_rust::xxh3::xxh3_128(&image::encode(&module)?);
        let program = Program::new(module, hash).map_err(|violations| refused(&violations))?;
        let inversion = invert_text(name, text, name, files);
        let inverse = match inversion.text {
            Ok(text) => Ok(Inverse {
                lines: text.lines().map(str::to_owned).collect(),
                counterparts: inversion
                    .counterparts
                    .iter()
                    .map(|(l, other)| (own_line(*l), *other))
                    .collect(),
            }),
            Err(errors) => Err(render::render(&inversion.sources, &errors, false)),
        };
        let listing = Listing::new(program.module(), reported, inverse);
        Ok(OpenedProgram { program: Arc::new(program), listing, warnings: String::new() })
    }
}

fn refused(violations: &[Violation]) -> OpenError {
    let messages: Vec<String> = violations.iter().take(20).map(|v| v.message.clone()).collect();
    OpenError::Refused(messages.join("\n"))
}

/// The text to be shown: the source text, or the disassembly of an image.
struct TextAtHand {
    /// The line of each instruction.
    lines: Vec<Line>,
    files: Vec<SourceFile>,
    /// The line records of an image, which refer to its original text. `None` if the original text itself is
    /// shown.
    origins: Option<Structure>,
}

/// Returns the line records of a module whose original text isn't available, such as an image. In addition, `set_text`
/// replaces the records in the module by those of the shown text. If `is_own` is true, nothing is changed and the
/// result is `None`.
fn origins(module: &mut Module, is_own: bool, set_text: impl FnOnce(&mut Structure)) -> Option<Structure> {
    if is_own {
        return None;
    }
    let reported = module.structure.clone();
    set_text(&mut module.structure);
    (!reported.lines.is_empty()).then_some(reported)
}

fn diagnostics(assembly: &Assembly) -> String {
    render::render(&assembly.sources, &assembly.diagnostics, false)
}

/// A source file of the program.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path of the file, as messages show it.
    pub name: String,
    /// The lines of the text, without line ends.
    pub lines: Vec<String>,
}

/// A line of a source file; lines count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// Index into [`Listing::files`].
    pub file: u32,
    /// Number of the line in the file.
    pub line: u32,
}

impl From<&Spot> for Line {
    fn from(spot: &Spot) -> Line {
        Line { file: spot.number, line: spot.line }
    }
}

/// The text of a program, with the mapping between lines and instructions.
#[derive(Clone, Debug)]
pub struct Listing {
    files: Vec<SourceFile>,
    /// The line of each instruction.
    lines: Vec<Line>,
    /// The instructions of each line, ascending.
    instructions: BTreeMap<Line, Vec<u32>>,
    /// The line records of an image, which refer to its original text. `None` if the original text itself is
    /// shown.
    origins: Option<Structure>,
    inverse: Result<Inverse, String>,
}

/// The text of the inverse program.
#[derive(Clone, Debug)]
struct Inverse {
    lines: Vec<String>,
    /// For each line of the program, the number of the line of the inverse text that undoes it. Numbers count from 1.
    counterparts: BTreeMap<Line, u32>,
}

fn own_line(line: reviver_assembler::source::SourceLine) -> Line {
    Line { file: line.file.0, line: line.line }
}

impl Listing {
    fn new(module: &Module, reported: TextAtHand, inverse: Result<Inverse, String>) -> Listing {
        let TextAtHand { lines, files, origins } = reported;
        let mut instructions: BTreeMap<Line, Vec<u32>> = BTreeMap::new();
        for ((at, &line), instruction) in (0..).zip(&lines).zip(&module.code) {
            if !matches!(instruction.update, Update::Enter | Update::Exit) {
                instructions.entry(line).or_default().push(at);
            }
        }
        Listing { files, lines, instructions, origins, inverse }
    }

    /// Returns the source files: first the main file, then the included files.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Returns the name of a line for messages and commands: `line 12`, or `lib/vector.rasm:12` in an
    /// included file.
    pub fn name(&self, line: Line) -> String {
        match self.files.get(line.file as usize) {
            Some(file) if line.file > 0 => format!("{}:{}", file.name, line.line),
            _ => format!("line {}", line.line),
        }
    }

    /// Returns the source line from which an instruction of an image was assembled: `line 12` or `lib/vector.rasm:12`.
    /// Returns `None` if the image doesn't record the line.
    pub fn origin(&self, at: u32) -> Option<String> {
        let origins = self.origins.as_ref()?;
        let line = origins.line(at)?;
        Some(origins.file(at).map_or_else(|| format!("line {line}"), |file| format!("{file}:{line}")))
    }

    /// Returns the text of a line, or an empty text for a missing line.
    pub fn text(&self, line: Line) -> &str {
        let file = self.files.get(line.file as usize);
        file.and_then(|file| file.lines.get((line.line as usize).checked_sub(1)?)).map_or("", String::as_str)
    }

    /// Returns the source line of an instruction.
    pub fn line(&self, at: u32) -> Line {
        self.lines.get(at as usize).copied().unwrap_or(Line { file: 0, line: 1 })
    }

    /// Returns the instructions of a line, ascending.
    pub fn instructions(&self, line: Line) -> &[u32] {
        self.instructions.get(&line).map_or(&[], Vec::as_slice)
    }

    /// Returns the first line that has instructions, in the same file and from `line` on.
    pub fn with_instructions(&self, line: Line) -> Option<Line> {
        let (found, _) = self.instructions.range(line..).next()?;
        (found.file == line.file).then_some(*found)
    }

    /// Returns the instructions at which control enters a line. The machine runs forward, or inverted if `inverted` is
    /// true. The instructions of a line form one or several groups of adjacent instructions. Control falls into a group
    /// or jumps into it. So a line may have several entries: an `else` is reached from two sides, and uncomputing code
    /// forms a separate group.
    pub fn entries(&self, module: &Module, line: Line, inverted: bool) -> Vec<u32> {
        let code = &module.code;
        let turn = if inverted { Update::From } else { Update::Br };
        let leaves = |at: u32| {
            let instruction = code.get(at as usize);
            instruction.is_some_and(|i| i.update == turn && i.function == Function::Always)
        };
        let falls = |a: &u32, b: &u32| a + 1 == *b && !leaves(if inverted { *b } else { *a });
        let runs = self.instructions(line).chunk_by(falls);
        runs.flat_map(|run| entries_of(code, run, inverted)).collect()
    }

    /// Returns the number of an instruction within its group, and the size of the group. A group consists of
    /// adjacent instructions of one line; numbers count from 1.
    pub fn part(&self, at: u32) -> (usize, usize) {
        let mut runs = self.instructions(self.line(at)).chunk_by(|a, b| a + 1 == *b);
        let run = runs.find(|run| run.contains(&at)).unwrap_or_default();
        let number = run.iter().position(|other| *other == at).map_or(1, |n| n + 1);
        (number, run.len().max(1))
    }

    /// Returns the statement of a line, without its label and comment. Each sequence of blanks becomes a
    /// single blank.
    pub fn statement(&self, line: Line) -> String {
        let text = self.text(line);
        let text = text.split(';').next().unwrap_or_default();
        words(text.split_once(':').filter(|(label, _)| is_label(label)).map_or(text, |(_, rest)| rest))
    }

    /// Returns the index of the file called `name`. If no file has exactly this name, accepts a file if one of the two
    /// names ends with `/` and the other name: `vector.rasm` also denotes `lib/vector.rasm`.
    pub fn file(&self, name: &str) -> Option<u32> {
        let ends = |long: &str, short: &str| {
            !short.is_empty() && long.strip_suffix(short).is_some_and(|folder| folder.ends_with('/'))
        };
        let same = self.files.iter().position(|file| file.name == name);
        let similar = || self.files.iter().position(|file| ends(&file.name, name) || ends(name, &file.name));
        same.or_else(similar).map(|n| n as u32)
    }

    /// Returns the lines of the inverse program, or the reason why there is none.
    pub fn inverse(&self) -> Result<&[String], &str> {
        self.inverse.as_ref().map(|inverse| inverse.lines.as_slice()).map_err(String::as_str)
    }

    /// Returns the line of the inverse program, counted from 1, that undoes a line of the program. Returns
    /// `None` for a line of an included file that the inverse program includes unchanged.
    pub fn counterpart(&self, line: Line) -> Option<u32> {
        self.inverse.as_ref().ok()?.counterparts.get(&line).copied()
    }
}

/// Returns the source files. The first file is named as it was opened; the others have paths relative to
/// its folder.
fn source_files(assembly: &Assembly) -> Vec<SourceFile> {
    let (sources, paths) = (&assembly.sources, &assembly.paths);
    let file = |file: FileId| {
        let path = paths.get(file.0 as usize).filter(|path| !path.is_empty());
        SourceFile {
            name: path.map_or_else(|| sources.name(file), String::as_str).to_owned(),
            lines: sources.file_text(file).lines().map(str::to_owned).collect(),
        }
    };
    sources.files().map(file).collect()
}

/// Returns the entries of a group of adjacent instructions: its first instruction in the given direction,
/// and each join to which other code jumps. A join replaces the first instruction if every path passes the
/// join, that is, if no branch leaves the group between the two. For example, the line of a loop may compute
/// a compound condition before its `from`. Only the first iteration executes this computation, but every
/// iteration passes the `from`.
fn entries_of(code: &[Instruction], run: &[u32], inverted: bool) -> Vec<u32> {
    let ordered: Vec<u32> = if inverted { run.iter().rev().copied().collect() } else { run.to_vec() };
    let (join, fork) = if inverted { (Update::Br, Update::From) } else { (Update::From, Update::Br) };
    let mut found: Vec<u32> = ordered.first().copied().into_iter().collect();
    let mut all_pass = true;
    for (n, &at) in ordered.iter().enumerate() {
        let Some(&Instruction { update, link: Link::Partner(partner), .. }) = code.get(at as usize) else {
            continue;
        };
        // If both halves of a pair are in the group, the jump only skips a part of a condition, and control stays in
        // the line.
        if run.contains(&partner) {
            continue;
        }
        all_pass &= update != fork;
        if update != join {
            continue;
        }
        let lands_here = n + 1 < ordered.len();
        // A jump from a later instruction to a join at the end of this group continues at another line, so this join
        // isn't an entry.
        let is_from_before = (partner < at) != inverted;
        match all_pass {
            true if lands_here || is_from_before => {
                found.pop();
                found.push(at);
            }
            false if lands_here => found.push(at),
            _ => {}
        }
    }
    found
}

/// Renders an instruction as source text; if `inverted`, renders its inverse. An instruction that implements
/// part of a compound statement is rendered as the whole statement.
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
    let renderer = TextRenderer { module, procedure };
    if let Some((block, seam)) = program.seam(at) {
        return match (&block.kind, (seam == 0) != inverted) {
            (BlockKind::Temporaries, true) => {
                format!("compute {}", renderer.words_at(block, seam, instruction))
            }
            (BlockKind::Temporaries, false) => {
                format!("uncompute {}", renderer.words_at(block, seam, instruction))
            }
            _ => renderer.words(block, seam),
        };
    }
    flat(renderer, instruction, inverted)
}

fn flat(renderer: TextRenderer<'_>, instruction: &Instruction, inverted: bool) -> String {
    let module = renderer.module;
    let mut instruction = instruction.clone();
    if inverted {
        instruction.update = instruction.update.inverse();
    }
    renderer.instruction(&instruction, |other| label(module, other).unwrap_or_else(|| format!("#{other}")))
}

/// Renders a single instruction of a compound statement. Returns `None` for an instruction that has no source form. The
/// halves of branch pairs have no source form. Instructions with a variable that lowering introduced have none either.
pub fn spell_part(program: &Program, at: u32, inverted: bool) -> Option<String> {
    let module = program.module();
    let number = program.procedure_of(at);
    let (instruction, procedure) = (module.code.get(at as usize)?, module.procedures.get(number)?);
    let is_written = |operand: &Operand| match operand {
        Operand::Place(Place { base: Base::Frame(variable), .. }) => {
            module.structure.source_name(number as u32, *variable).is_some()
        }
        _ => true,
    };
    let is_known = instruction.link == Link::None && instruction.operands.iter().all(is_written);
    is_known.then(|| flat(TextRenderer { module, procedure }, instruction, inverted))
}

/// Returns true if a text before a colon has the form of a label.
pub fn is_label(text: &str) -> bool {
    let name = text.trim_start();
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the label of the `br` or `from` at an instruction index, if it has one.
pub fn label(module: &Module, at: u32) -> Option<String> {
    let labels = &module.structure.labels;
    let found = labels.binary_search_by_key(&at, |(index, _)| *index).ok()?;
    labels.get(found).map(|(_, label)| label.clone())
}
