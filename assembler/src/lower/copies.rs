//! The bounds of copying: what is lowered more often than it is written is counted.

use std::collections::HashMap;
use std::rc::Rc;

use reviver_isa::codes::ProblemCode;

use super::report::Reporter;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::Body;

/// Statements that macros and `uncompute` may add, so that a short text can't ask for hours.
const MOST_COPIED: u32 = 5_000_000;

/// The copies that are open and what they have cost.
#[derive(Default)]
pub(super) struct Expansion {
    /// The macros that are being expanded, outermost first.
    pub(super) open: Vec<usize>,
    /// Bodies of macros backward, made at their first `undo`.
    pub(super) inverses: HashMap<usize, Rc<Body>>,
    pub(super) copies: u32,
    copied: u32,
}

impl Expansion {
    /// Counts a statement. True once more were copied than there may be.
    pub(super) fn is_exhausted(&mut self, report: &mut Reporter, span: Span) -> bool {
        if self.copies == 0 {
            return false;
        }
        self.copied = self.copied.saturating_add(1);
        if self.copied == MOST_COPIED + 1 {
            let message = format!("macros and `uncompute` copy more than {MOST_COPIED} statements");
            report.add(Diagnostic::error(
                ProblemCode::TooMuch,
                message,
                span,
                "the copy that was one too many",
            ));
        }
        self.copied > MOST_COPIED
    }
}
