//! The program as people read it: its source lines, which instructions came from which line, labels,
//! and the text of the inverse program. Knows no state.

use std::collections::BTreeMap;
use std::sync::Arc;

use reviver_assembler::assemble::{Assembly, assemble_with};
use reviver_assembler::constants::GivenConstant;
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
use reviver_isa::text::Speller;
use reviver_isa::update::Update;
use reviver_isa::verify::{Violation, verify};
use reviver_vm::Program;
use reviver_vm::explain::Spot;
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
    #[error("{0} for the program")]
    NoMemory(#[from] OutOfMemory),
}

/// A program with its text.
#[derive(Clone, Debug)]
pub struct OpenedProgram {
    pub program: Arc<Program>,
    pub listing: Listing,
    /// Warnings of the assembler, as they are printed.
    pub warnings: String,
}

impl OpenedProgram {
    /// Opens a `.rasm` text or an image. Includes are found through `files`.
    ///
    /// # Errors
    /// A text with errors, a damaged image, a module that the machine refuses.
    pub fn open(name: &str, bytes: Vec<u8>, files: &dyn Files) -> Result<OpenedProgram, OpenError> {
        OpenedProgram::open_with(name, bytes, files, &[])
    }

    /// The same, with other values for some constants of the text, which has them. An image has none.
    ///
    /// # Errors
    /// As above.
    pub fn open_with(
        name: &str,
        bytes: Vec<u8>,
        files: &dyn Files,
        constants: &[GivenConstant],
    ) -> Result<OpenedProgram, OpenError> {
        if bytes.starts_with(&image::MAGIC[..4]) {
            let module = image::decode(&bytes).map_err(|error| OpenError::Refused(error.to_string()))?;
            return OpenedProgram::disassembled(name, module, files);
        }
        let mut assembly = assemble_with(name, bytes.clone(), files, constants);
        let warnings = diagnostics(&assembly);
        let Some(mut module) = assembly.module.take() else { return Err(OpenError::Diagnostics(warnings)) };
        let is_own = assembly.is_own(&module.structure);
        let origins = origins(&mut module, is_own, |structure| assembly.retell(structure));
        let lines = assembly.lines.iter().map(|line| own_line(*line)).collect();
        let told = TextAtHand { lines, files: source_files(&assembly), origins };
        OpenedProgram::new(name, module, told, bytes, files)
            .map(|subject| OpenedProgram { warnings, ..subject })
    }

    /// An image has no text but the one that it is disassembled to; only a program has one that can be
    /// trusted.
    fn disassembled(name: &str, mut module: Module, files: &dyn Files) -> Result<OpenedProgram, OpenError> {
        let violations = verify(&module);
        if !violations.is_empty() {
            return Err(refused(&violations));
        }
        let Disassembly { text, lines } = disassembly(&module);
        let file = SourceFile { name: name.to_owned(), lines: text.lines().map(str::to_owned).collect() };
        let Structure { lines: known, files: others, paths, .. } = &module.structure;
        let is_own = *known == lines && others.is_empty() && paths.is_empty();
        let retell = |structure: &mut Structure| structure.retell(lines.clone(), Vec::new(), Vec::new());
        let origins = origins(&mut module, is_own, retell);
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
        told: TextAtHand,
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
        let listing = Listing::new(program.module(), told, inverse);
        Ok(OpenedProgram { program: Arc::new(program), listing, warnings: String::new() })
    }
}

fn refused(violations: &[Violation]) -> OpenError {
    let messages: Vec<String> = violations.iter().take(20).map(|v| v.message.clone()).collect();
    OpenError::Refused(messages.join("\n"))
}

/// The text at hand.
struct TextAtHand {
    /// The line of each instruction.
    lines: Vec<Line>,
    files: Vec<SourceFile>,
    /// The lines and files of a text that isn't here.
    origins: Option<Structure>,
}

