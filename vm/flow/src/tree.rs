//! The tree of a program's statements: the nesting of the blocks of its text.

use reviver_isa::structure::{Block, BlockKind, Structure};

/// The nesting of blocks, for fast lookup of the blocks around an instruction.
#[derive(Clone, Debug, Default)]
pub struct StatementTree {
    /// The number of the enclosing block, indexed by block number.
    parents: Vec<Option<u32>>,
}

impl StatementTree {
    /// Builds the tree of the blocks in `structure`. The blocks must be ordered by their starts, outer blocks first.
    pub fn new(structure: &Structure) -> StatementTree {
        let mut open: Vec<u32> = Vec::new();
        let mut parents = Vec::with_capacity(structure.blocks.len());
        for (number, block) in (0..).zip(&structure.blocks) {
            let has_ended = |outer: &u32| {
                structure.blocks.get(*outer as usize).is_none_or(|outer| outer.end() <= block.start())
            };
            while open.pop_if(|outer| has_ended(outer)).is_some() {}
            parents.push(open.last().copied());
            open.push(number);
        }
        StatementTree { parents }
    }

    /// Returns the blocks around an instruction, innermost first.
    pub fn around<'s>(&self, structure: &'s Structure, at: u32) -> impl Iterator<Item = &'s Block> {
        let begun = structure.blocks.partition_point(|block| block.start() <= at);
        let mut next = begun.checked_sub(1).map(|n| n as u32);
        let blocks = std::iter::from_fn(move || {
            let number = next? as usize;
            next = self.parents.get(number).copied().flatten();
            structure.blocks.get(number)
        });
        blocks.filter(move |block| at < block.end())
    }

    /// Returns the block from whose keyword an instruction was generated, and the number of the keyword within the
    /// block, from 0. Returns `None` for an instruction that the text contains literally.
    pub fn seam<'s>(&self, structure: &'s Structure, at: u32) -> Option<(&'s Block, usize)> {
        let written = |block: &&Block| !matches!(block.kind, BlockKind::Compute | BlockKind::Macro { .. });
        let block = self.around(structure, at).find(written)?;
        block.seam_of(at).map(|seam| (block, seam))
    }
}
