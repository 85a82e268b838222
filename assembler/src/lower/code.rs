//! The instructions lowered so far, with their places in the text and the blocks they form.
//! Knows no names.

use std::collections::HashSet;
use std::ops::Range;

use arrayvec::ArrayVec;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Instruction, Link, Operand};
use reviver_isa::structure::{Block, BlockKind, Seam, TextPlace};
use reviver_isa::update::Update;

use crate::source::Span;

/// The code of all procedures, in order.
#[derive(Default)]
pub(super) struct LoweredCode {
    pub(super) instructions: Vec<Instruction>,
    /// The text of each instruction; in the body of a macro, the body's text.
    pub(super) spans: Vec<Span>,
    /// Instructions that act at another place than that of their text.
    pub(super) acts: Vec<(Range<u32>, Span)>,
    pub(super) blocks: Vec<Block>,
    /// The outermost macro uses, by the instructions they became.
    pub(super) uses: Vec<(Range<u32>, Span)>,
    /// Instructions that only stand for one in error: nothing is to be said about them again.
    pub(super) broken: HashSet<u32>,
}

impl LoweredCode {
    /// With room for so many instructions: a list that grows is copied.
    pub(super) fn with_room(instructions: usize) -> LoweredCode {
        LoweredCode {
            instructions: Vec::with_capacity(instructions),
            spans: Vec::with_capacity(instructions),
            ..LoweredCode::default()
        }
    }

    /// The index of the next instruction.
    pub(super) fn here(&self) -> u32 {
        self.instructions.len() as u32
    }

    pub(super) fn push(
        &mut self,
        update: Update,
        function: Function,
        operands: ArrayVec<Operand, 3>,
        link: Link,
        span: Span,
    ) -> u32 {
        let at = self.here();
        self.instructions.push(Instruction { update, function, operands, link });
        self.spans.push(span);
        at
    }

    /// Pushes an instruction without a function and a link.
    pub(super) fn plain(&mut self, update: Update, operands: ArrayVec<Operand, 3>, span: Span) -> u32 {
        self.push(update, Function::Copy, operands, Link::None, span)
    }

    /// Pushes a stand-in for an instruction that could not be lowered.
    pub(super) fn stand_in(&mut self, span: Span) -> u32 {
        let zeros = [Operand::Int(0), Operand::Int(0)].into_iter().collect();
        let at = self.push(Update::Assert, Function::Eq, zeros, Link::None, span);
        self.broken.insert(at);
        at
    }

    /// Says where the instructions from `start` on act, if not where their text stands.
    pub(super) fn act_at(&mut self, start: u32, place: Span) {
        self.acts.push((start..self.here(), place));
    }

    /// Makes two branch halves name each other.
    pub(super) fn pair(&mut self, a: u32, b: u32) {
        for (half, partner) in [(a, b), (b, a)] {
            if let Some(instruction) = self.instructions.get_mut(half as usize) {
                instruction.link = Link::Partner(partner);
            }
        }
    }

    /// Begins a block here; the number is for [`LoweredCode::close`].
    pub(super) fn open(&mut self, kind: BlockKind, undone: bool) -> usize {
        self.blocks.push(Block { kind, undone, seams: ArrayVec::new() });
        self.blocks.len() - 1
    }

    /// The instructions from `start` on are what a word of an open block became.
    pub(super) fn seam(&mut self, block: usize, start: u32, place: TextPlace) {
        let end = self.here();
        if let Some(open) = self.blocks.get_mut(block) {
            // No block has more seams than there is room for.
            let _ = open.seams.try_push(Seam { start, end, place });
        }
    }

    /// Ends a block behind its last seam. A block without an instruction leaves no trace.
    pub(super) fn close(&mut self, block: usize) {
        if self.blocks.get(block).is_some_and(|open| open.start() == open.end()) {
            self.blocks.truncate(block);
        }
    }
}
