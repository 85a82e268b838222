//! Diagnostics of a source text: a message, the place, related places and a suggestion.

use reviver_isa::codes::ProblemCode;

use crate::span::Span;

/// The severity of a diagnostic. A text with an error isn't assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A doubtful place in a valid text, which is assembled.
    Warning,
    /// An invalid place; the text has no module.
    Error,
}

/// A place with a note about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place in a source file; it may be empty, for example at a missing word.
    pub span: Span,
    /// The note that is printed below the place.
    pub text: String,
}

/// One error or warning about a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity: a text with an error isn't assembled.
    pub severity: Severity,
    /// The code of the error or warning. `None` for a diagnostic that only says how many others were left
    /// out.
    pub code: Option<ProblemCode>,
    /// The headline: what is wrong, in one sentence without a full stop.
    pub message: String,
    /// The place of the problem, by which diagnostics are sorted.
    pub primary: Label,
    /// Related places: the other half of a pair, the first declaration of a duplicate name, or the use of a
    /// macro with an error in its body.
    pub related: Vec<Label>,
    /// The suggestion, if there is one.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns an error at a place.
    pub fn error(
        code: ProblemCode,
        message: impl Into<String>,
        span: Span,
        text: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: Some(code),
            message: message.into(),
            primary: Label { span, text: text.into() },
            related: Vec::new(),
            help: None,
        }
    }

    /// Returns a warning at a place: the text is valid but doubtful.
    pub fn warning(
        code: ProblemCode,
        message: impl Into<String>,
        span: Span,
        text: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message, span, text) }
    }

    /// Returns an error of Reviver itself, in a text that it has generated.
    pub fn our_mistake(message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(ProblemCode::OurMistake, message, Span::default(), "this is a bug in Reviver")
            .help("report the bug, and attach the program")
    }

    /// Adds a related place.
    #[must_use]
    pub fn with(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.related.push(Label { span, text: text.into() });
        self
    }

    /// Adds a suggestion to the diagnostic.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a suggestion, if there is one.
    #[must_use]
    pub fn help_if(self, help: Option<impl Into<String>>) -> Diagnostic {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }
}

/// A bounded list of diagnostics; those beyond the bound are only counted. Thousands of messages aren't
/// useful, and a small text must not produce a huge output.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    most: usize,
    list: Vec<Diagnostic>,
    left_out: usize,
}

impl Collection {
    pub(crate) fn up_to(most: usize) -> Collection {
        Collection { most, list: Vec::new(), left_out: 0 }
    }

    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        if self.is_full() {
            self.left_out += 1;
        } else {
            self.list.push(diagnostic);
        }
    }

    /// Adds to the number of diagnostics that were counted but not built.
    pub(crate) fn leave_out(&mut self, count: usize) {
        self.left_out += count;
    }

    /// Returns true if the limit is reached. If it is, callers only count diagnostics, by
    /// [`Collection::leave_out`].
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= self.most
    }

    /// Returns the number of diagnostics, including those that were only counted.
    pub(crate) fn count(&self) -> usize {
        self.list.len() + self.left_out
    }

    /// Returns the diagnostic with this index, or `None` if it was only counted.
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Diagnostic> {
        self.list.get_mut(number)
    }

    /// Returns the diagnostics in order of the text, followed by a note about those that were only counted.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let Collection { mut list, left_out, .. } = self;
        in_order(&mut list);
        if let Some(last) = list.last().filter(|_| left_out > 0) {
            let what = match last.severity {
                Severity::Warning => "warning",
                Severity::Error => "problem",
            };
            let (plural, are) = if left_out == 1 { ("", "is") } else { ("s", "are") };
            let message = format!("{left_out} more {what}{plural} {are} not listed");
            let place = Label { span: last.primary.span, text: "the last one listed".into() };
            let severity = last.severity;
            let (related, help) = (Vec::new(), None);
            list.push(Diagnostic { severity, code: None, message, primary: place, related, help });
        }
        list
    }
}

/// Sorts diagnostics by file and by place.
pub fn in_order(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| (d.primary.span.file.0, d.primary.span.start));
}
