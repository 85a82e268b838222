//! Actions of the commands. Each action parses the text after the command's name, and calls methods of the session.

use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Role, Shape};
use reviver_vm::Program;
use reviver_vm::Travel::{self, Backward, Forward};
use reviver_vm::notation::Notation;

use super::arguments::split_word;
use super::code;
use super::console::{CommandError, CommandResult, CommandRow, Console, Outcome};
use super::names::EVENTS;
use crate::expression::{ConsoleExpression, ExpressionError};
use crate::format::{self, PrintFormat};
use crate::outcome::{Motion, Reason};
use crate::points::WatchMode;
use crate::session::{EventKind, PointOptions, Session, SessionError, TimePointName};
use crate::view;

/// Default number of printed values, frames and writes.
pub(super) const SOME: usize = 20;

fn motion(motion: Result<Motion, SessionError>) -> CommandResult {
    Ok(Outcome::Motion(motion?))
}

pub fn step(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    motion(Ok(console.session.step(Forward, row.count(rest)?)))
}

pub fn reverse_step(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    motion(Ok(console.session.step(Backward, row.count(rest)?)))
}

pub fn next(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    motion(Ok(console.session.next(Forward, row.count(rest)?)))
}

pub fn reverse_next(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    motion(Ok(console.session.next(Backward, row.count(rest)?)))
}

pub fn finish(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    motion(console.session.finish(Forward))
}

pub fn reverse_finish(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    motion(console.session.finish(Backward))
}

pub fn resume(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    motion(Ok(console.session.resume(Forward)))
}

pub fn reverse_resume(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    motion(Ok(console.session.resume(Backward)))
}

pub fn run(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    motion(Ok(console.session.run()))
}

pub fn start(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    motion(Ok(console.session.goto_start()))
}

pub fn end(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    motion(Ok(console.session.goto_end()))
}

pub fn until(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    run_to(console, row, rest, Forward)
}

pub fn reverse_until(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    run_to(console, row, rest, Backward)
}

fn run_to(console: &mut Console, row: CommandRow, rest: &str, travel: Travel) -> CommandResult {
    let (places, _) = console.session.places_to_stop(row.something(rest, "a place")?)?;
    motion(Ok(console.session.run_to(&places, travel)))
}

pub fn goto(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let session = &mut console.session;
    let what = "a step, a percentage, `start`, `end` or a mark";
    match row.time_point(row.something(rest, what)?)? {
        TimePointName::Here => Ok(Outcome::Nothing),
        TimePointName::Start => motion(Ok(session.goto_start())),
        TimePointName::End => motion(Ok(session.goto_end())),
        TimePointName::Percent(percent) => motion(Ok(session.goto_percent(percent))),
        TimePointName::Step(step) => {
            let motion = session.goto(step);
            let is_bound = matches!(motion.reason, Reason::HistoryBegin | Reason::HistoryEnd);
            let beyond = (is_bound && motion.to.step != step).then_some(step);
            Ok(Outcome::Motion(Motion { beyond, ..motion }))
        }
        TimePointName::Mark(mark) => motion(session.goto_mark(&mark)),
    }
}

pub fn last(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (cell, condition) = write_asked(row, rest)?;
    motion(console.session.last_write(cell, condition.as_deref()))
}

pub fn next_write(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (cell, condition) = write_asked(row, rest)?;
    motion(console.session.next_write(cell, condition.as_deref()))
}

/// Parses the arguments of `last` and `next-write`: a cell, and an optional condition after `if`.
fn write_asked(row: CommandRow, rest: &str) -> Result<(&str, Option<String>), CommandError> {
    let (cell, options) = row.point_options(rest)?;
    match options.log {
        Some(_) => Err(row.wrong(format!("`{}` stops at one write, so it takes no `log`", row.name))),
        None => Ok((row.something(cell, "a cell")?, options.condition)),
    }
}

pub fn next_event(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    to_event(console, row, rest, Forward)
}

pub fn last_event(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    to_event(console, row, rest, Backward)
}

fn to_event(console: &mut Console, row: CommandRow, rest: &str, travel: Travel) -> CommandResult {
    let wanted = match rest {
        "" => None,
        kind => {
            let wrong = || row.wrong(format!("`{kind}` is none of {}", EVENTS.join(", ")));
            Some(EventKind::named(kind).ok_or_else(wrong)?)
        }
    };
    motion(console.session.next_event(travel, wanted))
}

