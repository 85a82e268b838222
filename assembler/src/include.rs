//! Includes: the trees of all files of a program, spliced into one where they are included.
//!
//! A file counts once, however often and from wherever it is included; so cycles end by themselves.

use crate::diagnostic::Diagnostic;
use crate::files::Files;
use crate::parser::parse;
use crate::source::{FileId, Sources, Span};
use crate::tree::{Body, Directive, Node, Statement};

/// How deep includes may nest.
const DEEPEST: usize = 64;

/// The files of a program as they are found.
pub(crate) struct Loader<'f> {
    pub(crate) sources: Sources,
    pub(crate) diagnostics: Vec<Diagnostic>,
    files: &'f dyn Files,
}

impl<'f> Loader<'f> {
    pub(crate) fn new(files: &'f dyn Files) -> Loader<'f> {
        Loader { sources: Sources::new(), diagnostics: Vec::new(), files }
    }

    /// The tree of a program, with every include in its place.
    pub(crate) fn program(&mut self, name: &str, bytes: Vec<u8>) -> Body {
        match self.sources.add_bytes(name, bytes) {
            Ok(file) => self.tree(file, 0),
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                Body::new()
            }
        }
    }

    fn tree(&mut self, file: FileId, depth: usize) -> Body {
        let (parsed, diagnostics) = parse(&self.sources, file);
        self.diagnostics.extend(diagnostics);
        if !parsed.iter().any(is_include) {
            return parsed;
        }
        let mut body = Body::with_capacity(parsed.len());
        for node in parsed {
            match &node.statement {
                Statement::Directive(Directive::Include { path, path_span }) => {
                    body.extend(self.included(path, *path_span, depth + 1));
                }
                _ => body.push(node),
            }
        }
        body
    }

    fn included(&mut self, path: &str, place: Span, depth: usize) -> Body {
        if depth > DEEPEST {
            let message = format!("includes nest more than {DEEPEST} deep");
            self.diagnostics.push(Diagnostic::error(message, place, "included here"));
            return Body::new();
        }
        let from = self.sources.name(place.file).to_owned();
        let (name, bytes) = match self.files.read(path, &from) {
            Ok(read) => read,
            Err(reason) => {
                self.diagnostics.push(
                    Diagnostic::error(reason, place, "included here")
                        .help(format!("paths are relative to `{from}`, the file that includes")),
                );
                return Body::new();
            }
        };
        if self.sources.find(&name).is_some() {
            return Body::new();
        }
        match self.sources.add_bytes(name, bytes) {
            Ok(file) => self.tree(file, depth),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic.with(place, "included here"));
                Body::new()
            }
        }
    }
}

fn is_include(node: &Node) -> bool {
    matches!(node.statement, Statement::Directive(Directive::Include { .. }))
}
