//! The regions of a function's blocks: the sweep, or the verification, that a block belongs to. A run has one region.
//! The call function of a gradient has three: the primal sweep, the reverse sweep and verification.

use std::collections::{HashMap, HashSet};

use reviver_flow::graph::CodeDirection;

use crate::function::SsaFunction;
use crate::op::OpKind;

/// The part of a function that an operation belongs to: a sweep, or the verification after both sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// A run from inputs to results, or the primal sweep of a gradient.
    Forward,
    /// A run from results to inputs.
    Backward,
    /// The reverse sweep of a gradient.
    Reverse,
    /// The end of a gradient, after both sweeps.
    Verification,
}

impl Region {
    /// Returns the index of the sweep: 0 for a run or a primal sweep, 1 for a reverse sweep with its verification.
    pub fn sweep(self) -> usize {
        match self {
            Region::Forward | Region::Backward => 0,
            Region::Reverse | Region::Verification => 1,
        }
    }

    /// Returns the region after an operation of kind `kind`; `self` is the region before the operation.
    pub fn after(self, kind: OpKind) -> Region {
        match kind {
            OpKind::Turned { .. } => Region::Reverse,
            OpKind::Arrived => Region::Verification,
            _ => self,
        }
    }
}

/// Returns the region at the start of each block.
pub fn regions(function: &SsaFunction) -> HashMap<u32, Region> {
    let marked = |marks: fn(OpKind) -> bool| {
        let is_marked = |number: &u32| {
            let ops = function.blocks.get(*number as usize).map_or(&[][..], |block| &block.ops);
            ops.iter().filter_map(|&value| function.op(value)).any(|op| marks(op.kind))
        };
        (0..function.blocks.len() as u32).filter(is_marked).collect::<Vec<u32>>()
    };
    let turns = marked(|kind| matches!(kind, OpKind::Turned { .. }));
    let is_run = turns.is_empty();
    let (reverse, verification) =
        (successors(function, turns), successors(function, marked(|kind| kind == OpKind::Arrived)));
    let of_run = if function.specialization.direction == CodeDirection::Forward {
        Region::Forward
    } else {
        Region::Backward
    };
    let region = |block: u32| match block {
        _ if is_run => of_run,
        _ if verification.contains(&block) => Region::Verification,
        _ if reverse.contains(&block) => Region::Reverse,
        _ => Region::Forward,
    };
    (0..function.blocks.len() as u32).map(|block| (block, region(block))).collect()
}

/// Returns the blocks that are reachable from the blocks `open` by at least one edge.
fn successors(function: &SsaFunction, mut open: Vec<u32>) -> HashSet<u32> {
    let mut found = HashSet::new();
    while let Some(block) = open.pop() {
        let jumps = function.blocks.get(block as usize).into_iter().flat_map(|block| block.end.jumps());
        open.extend(jumps.map(|jump| jump.to).filter(|&to| found.insert(to)));
    }
    found
}
