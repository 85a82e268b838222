//! Control-flow graphs, independent of what their blocks contain.

/// The successors of each block. Block 0 is the entry; each block has at most two successors.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockGraph {
    pub successors: Vec<Vec<u32>>,
}
