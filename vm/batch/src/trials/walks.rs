//! Compares paths through control-flow graphs with paths through the statements of these graphs. Both must visit the
//! same blocks for any number of suspensions. A lane with exhausted iterations must reach an end.

use crate::graph::BlockGraph;
use crate::irreducible_loops::ReducibleGraph;
use crate::shader::KernelKind;
use crate::statements::{FlowCondition, ShaderStatement, ShaderStatements, StatementLabel};
use crate::structure::structured;

/// A path through a graph. The number of visited blocks determines the direction of each branch.
struct GraphPath<'g> {
    graph: &'g BlockGraph,
    reducible: &'g ReducibleGraph,
    seed: u64,
    trace: Vec<u32>,
    lead: StatementLabel,
    /// The number of loop iterations so far.
    iterations: u32,
    /// The behaviour of the lane at the start of a loop iteration.
    at_rounds: AtIterations,
    /// True if the lane has exhausted its iterations. Such a lane needn't follow the graph, but must reach an end.
    is_spent: bool,
    arm: usize,
    /// The number of the loop entry that the last jump to a switch selected.
    chosen: Option<u32>,
}

/// The control flow after a list of statements.
#[derive(PartialEq)]
enum PathEnd {
    On,
    Broken,
    Continued,
    Over,
    Kept,
}

/// The behaviour of a lane at the start of a loop iteration.
#[derive(Clone, Copy, PartialEq)]
enum AtIterations {
    /// The lane always continues with the iteration.
    GoesOn,
    /// The lane is suspended at some iterations.
    Kept,
    /// The lane exhausts its iterations at some iteration.
    Spent,
}

const LONGEST: usize = 40;

fn mixed(mut bits: u64) -> u64 {
    for (shift, factor) in [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)] {
        bits = (bits ^ (bits >> shift)).wrapping_mul(factor);
    }
    bits ^ (bits >> 31)
}

impl<'g> GraphPath<'g> {
    fn arm_at(&self, length: usize) -> usize {
        (mixed(self.seed ^ (length as u64) << 32) & 1) as usize
    }

    fn new(graph: &'g BlockGraph, reducible: &'g ReducibleGraph, seed: u64) -> GraphPath<'g> {
        GraphPath {
            graph,
            reducible,
            seed,
            trace: Vec::new(),
            lead: 0,
            iterations: 0,
            at_rounds: AtIterations::GoesOn,
            is_spent: false,
            arm: 0,
            chosen: None,
        }
    }

    fn plainly(mut self) -> Vec<u32> {
        let (graph, walk) = (self.graph, &mut self);
        let mut at = 0;
        while walk.trace.len() < LONGEST {
            walk.trace.push(at);
            let arm = walk.arm_at(walk.trace.len());
            match graph.successors[at as usize].as_slice() {
                [] => break,
                [only] => at = *only,
                both => at = both[arm],
            }
        }
        self.trace
    }

    fn test(&self, test: &FlowCondition) -> bool {
        match test {
            FlowCondition::Condition(of) => {
                assert_eq!(self.lead, 0);
                self.is_first_arm(*of)
            }
            FlowCondition::Flows => self.lead == 0,
            FlowCondition::Enters(range) => self.lead == 0 || range.contains(&self.lead),
            FlowCondition::Branches { of, entered } => match self.lead {
                0 => self.is_first_arm(*of),
                lead => entered.as_ref().is_some_and(|range| range.contains(&lead)),
            },
            FlowCondition::LeadsTo(label) => self.lead == *label,
            FlowCondition::LeadsPast(label) => self.lead != 0 && self.lead != *label,
        }
    }

    /// Returns true if block `of` branches to its first arm. The block must be the last one visited.
    fn is_first_arm(&self, of: u32) -> bool {
        match self.reducible.dispatch_nodes.get(&of) {
            Some(switch) => {
                assert!(self.is_spent || self.chosen.is_some(), "an entry was chosen");
                self.chosen.unwrap_or_default() < switch.below
            }
            None => {
                assert!(self.is_spent || self.trace.last() == Some(&of));
                self.arm == 0
            }
        }
    }

    fn execute(&mut self, statements: &[ShaderStatement]) -> PathEnd {
        for (n, statement) in statements.iter().enumerate() {
            let end = self.one(statement);
            if end != PathEnd::On {
                let is_last = n + 1 == statements.len();
                let is_plain = match statement {
                    ShaderStatement::Break | ShaderStatement::Continue => true,
                    ShaderStatement::Block(block) => {
                        self.graph.successors.get(*block as usize).is_some_and(Vec::is_empty)
                    }
                    _ => false,
                };
                assert!(is_last || !is_plain, "{statements:?}");
                return end;
            }
        }
        PathEnd::On
    }

    fn one(&mut self, statement: &ShaderStatement) -> PathEnd {
        match statement {
            ShaderStatement::Block(block) if self.reducible.dispatch_nodes.contains_key(block) => {
                assert_eq!(self.lead, 0);
                PathEnd::On
            }
            ShaderStatement::Block(block) => {
                assert_eq!(self.lead, 0);
                self.trace.push(*block);
                self.arm = self.arm_at(self.trace.len());
                let is_last = self.graph.successors[*block as usize].is_empty();
                if is_last || (self.trace.len() >= LONGEST && !self.is_spent) {
                    PathEnd::Over
                } else {
                    PathEnd::On
                }
            }
            ShaderStatement::Pass { from, arm } => {
                assert_eq!(self.lead, 0);
                if !self.reducible.dispatch_nodes.contains_key(from) && !self.is_spent {
                    assert_eq!(self.trace.last(), Some(from));
                    assert!(self.graph.successors[*from as usize].len() == 1 || *arm == self.arm);
                }
                if let Some(&chosen) = self.reducible.chosen.get(&(*from, *arm)) {
                    self.chosen = Some(chosen);
                }
                PathEnd::On
            }
            ShaderStatement::If { test, yes, no } => {
                let chosen = if self.test(test) { yes } else { no };
                self.execute(chosen)
            }
            ShaderStatement::Loop(body) => loop {
                match self.execute(body) {
                    PathEnd::On | PathEnd::Continued => {}
                    PathEnd::Broken => return PathEnd::On,
                    other => return other,
                }
            },
            ShaderStatement::Iteration { label, .. } => {
                assert_eq!(self.lead, 0);
                self.iterations += 1;
                let is_now = mixed(self.seed ^ u64::from(self.iterations)).is_multiple_of(3);
                match self.at_rounds {
                    AtIterations::Kept if is_now => {
                        self.lead = *label;
                        PathEnd::Kept
                    }
                    AtIterations::Spent if is_now || self.is_spent => {
                        self.is_spent = true;
                        PathEnd::Broken
                    }
                    AtIterations::GoesOn | AtIterations::Kept | AtIterations::Spent => PathEnd::On,
                }
            }
            ShaderStatement::Lead(label) => {
                self.lead = *label;
                PathEnd::On
            }
            ShaderStatement::Break => PathEnd::Broken,
            ShaderStatement::Continue => PathEnd::Continued,
        }
    }
}

