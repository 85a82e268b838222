//! The instructions lowered so far, with their places in the text and their blocks. This module is
//! independent of names.

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
    /// The span of each instruction. For an instruction in a macro, it is the span in the macro's body.
    pub(super) spans: Vec<Span>,
    /// Ranges of instructions with the places of the words for which they were generated, if these places
    /// differ from the spans.
    pub(super) acts: Vec<(Range<u32>, Span)>,
    pub(super) blocks: Vec<Block>,
    /// The outermost macro uses: the range of instructions and the place of each.
    pub(super) uses: Vec<(Range<u32>, Span)>,
    /// The indices of placeholders for invalid instructions. Further errors about them are suppressed.
    pub(super) broken: HashSet<u32>,
}

impl LoweredCode {
    /// Returns empty code with capacity for this number of instructions, which avoids reallocation.
    pub(super) fn with_room(instructions: usize) -> LoweredCode {
        LoweredCode {
            instructions: Vec::with_capacity(instructions),
            spans: Vec::with_capacity(instructions),
            ..LoweredCode::default()
        }
    }

    /// Returns the index of the next instruction.
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

    /// Appends an instruction that has neither a function nor a link.
    pub(super) fn plain(&mut self, update: Update, operands: ArrayVec<Operand, 3>, span: Span) -> u32 {
        self.push(update, Function::Copy, operands, Link::None, span)
    }

    /// Appends an `assert` that always holds, as a placeholder for an instruction that could not be lowered.
    /// Returns the index of the placeholder.
    pub(super) fn stand_in(&mut self, span: Span) -> u32 {
        let zeros = [Operand::Int(0), Operand::Int(0)].into_iter().collect();
        let at = self.push(Update::Assert, Function::Eq, zeros, Link::None, span);
        self.broken.insert(at);
        at
    }

    /// Records the place of the word for which the instructions from `start` to the end of the code were
    /// generated. Callers use it if the place differs from the instructions' spans.
    pub(super) fn act_at(&mut self, start: u32, place: Span) {
        self.acts.push((start..self.here(), place));
    }

    /// Links two branch halves to each other.
    pub(super) fn pair(&mut self, a: u32, b: u32) {
        for (half, partner) in [(a, b), (b, a)] {
            if let Some(instruction) = self.instructions.get_mut(half as usize) {
                instruction.link = Link::Partner(partner);
            }
        }
    }

    /// Begins a block, and returns its index for [`LoweredCode::close`].
    pub(super) fn open(&mut self, kind: BlockKind, undone: bool) -> usize {
        self.blocks.push(Block { kind, undone, seams: ArrayVec::new() });
        self.blocks.len() - 1
    }

    /// Adds a seam to an open block. The seam contains the instructions from `start` to the end of the code,
    /// which were generated for one of the block's words.
    pub(super) fn seam(&mut self, block: usize, start: u32, place: TextPlace) {
        let end = self.here();
        if let Some(open) = self.blocks.get_mut(block) {
            // The capacity is the maximum number of seams of a block, so adding a seam can't fail.
            let _ = open.seams.try_push(Seam { start, end, place });
        }
    }

    /// Ends a block after its last seam. If the block has no instructions, removes its record.
    pub(super) fn close(&mut self, block: usize) {
        if self.blocks.get(block).is_some_and(|open| open.start() == open.end()) {
            self.blocks.truncate(block);
        }
    }
}
