//! Places at which runs stop that tasks are made in at the same time: where tasks begin, and behind each call of one. Knows no state.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use reviver_flow::TaskFork;

use crate::program::Program;
use crate::stops::{Node, Stops};

/// Where a run stops that may use threads.
#[derive(Debug)]
pub(crate) struct TaskPlaces {
    /// At each bound of tasks from which they begin, and at the places that are asked for.
    pub stops: Stops,
    asked: Vec<Node>,
    /// Behind each call, by the `fork`: made where threads first come there.
    behind: Mutex<HashMap<u32, Arc<Stops>>>,
}

impl TaskPlaces {
    /// With the places at which a run stops anyway.
    pub fn new(program: &Program, asked: Option<&Stops>) -> TaskPlaces {
        let opens = program.flow().forks().iter().flat_map(|fork| {
            let before_fork = Node { position: fork.stretch.opens, backward: false };
            [before_fork, Node { position: fork.stretch.closes + 1, backward: true }]
        });
        let asked = sorted(asked);
        let stops = Stops::new(program, opens.chain(asked.iter().copied()));
        TaskPlaces { stops, asked, behind: Mutex::default() }
    }

    /// Whether they were made for a run with these places.
    pub fn are_for(&self, asked: Option<&Stops>) -> bool {
        self.asked == sorted(asked)
    }

    /// Behind each of the calls, in either direction.
    pub fn behind(&self, program: &Program, fork: &TaskFork) -> Arc<Stops> {
        let mut behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        let made = behind.entry(fork.stretch.opens).or_insert_with(|| {
            let nodes = fork.calls.iter().flat_map(|&at| {
                [Node { position: at + 1, backward: false }, Node { position: at, backward: true }]
            });
            Arc::new(Stops::new(program, nodes))
        });
        Arc::clone(made)
    }
}

/// The places in an order of their own.
fn sorted(stops: Option<&Stops>) -> Vec<Node> {
    let mut nodes: Vec<Node> = stops.into_iter().flat_map(Stops::nodes).collect();
    nodes.sort_unstable_by_key(|node| (node.position, node.backward));
    nodes
}
