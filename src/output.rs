//! What a run prints: text for people, one JSON object for programs.

use std::fmt::Write as _;

use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Role, Shape};
use reviver_isa::text::Speller;
use reviver_isa::update::{Shape as Operands, Update};
use reviver_vm::digest::state_digest;
use reviver_vm::explain::Explanation;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Program, State, Travel};
use serde_json::{Map, Number, Value as Json};

use crate::cli::Run;
use crate::commands::run::{Ending, Report, RoundTrip};

/// The whole output for stdout.
pub fn render(report: &Report, options: &Run) -> String {
    if options.json {
        let mut text = serde_json::to_string(&object(report)).unwrap_or_default();
        text.push('\n');
        return text;
    }
    let mut text = String::new();
    if matches!(report.ending, Ending::Arrived) {
        results(report, options, &mut text);
    }
    if let Some(trip) = &report.round_trip {
        round_trip(report, trip, &mut text);
    }
    if options.stats {
        statistics(report, &mut text);
    }
    text
}

/// The cells that are results in the direction of the run, declared garbage aside.
fn result_cells(report: &Report) -> impl Iterator<Item = (usize, &Global)> {
    let travel = report.travel;
    report.program.module().globals.iter().enumerate().filter(move |(_, global)| match travel {
        Travel::Forward => matches!(global.role, Role::Out | Role::InOut),
        Travel::Backward => global.role.is_given(),
    })
}

/// The resulting tape, in the order in which it would be read or was written.
pub fn resulting_tape(report: &Report) -> Vec<String> {
    tape_entries(report).into_iter().map(|entry| entry_text(&report.program, entry)).collect()
}

fn tape_entries(report: &Report) -> Vec<TapeEntry> {
    match report.travel {
        Travel::Forward => report.state.output.clone(),
        Travel::Backward => report.state.input.iter().rev().copied().collect(),
    }
}

fn entry_text(program: &Program, entry: TapeEntry) -> String {
    program.text(match entry {
        TapeEntry::Int(value) => Value::Int(value),
        TapeEntry::Real(bits) => Value::Real(bits),
    })
}

/// Whether the program can leave anything on the tape that results.
fn uses_tape(report: &Report) -> bool {
    let wanted = match report.travel {
        Travel::Forward => [Update::Write, Update::Unwrite],
        Travel::Backward => [Update::Read, Update::Unread],
    };
    report.program.module().code.iter().any(|i| wanted.contains(&i.update))
}

fn results(report: &Report, options: &Run, text: &mut String) {
    let program = &report.program;
    for (n, global) in result_cells(report) {
        let values = program.read(&report.state, n);
        let _ = writeln!(text, "{} = {}", global.name, cells_text(program, global.shape, &values));
    }
    if uses_tape(report) && options.tape_out.is_none() {
        let _ = writeln!(text, "tape = [{}]", resulting_tape(report).join(", "));
    }
    if report.travel == Travel::Forward {
        for (n, global) in program.declared_garbage() {
            let values = program.read(&report.state, n);
            let _ = writeln!(text, "garbage {} = {}", global.name, cells_text(program, global.shape, &values));
        }
    }
}

/// A scalar as it is, a vector in brackets, a matrix as a vector of rows.
fn cells_text(program: &Program, shape: Shape, values: &[Value]) -> String {
    let row = |values: &[Value]| {
        let texts: Vec<String> = values.iter().map(|&value| program.text(value)).collect();
        format!("[{}]", texts.join(", "))
    };
    match (shape, values) {
        (Shape::Scalar, [value]) => program.text(*value),
        (Shape::Matrix(_, columns), _) => {
            let rows: Vec<String> = values.chunks(columns as usize).map(row).collect();
            format!("[{}]", rows.join(", "))
        }
        _ => row(values),
    }
}

fn round_trip(report: &Report, trip: &RoundTrip, text: &mut String) {
    let quality = match (trip.restored, trip.bit_exact) {
        (true, true) => "yes, bit for bit",
        (true, false) => "yes, within the tolerance",
        (false, _) => "NO",
    };
    let _ = writeln!(text, "restored: {quality}");
    if let Some(drift) = &trip.drift {
        let _ = writeln!(text, "largest drift: {:e} in {} ({:.1} ulps)", drift.absolute, drift.cell, drift.ulps);
    }
    let history = report.history_bytes;
    let _ = writeln!(text, "steps: {} there, history: {history} bytes, erased: {} bits", report.steps, erased(report));
    if erased(report) > 0 {
        let count = report.program.module().code.iter().filter(|i| !i.update.is_reversible()).count();
        let _ = writeln!(text, "not reversible: {count} erasures in the code");
    }
}

fn erased(report: &Report) -> u64 {
    report.state.counters.erased_bits
}

fn statistics(report: &Report, text: &mut String) {
    let seconds = report.elapsed.as_secs_f64();
    let ways = if report.round_trip.is_some() { 2.0 } else { 1.0 };
    let rate = report.steps as f64 * ways / seconds.max(1e-9) / 1e6;
    let _ = writeln!(text, "steps: {}", report.steps);
    let _ = writeln!(text, "time: {seconds:.3} s, {rate:.1} million steps a second");
    let _ = writeln!(text, "state: {} bytes", state_bytes(&report.state));
    let _ = writeln!(text, "history: {} bytes", report.history_bytes);
    let _ = writeln!(text, "erased: {} bits", erased(report));
    let _ = writeln!(text, "discarded within the tolerance: {} bits", report.state.counters.discarded_bits);
    let _ = writeln!(text, "digest: {}", state_digest(&report.state));
}

