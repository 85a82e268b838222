//! `.block` and `.scope`: what a disassembly records of another text, read back. Whether it is true of
//! the instructions, the verifier says.

use arrayvec::ArrayVec;
use reviver_isa::instruction::{Base, Class};
use reviver_isa::predicate::Predicate;
use reviver_isa::structure::{Block, BlockKind, Bound, Counting, NameScope, Seam};

use super::Lowering;
use super::scope::Meaning;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{About, Condition, Name, RecordedBlock, RecordedBound, RecordedScope, RecordedSeam};

impl Lowering<'_> {
    pub(super) fn recorded_block(&mut self, tree: &RecordedBlock, span: Span) {
        let seam = |seam: &RecordedSeam| Seam { start: seam.start, end: seam.end, place: seam.place };
        let words: Vec<&str> = tree.seams.iter().map(|seam| seam.word.text.as_str()).collect();
        let abouts: Vec<&About> = tree.seams.iter().map(|seam| &seam.about).collect();
        let kind = match (words.as_slice(), abouts.as_slice()) {
            (["if", "fi"] | ["if", "else", "fi"], [About::Condition(a), .., About::Condition(b)]) => {
                self.both(a, b).map(|(entry, exit)| BlockKind::If { entry, exit })
            }
            (["from", "until"], [About::Condition(a), About::Condition(b)])
            | (["from", "until", "end"], [About::Condition(a), About::Condition(b), _]) => {
                self.both(a, b).map(|(entry, exit)| BlockKind::Loop { entry, exit })
            }
            (["for", "rof"], [About::Counting { counter, bounds, step, reversed }, _]) => {
                self.recorded_counting(counter, bounds, (*step, *reversed)).map(BlockKind::For)
            }
            (["assert"], [About::Condition(condition)]) => {
                self.predicate(condition).map(|condition| BlockKind::Assert { condition })
            }
            (["local"], _) => Some(BlockKind::Local),
            (["delocal"], _) => Some(BlockKind::Delocal),
            (["compute", "apply", "uncompute", "end"], _) => Some(BlockKind::Compute),
            (["macro", "end"], [About::Use { name, undo }, _]) => {
                Some(BlockKind::Macro { name: name.text.to_string(), undo: *undo })
            }
            _ => {
                let message = "these words make no block";
                self.report.fail(Diagnostic::error(message, span, "as the disassembler never writes them"))
            }
        };
        if let Some(kind) = kind {
            let seams: ArrayVec<Seam, 4> = tree.seams.iter().map(seam).take(4).collect();
            self.recorded.blocks.push(Block { kind, undone: tree.undone, seams });
        }
    }

    fn both(&mut self, entry: &Condition, exit: &Condition) -> Option<(Predicate, Predicate)> {
        let (entry, exit) = (self.predicate(entry), self.predicate(exit));
        Some((entry?, exit?))
    }

    fn recorded_counting(
        &mut self,
        counter: &Name,
        bounds: &[RecordedBound; 2],
        (step, reversed): (u32, bool),
    ) -> Option<Counting> {
        let [from, to] = bounds;
        let (counter, from, to) =
            (self.frame_variable(counter), self.recorded_bound(from), self.recorded_bound(to));
        Some(Counting { counter: counter?, from: from?, to: to?, step, reversed })
    }

    fn recorded_bound(&mut self, bound: &RecordedBound) -> Option<Bound> {
        let span = bound.value.span;
        match (self.evaluate(&bound.value)?, &bound.holder) {
            (Meaning::Sum { base, offset }, Some(holder)) => {
                let variable = self.frame_variable(holder)?;
                let offset = i64::try_from(offset).ok();
                let offset = offset.or_else(|| {
                    self.report.fail(Diagnostic::error("this number is too large", span, "above 64 bits"))
                })?;
                Some(Bound::Sum { cell: base, offset, variable })
            }
            (meaning, _) => {
                let source = self.source_of(meaning, span)?;
                self.typed(source, Class::Int, span).map(Bound::Value)
            }
        }
    }

    pub(super) fn recorded_scope(&mut self, tree: &RecordedScope) {
        let Some(variable) = self.frame_variable(&tree.variable) else { return };
        let RecordedScope { start, end, place, .. } = *tree;
        let (procedure, name) = (self.current.number, tree.name.text.to_string());
        self.recorded.scopes.push(NameScope { procedure, variable, name, start, end, place });
    }

    /// Which variable of the frame a recorded name is; says so where there is none.
    fn frame_variable(&mut self, name: &Name) -> Option<u32> {
        match self.current.scopes.find(&name.text).map(|local| &local.meaning) {
            Some(Meaning::Variable { base: Base::Frame(variable), adjoint: false }) => Some(*variable),
            _ => {
                let message = format!("`{}` is no variable of this procedure's frame", name.text);
                self.report.fail(Diagnostic::error(message, name.span, "not in the frame"))
            }
        }
    }
}
