//! Breakpoints. A run stops before it executes the instruction at a breakpoint. To this end, a copy of the program has
//! stop ops at the breakpoints. So breakpoints cost a run nothing until the run reaches one. The caller decides where,
//! and for what reason, a run stops.

use std::collections::HashSet;

use crate::interp::effective_direction;
use crate::interp::op::{Kind, Op, WINDOWED};
use crate::program::{FORWARD, Program};
use crate::state::State;
use crate::travel::Travel;

/// A position, and the instruction that the next step executes or undoes there. The step either executes the
/// instruction after the position, or undoes the instruction before the position. Which of the two it does depends on
/// the machine's own direction and the user's direction of travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The index of the instruction after the position.
    pub position: u32,
    /// True if the next step undoes the instruction before the position.
    pub backward: bool,
}

impl Node {
    /// Returns the node of a state for the user's direction.
    pub fn of<B>(state: &State<B>, travel: Travel) -> Node {
        let backward = effective_direction(state.inverted, travel) != FORWARD;
        Node { position: state.position, backward }
    }

    /// Returns the nodes from which a step executes or undoes an instruction.
    pub fn over(instruction: u32) -> [Node; 2] {
        let (before, after) = (instruction, instruction.saturating_add(1));
        [Node { position: before, backward: false }, Node { position: after, backward: true }]
    }

    /// Returns the instruction that the next step executes or undoes.
    pub fn instruction(self) -> u32 {
        if self.backward { self.position.saturating_sub(1) } else { self.position }
    }
}

/// A set of breakpoints for one program.
#[derive(Clone, Debug)]
pub struct Stops {
    nodes: HashSet<Node>,
    program: Program,
}

impl Stops {
    /// Creates the set. Nodes that don't exist in the program are never reached.
    pub fn new(program: &Program, nodes: impl IntoIterator<Item = Node>) -> Stops {
        let nodes: HashSet<Node> = nodes.into_iter().collect();
        let mut code: [Vec<Op>; 2] = (*program.landings).clone();
        for node in &nodes {
            let (direction, length) = (usize::from(node.backward), program.module().code.len());
            if node.position as usize <= length
                && let Some(op) = code[direction].get_mut(program.counter(node.position, direction))
            {
                op.kind = Kind::Stop;
                // A stop has no operands to locate. Those of the replaced op may be outside of their arrays.
                op.flags &= !WINDOWED;
            }
        }
        Stops { nodes, program: program.with_code(code) }
    }

    /// Returns true if there is a breakpoint at this node.
    pub fn contains(&self, node: Node) -> bool {
        self.nodes.contains(&node)
    }

    /// Iterates over the breakpoints, in no particular order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node> + '_ {
        self.nodes.iter().copied()
    }

    /// Returns the breakpoint if there is exactly one.
    pub fn only(&self) -> Option<Node> {
        self.nodes.iter().next().copied().filter(|_| self.nodes.len() == 1)
    }

    /// Returns the program with the stop ops.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }
}
