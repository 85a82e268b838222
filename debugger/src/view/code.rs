//! Data of the code pane: source lines with their marks, and brackets that join each `br` with its `from`.

use reviver_isa::instruction::Link;
use reviver_isa::structure::{Block, BlockKind};
use reviver_isa::update::Update;

use crate::listing::{Line, spell, spell_part};
use crate::points::{BreakPlace, Trigger};
use crate::session::Session;

/// A range of lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePane {
    /// The path of the file; empty if there is no such file.
    pub file: String,
    /// True if the file is included, false if it is the program's main file.
    pub is_included: bool,
    /// Number of lines of the whole file.
    pub total: u32,
    /// The lines of the range, in order.
    pub lines: Vec<CodeLine>,
}

/// A source line and its marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// Number of the line, counted from 1.
    pub line: u32,
    /// The text of the line, without its line end.
    pub text: String,
    /// True if the instruction that the next forward step executes is on this line.
    pub is_next: bool,
    /// True if the selected frame isn't the innermost one, and its open call is on this line.
    pub is_call: bool,
    /// Details of the next instruction. `None` if the instruction is on another line, or if the text of the line
    /// shows the instruction.
    pub detail: Option<Detail>,
    /// True if the instruction of the last step is on this line. After travelling backward, it is the instruction
    /// that was undone.
    pub is_executed: bool,
    /// The breakpoints on the line, in the order of creation.
    pub breakpoints: Vec<BreakMark>,
    /// Execution count of the line up to the current step, if the count is known.
    pub count: Option<u64>,
    /// Brackets that pass or touch the line, innermost first.
    pub brackets: Vec<Bracket>,
}

/// A breakpoint on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakMark {
    /// The number of the breakpoint, as commands accept it.
    pub id: u32,
    /// False if the breakpoint is switched off.
    pub enabled: bool,
    /// Number of hits so far, including ignored hits.
    pub hits: u64,
}

/// The part of a bracket that is on one line. A bracket joins the `br` and the `from` of a branch pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// The column of the bracket; 0 is next to the text. Overlapping brackets have different columns.
    pub column: usize,
    /// The part of the bracket that is on the line: an end, or a piece between the ends.
    pub part: BracketPart,
    /// At an end of the bracket: true if the `br` is on the line, false if the `from` is.
    pub is_br: bool,
    /// True if the machine is at the `br` or the `from` of the pair.
    pub is_current: bool,
}

/// The kinds of parts of a bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BracketPart {
    /// The first line of the bracket.
    Top,
    /// A line between the ends of the bracket.
    Middle,
    /// The last line of the bracket.
    Bottom,
}

/// A branch pair with the lines of its two instructions.
struct LinePair {
    top: u32,
    bottom: u32,
    top_is_br: bool,
    is_current: bool,
}

impl LinePair {
    fn overlaps(&self, other: &LinePair) -> bool {
        self.top <= other.bottom && other.top <= self.bottom
    }
}

/// Maximum number of columns for brackets; brackets that would need further columns aren't drawn.
const MOST_COLUMNS: usize = 6;

/// Returns at most `height` lines of a file, from line `first` on.
pub fn code(session: &Session, file: u32, first: u32, height: usize) -> CodePane {
    let listing = session.listing();
    let Some(source) = listing.files().get(file as usize) else {
        return CodePane { file: String::new(), is_included: false, total: 0, lines: Vec::new() };
    };
    let total = source.lines.len() as u32;
    let first = first.clamp(1, total.max(1));
    let last = first.saturating_add(height as u32).min(total.saturating_add(1));
    let mut lines: Vec<CodeLine> = (first..last).map(|line| plain_line(session, file, line)).collect();
    mark_breakpoints(session, file, &mut lines);
    draw_brackets(session, file, &mut lines);
    CodePane { file: source.name.clone(), is_included: file > 0, total, lines }
}

/// Details of an instruction that the text of its source line doesn't show. A line may have several instructions,
/// or its text may differ from the instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The number of the instruction among the adjacent instructions of its line, counted from 1, and the total
    /// number of these instructions.
    pub part: (usize, usize),
    /// The instruction as the machine executes it; empty if the line shows it already.
    pub instruction: String,
}

