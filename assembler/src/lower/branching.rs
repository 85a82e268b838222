//! The statements `if` and `from … until`: both are branch pairs around their bodies.
//!
//! Each half of a pair has the place of the word for which it was generated. So the source lines of a pair
//! show where the pair jumps. An inverted block keeps the spans of its text: its `if` has the span of the
//! original `fi`.

use reviver_isa::structure::BlockKind;
use reviver_isa::update::Update;

use super::Lowering;
use super::instruction::Test;
use crate::tree::{If, Loop};

impl Lowering<'_> {
    /// Emits an `if`. Without `else` it is `br FI, !entry; then; FI: from, !exit`.
    pub(super) fn if_statement(&mut self, tree: &If) {
        let (entry, exit) = (self.guard(&tree.entry), self.joining_guard(&tree.exit));
        let kind = BlockKind::If { entry: entry.predicate.clone(), exit: exit.predicate.clone() };
        let mut seam = self.open_block(kind);
        let (split, _) = self.split(&entry, false, "if");
        self.seam(&seam, entry.span);
        self.body(&tree.then);
        seam.start = self.code.here();
        match &tree.otherwise {
            None => {
                let raised = self.raise(&exit, exit.span);
                let join = self.join(&exit, raised, false, "fi");
                self.code.pair(split, join);
            }
            // `br ELSE, !entry; then; br FI, always; ELSE: from, always; otherwise; FI: from, exit`
            Some(otherwise) => {
                let raised = self.raise(&exit, tree.middle);
                let leave = self.push_branch(Update::Br, Test::always(), "then", tree.middle);
                let arrive = self.push_branch(Update::From, Test::always(), "else", tree.middle);
                self.code.pair(split, arrive);
                self.seam(&seam, tree.middle);
                self.body(otherwise);
                seam.start = self.code.here();
                let join = self.join(&exit, raised, true, "fi");
                self.code.pair(leave, join);
            }
        }
        self.seam(&seam, exit.span);
        self.code.close(seam.block);
    }

    pub(super) fn loop_statement(&mut self, tree: &Loop) {
        let (entry, exit) = (self.joining_guard(&tree.entry), self.guard(&tree.exit));
        let kind = BlockKind::Loop { entry: entry.predicate.clone(), exit: exit.predicate.clone() };
        let mut seam = self.open_block(kind);
        let raised = self.raise(&entry, entry.span);
        let top = self.join(&entry, raised, false, "from");
        self.seam(&seam, entry.span);
        self.body(&tree.first);
        seam.start = self.code.here();
        match &tree.again {
            // `TOP: from BACK, !entry; first; BACK: br TOP, !exit`
            None => {
                let (back, _) = self.split(&exit, false, "until");
                self.code.pair(back, top);
            }
            // `TOP: …; first; br DONE, exit; again; BACK: br TOP, always; DONE: from, always`
            Some(again) => {
                let (out, flag) = self.split(&exit, true, "until");
                self.code.act_at(seam.start, tree.middle);
                self.seam(&seam, tree.middle);
                self.body(again);
                seam.start = self.code.here();
                let back = self.push_branch(Update::Br, Test::always(), "again", exit.span);
                self.code.pair(back, top);
                let done = self.push_branch(Update::From, Test::always(), "done", exit.span);
                self.code.pair(out, done);
                self.settle(flag, exit.span);
            }
        }
        self.seam(&seam, exit.span);
        self.code.close(seam.block);
    }
}
