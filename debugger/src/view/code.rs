//! The code pane: source lines with their marks, and the brackets that join each `br` with its `from`.

use reviver_isa::instruction::Link;
use reviver_isa::structure::{Block, BlockKind};
use reviver_isa::update::Update;

use crate::listing::{Line, spell, spell_part};
use crate::points::{BreakPlace, Trigger};
use crate::session::Session;

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePane {
    pub file: String,
    /// Whether it isn't the program's own.
    pub is_included: bool,
    /// Lines of the whole file.
    pub total: u32,
    pub lines: Vec<CodeLine>,
}

/// A source line and its marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    pub line: u32,
    pub text: String,
    /// The next instruction, in the direction of time, is here.
    pub is_next: bool,
    /// The call that is open in the selected frame is here, where that isn't the innermost.
    pub is_call: bool,
    /// What the line leaves open about the next instruction.
    pub detail: Option<Detail>,
    /// The instruction that led here, in the direction of the last motion, is here.
    pub is_executed: bool,
    pub breakpoints: Vec<BreakMark>,
    /// How often it was executed before this moment, where that is counted.
    pub count: Option<u64>,
    /// Brackets that pass or touch the line, the innermost first.
    pub brackets: Vec<Bracket>,
}

/// A breakpoint on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakMark {
    pub id: u32,
    pub enabled: bool,
    pub hits: u64,
}

/// A piece of a bracket between the two halves of a branch pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// Brackets that overlap have different columns; 0 is the one next to the text.
    pub column: usize,
    pub piece: Piece,
    /// Of a piece that touches the line: whether the `br` is here; else the `from` is.
    pub is_br: bool,
    /// Whether the machine is at one of its halves.
    pub is_current: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Top,
    Middle,
    Bottom,
}

/// A branch pair as lines.
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

/// Columns that brackets take at most; deeper ones aren't drawn.
const MOST_COLUMNS: usize = 6;

/// At most `height` lines of a file from `first` on.
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

/// An instruction of a line that stands for several, or for another one than its text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Which one it is among its neighbours of the line, counted from 1, and how many they are.
    pub part: (usize, usize),
    /// As the machine executes it; empty where the line says so.
    pub instruction: String,
}

impl Detail {
    /// `2/5 xor flag, 1`; without numbers where there is just one.
    pub fn text(&self) -> String {
        match self.part {
            (_, 1) => self.instruction.clone(),
            (number, total) => format!("{number}/{total} {}", self.instruction).trim_end().to_owned(),
        }
    }
}

/// What the line of an instruction doesn't say about it where the machine runs forward or, inverted,
/// backward; none where the line is the instruction.
pub fn detail(session: &Session, at: u32, inverted: bool) -> Option<Detail> {
    let listing = session.listing();
    let part = listing.part(at);
    let of_block = session.program().seam(at).is_some();
    let known = if of_block { spell_part(session.program(), at, inverted) } else { None };
    let is_words = of_block && known.is_none();
    let instruction = known.unwrap_or_else(|| spell(session.program(), at, inverted));
    // Operands may be spelled in another way: a constant by its name, a real without its point.
    let mnemonic = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    let is_same = mnemonic(&listing.statement(listing.line(at))) == mnemonic(&instruction);
    // Of the instructions that one statement became, the line says what they are.
    let is_said = is_same && (part.1 == 1 || is_words);
    let instruction = if is_said { String::new() } else { instruction };
    (part.1 > 1 || !is_said).then_some(Detail { part, instruction })
}

/// The line where the selected frame stands: in the innermost that of the next instruction, or at the end
/// that of the last one.
pub fn here(session: &Session) -> Line {
    session.listing().line(session.selected_instruction())
}

/// The line of the inverse program that undoes the next instruction, counted from 0. What stands in a file that the inverse
/// includes is undone by the call that leads there.
pub fn counterpart(session: &Session) -> Option<usize> {
    let sites = session.state().calls.iter().rev().map(|call| call.site);
    let mut places = session.next_instruction().into_iter().chain(sites);
    let listing = session.listing();
    let line = places.find_map(|at| listing.counterpart(listing.line(at)))?;
    (line as usize).checked_sub(1)
}

/// The lines around the place where the selected frame stands.
pub fn around_here(session: &Session, height: usize) -> CodePane {
    around(session, here(session), height)
}

/// The lines around one of them.
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

/// Pairs whose lines overlap with the pane's, shortest first, each in the first free column.
fn draw_brackets(session: &Session, file: u32, lines: &mut [CodeLine]) {
    let (Some(first), Some(last)) = (lines.first().map(|l| l.line), lines.last().map(|l| l.line)) else {
        return;
    };
    let mut pairs = pairs(session, file);
    pairs.retain(|pair| pair.top <= last && pair.bottom >= first);
    pairs.sort_by_key(|pair| (pair.bottom - pair.top, pair.top, !pair.is_current));
    // What is computed has the lines of what uncomputes it.
    pairs.dedup_by_key(|pair| (pair.top, pair.bottom));
    for (column, pairs) in columns(pairs).into_iter().enumerate() {
        for pair in pairs {
            let touched = lines.iter_mut().filter(|line| (pair.top..=pair.bottom).contains(&line.line));
            touched.for_each(|line| line.brackets.push(piece(&pair, line.line, column)));
        }
    }
}

/// The pairs by columns, so that those of one column don't overlap. The longest of too many are left
/// out, but not where the machine is.
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

fn piece(pair: &LinePair, line: u32, column: usize) -> Bracket {
    let piece = match line {
        _ if line == pair.top => Piece::Top,
        _ if line == pair.bottom => Piece::Bottom,
        _ => Piece::Middle,
    };
    let is_br = (piece == Piece::Top) == pair.top_is_br && piece != Piece::Middle;
    Bracket { column, piece, is_br, is_current: pair.is_current }
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

/// An `if` with `else` has one bracket from `if` to `fi`.
fn is_if_else(block: &Block) -> bool {
    matches!(block.kind, BlockKind::If { .. }) && block.seams.len() > 2
}

fn has_else(session: &Session, at: u32) -> bool {
    session.program().seam(at).is_some_and(|(block, _)| is_if_else(block))
}