impl Detail {
    /// Renders the detail: `2/5 xor flag, 1`, or without numbers for a single instruction.
    pub fn text(&self) -> String {
        match self.part {
            (_, 1) => self.instruction.clone(),
            (number, total) => format!("{number}/{total} {}", self.instruction).trim_end().to_owned(),
        }
    }
}

/// Returns the details of an instruction that the machine executes forward, or inverted if `inverted` is true.
/// Returns `None` if the text of the line shows the instruction.
pub fn detail(session: &Session, at: u32, inverted: bool) -> Option<Detail> {
    let listing = session.listing();
    let part = listing.part(at);
    let of_block = session.program().seam(at).is_some();
    let known = if of_block { spell_part(session.program(), at, inverted) } else { None };
    let is_words = of_block && known.is_none();
    let instruction = known.unwrap_or_else(|| spell(session.program(), at, inverted));
    // The operands aren't compared, because the source text may write them differently: a constant by its name, or
    // a real without its decimal point.
    let mnemonic = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    let is_same = mnemonic(&listing.statement(listing.line(at))) == mnemonic(&instruction);
    // An instruction of a compound statement needs no details: the text of the line describes it.
    let is_said = is_same && (part.1 == 1 || is_words);
    let instruction = if is_said { String::new() } else { instruction };
    (part.1 > 1 || !is_said).then_some(Detail { part, instruction })
}

/// Returns the line of the selected frame's instruction. In the innermost frame it is the next instruction or, at
/// the end of the program, the last instruction.
pub fn here(session: &Session) -> Line {
    session.listing().line(session.selected_instruction())
}

/// Returns the line of the inverse program that undoes the next instruction, counted from 0. If the next
/// instruction is in an included file, returns the line that undoes the call into this file.
pub fn counterpart(session: &Session) -> Option<usize> {
    let sites = session.state().calls.iter().rev().map(|call| call.site);
    let mut places = session.next_instruction().into_iter().chain(sites);
    let listing = session.listing();
    let line = places.find_map(|at| listing.counterpart(listing.line(at)))?;
    (line as usize).checked_sub(1)
}

/// Returns the lines around the selected frame's instruction.
pub fn around_here(session: &Session, height: usize) -> CodePane {
    around(session, here(session), height)
}

/// Returns the lines around a line.
pub fn around(session: &Session, line: Line, height: usize) -> CodePane {
    let first = line.line.saturating_sub(height as u32 / 2).max(1);
    code(session, line.file, first, height)
}

fn plain_line(session: &Session, file: u32, line: u32) -> CodeLine {
    let listing = session.listing();
    let place = Line { file, line };
    let is_at = |at: Option<u32>| at.is_some_and(|at| listing.line(at) == place);
    let next = session.next_instruction().filter(|at| is_at(Some(*at)));
    let moved = session.reason().is_some();
    CodeLine {
        line,
        text: listing.text(place).to_owned(),
        is_next: next.is_some(),
        detail: next.and_then(|at| detail(session, at, session.state().inverted)),
        is_call: session.depth() < session.state().calls.len() && here(session) == place,
        is_executed: moved && is_at(session.instruction(session.facing().reversed())),
        breakpoints: Vec::new(),
        count: session.count_of(place),
        brackets: Vec::new(),
    }
}

fn mark_breakpoints(session: &Session, file: u32, lines: &mut [CodeLine]) {
    for point in session.points() {
        let Trigger::Break(places) = &point.trigger else { continue };
        let line_of = |place: &BreakPlace| session.listing().line(place.instruction(session.program()));
        let is_on = |line: &CodeLine| places.iter().any(|p| line_of(p) == Line { file, line: line.line });
        if let Some(line) = lines.iter_mut().find(|line| is_on(line)) {
            line.breakpoints.push(BreakMark { id: point.id, enabled: point.enabled, hits: point.hits });
        }
    }
}