pub fn undo(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    motion(console.session.undo())
}

pub fn redo(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    motion(console.session.redo())
}

pub fn mark(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let name = row.something(rest, "a name")?;
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    if !is_name {
        return Err(row.wrong(format!(
            "`{name}` can't name a mark: begin with a letter or `_`, then use letters, digits, `_`, `-` and `.`"
        )));
    }
    if ["start", "begin", "end"].contains(&name) {
        return Err(
            row.wrong(format!("`goto {name}` already goes to the start or the end: choose another name"))
        );
    }
    Ok(Outcome::Marked { name: name.to_owned(), at: console.session.mark(name) })
}

pub fn fence(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    match rest {
        "" => Ok(Outcome::Fence { at: console.session.fence(), is_set: true }),
        "delete" => Ok(Outcome::Fence { at: console.session.remove_fence()?, is_set: false }),
        _ => Err(row.wrong(format!("`{rest}` is not expected after `fence`"))),
    }
}

pub fn break_at(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (place, options) = row.point_options(rest)?;
    Ok(Outcome::PointSet(Box::new(console.session.break_at(place, &options)?.clone())))
}

pub fn tbreak(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (place, options) = row.point_options(rest)?;
    if options.log.is_some() {
        return Err(
            row.wrong("a breakpoint with a message doesn't stop the run: write `break` instead of `tbreak`")
        );
    }
    let options = PointOptions { temporary: true, ..options };
    Ok(Outcome::PointSet(Box::new(console.session.break_at(place, &options)?.clone())))
}

pub fn watch(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (words, options) = row.point_options(rest)?;
    // A cell may itself be called `any`.
    match words.strip_suffix("any").filter(|cell| cell.ends_with(char::is_whitespace)) {
        Some(cell) => set_watch(console, row, (cell, options), WatchMode::Write),
        None => set_watch(console, row, (words, options), WatchMode::Change),
    }
}

pub fn rwatch(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    set_watch(console, row, row.point_options(rest)?, WatchMode::Read)
}

pub fn awatch(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    set_watch(console, row, row.point_options(rest)?, WatchMode::Access)
}

fn set_watch(
    console: &mut Console,
    row: CommandRow,
    asked: (&str, PointOptions),
    watch: WatchMode,
) -> CommandResult {
    let (cell, options) = asked;
    let cell = row.something(cell, "a cell, a slice or an expression")?;
    Ok(Outcome::PointSet(Box::new(console.session.watch(cell, watch, &options)?.clone())))
}

pub fn delete(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let chosen = row.points(rest, console.session.points())?;
    chosen.iter().try_for_each(|id| console.session.delete(*id))?;
    Ok(Outcome::Deleted(chosen.len()))
}

pub fn clear(console: &mut Console, _: CommandRow, rest: &str) -> CommandResult {
    let line = code::line_of(&console.session, rest)?;
    let ids = code::breakpoints(&console.session, line);
    if ids.is_empty() {
        let name = console.session.listing().name(line);
        return Err(CommandError::Failed(format!("there is no breakpoint on {name}")));
    }
    ids.iter().try_for_each(|id| console.session.delete(*id))?;
    Ok(Outcome::Deleted(ids.len()))
}

/// Parses the number of a point. Returns the number, and the text after the number.
fn point(row: CommandRow, rest: &str) -> Result<(u32, &str), CommandError> {
    let (id, rest) = split_word(row.something(rest, "the number of a breakpoint or watchpoint")?);
    Ok((row.number(id)?, rest))
}

pub fn condition(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (id, condition) = point(row, rest)?;
    let condition = Some(condition).filter(|condition| !condition.is_empty());
    Ok(Outcome::PointSet(Box::new(console.session.condition(id, condition)?.clone())))
}

pub fn ignore(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (id, count) = point(row, rest)?;
    let count = row.number(row.something(count, "a number of hits")?)?;
    Ok(Outcome::PointSet(Box::new(console.session.ignore(id, count)?.clone())))
}

pub fn enable(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    switch(console, row, rest, true)
}

pub fn disable(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    switch(console, row, rest, false)
}

