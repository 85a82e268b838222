//! Diagnostics as text, in the style of rustc.
//!
//! The printer gets only the lines around a label, and only a part of a long line. So the time to print an
//! error doesn't depend on the size of the file.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use reviver_isa::names::printable;

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::{FileId, Sources, Span};

/// The length in bytes above which only a part of a line is shown.
const LONG_LINE: usize = 400;
/// The number of characters of a long line that are shown, starting at the label.
const SHOWN: usize = 80;
/// The maximum height of a label in lines. If a label is taller, only its first line is marked.
const TALLEST: usize = 12;
/// The maximum size of an excerpt in lines. Labels of one file that are further apart have separate excerpts.
const MOST_LINES: usize = 2_000;
/// The maximum size of an excerpt in bytes. Labels of one file that are further apart have separate excerpts.
const MOST_BYTES: usize = 1 << 16;

/// Returns all diagnostics in order, separated by blank lines, with or without terminal colours.
pub fn render(sources: &Sources, diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for diagnostic in diagnostics {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&renderer.render(&[group(sources, diagnostic)]));
        text.push('\n');
    }
    text
}

/// A report about a run of a program.
pub struct RunReport<'r> {
    /// The word that replaces `error` in the headline, for example `trap[T20]`.
    pub what: &'r str,
    /// The headline of the report, printed after `what`.
    pub message: &'r str,
    /// The place of the report, such as the instruction that trapped, with a note.
    pub primary: Label,
    /// Related places with notes, such as the other half of a branch pair.
    pub related: Vec<Label>,
    /// The notes after the excerpts.
    pub notes: Vec<String>,
    /// The suggestion after all notes, or `None` without one.
    pub help: Option<&'r str>,
}

/// Returns a report as text, in the style of diagnostics.
pub fn report(sources: &Sources, report: &RunReport<'_>, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let title = Level::ERROR.with_name(report.what).primary_title(printable(report.message));
    let mut group = with_excerpts(Group::with_title(title), sources, &report.primary, &report.related);
    for note in &report.notes {
        group = group.element(Level::NOTE.message(printable(note)));
    }
    if let Some(help) = report.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    renderer.render(&[group]) + "\n"
}

fn group<'a>(sources: &'a Sources, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut title = level.primary_title(printable(&diagnostic.message));
    if let Some(code) = diagnostic.code {
        title = title.id(code.text());
    }
    let group = with_excerpts(Group::with_title(title), sources, &diagnostic.primary, &diagnostic.related);
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(printable(help))),
        None => group,
    }
}

/// Adds the excerpts of all labels to a group.
fn with_excerpts<'a>(
    mut group: Group<'a>,
    sources: &'a Sources,
    primary: &'a Label,
    related: &'a [Label],
) -> Group<'a> {
    for (file, marks) in by_file(sources, primary, related) {
        group = with_file(group, sources, file, marks);
    }
    group
}

/// A label prepared for printing: with its kind, and cut to its first line if it is too tall.
#[derive(Clone)]
struct Mark<'a> {
    kind: AnnotationKind,
    span: Span,
    text: &'a str,
}

impl<'a> Mark<'a> {
    fn new(sources: &Sources, kind: AnnotationKind, label: &'a Label) -> Mark<'a> {
        let span = label.span;
        let (first, last) = (sources.line(span.file, span.start), sources.line(span.file, span.end));
        let line_end = sources.line_span(span.file, first).end;
        let shown = if last - first.min(last) > TALLEST {
            Span { end: line_end.max(span.start), ..span }
        } else {
            span
        };
        Mark { kind, span: shown, text: &label.text }
    }

    /// Returns the label as an annotation of an excerpt that begins at this byte of the file.
    fn annotation(&self, start: u32) -> Annotation<'a> {
        let range =
            self.span.start.saturating_sub(start) as usize..self.span.end.saturating_sub(start) as usize;
        self.kind.span(range).label(printable(self.text))
    }
}

/// Returns the labels grouped by file. The file of the primary label comes first.
fn by_file<'a>(sources: &Sources, primary: &'a Label, related: &'a [Label]) -> Vec<(FileId, Vec<Mark<'a>>)> {
    let related = related.iter().map(|label| (AnnotationKind::Context, label));
    let mut files: Vec<(FileId, Vec<Mark<'a>>)> = Vec::new();
    for (kind, label) in std::iter::once((AnnotationKind::Primary, primary)).chain(related) {
        let mark = Mark::new(sources, kind, label);
        match files.iter_mut().find(|(file, _)| *file == label.span.file) {
            Some((_, marks)) => marks.push(mark),
            None => files.push((label.span.file, vec![mark])),
        }
    }
    files
}

fn with_file<'a>(
    mut group: Group<'a>,
    sources: &'a Sources,
    file: FileId,
    marks: Vec<Mark<'a>>,
) -> Group<'a> {
    if let Some(excerpt) = excerpt(sources, &marks) {
        let annotations: Vec<_> = marks.iter().map(|mark| mark.annotation(excerpt.start)).collect();
        return group
            .element(snippet(sources, excerpt).path(printable(sources.name(file))).annotations(annotations));
    }
    for mark in marks {
        group = match excerpt(sources, std::slice::from_ref(&mark)) {
            Some(excerpt) => group.element(
                snippet(sources, excerpt)
                    .path(printable(sources.name(file)))
                    .annotation(mark.annotation(excerpt.start)),
            ),
            None => with_part_of_line(group, sources, &mark),
        };
    }
    group
}

fn snippet<'a>(sources: &'a Sources, excerpt: Span) -> Snippet<'a, Annotation<'a>> {
    Snippet::source(sources.text(excerpt)).line_start(sources.line(excerpt.file, excerpt.start))
}

/// Returns the whole lines that contain the labels of one file, or `None` if these are too large to print.
fn excerpt(sources: &Sources, marks: &[Mark<'_>]) -> Option<Span> {
    let lines = marks.iter().flat_map(|mark| {
        [sources.line(mark.span.file, mark.span.start), sources.line(mark.span.file, mark.span.end)]
    });
    let file = marks.first()?.span.file;
    let (first, last) = (lines.clone().min()?, lines.clone().max()?);
    let long = |line| {
        let span = sources.line_span(file, line);
        (span.end - span.start) as usize > LONG_LINE
    };
    let whole = sources.line_span(file, first).to(sources.line_span(file, last));
    let large = last - first > MOST_LINES || (whole.end - whole.start) as usize > MOST_BYTES;
    if large || lines.into_iter().any(long) { None } else { Some(whole) }
}

/// Adds an excerpt with a part of a long line to a group. The part begins where the line begins, because the
/// printer counts columns. The printer itself leaves out text far before the label.
fn with_part_of_line<'a>(group: Group<'a>, sources: &'a Sources, mark: &Mark<'a>) -> Group<'a> {
    let line = sources.line_span(mark.span.file, sources.line(mark.span.file, mark.span.start));
    let rest = sources.text(Span { start: mark.span.start, ..line });
    let shown = rest.char_indices().nth(SHOWN).map_or(rest.len(), |(at, _)| at) as u32;
    let end = mark.span.start + shown;
    let cut = Mark { span: Span { end: mark.span.end.min(end), ..mark.span }, ..mark.clone() };
    let part = Span { end, ..line };
    group.element(
        snippet(sources, part)
            .path(printable(sources.name(line.file)))
            .annotation(cut.annotation(line.start)),
    )
}