/// Adds the brackets of the branch pairs that overlap the pane. Pairs are processed from the shortest to the
/// longest, and each gets the first free column.
fn draw_brackets(session: &Session, file: u32, lines: &mut [CodeLine]) {
    let (Some(first), Some(last)) = (lines.first().map(|l| l.line), lines.last().map(|l| l.line)) else {
        return;
    };
    let mut pairs = pairs(session, file);
    pairs.retain(|pair| pair.top <= last && pair.bottom >= first);
    pairs.sort_by_key(|pair| (pair.bottom - pair.top, pair.top, !pair.is_current));
    // A statement's temporaries are computed and uncomputed on the same lines. Both parts may have a pair on these
    // lines, so equal pairs are merged.
    pairs.dedup_by_key(|pair| (pair.top, pair.bottom));
    for (column, pairs) in columns(pairs).into_iter().enumerate() {
        for pair in pairs {
            let touched = lines.iter_mut().filter(|line| (pair.top..=pair.bottom).contains(&line.line));
            touched.for_each(|line| line.brackets.push(bracket_on(&pair, line.line, column)));
        }
    }
}

/// Assigns pairs to columns, so that pairs in one column don't overlap. If there are too many pairs, the longest
/// ones are dropped. The pair at the machine's position is kept.
fn columns(pairs: Vec<LinePair>) -> Vec<Vec<LinePair>> {
    let mut columns: Vec<Vec<LinePair>> = Vec::new();
    for pair in pairs {
        let is_free = |taken: &Vec<LinePair>| !taken.iter().any(|other| other.overlaps(&pair));
        let free = columns.iter().position(is_free).unwrap_or(columns.len());
        if free == columns.len() && free < MOST_COLUMNS {
            columns.push(Vec::new());
        }
        match columns.get_mut(free) {
            Some(column) => column.push(pair),
            None if pair.is_current => {
                if let Some(outermost) = columns.last_mut() {
                    outermost.retain(|other| !other.overlaps(&pair));
                    outermost.push(pair);
                }
            }
            None => {}
        }
    }
    columns
}

fn bracket_on(pair: &LinePair, line: u32, column: usize) -> Bracket {
    let part = match line {
        _ if line == pair.top => BracketPart::Top,
        _ if line == pair.bottom => BracketPart::Bottom,
        _ => BracketPart::Middle,
    };
    let is_br = (part == BracketPart::Top) == pair.top_is_br && part != BracketPart::Middle;
    Bracket { column, part, is_br, is_current: pair.is_current }
}

fn pairs(session: &Session, file: u32) -> Vec<LinePair> {
    let listing = session.listing();
    let next = session.next_instruction();
    let code = &session.program().module().code;
    let pair = |(at, instruction): (u32, &reviver_isa::instruction::Instruction)| {
        let Link::Partner(from) = instruction.link else { return None };
        if has_else(session, at) {
            return None;
        }
        let (br, from_line) = (listing.line(at), listing.line(from));
        let is_one = instruction.update == Update::Br && br.file == file && from_line.file == file;
        (is_one && br.line != from_line.line).then(|| LinePair {
            top: br.line.min(from_line.line),
            bottom: br.line.max(from_line.line),
            top_is_br: br.line < from_line.line,
            is_current: next == Some(at) || next == Some(from),
        })
    };
    let branches = session.program().module().structure.blocks.iter().filter(|block| is_if_else(block));
    let whole = |block: &Block| {
        let (first, last) = (listing.line(block.start()), listing.line(block.end().saturating_sub(1)));
        let is_here = first.file == file && last.file == file && first.line != last.line;
        is_here.then(|| LinePair {
            top: first.line.min(last.line),
            bottom: first.line.max(last.line),
            top_is_br: first.line < last.line,
            is_current: next.is_some_and(|at| block.seam_of(at).is_some()),
        })
    };
    (0..).zip(code).filter_map(pair).chain(branches.filter_map(whole)).collect()
}

/// Returns true for an `if` with an `else`. Such an `if` has a single bracket, from `if` to `fi`.
fn is_if_else(block: &Block) -> bool {
    matches!(block.kind, BlockKind::If { .. }) && block.seams.len() > 2
}

fn has_else(session: &Session, at: u32) -> bool {
    session.program().seam(at).is_some_and(|(block, _)| is_if_else(block))
}
