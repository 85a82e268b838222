//! Limits on copies. A copy is a body that is lowered again: the body of a macro at each use, or the body that an
//! `uncompute` undoes. The statements and instructions of copies are counted.

use std::collections::HashMap;
use std::rc::Rc;

use reviver_isa::codes::ProblemCode;

use super::report::Reporter;
use crate::diagnostic::Diagnostic;
use crate::limits::AssemblyLimits;
use crate::source::Span;
use crate::tree::Body;

/// The copies that are being lowered, and the total size of all copies.
#[derive(Default)]
pub(super) struct Expansion {
    /// The indices of the macros that are being expanded, outermost first.
    pub(super) open: Vec<usize>,
    /// The inverted bodies of macros, computed at their first `undo`.
    pub(super) inverses: HashMap<usize, Rc<Body>>,
    pub(super) is_exhausted: bool,
    limits: AssemblyLimits,
    copies: u32,
    /// The number of instructions before the outermost copy that is being lowered.
    start: u32,
    /// The number of statements lowered in copies so far.
    statements: u32,
    /// The number of instructions in copies that are complete.
    instructions: u32,
}

impl Expansion {
    pub(super) fn within(limits: AssemblyLimits) -> Expansion {
        Expansion { limits, ..Expansion::default() }
    }

    /// Begins a copy. `here` is the number of instructions of the program so far.
    pub(super) fn enter(&mut self, here: u32) {
        if self.copies == 0 {
            self.start = here;
        }
        self.copies += 1;
    }

    pub(super) fn leave(&mut self, here: u32) {
        self.copies = self.copies.saturating_sub(1);
        if self.copies == 0 {
            self.instructions = self.instructions.saturating_add(here.saturating_sub(self.start));
        }
    }

    /// Counts a statement of a copy before it is lowered. Returns true if copies have reached the limit; then
    /// the caller skips the statement. The first time, an error is reported at `span`.
    pub(super) fn refuses(&mut self, report: &mut Reporter, span: Span, here: u32) -> bool {
        if self.copies == 0 {
            return false;
        }
        if self.is_exhausted {
            return true;
        }
        self.statements = self.statements.saturating_add(1);
        let most = self.limits.copied_instructions;
        let made = self.instructions.saturating_add(here.saturating_sub(self.start));
        if made.max(self.statements) <= most {
            return false;
        }
        self.is_exhausted = true;
        let message = format!("macros and `uncompute` expand this text to more than {most} instructions");
        report.add(
            Diagnostic::error(ProblemCode::TooMuch, message, span, "the copy that is one too many").help(
                "write a `.proc` for the repeated part, and `call` it: a procedure is assembled only once",
            ),
        );
        true
    }
}
