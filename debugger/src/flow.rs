//! The ways through a program: from where a step can lead where, and so how many steps lie at least
//! between here and a place. Knows control flow; knows no data.

use reviver_isa::instruction::{Instruction, Link};
use reviver_isa::module::Module;
use reviver_isa::update::{Shape, Update};
use reviver_vm::{Program, State, Travel};

/// Where the machine stands, and which way it is about to go: a number below [`Flow::nodes`].
///
/// A position is left forward, over the instruction behind it, or backward, over the inverse of the
/// instruction before it. The machine's own direction and the user's decide that together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub position: u32,
    /// Over the instruction before the position, inverted.
    pub backward: bool,
}

impl Node {
    /// Where a state stands when the user travels this way.
    pub fn of(state: &State, travel: Travel) -> Node {
        Node { position: state.position, backward: state.inverted != (travel == Travel::Backward) }
    }

    /// The instruction that the next step executes, or undoes.
    pub fn instruction(self) -> u32 {
        if self.backward { self.position.saturating_sub(1) } else { self.position }
    }

    fn number(self) -> usize {
        2 * self.position as usize + usize::from(self.backward)
    }
}

/// The graph of a program's nodes, as lists of predecessors.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The predecessors of node n are `sources[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
    sources: Vec<u32>,
}

impl Flow {
    pub fn new(program: &Program) -> Flow {
        let edges = Edges::of(program.module());
        let nodes = edges.nodes;
        let mut starts = vec![0u32; nodes + 1];
        edges.list.iter().for_each(|&(_, to)| starts[to as usize + 1] += 1);
        (0..nodes).for_each(|n| starts[n + 1] += starts[n]);
        let mut free = starts.clone();
        let mut sources = vec![0u32; edges.list.len()];
        for (from, to) in edges.list {
            let slot = &mut free[to as usize];
            sources[*slot as usize] = from;
            *slot += 1;
        }
        Flow { starts, sources }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// For each node the least number of steps to one of the goals; `u32::MAX` where none is reached.
    pub fn distances(&self, goals: impl IntoIterator<Item = Node>) -> Distances {
        let mut distances = vec![u32::MAX; self.nodes()];
        let mut front = Vec::new();
        for goal in goals {
            if let Some(distance) = distances.get_mut(goal.number())
                && *distance != 0
            {
                *distance = 0;
                front.push(goal.number() as u32);
            }
        }
        let mut steps = 0;
        while !front.is_empty() {
            steps += 1;
            let mut next = Vec::new();
            for node in front {
                let range = self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize;
                for &source in &self.sources[range] {
                    if distances[source as usize] == u32::MAX {
                        distances[source as usize] = steps;
                        next.push(source);
                    }
                }
            }
            front = next;
        }
        Distances(distances)
    }
}

/// The least number of steps from each node to the nearest goal.
#[derive(Clone, Debug)]
pub struct Distances(Vec<u32>);

impl Distances {
    #[inline]
    pub fn from(&self, node: Node) -> u32 {
        self.0.get(node.number()).copied().unwrap_or(u32::MAX)
    }
}

struct Edges {
    nodes: usize,
    list: Vec<(u32, u32)>,
}

impl Edges {
    fn of(module: &Module) -> Edges {
        let positions = module.code.len() + 1;
        let mut edges = Edges { nodes: 2 * positions, list: Vec::with_capacity(5 * positions) };
        for (at, instruction) in (0..).zip(&module.code) {
            edges.instruction(module, at, instruction);
        }
        edges
    }

    fn add(&mut self, from: Node, to: Node) {
        self.list.push((from.number() as u32, to.number() as u32));
    }

    fn instruction(&mut self, module: &Module, at: u32, instruction: &Instruction) {
        let (before, behind) = (forward(at), backward(at + 1));
        match (&instruction.link, instruction.update.shape()) {
            (Link::Calls(calls), Shape::Call) => {
                for call in calls {
                    self.call(module, at, call.procedure, instruction.update == Update::Uncall);
                }
            }
            (_, Shape::Boundary) => {}
            (link, _) => {
                self.add(before, forward(at + 1));
                self.add(behind, backward(at));
                match (link, instruction.update) {
                    // A taken branch lands behind its partner.
                    (Link::Partner(from), Update::Br) => self.add(before, forward(from + 1)),
                    (Link::Partner(br), _) => self.add(behind, backward(*br)),
                    _ => {}
                }
            }
        }
    }

    /// Into the callee and out of it, whichever way the call is passed; in gradient mode through its
    /// rule too.
    fn call(&mut self, module: &Module, at: u32, procedure: u32, inverts: bool) {
        let Some(callee) = module.procedures.get(procedure as usize) else { return };
        let (first, last) = (callee.entry + 1, callee.exit);
        let (before, behind) = (forward(at), backward(at + 1));
        let (after, ahead) = (forward(at + 1), backward(at));
        let (through, undone) = ((forward(first), forward(last)), (backward(last), backward(first)));
        let ((there_in, there_out), (back_in, back_out)) =
            if inverts { (undone, through) } else { (through, undone) };
        self.add(before, there_in);
        self.add(there_out, after);
        self.add(behind, back_in);
        self.add(back_out, ahead);
        if let Some(rule) = callee.rule.and_then(|rule| module.procedures.get(rule as usize)) {
            let (to_end, to_start) = if inverts { (ahead, after) } else { (after, ahead) };
            let (from_start, from_end) = if inverts { (behind, before) } else { (before, behind) };
            // To the callee's end leads the rule undone and then the body; from there the body undone and
            // then the rule.
            self.add(from_start, backward(rule.exit));
            self.add(backward(rule.entry + 1), forward(first));
            self.add(forward(last), to_end);
            self.add(from_end, backward(last));
            self.add(backward(first), forward(rule.entry + 1));
            self.add(forward(rule.exit), to_start);
        }
    }
}

fn forward(position: u32) -> Node {
    Node { position, backward: false }
}

fn backward(position: u32) -> Node {
    Node { position, backward: true }
}
