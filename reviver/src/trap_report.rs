//! Traps as reports for people, with the source lines if the text is known.

use std::fmt::Write as _;

use reviver_assembler::diagnostic::Label;
use reviver_assembler::render::{self, RunReport};
use reviver_assembler::source::{FileId, Sources, Span};
use reviver_escape as escape;
use reviver_vm::explain::{Explanation, OtherPlace, Spot};

use super::places::place;

/// Returns a trap as a report, with source lines if `sources` has the place. `what` begins the headline, for example
/// `trap[T20]`; `file` is the name of the program's file. Control characters are escaped.
pub fn report(
    sources: Option<&Sources>,
    (what, file): (&str, &str),
    explanation: &Explanation,
    color: bool,
) -> String {
    let text = sources.and_then(|sources| with_text(sources, what, explanation, color));
    text.unwrap_or_else(|| escape::text(&without_text(what, file, explanation)).into_owned())
}

/// Returns a report with source lines. Returns `None` if the place isn't in the text.
fn with_text(sources: &Sources, what: &str, explanation: &Explanation, color: bool) -> Option<String> {
    let span = |spot: &Spot| sources.columns(FileId(spot.number), spot.line, spot.columns);
    let primary = span(explanation.spot.as_ref()?)?;
    let label = |other: &OtherPlace| Some(Label { span: span(&other.spot)?, text: other.label.clone() });
    let is_elsewhere = |span: Span| span != primary;
    let others = explanation.others.iter().filter_map(label);
    let related = others.filter(|label| is_elsewhere(label.span)).collect();
    let procedure =
        (explanation.procedure != "main").then(|| format!("in the procedure `{}`", explanation.procedure));
    let notes = explanation.notes.iter().cloned().chain(procedure).chain(explanation.called()).collect();
    let report = RunReport {
        what,
        message: &explanation.message,
        primary: Label { span: primary, text: explanation.label.clone() },
        related,
        notes,
        help: explanation.help.as_deref(),
    };
    Some(render::report(sources, &report, color))
}

/// Returns a report with the places that the program records, for an image.
fn without_text(what: &str, file: &str, explanation: &Explanation) -> String {
    let (included, line) = match &explanation.spot {
        Some(spot) => (spot.file.as_deref(), Some(spot.line)),
        None => (None, None),
    };
    let mut text = format!("{what}: {}\n", explanation.message);
    let _ = writeln!(text, "  --> {}, in `{}`", place(file, included, line), explanation.procedure);
    let _ = writeln!(text, "   | {}", explanation.instruction);
    for OtherPlace { spot, words, label } in &explanation.others {
        let place = place(file, spot.file.as_deref(), Some(spot.line));
        let _ = writeln!(text, "   = `{words}` ({place}): {label}");
    }
    for note in explanation.notes.iter().cloned().chain(explanation.called()) {
        let _ = writeln!(text, "   = note: {note}");
    }
    if let Some(help) = &explanation.help {
        let _ = writeln!(text, "   = help: {help}");
    }
    text
}
