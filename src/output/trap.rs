//! Traps as failures: a report with source lines for users, a JSON object for programs.

use reviver::trap_report::report;
use reviver_vm::explain::{Explanation, OpenCall, OpenTask, Spot};
use serde_json::{Map, Value as Json, json};

use crate::failure::{Exit, Failure};
use crate::load;

/// Returns a trap as a failure. `direction` names the part of the run, for example " while running backward". For
/// the usual part, it is empty.
pub fn trap(exit: Exit, direction: &str, file: &str, explanation: &Explanation) -> Failure {
    let what = format!("trap[{}]{direction}", explanation.code.text());
    let text = report(load::kept_text(), (&what, file), explanation, load::color());
    let summary = format!("trap{direction}: {}", explanation.message);
    Failure::styled(exit, summary, text).detail("trap", object(explanation))
}

/// Returns the trap as JSON: event, place, and facts.
pub fn object(explanation: &Explanation) -> Json {
    let mut members = Map::new();
    members.insert("code".into(), explanation.code.text().into());
    members.insert("message".into(), explanation.message.clone().into());
    members.insert("instruction".into(), explanation.instruction.clone().into());
    members.insert("procedure".into(), explanation.procedure.clone().into());
    if let Some(spot) = &explanation.spot {
        members.append(&mut located(spot));
    }
    if !explanation.label.is_empty() {
        members.insert("label".into(), explanation.label.clone().into());
    }
    let values =
        explanation.values.iter().map(|(name, value)| (name.clone(), super::json_values::number(value)));
    members.insert("values".into(), Json::Object(values.collect()));
    let others = explanation.others.iter().map(|other| {
        let mut members = located(&other.spot);
        members.insert("words".into(), other.words.clone().into());
        members.insert("label".into(), other.label.clone().into());
        Json::Object(members)
    });
    members.insert("others".into(), others.collect());
    members.insert("depth".into(), explanation.depth.into());
    members.insert("calls".into(), explanation.calls.iter().map(call_object).collect());
    members.insert("notes".into(), explanation.notes.clone().into());
    if let Some(help) = &explanation.help {
        members.insert("help".into(), help.clone().into());
    }
    Json::Object(members)
}

fn call_object(OpenCall { caller, statement, spot, task }: &OpenCall) -> Json {
    let mut members = spot.as_ref().map(located).unwrap_or_default();
    members.insert("procedure".into(), caller.clone().into());
    members.insert("words".into(), statement.clone().into());
    match task {
        None => {}
        Some(OpenTask::Listed { number, .. }) => _ = members.insert("task".into(), (*number).into()),
        Some(OpenTask::Iteration { counter, value }) => {
            _ = members.insert("task".into(), json!({ counter.as_str(): super::json_values::number(value) }));
        }
    }
    Json::Object(members)
}

/// Returns a place as JSON. `columns` are the first and last column, in characters from 1.
fn located(spot: &Spot) -> Map<String, Json> {
    let mut members = Map::new();
    if let Some(file) = &spot.file {
        members.insert("file".into(), file.clone().into());
    }
    members.insert("line".into(), spot.line.into());
    if let Some((first, last)) = spot.columns {
        members.insert("columns".into(), json!([first, last]));
    }
    members
}
