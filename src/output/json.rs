//! A run as a JSON object, with only the keys that apply and with all digits of numbers.

use reviver_isa::module::{Global, Shape};
use reviver_vm::Travel;
use reviver_vm::digest::state_digest;
use reviver_vm::garbage::Garbage;
use serde_json::{Map, Value as Json, json};

use super::json_values::{JsonCells, JsonValue, Object};
use super::{erased, result_cells, resulting_tape, state_bytes, strategy, uses_tape};
use crate::run_to_end::{Ending, Report, RoundTrip};

/// Returns the JSON members of a run, except those of a failure.
pub fn members<'r>(report: &'r Report, stats: bool) -> Object<'r> {
    let mut object = Object::default();
    if !report.assumed.is_empty() {
        let globals = &report.program.module().globals;
        let names = report.assumed.iter().filter_map(|&n| globals.get(n));
        object.insert("assumed", names.map(|global| global.name.clone()).collect::<Json>());
    }
    if matches!(report.ending, Ending::Arrived) {
        results(report, &mut object);
    }
    report.shown.tell(&report.program, &mut object);
    if !report.level.is_checked() {
        object.insert("level", report.level.name());
    }
    object.insert("steps", report.steps);
    ending(&report.ending, report.limit, &mut object);
    if let Some(trip) = &report.round_trip {
        round_trip(trip, report.limit, &mut object);
    }
    object.insert("history_bytes", report.history_bytes);
    object.insert("erased_bits", erased(report));
    if stats {
        // Unchecked native code doesn't count discarded bits.
        if report.level.is_checked() {
            object.insert("discarded_bits", report.state().counters.discarded_bits);
        }
        object.insert("state_bytes", state_bytes(report.state()));
        if report.machine.thread_bytes() > 0 {
            object.insert("thread_bytes", report.machine.thread_bytes());
        }
        object.insert("seconds", report.elapsed.as_secs_f64());
    }
    if let Some(account) = &report.account {
        object.insert("account", account.members());
    }
    object.extend(strategy(report, stats).members());
    object.insert("digest", state_digest(report.state()).to_string());
    object
}

fn results<'r>(report: &'r Report, object: &mut Object<'r>) {
    object.insert("outputs", outputs(report));
    if uses_tape(report) {
        object.insert("tape", resulting_tape(report));
    }
    let garbage = garbage_object(report);
    if !garbage.is_empty() {
        object.insert("garbage", garbage);
    }
    let cures = report
        .garbage
        .iter()
        .filter_map(|garbage| Some((garbage.name.clone(), garbage.cure.clone()?.into())));
    let cures: Map<String, Json> = cures.collect();
    if !cures.is_empty() {
        object.insert("garbage_help", Json::Object(cures));
    }
    let unlisted = |garbage: &Garbage| garbage.differing - garbage.listed.len() as u64;
    let cut = report.garbage.iter().filter(|garbage| unlisted(garbage) > 0);
    let cut: Map<String, Json> =
        cut.map(|garbage| (garbage.name.clone(), unlisted(garbage).into())).collect();
    if !cut.is_empty() {
        object.insert("garbage_not_listed", Json::Object(cut));
    }
}

/// Adds the reason why the run ended early.
fn ending(ending: &Ending, limit: Option<u64>, object: &mut Object) {
    match ending {
        // A trap and a full history are reported as failures, and reaching the end needs no remark.
        Ending::Arrived | Ending::Trapped(_) | Ending::Full { .. } => {}
        Ending::Limited => {
            object.insert("step_limit", limit);
        }
        Ending::Interrupted(signal) => {
            object.insert("interrupted", signal.name());
        }
    }
}

fn outputs<'r>(report: &'r Report) -> Object<'r> {
    result_cells(report).map(|cell| cells(report, cell)).collect()
}

/// Returns a global's name and cells.
fn cells<'r>(report: &'r Report, cell: (usize, &Global)) -> (String, JsonValue<'r>) {
    (cell.1.name.clone(), JsonCells::of(&report.program, report.state(), cell).into())
}

/// Returns a JSON object of garbage: cells declared as garbage, and all other cells that differ from their required
/// value.
fn garbage_object<'r>(report: &'r Report) -> Object<'r> {
    let declared = report.program.declared_garbage().filter(|_| report.travel == Travel::Forward);
    let listed = report.garbage.iter().flat_map(|garbage| &garbage.listed);
    let cell = |found: &'r str| JsonCells::new(Shape::Scalar, move |_| Some(found.to_owned()));
    let listed = listed.map(|left| (left.name.clone(), cell(&left.found).of_numbers(&report.program).into()));
    declared.map(|global| cells(report, global)).chain(listed).collect()
}

fn round_trip(trip: &RoundTrip, limit: Option<u64>, object: &mut Object) {
    if !matches!(trip.ending, Ending::Limited | Ending::Interrupted(_)) {
        object.insert("restored", trip.restored);
        object.insert("bit_exact", trip.bit_exact);
    }
    if let Some(drift) = &trip.drift {
        let drift = json!({ "cell": drift.cell, "absolute": drift.absolute, "ulps": drift.ulps });
        object.insert("max_drift", drift);
    }
    ending(&trip.ending, limit, object);
}
