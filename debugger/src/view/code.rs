//! The code pane: source lines with their marks, and the brackets that join each `br` with its `from`.

use reviver_isa::instruction::Link;
use reviver_isa::update::Update;

use crate::listing::Line;
use crate::points::{Place, Trigger};
use crate::session::Session;

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePane {
    pub file: String,
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
    /// The instruction that led here, in the direction of the last motion, is here.
    pub is_executed: bool,
    pub breakpoints: Vec<BreakMark>,
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
struct Pair {
    top: u32,
    bottom: u32,
    top_is_br: bool,
    is_current: bool,
}

/// Columns that brackets take at most; deeper ones aren't drawn.
const MOST_COLUMNS: usize = 6;

/// At most `height` lines of a file from `first` on.
pub fn code(session: &Session, file: u32, first: u32, height: usize) -> CodePane {
    let listing = session.listing();
    let Some(source) = listing.files().get(file as usize) else {
        return CodePane { file: String::new(), total: 0, lines: Vec::new() };
    };
    let total = source.lines.len() as u32;
    let first = first.clamp(1, total.max(1));
    let last = first.saturating_add(height as u32).min(total.saturating_add(1));
    let mut lines: Vec<CodeLine> = (first..last).map(|line| plain_line(session, file, line)).collect();
    mark_breakpoints(session, file, &mut lines);
    draw_brackets(session, file, &mut lines);
    CodePane { file: source.name.clone(), total, lines }
}

/// The line where the selected frame stands: in the innermost that of the next instruction, or at the end
/// that of the last one.
pub fn here(session: &Session) -> Line {
    session.listing().line(session.selected_instruction())
}

/// The lines around the place where the selected frame stands.
pub fn around_here(session: &Session, height: usize) -> CodePane {
    let line = here(session);
    let first = line.line.saturating_sub(height as u32 / 2).max(1);
    code(session, line.file, first, height)
}

fn plain_line(session: &Session, file: u32, line: u32) -> CodeLine {
    let listing = session.listing();
    let place = Line { file, line };
    let is_at = |at: Option<u32>| at.is_some_and(|at| listing.line(at) == place);
    let moved = session.reason().is_some();
    CodeLine {
        line,
        text: listing.text(place).to_owned(),
        is_next: is_at(session.next_instruction()),
        is_call: session.depth() < session.state().calls.len() && here(session) == place,
        is_executed: moved && is_at(session.instruction(session.facing().reversed())),
        breakpoints: Vec::new(),
        brackets: Vec::new(),
    }
}

fn mark_breakpoints(session: &Session, file: u32, lines: &mut [CodeLine]) {
    for point in session.points() {
        let Trigger::Break(place) = point.trigger else { continue };
        let at = match place {
            Place::Instruction(at) => at,
            Place::Procedure(n) => {
                session.program().module().procedures.get(n as usize).map_or(u32::MAX, |p| p.entry + 1)
            }
        };
        let place = session.listing().line(at);
        if place.file == file
            && let Some(line) = lines.iter_mut().find(|line| line.line == place.line)
        {
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
    pairs.sort_by_key(|pair| pair.bottom - pair.top);
    let mut columns: Vec<Vec<(u32, u32)>> = Vec::new();
    for pair in pairs {
        let overlaps = |&(top, bottom): &(u32, u32)| pair.top <= bottom && top <= pair.bottom;
        let free = columns.iter().position(|taken| !taken.iter().any(overlaps)).unwrap_or(columns.len());
        if free >= MOST_COLUMNS {
            continue;
        }
        if free == columns.len() {
            columns.push(Vec::new());
        }
        columns[free].push((pair.top, pair.bottom));
        let touched = lines.iter_mut().filter(|line| (pair.top..=pair.bottom).contains(&line.line));
        touched.for_each(|line| line.brackets.push(piece(&pair, line.line, free)));
    }
}

fn piece(pair: &Pair, line: u32, column: usize) -> Bracket {
    let piece = match line {
        _ if line == pair.top => Piece::Top,
        _ if line == pair.bottom => Piece::Bottom,
        _ => Piece::Middle,
    };
    let is_br = (piece == Piece::Top) == pair.top_is_br && piece != Piece::Middle;
    Bracket { column, piece, is_br, is_current: pair.is_current }
}

fn pairs(session: &Session, file: u32) -> Vec<Pair> {
    let listing = session.listing();
    let next = session.next_instruction();
    let code = &session.program().module().code;
    let pair = |(at, instruction): (u32, &reviver_isa::instruction::Instruction)| {
        let Link::Partner(from) = instruction.link else { return None };
        let (br, from_line) = (listing.line(at), listing.line(from));
        let is_one = instruction.update == Update::Br && br.file == file && from_line.file == file;
        (is_one && br.line != from_line.line).then(|| Pair {
            top: br.line.min(from_line.line),
            bottom: br.line.max(from_line.line),
            top_is_br: br.line < from_line.line,
            is_current: next == Some(at) || next == Some(from),
        })
    };
    (0..).zip(code).filter_map(pair).collect()
}