fn switch(console: &mut Console, row: CommandRow, rest: &str, on: bool) -> CommandResult {
    let chosen = row.points(rest, console.session.points())?;
    let switched = chosen.iter().map(|id| Ok(console.session.enable(*id, on)?.clone()));
    Ok(Outcome::Points(switched.collect::<Result<_, SessionError>>()?))
}

pub fn print(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let text = row.something(rest, "an expression")?;
    let (layout, expression) = PrintFormat::split(text).map_err(SessionError::from)?;
    let expression = row.something(expression, "an expression")?;
    let parsed = match ConsoleExpression::parse(expression) {
        Err(ExpressionError::Several(first, second)) => {
            let name = row.name;
            return Err(row.wrong(format!(
                "`{name}` takes one expression: type `{name} {first}`, and then `{name} {second}`"
            )));
        }
        parsed => parsed?,
    };
    if parsed.array(console.session.scene())?.is_some() {
        return window(console, expression, (0, SOME), layout);
    }
    let (_, value) = console.session.evaluate(text)?;
    Ok(Outcome::Values(vec![(expression.to_owned(), Ok(value))]))
}

pub fn examine(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (layout, rest) = PrintFormat::split(rest).map_err(SessionError::from)?;
    let mut words = row.something(rest, "the name of an array")?.split_whitespace();
    let name = words.next().unwrap_or_default();
    let first = words.next().map_or(Ok(0), |word| row.number(word))?;
    let count = words.next().map_or(Ok(SOME), |word| row.number(word))?;
    row.nothing(words.next().unwrap_or_default())?;
    window(console, name, (first, count), layout)
}

/// Returns at most `count` elements of an array, from element `first` on, counted from 0. A count in the layout, as
/// in `x /8x A`, takes precedence over `count`.
fn window(
    console: &mut Console,
    name: &str,
    (first, count): (u64, usize),
    layout: PrintFormat,
) -> CommandResult {
    let footprint = console.session.footprint().to_vec();
    let (session, count) = (&console.session, layout.count.unwrap_or(count));
    if let Some(mut stack) = view::stack::named(session, name, count) {
        if first > 0 {
            let wrong = format!(
                "`x` prints the stack `{name}` only from its top on: print one value with `print {name}[{first}]`"
            );
            return Err(CommandError::Failed(wrong));
        }
        for (n, value) in stack.next.iter_mut().enumerate() {
            let entry = format!("{name}[{}]", stack.total.saturating_sub(n + 1));
            *value = in_layout(session, &entry, layout)?.unwrap_or_else(|| value.clone());
        }
        return Ok(Outcome::Rows(vec![stack]));
    }
    let mut array = view::cells::array(session, &footprint, name, first, count)?;
    for element in &mut array.elements {
        if let Some(bits) = in_layout(session, &element.name, layout)? {
            // If the bits are requested, the previous value and the adjoint aren't shown.
            (element.other, element.adjoint, element.value) = (None, None, bits);
        }
    }
    Ok(Outcome::Array(array))
}

/// Returns the bits of an element as text. Returns `None` if the layout doesn't request bits.
fn in_layout(session: &Session, element: &str, layout: PrintFormat) -> Result<Option<String>, SessionError> {
    if layout.format == Notation::Signed {
        return Ok(None);
    }
    let value = ConsoleExpression::parse(element)?.evaluate(session.scene())?;
    Ok(Some(format::bits(layout.format, session.program(), value).unwrap_or_default()))
}

pub fn display(console: &mut Console, _: CommandRow, rest: &str) -> CommandResult {
    if !rest.is_empty() {
        let (_, expression) = PrintFormat::split(rest).map_err(SessionError::from)?;
        console.session.check_expression(&ConsoleExpression::parse(expression)?, false)?;
        console.displays.push(rest.to_owned());
    }
    Ok(Outcome::Values(console.displayed()))
}

pub fn undisplay(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    if rest.is_empty() {
        console.displays.clear();
        return Ok(Outcome::Nothing);
    }
    let number: usize = row.number(rest)?;
    if !(1..=console.displays.len()).contains(&number) {
        return Err(row.wrong(format!("there is no displayed value {number}: `display` lists them in order")));
    }
    console.displays.remove(number - 1);
    Ok(Outcome::Nothing)
}

