//! Commands that print the program: source lines and instructions. The console stores the lines that `list` printed
//! last, because the next `list` continues after these lines.

use reviver_assembler::disassemble;

use super::console::{CommandError, CommandResult, CommandRow, Console, InstructionLine, Listed, Outcome};
use crate::listing::{Line, spell};
use crate::session::{MOST_COUNTED, Session};
use crate::timeline::TimePoint;
use crate::view;
use crate::view::code::CodePane;

/// Number of lines printed by `list` and `disassemble`.
const PAGE: u32 = 10;

pub fn list(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    // If counting would take long, no counts are shown. The command `info counts` counts in any case.
    console.session.count_lines(MOST_COUNTED);
    let session = &console.session;
    let last = console.listed.filter(|listed| listed.at == here(session));
    let (file, first, end) = match (rest, last) {
        ("", None) => around(view::code::here(session)),
        ("", Some(Listed { file, end, .. })) => (file, end, end + PAGE),
        ("-", Some(Listed { file, first, .. })) => before(file, first)?,
        ("-", None) => {
            let (file, first, _) = around(view::code::here(session));
            before(file, first)?
        }
        _ => match rest.split_once(',') {
            Some((first, last)) => range(session, row, first.trim(), last.trim())?,
            None => around(named_line(session, rest)?),
        },
    };
    let pane = page(session, file, first, end)?;
    let end = pane.lines.last().map_or(end, |line| line.line + 1);
    console.listed = Some(Listed { at: here(session), file, first, end });
    Ok(Outcome::Code(pane))
}

/// Returns the current time point and the depth of the selected frame.
fn here(session: &Session) -> (TimePoint, usize) {
    (session.time_point(), session.depth())
}

fn page(session: &Session, file: u32, first: u32, end: u32) -> Result<CodePane, CommandError> {
    let pane = view::code::code(session, file, first, end.saturating_sub(first) as usize);
    match pane.total < first {
        true => Err(CommandError::Failed(format!("line {} is the last one", pane.total))),
        false => Ok(pane),
    }
}

fn around(line: Line) -> (u32, u32, u32) {
    let first = line.line.saturating_sub(PAGE / 2).max(1);
    (line.file, first, first.saturating_add(PAGE))
}

fn before(file: u32, first: u32) -> Result<(u32, u32, u32), CommandError> {
    match first {
        0 | 1 => Err(CommandError::Failed("there are no lines before line 1".into())),
        _ => Ok((file, first.saturating_sub(PAGE).max(1), first)),
    }
}

/// Parses a range: `20,25`, or `20,` for a page from line 20 on.
fn range(
    session: &Session,
    row: CommandRow,
    first: &str,
    last: &str,
) -> Result<(u32, u32, u32), CommandError> {
    let Line { file, line } =
        session.line_named(first)?.ok_or_else(|| row.wrong(format!("`{first}` is no line")))?;
    let end = match last {
        "" => line.saturating_add(PAGE),
        _ => row.number::<u32>(last)?.saturating_add(1),
    };
    match line < end || last.is_empty() {
        true => Ok((file, line.max(1), end)),
        false => Err(row.wrong(format!("line {last} is before line {line}"))),
    }
}

/// Returns the line that a text names. A line number names its line, even if the line has no instructions. Any
/// other text must name a place; the line of this place is returned.
fn named_line(session: &Session, text: &str) -> Result<Line, CommandError> {
    session.line_named(text)?.map_or_else(|| line_of(session, text), Ok)
}

/// Resolves a place to its line. If the place is a line without instructions, returns the next line that has
/// instructions.
pub(super) fn line_of(session: &Session, text: &str) -> Result<Line, CommandError> {
    Ok(session.listing().line(instruction_of(session, text)?))
}

fn instruction_of(session: &Session, text: &str) -> Result<u32, CommandError> {
    let (places, _) = session.places(text)?;
    Ok(places.first().map_or(0, |place| place.instruction(session.program())))
}

/// Returns the breakpoints of a line.
pub(super) fn breakpoints(session: &Session, line: Line) -> Vec<u32> {
    let pane = view::code::code(session, line.file, line.line, 1);
    pane.lines.iter().flat_map(|line| &line.breakpoints).map(|mark| mark.id).collect()
}

/// Returns the breakpoints on the line of a place, or none if there is no such place.
pub(crate) fn breakpoints_at(session: &Session, place: &str) -> Vec<u32> {
    line_of(session, place).map_or(Vec::new(), |line| breakpoints(session, line))
}

pub fn disassemble(console: &mut Console, _: CommandRow, rest: &str) -> CommandResult {
    let session = &console.session;
    let at = instruction_of(session, rest)?;
    let last = session.program().module().code.len() as u32;
    let first = at.saturating_sub(PAGE / 2);
    Ok(Outcome::Instructions(instructions(session, (first..last).take(PAGE as usize))))
}

/// Executes `info line`: returns the instructions of a line.
pub fn info_line(console: &mut Console, _: CommandRow, rest: &str) -> CommandResult {
    let session = &console.session;
    let line = match rest {
        "" => view::code::here(session),
        _ => named_line(session, rest)?,
    };
    let found = session.listing().instructions(line).iter().copied();
    Ok(Outcome::Line { name: session.listing().name(line), instructions: instructions(session, found) })
}

/// Returns the machine's instructions at the code indices `which`, each with the source line and the statement to
/// which the instruction belongs.
fn instructions(session: &Session, which: impl Iterator<Item = u32>) -> Vec<InstructionLine> {
    let (program, listing, next) = (session.program(), session.listing(), session.next_instruction());
    let which: Vec<u32> = which.collect();
    let texts = disassemble::instructions(program.module(), which.iter().copied());
    let line = |(at, text): (u32, String)| {
        let line = listing.name(listing.line(at));
        let words = Some(spell(program, at, false)).filter(|words| !text.ends_with(words.as_str()));
        InstructionLine { at, text, line, words, is_next: next == Some(at) }
    };
    which.into_iter().zip(texts).map(line).collect()
}