/// What a module records of another text than the one at hand: an image, of the text that it was
/// assembled from. From here on the module records the text at hand.
fn origins(module: &mut Module, is_own: bool, retell: impl FnOnce(&mut Structure)) -> Option<Structure> {
    if is_own {
        return None;
    }
    let told = module.structure.clone();
    retell(&mut module.structure);
    (!told.lines.is_empty()).then_some(told)
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

impl From<&Spot> for Line {
    fn from(spot: &Spot) -> Line {
        Line { file: spot.number, line: spot.line }
    }
}

/// The text of a program, and the way from it to the instructions and back.
#[derive(Clone, Debug)]
pub struct Listing {
    files: Vec<SourceFile>,
    /// The line of each instruction.
    lines: Vec<Line>,
    /// The instructions of each line, ascending.
    instructions: BTreeMap<Line, Vec<u32>>,
    /// The lines and files of a text that isn't here, from which an image was made.
    origins: Option<Structure>,
    inverse: Result<Inverse, String>,
}

/// The text of the inverse program.
#[derive(Clone, Debug)]
struct Inverse {
    lines: Vec<String>,
    /// By line of the program, the line of this text that undoes it.
    counterparts: BTreeMap<Line, u32>,
}

fn own_line(line: reviver_assembler::source::SourceLine) -> Line {
    Line { file: line.file.0, line: line.line }
}

impl Listing {
    fn new(module: &Module, told: TextAtHand, inverse: Result<Inverse, String>) -> Listing {
        let TextAtHand { lines, files, origins } = told;
        let mut instructions: BTreeMap<Line, Vec<u32>> = BTreeMap::new();
        for ((at, &line), instruction) in (0..).zip(&lines).zip(&module.code) {
            if !matches!(instruction.update, Update::Enter | Update::Exit) {
                instructions.entry(line).or_default().push(at);
            }
        }
        Listing { files, lines, instructions, origins, inverse }
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

    /// Where an instruction stood in the text that an image was made from, if it records that: `line 12`
    /// or `lib/vector.rasm:12`.
    pub fn origin(&self, at: u32) -> Option<String> {
        let origins = self.origins.as_ref()?;
        let line = origins.line(at)?;
        Some(origins.file(at).map_or_else(|| format!("line {line}"), |file| format!("{file}:{line}")))
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

    /// Where the machine comes to a line when it runs in its own direction, or inverted, as instructions:
    /// where it falls into one of the line's runs of instructions, or jumps into it. An `else` is come to
    /// from two sides, what is uncomputed has a run of its own.
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

    /// The number of an instruction among its neighbours from the same line, counted from 1, and how many
    /// they are.
    pub fn part(&self, at: u32) -> (usize, usize) {
        let mut runs = self.instructions(self.line(at)).chunk_by(|a, b| a + 1 == *b);
        let run = runs.find(|run| run.contains(&at)).unwrap_or_default();
        let number = run.iter().position(|other| *other == at).map_or(1, |n| n + 1);
        (number, run.len().max(1))
    }

    /// The statement of a line: its text without label, comment and needless blanks.
    pub fn statement(&self, line: Line) -> String {
        let text = self.text(line);
        let text = text.split(';').next().unwrap_or_default();
        words(text.split_once(':').filter(|(label, _)| is_label(label)).map_or(text, |(_, rest)| rest))
    }

    /// The number of the file whose name is this, or one of them ends with the other after a `/`.
    pub fn file(&self, name: &str) -> Option<u32> {
        let ends = |long: &str, short: &str| {
            !short.is_empty() && long.strip_suffix(short).is_some_and(|folder| folder.ends_with('/'))
        };
        let same = self.files.iter().position(|file| file.name == name);
        let similar = || self.files.iter().position(|file| ends(&file.name, name) || ends(name, &file.name));
        same.or_else(similar).map(|n| n as u32)
    }

    /// The inverse program line by line, or why there is none.
    pub fn inverse(&self) -> Result<&[String], &str> {
        self.inverse.as_ref().map(|inverse| inverse.lines.as_slice()).map_err(String::as_str)
    }

    /// The line of the inverse program, counted from 1, that undoes a line; none for a line of a file that
    /// the inverse includes as it is.
    pub fn counterpart(&self, line: Line) -> Option<u32> {
        self.inverse.as_ref().ok()?.counterparts.get(&line).copied()
    }
}

/// The program's own file has the name that it was opened by, the others their way from its folder.
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

/// Where a run of instructions is come to: at its first one in the machine's direction, and behind each join
/// that others jump to. If nothing leads away between the first one and a join, all who come pass the join,
/// and that alone counts: the compound condition of a loop is computed before one way into it only.
fn entries_of(code: &[Instruction], run: &[u32], inverted: bool) -> Vec<u32> {
    let ordered: Vec<u32> = if inverted { run.iter().rev().copied().collect() } else { run.to_vec() };
    let (join, fork) = if inverted { (Update::Br, Update::From) } else { (Update::From, Update::Br) };
    let mut found: Vec<u32> = ordered.first().copied().into_iter().collect();
    let mut all_pass = true;
    for (n, &at) in ordered.iter().enumerate() {
        let Some(&Instruction { update, link: Link::Partner(partner), .. }) = code.get(at as usize) else {
            continue;
        };
        // A pair within the run leads past a part of a condition, and to no other line.
        if run.contains(&partner) {
            continue;
        }
        all_pass &= update != fork;
        if update != join {
            continue;
        }
        let lands_here = n + 1 < ordered.len();
        // A jump from behind leads on at another line: the join is the end of this one.
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

/// An instruction as it would stand in source text; `inverted` shows the one that undoes it. What a
/// statement became is spelled as the statement.
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
    if let Some((block, seam)) = program.seam(at) {
        return match (&block.kind, (seam == 0) != inverted) {
            (BlockKind::Temporaries, true) => {
                format!("compute {}", speller.words_at(block, seam, instruction))
            }
            (BlockKind::Temporaries, false) => {
                format!("uncompute {}", speller.words_at(block, seam, instruction))
            }
            _ => speller.words(block, seam),
        };
    }
    flat(speller, instruction, inverted)
}

fn flat(speller: Speller<'_>, instruction: &Instruction, inverted: bool) -> String {
    let module = speller.module;
    let mut instruction = instruction.clone();
    if inverted {
        instruction.update = instruction.update.inverse();
    }
    speller.instruction(&instruction, |other| label(module, other).unwrap_or_else(|| format!("#{other}")))
}

/// One of the instructions that a statement became, as such; none where only lowering knows what it
/// names: a half of a pair, or a variable that the text hasn't got.
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
    is_known.then(|| flat(Speller { module, procedure }, instruction, inverted))
}

/// Whether this is a label, in front of a colon.
pub fn is_label(text: &str) -> bool {
    let name = text.trim_start();
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The label of a branch half.
pub fn label(module: &Module, at: u32) -> Option<String> {
    let labels = &module.structure.labels;
    let found = labels.binary_search_by_key(&at, |(index, _)| *index).ok()?;
    labels.get(found).map(|(_, label)| label.clone())
}
