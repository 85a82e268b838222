//! Output of a run: text for users, a JSON object for programs. This module has the parts that are common to text and
//! JSON.

mod account;
pub mod batch;
pub mod bench;
pub mod chapter;
pub mod course;
pub mod derivatives;
pub mod diagnostics;
pub mod grades;
pub mod gradient;
mod json;
pub mod json_values;
pub mod junit;
pub mod losses;
pub mod picture;
pub mod places;
pub mod plot;
pub mod strategy;
pub mod tests;
mod text;
pub mod tradeoff;
mod trap;
pub mod value_sources;
pub mod verification;
pub mod verified;

use std::io::{self, Write};
use std::sync::Arc;

use reviver::EngineChoice;
use reviver_isa::module::{Global, Role};
use reviver_isa::update::Update;
use reviver_vm::given::Tape;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;
use reviver_vm::{Program, Runner, State, Travel};

use crate::failure::Fallible;
use crate::run_to_end::Report;

use json_values::{JsonCells, Object};
use strategy::StrategyReport;

pub use text::garbage;
pub use trap::trap;

/// Form and extent of a run's output.
#[derive(Clone, Copy, Debug)]
pub struct RunOutput {
    pub json: bool,
    /// True to include the cost of the run.
    pub stats: bool,
    /// True to include the resulting tape in text. JSON always has it.
    pub tape: bool,
}

/// Writes the whole standard output of a run.
pub fn render(report: &Report, form: RunOutput, verdict: &Fallible, out: &mut dyn Write) -> io::Result<()> {
    match form.json {
        true => ran(json::members(report, form.stats), report.machine.runner(), verdict, out),
        false => text::render(report, form, out),
    }
}

/// Writes the JSON object of a command: its results, and its failure.
pub fn object(mut members: Object, verdict: &Fallible, out: &mut dyn Write) -> io::Result<()> {
    if let Err(failure) = verdict {
        members.extend(failure.members());
    }
    members.write(out)
}

/// Writes the JSON object of a command that runs a program. The member `engine` is `jit` if native code executed at
/// least one step, otherwise `interp`.
pub fn ran(
    mut members: Object,
    runner: Option<&Arc<dyn Runner>>,
    verdict: &Fallible,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_native = runner.is_some_and(|runner| runner.steps_made() > 0);
    let engine = if is_native { EngineChoice::Jit } else { EngineChoice::Interp };
    members.insert("engine", engine.name());
    object(members, verdict, out)
}

/// Returns the retention strategy of the backward run, if one was requested.
fn strategy(report: &Report, stats: bool) -> StrategyReport {
    let (taken, cost, steps) = (report.taken, report.cost, report.steps);
    StrategyReport { taken, cost, steps, stats: stats && taken.is_some() }
}

/// Returns the cells that are results in the direction of the run, except declared garbage.
fn result_cells<'r>(report: &'r Report<'_>) -> impl Iterator<Item = (usize, &'r Global)> {
    let travel = report.travel;
    report.program.module().globals.iter().enumerate().filter(move |(_, global)| match travel {
        Travel::Forward => matches!(global.role, Role::Out | Role::InOut),
        Travel::Backward => global.role.is_given(),
    })
}

/// Returns the resulting tape, in display order.
pub fn resulting_tape<'r>(report: &'r Report) -> JsonCells<'r> {
    let entries = resulting_entries(report);
    JsonCells::list(entries.len(), move |n| tape_value(report, n).unwrap_or_default())
        .of_numbers(&report.program)
}

/// Returns a value of the resulting tape; `None` after the last.
pub fn tape_value(report: &Report, n: usize) -> Option<String> {
    let entries = resulting_entries(report);
    let at = report.program.index_in_text(Tape::resulting(report.travel), entries.len(), n);
    (n < entries.len()).then(|| entries.get(at)).flatten().map(|entry| entry_text(&report.program, *entry))
}

fn resulting_entries<'r>(report: &'r Report) -> &'r [TapeEntry] {
    match Tape::resulting(report.travel) {
        Tape::Input => &report.state().input,
        Tape::Output => &report.state().output,
    }
}

fn entry_text(program: &Program, entry: TapeEntry) -> String {
    program.text(match entry {
        TapeEntry::Int(value) => Value::Int(value),
        TapeEntry::Real(bits) => Value::Real(bits),
    })
}

/// Returns true if the program may put values on the resulting tape.
fn uses_tape(report: &Report) -> bool {
    let wanted = match report.travel {
        Travel::Forward => [Update::Write, Update::Unwrite],
        Travel::Backward => [Update::Read, Update::Unread],
    };
    report.program.module().code.iter().any(|i| wanted.contains(&i.update))
}

fn erased(report: &Report) -> u64 {
    report.state().counters.erased_bits
}

/// Returns the memory that a state takes, in bytes, without unused capacity of its vectors.
pub fn state_bytes(state: &State) -> usize {
    size_of::<State>()
        + size_of_val(&state.ints[..])
        + size_of_val(&state.reals[..])
        + size_of_val(&state.int_stack[..])
        + size_of_val(&state.real_stack[..])
        + size_of_val(&state.input[..])
        + size_of_val(&state.output[..])
        + size_of_val(&state.calls[..])
        + size_of_val(&state.references[..])
}
