//! Diagnostics as text for people, as rustc prints them. Knows no cure: it shows what it is given.
//!
//! Only the lines around a label are handed to the printer, and of a long line only a part, so that
//! the size of a file never shows in the time that an error takes.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use reviver_isa::names::printable;

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::{FileId, Sources, Span};

/// A line with more bytes is shown in part.
const LONG_LINE: usize = 400;
/// Characters shown of a long line from the beginning of a label on.
const SHOWN: usize = 80;
/// A label over more lines is shown at its first one.
const TALLEST: usize = 12;
/// Labels of one file are shown in one excerpt unless they lie further apart.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 1 << 16;

/// All diagnostics in order, a blank line between them, with terminal colours or without.
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

/// What happened when a program ran.
pub struct RunReport<'r> {
    /// Stands where a diagnostic has `error`.
    pub what: &'r str,
    pub message: &'r str,
    pub primary: Label,
    pub related: Vec<Label>,
    /// Come behind the excerpts.
    pub notes: Vec<String>,
    pub help: Option<&'r str>,
}

/// A report in the manner of diagnostics.
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

/// The title and the excerpts.
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

/// A label as it is going to be shown.
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

    /// As an annotation of an excerpt that begins at this byte of the file.
    fn annotation(&self, start: u32) -> Annotation<'a> {
        let range =
            self.span.start.saturating_sub(start) as usize..self.span.end.saturating_sub(start) as usize;
        self.kind.span(range).label(printable(self.text))
    }
}

/// The labels by file, the file of the primary one first.
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

/// The whole lines that labels of one file are on, unless that is too much to print.
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

/// A label on a line that is too long to be shown as a whole. What comes long before the label is
/// left out by the printer, which counts columns from the beginning.
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
