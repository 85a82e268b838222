//! What is wrong with a source text: a message, the place, related places and a cure.

use crate::source::Span;

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
    pub message: String,
    pub primary: Label,
    /// The other half of paired things, the first declaration of a name twice declared, the use of
    /// a macro whose body is at fault.
    pub related: Vec<Label>,
    /// The cure, where one is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(message: impl Into<String>, span: Span, text: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            primary: Label { span, text: text.into() },
            related: Vec::new(),
            help: None,
        }
    }

    /// A warning at a place.
    pub fn warning(message: impl Into<String>, span: Span, text: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message, span, text) }
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

/// Puts diagnostics in the order in which one reads the files.
pub fn in_order(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| (d.primary.span.file.0, d.primary.span.start));
}
