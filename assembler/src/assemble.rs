//! The pipeline from text to module: load, lower, verify. A text with syntax errors is not checked further,
//! because its meaning would be a guess. All other errors are reported in one run. This module is independent
//! of particular statements and rules.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use reviver_isa::Module;
use reviver_isa::codes::ProblemCode;
use reviver_isa::module::Structure;
use reviver_isa::verify::{Site, Violation, verify};

use crate::adjoint::own;
use crate::constants::{RefusedConstant, Replacements};
use crate::diagnostic::{Collection, Diagnostic, Severity, in_order};
use crate::files::Files;
use crate::include::{Loaded, load};
use crate::limits::AssemblyLimits;
use crate::lint;
use crate::lower::{Lowered, lower};
use crate::places;
use crate::source::{FileId, SourceLine, Sources, Span};
use crate::tree::Body;

/// The result of assembling a text.
#[derive(Debug)]
pub struct Assembly {
    /// The program's files; the first one is the program itself.
    pub sources: Sources,
    /// The verified module, or `None` if there are errors.
    pub module: Option<Module>,
    /// The errors and warnings, in order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// The values that were passed to [`assemble_with`] for constants, but can't be used. If there are any,
    /// `module` is `None`.
    pub refused: Vec<RefusedConstant>,
    /// The source line of each instruction. An instruction in a macro has the line on which the macro is
    /// used. A branch that belongs to a block has the line of the word for which it was generated, such as
    /// `else` or `fi`.
    pub lines: Vec<SourceLine>,
    /// The path of each file, indexed by the number of the file. A path is relative to the program's folder,
    /// and spelled as in the includes. The path of the program itself is empty.
    pub paths: Vec<String>,
}

impl Assembly {
    fn refused(loaded: Loaded) -> Assembly {
        let Loaded { sources, mut diagnostics, paths, .. } = loaded;
        in_order(&mut diagnostics);
        Assembly { sources, module: None, diagnostics, refused: Vec::new(), lines: Vec::new(), paths }
    }

    /// Returns true if the recorded structure describes this text. In a disassembly, the structure may
    /// describe the original text instead.
    pub fn is_own(&self, structure: &Structure) -> bool {
        let (lines, files, paths) = recorded_lines(&self.lines, &self.paths);
        structure.lines == lines && structure.files == files && structure.paths == paths
    }

    /// Replaces the lines, files and paths of a structure by those of this text.
    pub fn set_text(&self, structure: &mut Structure) {
        let (lines, files, paths) = recorded_lines(&self.lines, &self.paths);
        structure.set_text(lines, files, paths);
    }

    /// Returns true if there are errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

/// Assembles a text. `name` is the name of the text's file. `files` finds includes relative to this name.
pub fn assemble(name: &str, bytes: Vec<u8>, files: &dyn Files) -> Assembly {
    assemble_with(name, bytes, files, Replacements::default())
}

/// Assembles a text with other values for some of its constants.
pub fn assemble_with(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    replacements: Replacements<'_>,
) -> Assembly {
    assemble_within(name, bytes, files, replacements, AssemblyLimits::default())
}

/// Assembles a text with replacements and limits.
pub fn assemble_within(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    replacements: Replacements<'_>,
    limits: AssemblyLimits,
) -> Assembly {
    let mut loaded = load(name, bytes, files);
    own::replace(&mut loaded, u32::from(!replacements.own_gradients));
    if !loaded.diagnostics.is_empty() {
        return Assembly::refused(loaded);
    }
    let body = loaded.splice(&HashSet::new());
    let is_changed = loaded.is_replaced || loaded.has_history;
    let Loaded { sources, paths, .. } = loaded;
    let mut lowered = lower(&body, &sources, replacements, limits);
    let mut diagnostics = std::mem::take(&mut lowered.diagnostics);
    if lowered.says_nothing && diagnostics.is_empty() {
        diagnostics.push(no_program());
    }
    let lines = lines_of(&lowered, &sources);
    let structure = &mut lowered.module.structure;
    if !lowered.records_lines {
        (structure.lines, structure.files, structure.paths) = recorded_lines(&lines, &paths);
    }
    if !lowered.is_cut_off {
        diagnostics.extend(Verdict::of(&lowered, &body).diagnostics());
    }
    let refused = std::mem::take(&mut lowered.refused);
    let mut assembly = Assembly { sources, module: None, diagnostics, refused, lines, paths };
    if !assembly.has_errors() && assembly.refused.is_empty() {
        let warnings = lint::lint(&body, &lowered).into_iter();
        let kept = warnings.filter(|it| !is_changed || is_about(it, &assembly.sources)).collect::<Vec<_>>();
        assembly.diagnostics.extend(kept);
        assembly.module = Some(lowered.module);
    }
    in_order(&mut assembly.diagnostics);
    assembly
}

/// Returns true if a warning is about the text, not about statements that replace others: it quotes the word at its place.
fn is_about(warning: &Diagnostic, sources: &Sources) -> bool {
    let word = sources.text(warning.primary.span);
    !word.is_empty() && warning.message.contains(&format!("`{word}`"))
}

fn no_program() -> Diagnostic {
    Diagnostic::error(
        ProblemCode::NoProgram,
        "there is no program here",
        Span::default(),
        "nothing is declared",
    )
    .help("declare cells with `.in` and `.out`, and write one instruction on each line")
}

/// Returns the source line of each instruction.
fn lines_of(lowered: &Lowered, sources: &Sources) -> Vec<SourceLine> {
    let (mut acts, mut uses) = (Ranges::new(&lowered.acts), Ranges::new(&lowered.uses));
    let line = |(at, own): (u32, &Span)| {
        let acting = acts.at(at);
        let span = uses.at(at).or(acting).unwrap_or(*own);
        SourceLine { file: span.file, line: sources.line(span.file, span.start) as u32 }
    };
    (0..).zip(&lowered.spans).map(line).collect()
}

/// A cursor over ranges of instructions, each with its place in the text. Callers must query instructions in
/// the order of the code.
struct Ranges<'l>(std::iter::Peekable<std::slice::Iter<'l, (Range<u32>, Span)>>);

