//! A run for programs: one object, with only the keys that apply and numbers in full.

use reviver_isa::module::Shape;
use reviver_vm::digest::state_digest;
use reviver_vm::garbage::Garbage;
use reviver_vm::values::Value;
use reviver_vm::{Program, Travel};
use serde_json::{Map, Number, Value as Json, json};

use super::{erased, result_cells, resulting_tape, state_bytes, uses_tape};
use crate::cli::Run;
use crate::journey::{Ending, Report, RoundTrip};

/// Everything that a run tells, but for what it fails with.
pub fn members(report: &Report, options: &Run) -> Map<String, Json> {
    let mut object = Map::new();
    if !report.assumed.is_empty() {
        let globals = &report.program.module().globals;
        let names = report.assumed.iter().filter_map(|&n| globals.get(n));
        object.insert("assumed".into(), names.map(|global| Json::from(global.name.clone())).collect());
    }
    if matches!(report.ending, Ending::Arrived) {
        results(report, &mut object);
    }
    if !report.shown.entries.is_empty() {
        let entry = |(name, value): &(String, Value)| json!({ name: number(&report.program.text(*value)) });
        object.insert("shown".into(), report.shown.entries.iter().map(entry).collect());
    }
    if report.shown.left_out > 0 {
        object.insert("shown_left_out".into(), report.shown.left_out.into());
    }
    object.insert("steps".into(), report.steps.into());
    ending(&report.ending, options, &mut object);
    if let Some(trip) = &report.round_trip {
        round_trip(trip, options, &mut object);
    }
    object.insert("history_bytes".into(), report.history_bytes.into());
    object.insert("erased_bits".into(), erased(report).into());
    if options.stats {
        object.insert("discarded_bits".into(), report.state().counters.discarded_bits.into());
        object.insert("state_bytes".into(), state_bytes(report.state()).into());
        object.insert("seconds".into(), report.elapsed.as_secs_f64().into());
    }
    object.insert("digest".into(), state_digest(report.state()).to_string().into());
    object
}

fn results(report: &Report, object: &mut Map<String, Json>) {
    object.insert("outputs".into(), outputs(report));
    if uses_tape(report) {
        object.insert("tape".into(), resulting_tape(report).iter().map(|text| number(text)).collect());
    }
    let garbage = garbage_object(report);
    if !garbage.is_empty() {
        object.insert("garbage".into(), Json::Object(garbage));
    }
    let unlisted = |garbage: &Garbage| garbage.differing - garbage.listed.len() as u64;
    let cut = report.garbage.iter().filter(|garbage| unlisted(garbage) > 0);
    let cut: Map<String, Json> =
        cut.map(|garbage| (garbage.name.clone(), unlisted(garbage).into())).collect();
    if !cut.is_empty() {
        object.insert("garbage_not_listed".into(), Json::Object(cut));
    }
}

/// What kept a direction from its end.
fn ending(ending: &Ending, options: &Run, object: &mut Map<String, Json>) {
    match ending {
        // A trap is a failure, which brings its own words.
        Ending::Arrived | Ending::Trapped(_) => {}
        Ending::Limited => {
            object.insert("step_limit".into(), options.start.max_steps.into());
        }
        Ending::Interrupted(signal) => {
            object.insert("interrupted".into(), signal.name().into());
        }
    }
}

fn outputs(report: &Report) -> Json {
    let cells = result_cells(report).map(|(n, global)| {
        let values = report.program.read(report.state(), n);
        (global.name.clone(), cells_json(&report.program, global.shape, &values))
    });
    Json::Object(cells.collect())
}

/// Declared garbage, and every cell that differs although it must not.
fn garbage_object(report: &Report) -> Map<String, Json> {
    let mut garbage = Map::new();
    if report.travel == Travel::Forward {
        for (n, global) in report.program.declared_garbage() {
            let values = report.program.read(report.state(), n);
            garbage.insert(global.name.clone(), cells_json(&report.program, global.shape, &values));
        }
    }
    for cell in report.garbage.iter().flat_map(|garbage| &garbage.listed) {
        garbage.insert(cell.name.clone(), number(&cell.found));
    }
    garbage
}

/// A scalar as a number, an array as nested arrays of its shape.
pub fn cells_json(program: &Program, shape: Shape, values: &[Value]) -> Json {
    let row = |values: &[Value]| Json::Array(values.iter().map(|&v| number(&program.text(v))).collect());
    match (shape, values) {
        (Shape::Scalar, [value]) => number(&program.text(*value)),
        (Shape::Matrix(_, columns), _) => Json::Array(values.chunks(columns as usize).map(row).collect()),
        _ => row(values),
    }
}

/// A number with all its digits; other text as a string.
pub fn number(text: &str) -> Json {
    text.parse::<Number>().map_or_else(|_| Json::String(text.to_owned()), Json::Number)
}

fn round_trip(trip: &RoundTrip, options: &Run, object: &mut Map<String, Json>) {
    if !matches!(trip.ending, Ending::Limited | Ending::Interrupted(_)) {
        object.insert("restored".into(), trip.restored.into());
        object.insert("bit_exact".into(), trip.bit_exact.into());
    }
    if let Some(drift) = &trip.drift {
        let drift = json!({ "cell": drift.cell, "absolute": drift.absolute, "ulps": drift.ulps });
        object.insert("max_drift".into(), drift);
    }
    ending(&trip.ending, options, object);
}