/// Parses a cell, and a number that may follow the cell.
fn cell_and_number(row: CommandRow, rest: &str, default: usize) -> Result<(&str, usize), CommandError> {
    let rest = row.something(rest, "a cell")?;
    match rest.rsplit_once(char::is_whitespace) {
        Some((cell, number)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            Ok((cell.trim(), row.number(number)?))
        }
        _ => Ok((rest, default)),
    }
}

pub fn why(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    /// Default depth of the answer: maximum number of links from the value to an origin.
    const LINKS: usize = 2;
    // A cell may itself be called `all`.
    let asked = rest.strip_suffix("all").filter(|before| before.ends_with(char::is_whitespace));
    let (cell, depth) = cell_and_number(row, asked.unwrap_or(rest).trim_end(), LINKS)?;
    Ok(Outcome::Origins { chain: console.session.why(cell, depth)?, all: asked.is_some() })
}

pub fn history(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (cell, most) = cell_and_number(row, rest, SOME)?;
    if most == 0 {
        return Err(row.wrong("`history` takes a number of writes, at least 1"));
    }
    Ok(Outcome::History(console.session.history(cell, most)?))
}

pub fn inverse(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    match console.session.listing().inverse() {
        Ok(lines) => Ok(Outcome::Inverse(lines.to_vec())),
        Err(why) => Err(CommandError::Failed(format!("there is no inverse program:\n{why}"))),
    }
}

pub fn backtrace(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let count = if rest.is_empty() { SOME } else { row.number(rest)? };
    Ok(Outcome::Frames(view::stack::frames(&console.session, 0, count)))
}

pub fn frame(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    match rest {
        "" => {}
        number if number.starts_with(|c: char| c.is_ascii_digit()) => {
            console.session.select_frame(row.number(number)?)?;
        }
        procedure => console.session.select_procedure(procedure)?,
    }
    selected(&console.session)
}

pub fn up(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    console.session.up(row.count(rest)?)?;
    selected(&console.session)
}

pub fn down(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    console.session.down(row.count(rest)?)?;
    selected(&console.session)
}

/// Returns the selected frame.
pub(super) fn selected(session: &Session) -> CommandResult {
    let frame = view::stack::selected(session);
    frame.map(Outcome::Frame).ok_or_else(|| CommandError::Failed("there is no frame".into()))
}

pub fn set(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let rest = rest.strip_prefix("var ").unwrap_or(rest);
    let (cell, value) = rest.split_once('=').ok_or_else(|| row.wrong("`set` takes a cell and a value"))?;
    let edit = console.session.set(cell.trim_end(), value)?;
    Ok(Outcome::Edited { edit, branch: console.session.time_point().branch })
}

pub fn gradient(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let own = if rest.is_empty() { only_result(&console.session, row)? } else { rest.to_owned() };
    let seed = console.session.gradient(&own)?;
    Ok(Outcome::Seeded { seed, branch: console.session.time_point().branch })
}

/// Returns the program's only real result, the default loss.
fn only_result(session: &Session, row: CommandRow) -> Result<String, CommandError> {
    let names: Vec<&str> = real_results(session.program()).collect();
    match names[..] {
        [name] => Ok(name.to_owned()),
        [] => Err(row.wrong("the program has no real result: name a real cell as the loss")),
        _ => {
            let names = names.join(", ");
            Err(row.wrong(format!("the program has several real results: name one of {names} as the loss")))
        }
    }
}

/// Returns the names of a program's results that are real cells.
pub(crate) fn real_results(program: &Program) -> impl Iterator<Item = &str> {
    let is_result = |global: &&Global| {
        let is_cell = global.class == Class::Real && global.shape == Shape::Scalar;
        is_cell && matches!(global.role, Role::Out | Role::InOut)
    };
    program.module().globals.iter().filter(is_result).map(|global| global.name.as_str())
}

pub fn timeline(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    match rest {
        "" => Ok(Outcome::Forks(console.session.timeline().forks())),
        "up" => motion(console.session.timeline_up()),
        branch => motion(console.session.timeline_switch(row.number(branch)?)),
    }
}

pub fn check(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    Ok(Outcome::Check(console.session.check()?))
}

pub fn quit(_: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    Ok(Outcome::Quit)
}