impl<'l> Ranges<'l> {
    fn new(ranges: &'l [(Range<u32>, Span)]) -> Ranges<'l> {
        Ranges(ranges.iter().peekable())
    }

    fn at(&mut self, at: u32) -> Option<Span> {
        while self.0.next_if(|(range, _)| range.end <= at).is_some() {}
        self.0.peek().filter(|(range, _)| range.start <= at).map(|(_, place)| *place)
    }
}

/// Returns lines, files and paths as a structure records them: the line of each instruction, the instructions
/// at which another file begins, and the paths of the other files. `paths` are those of the sources.
fn recorded_lines(lines: &[SourceLine], paths: &[String]) -> (Vec<u32>, Vec<(u32, u32)>, Vec<String>) {
    let mut files = Vec::new();
    let mut file = FileId::default();
    for (at, line) in (0..).zip(lines) {
        if line.file != file {
            file = line.file;
            files.push((at, file.0));
        }
    }
    let numbers = lines.iter().map(|line| line.line).collect();
    (numbers, files, paths.iter().skip(1).cloned().collect())
}

/// The maximum number of violations shown; further ones are only counted. One mistake often causes several
/// violations, and thousands of messages aren't useful.
const MOST_SHOWN: usize = 500;

/// The violations that the verifier finds in a lowered module. Each is reported at its place in the text.
struct Verdict<'l> {
    lowered: &'l Lowered,
    violations: Vec<Violation>,
    /// The number of violations beyond the maximum, which aren't shown.
    left_out: usize,
    /// The places of the operands of each instruction that has violations. The key is the place of the
    /// instruction.
    operands: HashMap<Span, Vec<Span>>,
}

impl<'l> Verdict<'l> {
    fn of(lowered: &'l Lowered, body: &Body) -> Verdict<'l> {
        let mut violations = verify(&lowered.module);
        violations.retain(|violation| sites(violation).all(|site| !is_known(lowered, site)));
        let left_out = violations.len().saturating_sub(MOST_SHOWN);
        violations.truncate(MOST_SHOWN);
        let instructions = violations.iter().flat_map(sites).filter_map(|site| match site {
            Site::Operand(at, _) => lowered.spans.get(at as usize).copied(),
            _ => None,
        });
        let operands = places::operands(body, &instructions.collect());
        Verdict { lowered, violations, left_out, operands }
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        // A text may be lowered several times, for example the body of a macro. Each copy has the same violations, so
        // only those of the first copy are reported.
        let mut said = HashSet::new();
        let mut collected = Collection::up_to(MOST_SHOWN);
        let all = self.violations.iter().map(|violation| self.diagnostic(violation));
        all.filter(|d| said.insert((d.primary.span, d.message.clone()))).for_each(|d| collected.add(d));
        collected.leave_out(self.left_out);
        collected.finish()
    }

    fn diagnostic(&self, violation: &Violation) -> Diagnostic {
        let place = self.place(violation.site);
        let mut diagnostic = Diagnostic::error(violation.code, &violation.message, place, "here");
        if let Some((site, text)) = &violation.other {
            diagnostic = diagnostic.with(self.place(*site), text);
        }
        if let Some(place) = self.use_of(violation.site) {
            diagnostic = diagnostic.with(place, "in this use of a macro");
        }
        diagnostic.help_if(violation.help.as_ref())
    }

    fn place(&self, site: Site) -> Span {
        let place = |list: &[Span], n: u32| list.get(n as usize).copied().unwrap_or_default();
        match site {
            Site::Instruction(at) => place(&self.lowered.spans, at),
            Site::Operand(at, n) => {
                let whole = place(&self.lowered.spans, at);
                let operands = self.operands.get(&whole);
                operands.and_then(|list| list.get(n as usize)).copied().unwrap_or(whole)
            }
            Site::Global(n) => place(&self.lowered.globals, n),
            Site::Procedure(n) => place(&self.lowered.procedures, n),
            Site::Module => Span::default(),
        }
    }

    /// Returns the place of the outermost macro use that generated the instruction at a site; `None` if no macro did.
    fn use_of(&self, site: Site) -> Option<Span> {
        let (Site::Instruction(at) | Site::Operand(at, _)) = site else { return None };
        let uses: &[(Range<u32>, Span)] = &self.lowered.uses;
        let before = uses.partition_point(|(range, _)| range.start <= at);
        let (range, place) = uses.get(before.checked_sub(1)?)?;
        range.contains(&at).then_some(*place)
    }
}

/// Returns the sites of a violation: the violation's own site, and the related site if there is one.
fn sites(violation: &Violation) -> impl Iterator<Item = Site> {
    let other = violation.other.as_ref().map(|(site, _)| *site);
    std::iter::once(violation.site).chain(other)
}

/// Returns true if lowering has already reported an error about the instruction at this site.
fn is_known(lowered: &Lowered, site: Site) -> bool {
    match site {
        Site::Instruction(at) | Site::Operand(at, _) => lowered.broken.contains(&at),
        Site::Global(_) | Site::Procedure(_) | Site::Module => false,
    }
}
