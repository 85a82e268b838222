//! What is wrong with a source text: a message, the place, related places and a cure.

use reviver_isa::codes::ProblemCode;

use crate::span::Span;

/// How bad it is: nothing is assembled from a text with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Warning,
    Error,
}

/// A place and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// One problem of a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// What kind of mistake it is; none of what only counts others.
    pub code: Option<ProblemCode>,
    pub message: String,
    pub primary: Label,
    /// The other half of paired things, the first declaration of a name twice declared, the use of
    /// a macro whose body is at fault.
    pub related: Vec<Label>,
    /// The cure, where one is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// What keeps a text from being assembled, and where.
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

    /// What is allowed and yet doubtful, and where.
    pub fn warning(
        code: ProblemCode,
        message: impl Into<String>,
        span: Span,
        text: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message, span, text) }
    }

    /// Adds a related place.
    #[must_use]
    pub fn with(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.related.push(Label { span, text: text.into() });
        self
    }

    /// Adds the cure.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds the cure, if one is known.
    #[must_use]
    pub fn help_if(self, help: Option<impl Into<String>>) -> Diagnostic {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }
}

/// Diagnostics up to a number; those beyond it are only counted. Nobody reads thousands, and a small
/// text must not be answered with a large one.
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

    /// Counts diagnostics that were not made at all.
    pub(crate) fn leave_out(&mut self, count: usize) {
        self.left_out += count;
    }

    /// Whether more diagnostics are only counted: it is not worth while to make them good.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= self.most
    }

    /// Number of diagnostics so far, those left out included.
    pub(crate) fn count(&self) -> usize {
        self.list.len() + self.left_out
    }

    /// A diagnostic that was added, by its number.
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Diagnostic> {
        self.list.get_mut(number)
    }

    /// Everything in order of the text, with a last word on what was left out.
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

/// Puts diagnostics in the order in which one reads the files.
pub fn in_order(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| (d.primary.span.file.0, d.primary.span.start));
}
