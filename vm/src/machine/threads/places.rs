//! Breakpoints for parallel tasks: the start of each task region, and the position after each call of a task. The
//! module reads no state.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use reviver_flow::TaskFork;

use crate::program::Program;
use crate::stops::{Node, Stops};

/// The breakpoints of a run that may use threads.
#[derive(Debug)]
pub(crate) struct TaskPlaces {
    /// Breakpoints at the opening bounds of task regions, and the breakpoints that the caller requested.
    pub stops: Stops,
    requested: Vec<Node>,
    /// Breakpoints after each call of a region, by the position of its `fork`. The breakpoints of a region are created
    /// when threads first reach the region.
    after_calls: Mutex<HashMap<u32, Arc<Stops>>>,
}

impl TaskPlaces {
    /// Creates the breakpoints, including those that the caller requested.
    pub fn new(program: &Program, requested: Option<&Stops>) -> TaskPlaces {
        let opens = program.flow().forks().iter().flat_map(|fork| {
            let before_fork = Node { position: fork.region.opens, backward: false };
            [before_fork, Node { position: fork.region.closes + 1, backward: true }]
        });
        let requested = sorted(requested);
        let stops = Stops::new(program, opens.chain(requested.iter().copied()));
        TaskPlaces { stops, requested, after_calls: Mutex::default() }
    }

    /// Returns true if the breakpoints were created for a run with these stops.
    pub fn are_for(&self, requested: Option<&Stops>) -> bool {
        self.requested == sorted(requested)
    }

    /// Returns the breakpoints after each call of a region, in either direction.
    pub fn after_calls(&self, program: &Program, fork: &TaskFork) -> Arc<Stops> {
        let mut after_calls = self.after_calls.lock().unwrap_or_else(PoisonError::into_inner);
        let made = after_calls.entry(fork.region.opens).or_insert_with(|| {
            let nodes = fork.calls.iter().flat_map(|&at| {
                [Node { position: at + 1, backward: false }, Node { position: at, backward: true }]
            });
            Arc::new(Stops::new(program, nodes))
        });
        Arc::clone(made)
    }
}

/// Returns the breakpoints in a canonical order.
fn sorted(stops: Option<&Stops>) -> Vec<Node> {
    let mut nodes: Vec<Node> = stops.into_iter().flat_map(Stops::nodes).collect();
    nodes.sort_unstable_by_key(|node| (node.position, node.backward));
    nodes
}