/// Memory of a state, the room that its vectors have for growth not counted.
fn state_bytes(state: &State) -> usize {
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

fn object(report: &Report) -> Json {
    let mut object = Map::new();
    if matches!(report.ending, Ending::Arrived) {
        object.insert("outputs".into(), outputs(report));
        if uses_tape(report) {
            let entries = resulting_tape(report).iter().map(|text| number(text)).collect();
            object.insert("tape".into(), Json::Array(entries));
        }
        let garbage = garbage_object(report);
        if !garbage.is_empty() {
            object.insert("garbage".into(), Json::Object(garbage));
        }
    }
    if !report.shown.is_empty() {
        let entries = report.shown.iter().map(|(name, value)| {
            let mut entry = Map::new();
            entry.insert(name.clone(), number(&report.program.text(*value)));
            Json::Object(entry)
        });
        object.insert("shown".into(), Json::Array(entries.collect()));
    }
    object.insert("steps".into(), report.steps.into());
    if let Ending::Trapped(explanation) = &report.ending {
        object.insert("trap".into(), trap_object(explanation));
    }
    if let Some(trip) = &report.round_trip {
        round_trip_members(trip, &mut object);
    }
    object.insert("history_bytes".into(), report.history_bytes.into());
    object.insert("erased_bits".into(), erased(report).into());
    object.insert("digest".into(), state_digest(&report.state).to_string().into());
    Json::Object(object)
}

fn outputs(report: &Report) -> Json {
    let cells = result_cells(report).map(|(n, global)| {
        let values = report.program.read(&report.state, n);
        (global.name.clone(), cells_json(&report.program, global.shape, &values))
    });
    Json::Object(cells.collect())
}

/// Declared garbage, and every cell that differs although it must not.
fn garbage_object(report: &Report) -> Map<String, Json> {
    let mut garbage = Map::new();
    if report.travel == Travel::Forward {
        for (n, global) in report.program.declared_garbage() {
            let values = report.program.read(&report.state, n);
            garbage.insert(global.name.clone(), cells_json(&report.program, global.shape, &values));
        }
    }
    for entry in &report.garbage {
        garbage.insert(entry.name.clone(), number(&entry.found));
    }
    garbage
}

fn cells_json(program: &Program, shape: Shape, values: &[Value]) -> Json {
    let row = |values: &[Value]| Json::Array(values.iter().map(|&v| number(&program.text(v))).collect());
    match (shape, values) {
        (Shape::Scalar, [value]) => number(&program.text(*value)),
        (Shape::Matrix(_, columns), _) => Json::Array(values.chunks(columns as usize).map(row).collect()),
        _ => row(values),
    }
}

/// A number with all its digits; other text as a string.
fn number(text: &str) -> Json {
    text.parse::<Number>().map_or_else(|_| Json::String(text.to_owned()), Json::Number)
}

fn round_trip_members(trip: &RoundTrip, object: &mut Map<String, Json>) {
    object.insert("restored".into(), trip.restored.into());
    object.insert("bit_exact".into(), trip.bit_exact.into());
    if let Some(drift) = &trip.drift {
        let mut members = Map::new();
        members.insert("cell".into(), drift.cell.clone().into());
        members.insert("absolute".into(), drift.absolute.into());
        members.insert("ulps".into(), drift.ulps.into());
        object.insert("max_drift".into(), Json::Object(members));
    }
    if let Ending::Trapped(explanation) = &trip.ending {
        object.insert("trap".into(), trap_object(explanation));
    }
}

fn trap_object(explanation: &Explanation) -> Json {
    let mut members = Map::new();
    members.insert("message".into(), explanation.message.clone().into());
    members.insert("instruction".into(), explanation.instruction.clone().into());
    members.insert("procedure".into(), explanation.procedure.clone().into());
    if let Some(line) = explanation.line {
        members.insert("line".into(), line.into());
    }
    members.insert("notes".into(), explanation.notes.clone().into());
    Json::Object(members)
}

/// A trap for stderr.
pub fn trap(file: &str, explanation: &Explanation) -> String {
    let place = explanation.line.map_or(file.to_owned(), |line| format!("{file}:{line}"));
    let mut text = format!("trap: {}\n", explanation.message);
    let _ = writeln!(text, "  --> {place}, in `{}`", explanation.procedure);
    let _ = writeln!(text, "   | {}", explanation.instruction);
    for note in &explanation.notes {
        let _ = writeln!(text, "   = {note}");
    }
    text
}

/// Cells that aren't as they must be, for stderr.
pub fn garbage(report: &Report) -> String {
    let mut text = String::from(match report.travel {
        Travel::Forward => "garbage: cells that must end as they began, and don't:\n",
        Travel::Backward => "on arrival these cells are not at their initial value:\n",
    });
    for entry in &report.garbage {
        let _ = writeln!(text, "  {} is {}, must be {}", entry.name, entry.found, entry.expected);
    }
    text
}

/// The name and the value of what a `show` shows.
pub fn shown(machine: &Machine, at: u32, class: Class, bits: u64) -> (String, Value) {
    let value = match class {
        Class::Int => Value::Int(bits as i64),
        Class::Real => Value::Real(bits),
    };
    let module = machine.program().module();
    let procedure = &module.procedures[machine.program().procedure_of(at)];
    let operand = module.code.get(at as usize).filter(|i| i.update.shape() == Operands::Show);
    let name = operand.and_then(|i| i.operands.first());
    let name = name.map_or(String::new(), |operand| Speller { module, procedure }.operand(operand));
    (name, value)
}
