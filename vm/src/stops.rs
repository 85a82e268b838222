//! Places at which a run stops before it executes what is there: a copy of the program in whose code the
//! instructions at these places say so. So a run costs nothing more until it comes to one. Knows no reason
//! to stop.

use std::collections::HashSet;

use crate::interp::effective_direction;
use crate::interp::op::{Kind, Op, WINDOWED};
use crate::program::{FORWARD, Program};
use crate::state::State;
use crate::travel::Travel;

/// Where a machine stands, and over which of its neighbours the next step leads: forward over the
/// instruction behind the position, or backward over the inverse of the one before it. The machine's own
/// direction and the user's decide that together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    pub position: u32,
    /// Over the instruction before the position, inverted.
    pub backward: bool,
}

impl Node {
    /// Where a state stands when the user travels this way.
    pub fn of<B>(state: &State<B>, travel: Travel) -> Node {
        let backward = effective_direction(state.inverted, travel) != FORWARD;
        Node { position: state.position, backward }
    }

    /// The nodes from which a step leads over an instruction.
    pub fn over(instruction: u32) -> [Node; 2] {
        let (before, behind) = (instruction, instruction.saturating_add(1));
        [Node { position: before, backward: false }, Node { position: behind, backward: true }]
    }

    /// The instruction that the next step executes, or undoes.
    pub fn instruction(self) -> u32 {
        if self.backward { self.position.saturating_sub(1) } else { self.position }
    }
}

/// A set of places to stop at, for one program.
#[derive(Clone, Debug)]
pub struct Stops {
    nodes: HashSet<Node>,
    program: Program,
}

impl Stops {
    /// Nodes that the program hasn't got are never come to.
    pub fn new(program: &Program, nodes: impl IntoIterator<Item = Node>) -> Stops {
        let nodes: HashSet<Node> = nodes.into_iter().collect();
        let mut code: [Vec<Op>; 2] = (*program.landings).clone();
        for node in &nodes {
            let (direction, length) = (usize::from(node.backward), program.module().code.len());
            if node.position as usize <= length
                && let Some(op) = code[direction].get_mut(program.counter(node.position, direction))
            {
                op.kind = Kind::Stop;
                // Its operands are none of a stop's business: they may be outside of their arrays.
                op.flags &= !WINDOWED;
            }
        }
        Stops { nodes, program: program.with_code(code) }
    }

    /// Whether a run stops here.
    pub fn contains(&self, node: Node) -> bool {
        self.nodes.contains(&node)
    }

    /// The places, in no order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node> + '_ {
        self.nodes.iter().copied()
    }

    /// The place, where there is only one.
    pub fn only(&self) -> Option<Node> {
        self.nodes.iter().next().copied().filter(|_| self.nodes.len() == 1)
    }

    /// The program that stops.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }
}
