//! The mode of the statements that are written, in a program that switches gradient mode itself.

use std::collections::HashMap;

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::update::Update;

use super::involved::Involved;
use crate::build;
use crate::tree::{Expression, StatementNode, Subscript};

/// The mode of the statements that are written.
pub(in crate::adjoint) struct OwnMode {
    pub is_on: bool,
    pub involved: Involved,
    /// For each open block, whether it concerns gradient mode.
    pub blocks: Vec<bool>,
    /// The name of a cell that is 0, if the program has reals on the stack: each real is followed by its adjoint.
    pub zero: Option<CompactString>,
    /// The mode at each label of the current body that has a branch.
    pub branches: HashMap<CompactString, bool>,
    /// The number of open `compute` bodies.
    pub computes: usize,
    /// The names of the array of dropped adjoints and of their number.
    pub dropped: [CompactString; 2],
    /// True if the mode is switched on outside of a `compute` block, so that dropped adjoints may remain.
    pub is_unbalanced: bool,
}

impl OwnMode {
    /// Returns statements that move a dropped adjoint to an array of the program.
    pub fn kept_in_array(&self, adjoint: Expression) -> [StatementNode; 2] {
        let [array, count] = &self.dropped;
        let free = build::element(array, vec![Subscript::At(build::cell(count))]);
        [
            build::update(Update::Swap, Function::Copy, vec![adjoint, free]),
            build::update(Update::Add, Function::Copy, vec![build::cell(count), build::int(1)]),
        ]
    }
}
