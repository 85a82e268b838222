//! Graphs of blocks. Knows no block's content.

/// Where blocks lead to; 0 is the first one, and each leads to at most two.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockGraph {
    pub successors: Vec<Vec<u32>>,
}
