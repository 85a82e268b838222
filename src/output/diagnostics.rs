//! Diagnostics of texts and images as JSON. The assembler renders them as text.

use std::path::Path;

use reviver_assembler::diagnostic::{Diagnostic, Label, Severity};
use reviver_assembler::source::{Sources, Span};
use reviver_isa::module::Structure;
use reviver_isa::verify::{Site, Violation};
use serde_json::{Map, Value as Json, json};

use super::places::place_of;

/// Returns diagnostics as a JSON list, each with its place, related places, and advice.
pub fn json(sources: &Sources, diagnostics: &[Diagnostic]) -> Json {
    diagnostics.iter().map(|diagnostic| object(sources, diagnostic)).collect()
}

fn object(sources: &Sources, diagnostic: &Diagnostic) -> Json {
    let mut object = Map::new();
    object.insert("severity".into(), severity(diagnostic.severity).into());
    if let Some(code) = diagnostic.code {
        object.insert("code".into(), code.text().into());
    }
    object.insert("message".into(), diagnostic.message.clone().into());
    object.append(&mut labelled(sources, &diagnostic.primary));
    if let Some(help) = &diagnostic.help {
        object.insert("help".into(), help.clone().into());
    }
    if !diagnostic.related.is_empty() {
        let related = diagnostic.related.iter().map(|label| Json::Object(labelled(sources, label)));
        object.insert("related".into(), related.collect());
    }
    Json::Object(object)
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// Returns a place as JSON. Lines and columns count from 1, columns in characters; the span is in bytes from the
/// file's start.
fn labelled(sources: &Sources, label: &Label) -> Map<String, Json> {
    let span = label.span;
    let (start, end) = (sources.position(span), sources.position(Span { start: span.end, ..span }));
    let mut members = Map::new();
    members.insert("file".into(), sources.name(span.file).into());
    members.insert("line".into(), start.line.into());
    members.insert("column".into(), start.column.into());
    members.insert("end_line".into(), end.line.into());
    members.insert("end_column".into(), end.column.into());
    members.insert("span".into(), json!([span.start, span.end]));
    members.insert("label".into(), label.text.clone().into());
    members
}

/// Returns violations of the machine's rules as JSON, each with its place if the place is known. Such violations
/// occur in images, and in texts that run in another number system than their own.
pub fn violations(path: &Path, structure: &Structure, violations: &[Violation]) -> Json {
    violations.iter().map(|violation| violated(path, structure, violation)).collect()
}

fn violated(path: &Path, structure: &Structure, violation: &Violation) -> Json {
    let (file, line) = place_of(path, structure, instruction(violation.site));
    let mut object = Map::new();
    object.insert("severity".into(), "error".into());
    object.insert("code".into(), violation.code.text().into());
    object.insert("message".into(), violation.message.clone().into());
    object.insert("file".into(), file.into());
    if let Some(line) = line {
        object.insert("line".into(), line.into());
    }
    if let Some(help) = &violation.help {
        object.insert("help".into(), help.clone().into());
    }
    if let Some((site, label)) = &violation.other {
        let (file, line) = place_of(path, structure, instruction(*site));
        object.insert("related".into(), json!([{ "file": file, "line": line, "label": label }]));
    }
    Json::Object(object)
}

/// Returns the instruction of a violation, if it concerns one.
pub fn instruction(site: Site) -> Option<u32> {
    match site {
        Site::Instruction(at) | Site::Operand(at, _) => Some(at),
        Site::Global(_) | Site::Procedure(_) | Site::Module => None,
    }
}
