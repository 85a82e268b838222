//! The topics of `info`, and their actions. The rows have the format of the command table.

use std::sync::atomic::Ordering;

use reviver_isa::instruction::Base;

use super::actions::{self, SOME};
use super::code::info_line;
use super::console::{
    ArgumentKind, Command, CommandError, CommandResult, CommandRow, Console, Outcome, commands,
};
use crate::points::{Point, Trigger};
use crate::view;
use crate::view::cells::{ArrayFacts, CellsPane};

commands! {
    Session
    /// Every topic, in alphabetical order. If an abbreviation is the beginning of several topics, it is an alias
    /// of the topic that gdb prints for it.
    TOPICS "info "
    Topics {
    "arrays" [] "" ArgumentKind::None => arrays,
        "Print the first elements of each array.";
    "breakpoints" ["b"] "" ArgumentKind::None => breakpoints,
        "List breakpoints and watchpoints, with their numbers and hits.";
    "card" [] "" ArgumentKind::None => card,
        "Print the effect of the next instruction, and its inverse.";
    "cells" ["registers", "variables"] "" ArgumentKind::None => cells,
        "Print every cell that has a name in the selected frame, and the shapes of arrays.";
    "counts" [] "" ArgumentKind::None => counts,
        "Print how often each line was executed before this step. Undoing a line subtracts its execution again. On the screen, the code pane shows these counts, unless counting would take long.";
    "display" [] "" ArgumentKind::None => display,
        "Print the values that are displayed after every motion.";
    "events" [] "" ArgumentKind::None => events,
        "List the events of this branch: stops at points, traps, marks, fences, forks and calls.";
    "fences" [] "" ArgumentKind::None => fences,
        "List the steps of this branch that have a fence.";
    "frame" ["f"] "" ArgumentKind::None => frame,
        "Print the selected frame, its position and its arguments.";
    "line" [] " [PLACE]" ArgumentKind::Place => info_line,
        "Print the instructions of a line, as `disassemble` does.";
    "locals" [] "" ArgumentKind::None => locals,
        "Print the cells of the selected frame.";
    "marks" [] "" ArgumentKind::None => marks,
        "List the marks.";
    "stack" ["s"] " [N]" ArgumentKind::Count => actions::backtrace,
        "List the open calls, as `backtrace` does.";
    "status" ["st"] "" ArgumentKind::None => status,
        "Print the current step, and the size of the history.";
    "tapes" [] "" ArgumentKind::None => tapes,
        "Print the next values of the tapes and stacks, with their declared names.";
    "watchpoints" [] "" ArgumentKind::None => watchpoints,
        "List the watchpoints.";
    }
}

fn arrays(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    let (footprint, pane) = cells_pane(console);
    let window = |facts: &ArrayFacts| {
        view::cells::array(&console.session, &footprint, &facts.name, 0, SOME).ok().map(Outcome::Array)
    };
    let arrays = pane.arrays.iter().filter_map(window).map(|array| (String::new(), array)).collect();
    Ok(some_of(arrays))
}

/// Combines outcomes into one outcome. Returns `Empty` if there are no outcomes.
fn some_of(outcomes: Vec<(String, Outcome)>) -> Outcome {
    if outcomes.is_empty() { Outcome::Empty } else { Outcome::All(outcomes) }
}

fn breakpoints(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    Ok(Outcome::Points(console.session.points().to_vec()))
}

fn watchpoints(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    let is_watch = |point: &&Point| matches!(point.trigger, Trigger::Watch { .. });
    Ok(Outcome::Points(console.session.points().iter().filter(is_watch).cloned().collect()))
}

fn card(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    let card = view::card::card(&mut console.session);
    card.map(Outcome::Card).ok_or_else(|| CommandError::Failed("the program has no steps".into()))
}

fn counts(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    console.session.interrupt().store(false, Ordering::Relaxed);
    if !console.session.count_lines(u64::MAX) {
        return Err(CommandError::Failed("interrupted: nothing was counted".into()));
    }
    let session = &console.session;
    let pane = view::code::code(session, session.current_file(), 1, usize::MAX);
    Ok(Outcome::Counts(pane.lines.into_iter().filter(|line| line.count.is_some()).collect()))
}

fn cells(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    Ok(Outcome::Cells(cells_pane(console).1))
}

fn cells_pane(console: &mut Console) -> (Vec<crate::outcome::Touch>, CellsPane) {
    let footprint = console.session.footprint().to_vec();
    let pane = view::cells::cells(&console.session, &footprint);
    (footprint, pane)
}

fn locals(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    let (_, pane) = cells_pane(console);
    let scene = console.session.scene();
    let is_own = |array: &ArrayFacts| {
        !matches!(scene.memory.base(scene.state, scene.depth, &array.name), Some(Base::Global(_)))
    };
    let arrays = pane.arrays.into_iter().filter(is_own).collect();
    Ok(Outcome::Cells(CellsPane { globals: Vec::new(), registers: Vec::new(), arrays, ..pane }))
}

fn display(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    match actions::display(console, row, "")? {
        Outcome::Values(values) if values.is_empty() => Ok(Outcome::Empty),
        outcome => Ok(outcome),
    }
}

fn events(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    Ok(Outcome::Events(view::timeline::events(&console.session, SOME)))
}

fn fences(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    Ok(Outcome::Fences(console.session.fences().collect()))
}

fn frame(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    actions::selected(&console.session)
}

fn marks(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    let marks = console.session.marks().iter().map(|(name, time_point)| (name.clone(), *time_point));
    Ok(Outcome::Marks(marks.collect()))
}

fn status(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    Ok(Outcome::Status(Box::new(view::status::status(&console.session))))
}

fn tapes(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    row.nothing(rest)?;
    Ok(Outcome::Rows(view::stack::rows(&console.session, SOME).to_vec()))
}
