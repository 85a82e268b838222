//! Recording of blocks and names during lowering, so that tools needn't reconstruct them from instructions.
//! No code is emitted here.

use reviver_isa::structure::{BlockKind, NameScope, TextPlace};

use super::Lowering;
use crate::source::Span;
use crate::tree::Name;

/// The seam of a block for which instructions are being emitted.
pub(super) struct OpenSeam {
    pub(super) block: usize,
    /// The index of the seam's first instruction.
    pub(super) start: u32,
}

impl Lowering<'_> {
    /// Begins a block and its first seam.
    pub(super) fn open_block(&mut self, kind: BlockKind) -> OpenSeam {
        OpenSeam { block: self.code.open(kind, self.undone), start: self.code.here() }
    }

    /// Ends a seam after the last instruction. The seam's position in the text is the whole statement on the
    /// line where `span` begins.
    pub(super) fn seam(&mut self, seam: &OpenSeam, span: Span) {
        let place = self.statement_place(span);
        self.code.seam(seam.block, seam.start, place);
    }

    /// Returns the whole statement on the line where a span begins.
    fn statement_place(&self, span: Span) -> TextPlace {
        let line = self.sources.line(span.file, span.start);
        let whole = self.sources.line_span(span.file, line);
        let text = self.sources.text(whole);
        let text = text.split(';').next().unwrap_or_default();
        let blank = (text.len() - text.trim_start().len()) as u32;
        let start = whole.start + blank;
        self.text_place(Span { start, end: start + text.trim().len() as u32, ..whole })
    }

    /// Returns a span within a line as line and columns.
    fn text_place(&self, span: Span) -> TextPlace {
        let position = self.sources.position(span);
        let length = self.sources.text(span).chars().count();
        let [line, first] = [position.line, position.column].map(|n| n as u32);
        TextPlace { file: span.file.0, line, first, last: first + (length as u32).saturating_sub(1) }
    }

    /// Begins the scope of a name that denotes a frame variable. `from` is the first instruction of the
    /// scope; for an `.ancilla` it is the beginning of the procedure.
    pub(super) fn open_name(&mut self, name: &Name, variable: u32, from: u32) {
        let place = self.text_place(name.span);
        let procedure = self.current.number;
        let name = name.text.to_string();
        self.scopes.push(NameScope { procedure, variable, name, start: from, end: u32::MAX, place });
    }

    /// Ends the scope of a variable's name after the last instruction.
    pub(super) fn close_name(&mut self, variable: u32) {
        let (here, number) = (self.code.here(), self.current.number);
        let is_open = |scope: &&mut NameScope| scope.variable == variable && scope.end == u32::MAX;
        let own = self.scopes.iter_mut().rev().take_while(|scope| scope.procedure == number);
        if let Some(scope) = own.into_iter().find(is_open) {
            scope.end = here;
        }
    }

    /// Ends the scopes of a procedure that are still open at its exit, and sorts all its scopes.
    pub(super) fn close_names(&mut self, exit: u32) {
        let number = self.current.number;
        let first = self.scopes.partition_point(|scope| scope.procedure < number);
        let own = self.scopes.get_mut(first..).unwrap_or_default();
        for scope in own.iter_mut().filter(|scope| scope.end == u32::MAX) {
            scope.end = exit + 1;
        }
        own.sort_by_key(|scope| (scope.variable, scope.start));
    }
}
