//! Control-flow graphs. This module is independent of the content of blocks.

/// The successors of each block. Block 0 is the entry; each block has at most two successors.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockGraph {
    pub successors: Vec<Vec<u32>>,
}
