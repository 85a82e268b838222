//! Data for the execution counts of lines: the nodes at which control enters each line, and the counts on
//! each branch.

use std::collections::HashMap;
use std::sync::Arc;

use reviver_isa::update::Update;
use reviver_vm::stops::{Node, Stops};
use reviver_vm::{Program, Travel};

use crate::listing::{Line, Listing};
use crate::points::BreakPlace;
use crate::timeline::BranchNumber;

/// The nodes at which control enters each line. Each line has a number, which is its index in
/// [`CountedTo::counts`].
#[derive(Debug)]
pub(super) struct LinePlan {
    pub lines: HashMap<Line, usize>,
    pub at: HashMap<Node, Vec<LineEntry>>,
    pub stops: Stops,
}

/// A line that control enters at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineEntry {
    pub line: usize,
    /// True if the node is directly after the first instruction of the line; false if the node is directly before
    /// it. If the line begins with a join, the node is after the join.
    pub is_behind: bool,
}

/// The counts of a branch, up to one of its steps.
#[derive(Clone, Debug)]
pub(super) struct CountedTo {
    pub step: i64,
    /// The number of steps of the last count that was given up or interrupted. A new count isn't tried if it would
    /// execute more than half this number of steps.
    pub too_far: Option<u64>,
    /// Counts by line number. A count is negative if the branch began with an edit and then ran backward over
    /// a line that hadn't been executed forward.
    pub counts: Vec<i64>,
}

/// The counts of all branches.
#[derive(Clone, Debug, Default)]
pub(super) struct LineCounts {
    pub plan: Option<Arc<LinePlan>>,
    pub counted: HashMap<BranchNumber, CountedTo>,
}

impl LinePlan {
    pub fn new(program: &Program, listing: &Listing) -> LinePlan {
        let mut lines = HashMap::new();
        let mut at: HashMap<Node, Vec<LineEntry>> = HashMap::new();
        for instruction in 0..program.module().code.len() as u32 {
            let line = listing.line(instruction);
            let number = lines.len();
            // The bounds of main have no separate line.
            if lines.contains_key(&line) || listing.with_instructions(line) != Some(line) {
                continue;
            }
            lines.insert(line, number);
            for inverted in [false, true] {
                for entry in listing.entries(program.module(), line, inverted) {
                    let update = program.module().code.get(entry as usize).map(|i| i.update);
                    let is_behind = update == Some(if inverted { Update::Br } else { Update::From });
                    let place = BreakPlace::Entry { at: entry, inverted };
                    for node in place.nodes(program, Travel::Forward) {
                        let entries = at.entry(node).or_default();
                        entries.retain(|known| known.line != number);
                        entries.push(LineEntry { line: number, is_behind });
                    }
                }
            }
        }
        let stops = Stops::new(program, at.keys().copied());
        LinePlan { lines, at, stops }
    }
}