/// Checks that the statements of a graph have the same paths as the graph, with any suspensions. Returns true if the
/// graph needed switches.
fn walks_agree(graph: &BlockGraph, walks: u64) -> bool {
    let reducible = ReducibleGraph::of(graph.clone());
    let nodes = structured(&reducible);
    let [single, resumable] =
        [KernelKind::NonResumable, KernelKind::Resumable].map(|pass| ShaderStatements::of(&nodes, pass));
    for seed in 0..walks {
        let new = || GraphPath::new(graph, &reducible, mixed(seed + 1));
        let expected = new().plainly();
        let whole = |statements: &ShaderStatements, at_rounds| {
            let mut walk = GraphPath { at_rounds, ..new() };
            let mut end = walk.execute(&statements.all);
            while end == PathEnd::Kept {
                assert!(statements.heads.contains_key(&walk.lead));
                end = walk.execute(&statements.all);
            }
            if walk.is_spent {
                let has_end = end == PathEnd::Over || (end == PathEnd::On && statements.is_open);
                assert!(has_end, "{graph:?}\n{statements:#?}\n{:?}", walk.trace);
            } else {
                assert!(walk.trace == expected, "{graph:?}\n{statements:#?}\n{:?} {expected:?}", walk.trace);
                assert!(end == PathEnd::Over);
            }
        };
        whole(&single, AtIterations::GoesOn);
        whole(&single, AtIterations::Spent);
        whole(&resumable, AtIterations::Kept);
    }
    !reducible.dispatch_nodes.is_empty()
}

/// Returns all possible lists of at most two successors in a graph with `count` blocks. Block 0 has no predecessors.
fn ends(count: u32) -> Vec<Vec<u32>> {
    let targets = 1..count;
    let pairs = targets.clone().flat_map(|a| targets.clone().map(move |b| vec![a, b]));
    std::iter::once(Vec::new()).chain(targets.clone().map(|a| vec![a])).chain(pairs).collect()
}

#[test]
fn small_graphs_and_their_statements_have_the_same_paths() {
    let ends = ends(4);
    let mut irreducible_loops = 0;
    for code in 0..ends.len().pow(4) {
        let successors = (0..4).map(|n| ends[code / ends.len().pow(n) % ends.len()].clone()).collect();
        irreducible_loops += u32::from(walks_agree(&BlockGraph { successors }, 3));
    }
    assert!(irreducible_loops > 500, "{irreducible_loops}");
}

#[test]
fn random_graphs_and_their_statements_have_the_same_paths() {
    let (mut irreducible_loops, mut seed) = (0, 7);
    for round in 0..60_000_u32 {
        let count = 5 + round % 8;
        let mut random = |below: u32| {
            seed = mixed(seed + 1);
            (seed >> 33) as u32 % below
        };
        // In three of four graphs, most jumps are local, as in programs. In the others they are arbitrary.
        let mut near = |n: u32| match round % 4 {
            3 => 1 + random(count - 1),
            _ => (1 + (n + random(4)).saturating_sub(random(3))).min(count - 1),
        };
        let successors = (0..count).map(|n| match n {
            _ if n == count - 1 => Vec::new(),
            _ if near(n) % 2 == 0 => vec![near(n)],
            _ => vec![near(n), near(n)],
        });
        irreducible_loops += u32::from(walks_agree(&BlockGraph { successors: successors.collect() }, 3));
    }
    assert!(irreducible_loops > 5_000, "{irreducible_loops}");
}
