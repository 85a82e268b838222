//! The directives `.block`, `.scope` and `.value`, with which a disassembly records the structure of the
//! original text. The verifier checks them against the instructions.

use arrayvec::ArrayVec;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::{Base, Class};
use reviver_isa::predicate::Predicate;
use reviver_isa::structure::{Block, BlockKind, Counting, NameScope, Seam, Temporary};

use super::Lowering;
use super::applied::Source;
use super::scope::Meaning;
use super::signature::signature;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{
    About, Condition, ConditionKind, Expression, Local, Name, RecordedBlock, RecordedScope, RecordedSeam,
};

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
                self.recorded_condition(condition).map(|condition| BlockKind::Assert { condition })
            }
            (["value", "end"], _) => Some(BlockKind::Temporaries),
            (["local"], _) => Some(BlockKind::Local),
            (["delocal"], _) => Some(BlockKind::Delocal),
            (["compute", "apply", "uncompute", "end"], _) => Some(BlockKind::Compute),
            (["macro", "end"], [About::Use { name, undo }, _]) => {
                Some(BlockKind::Macro { name: name.text.to_string(), undo: *undo })
            }
            _ => {
                let message = "these words don't form a block";
                self.report.fail(Diagnostic::error(
                    ProblemCode::MalformedImage,
                    message,
                    span,
                    "the disassembler never writes these words",
                ))
            }
        };
        if let Some(kind) = kind {
            let seams: ArrayVec<Seam, 4> = tree.seams.iter().map(seam).take(4).collect();
            self.recorded.blocks.push(Block { kind, undone: tree.undone, seams });
        }
    }

    fn both(&mut self, entry: &Condition, exit: &Condition) -> Option<(Predicate, Predicate)> {
        let recorded = |this: &mut Self, condition: &Condition| match condition.kind {
            ConditionKind::Forgotten => Some(Predicate::forgotten()),
            _ => this.recorded_condition(condition),
        };
        let (entry, exit) = (recorded(self, entry), recorded(self, exit));
        Some((entry?, exit?))
    }

    fn recorded_condition(&mut self, condition: &Condition) -> Option<Predicate> {
        self.predicate(condition).map(|resolved| resolved.predicate)
    }

    fn recorded_counting(
        &mut self,
        counter: &Name,
        bounds: &[Expression; 2],
        (step, reversed): (u32, bool),
    ) -> Option<Counting> {
        let [from, to] = bounds;
        let (from, to) = (self.operand(from, Class::Int), self.operand(to, Class::Int));
        Some(Counting { counter: self.frame_variable(counter)?, from: from?, to: to?, step, reversed })
    }

    pub(super) fn recorded_value(&mut self, tree: &Local) {
        let Some(variable) = self.frame_variable(&tree.name) else { return };
        let sources: Option<Vec<_>> = tree.sources.iter().map(|source| self.source(source)).collect();
        let Some(sources) = sources else { return };
        let signature = signature(
            tree.function,
            Some(self.class_of(Base::Frame(variable))),
            sources.iter().map(Source::kind),
        );
        let typed = sources.into_iter().zip(&tree.sources).enumerate().map(|(n, (source, tree))| {
            let class = signature.map_or(source.class(), |signature| signature.source(n));
            self.typed(source, class, tree.span)
        });
        let Some(sources) = typed.take(2).collect() else { return };
        let (procedure, function) = (self.current.number, tree.function);
        self.recorded.temporaries.push(Temporary { procedure, variable, function, sources });
    }

    pub(super) fn recorded_scope(&mut self, tree: &RecordedScope) {
        let Some(variable) = self.frame_variable(&tree.variable) else { return };
        let RecordedScope { start, end, place, .. } = *tree;
        let (procedure, name) = (self.current.number, tree.name.text.to_string());
        self.recorded.scopes.push(NameScope { procedure, variable, name, start, end, place });
    }

    /// Returns the frame variable that a recorded name denotes. A name without a variable is reported.
    fn frame_variable(&mut self, name: &Name) -> Option<u32> {
        match self.current.scopes.find(&name.text).map(|local| &local.meaning) {
            Some(Meaning::Variable { base: Base::Frame(variable), adjoint: false }) => Some(*variable),
            _ => {
                let message = format!("`{}` is not a variable of this procedure's frame", name.text);
                self.report.fail(Diagnostic::error(
                    ProblemCode::MalformedImage,
                    message,
                    name.span,
                    "not in the frame",
                ))
            }
        }
    }
}
