//! Translates a control-flow graph to sequences, choices, loops, and labels for jumps. A language without `goto` can
//! express all of these, except for jumps that leave several nested loops. This module is independent of the content of
//! blocks, and of the language.
//!
//! After N. Ramsey, "Beyond Relooper: recursive translation of unstructured control flow to structured control flow"
//! (2022), with one difference: the code after a loop follows the loop instead of being nested in it. So lanes that
//! leave the loop in different iterations converge after the loop.

use std::collections::BTreeMap;

use crate::graph::BlockGraph;
use crate::irreducible_loops::ReducibleGraph;

/// An element of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StructureNode {
    /// The content of a block. A block without successors ends the lane.
    Block(u32),
    /// The jump of block `from` with the index `arm`. If `leaves` is `None`, the jump's target is the next node.
    /// Otherwise `leaves` is the target: a block with a label, or the head of an enclosing loop.
    Jump { from: u32, arm: usize, leaves: Option<u32> },
    /// The branch at the end of block `of`, with a sequence for each of its two successors.
    Choice { of: u32, arms: [Vec<StructureNode>; 2] },
    /// A loop. Jumps to `head`, which is the first block of the body, start another iteration. Control never reaches
    /// the end of the body.
    Loop { head: u32, body: Vec<StructureNode> },
    /// The label of this block. Jumps to the block from earlier parts of the sequence continue at this node.
    Place(u32),
}

/// Returns the nodes of a graph, in program order.
pub(crate) fn structured(reducible: &ReducibleGraph) -> Vec<StructureNode> {
    let graph = &reducible.graph;
    StructureShape::of(graph).sequence(graph, 0, false)
}

/// Results of the analysis for each block of a graph.
#[derive(Debug, Default)]
struct StructureShape {
    /// The block's position in reverse postorder; `None` for an unreachable block. In this order, blocks follow their
    /// predecessors, except along back edges.
    rank: Vec<Option<usize>>,
    /// The head of the innermost loop that contains the block. A loop contains its head.
    inside: Vec<Option<u32>>,
    /// For each loop head, the head of the loop around it; `None` for an outermost loop.
    around: BTreeMap<u32, Option<u32>>,
    /// The blocks with labels that are emitted after the block, in this order. For a loop head, these are emitted after
    /// the loop.
    followers: Vec<Vec<u32>>,
    /// True if the block gets a label, because several jumps lead to it or it follows a loop. Without a label, the
    /// block is emitted directly after the only jump to it.
    is_place: Vec<bool>,
}

impl StructureShape {
    fn of(graph: &BlockGraph) -> StructureShape {
        let count = graph.successors.len();
        let order = reverse_postorder(graph);
        let mut shape = StructureShape {
            rank: vec![None; count],
            inside: vec![None; count],
            followers: vec![Vec::new(); count],
            is_place: vec![false; count],
            ..StructureShape::default()
        };
        for (rank, &block) in order.iter().enumerate() {
            set(&mut shape.rank, block, Some(rank));
        }
        let predecessors = predecessors(graph, &order);
        let above = shape.dominators(&order, &predecessors);
        shape.find_loops(&order, &predecessors, &above);
        shape.find_places(&order, &predecessors, &above);
        shape
    }

    fn rank(&self, block: u32) -> usize {
        self.rank.get(block as usize).copied().flatten().unwrap_or(usize::MAX)
    }

    /// Returns the immediate dominator of each block.
    ///
    /// K. Cooper, T. Harvey and K. Kennedy, "A simple, fast dominance algorithm" (2001).
    fn dominators(&self, order: &[u32], predecessors: &[Vec<u32>]) -> Vec<Option<u32>> {
        let mut above: Vec<Option<u32>> = vec![None; predecessors.len()];
        let mut has_changed = true;
        while std::mem::replace(&mut has_changed, false) {
            for &block in order.iter().skip(1) {
                let known = list(predecessors, block).iter().copied();
                let mut known = known.filter(|&other| other == 0 || get(&above, other).is_some());
                let Some(first) = known.next() else { continue };
                let meet = known.fold(first, |a, b| self.common(&above, a, b));
                has_changed |= get(&above, block) != Some(meet);
                set(&mut above, block, Some(meet));
            }
        }
        above
    }

    fn common(&self, above: &[Option<u32>], mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let later = if self.rank(a) > self.rank(b) { &mut a } else { &mut b };
            match get(above, *later) {
                Some(found) => *later = found,
                None => return 0,
            }
        }
        a
    }

    fn find_loops(&mut self, order: &[u32], predecessors: &[Vec<u32>], above: &[Option<u32>]) {
        for &head in order {
            let lead_back = |&from: &u32| self.rank(from) >= self.rank(head);
            let mut open: Vec<u32> = list(predecessors, head).iter().copied().filter(lead_back).collect();
            if open.is_empty() {
                continue;
            }
            debug_assert!(
                open.iter().all(|&from| dominates(above, head, from)),
                "{head} isn't the only entry"
            );
            self.around.insert(head, get(&self.inside, head));
            // Outer loop heads are visited before inner ones, which then overwrite `inside`.
            let mut is_seen = vec![false; predecessors.len()];
            set(&mut is_seen, head, true);
            set(&mut self.inside, head, Some(head));
            while let Some(block) = open.pop() {
                if !is_seen.get_mut(block as usize).is_none_or(|seen| std::mem::replace(seen, true)) {
                    set(&mut self.inside, block, Some(head));
                    open.extend(list(predecessors, block));
                }
            }
        }
    }

    fn find_places(&mut self, order: &[u32], predecessors: &[Vec<u32>], above: &[Option<u32>]) {
        // Blocks are visited in reverse postorder, so that each list of followers is in that order.
        for &block in order.iter().skip(1) {
            let Some(parent) = get(above, block) else { continue };
            let home = match self.around.get(&block) {
                Some(&around) => around,
                None => get(&self.inside, block),
            };
            let mut left = get(&self.inside, parent);
            let mut behind = None;
            while left != home {
                // A block can only be in loops that contain its immediate dominator.
                let Some(head) = left else { break };
                behind = Some(head);
                left = self.around.get(&head).copied().flatten();
            }
            let entries = list(predecessors, block).iter();
            let is_merge = entries.filter(|&&from| self.rank(from) < self.rank(block)).count() > 1;
            if behind.is_some() || is_merge {
                set(&mut self.is_place, block, true);
                if let Some(followers) = self.followers.get_mut(behind.unwrap_or(parent) as usize) {
                    followers.push(block);
                }
            }
        }
    }

    /// Emits the nodes of the blocks that `first` dominates. If `is_body` is true, `first` is a loop head, and this
    /// function emits only the loop's body, without the blocks after the loop.
    fn sequence(&self, graph: &BlockGraph, first: u32, is_body: bool) -> Vec<StructureNode> {
        let mut nodes = Vec::new();
        // A stack: the followers of a block are emitted before those of the blocks that dominate it.
        let mut open = Vec::new();
        if is_body {
            open.extend(self.followers_after(first, false));
            self.block(graph, first, &mut nodes, &mut open);
        } else {
            open.push((first, false));
        }
        while let Some((block, is_led_to)) = open.pop() {
            if is_led_to {
                nodes.push(StructureNode::Place(block));
            }
            if self.around.contains_key(&block) {
                open.extend(self.followers_after(block, true));
                nodes.push(StructureNode::Loop { head: block, body: self.sequence(graph, block, true) });
            } else {
                open.extend(self.followers_after(block, false));
                self.block(graph, block, &mut nodes, &mut open);
            }
        }
        nodes
    }

    /// Returns the followers of a block, or of its loop if `is_loop` is true, in reverse order. Each has the flag
    /// `true`, because followers are blocks with labels.
    fn followers_after(&self, block: u32, is_loop: bool) -> impl Iterator<Item = (u32, bool)> {
        let own = get(&self.inside, block);
        let followers = list(&self.followers, block).iter().rev().copied();
        let found: Vec<(u32, bool)> = followers
            .filter(|&follower| {
                let home = match self.around.get(&follower) {
                    Some(&around) => around,
                    None => get(&self.inside, follower),
                };
                (home != own) == is_loop
            })
            .map(|follower| (follower, true))
            .collect();
        found.into_iter()
    }

    /// Emits a block and its jumps. A target without a label is emitted after its jump. If the block has two
    /// successors, the target is emitted in the arm of the jump. Otherwise it is pushed to `open`, and is emitted next.
    fn block(
        &self,
        graph: &BlockGraph,
        block: u32,
        nodes: &mut Vec<StructureNode>,
        open: &mut Vec<(u32, bool)>,
    ) {
        nodes.push(StructureNode::Block(block));
        match *list(&graph.successors, block) {
            [] => {}
            [only] => {
                let leaves = self.leaves(block, only);
                nodes.push(StructureNode::Jump { from: block, arm: 0, leaves });
                if leaves.is_none() {
                    open.push((only, false));
                }
            }
            [yes, no, ..] => {
                let arms = [(0, yes), (1, no)].map(|(arm, to)| {
                    let leaves = self.leaves(block, to);
                    let mut nodes = vec![StructureNode::Jump { from: block, arm, leaves }];
                    if leaves.is_none() {
                        nodes.extend(self.sequence(graph, to, false));
                    }
                    nodes
                });
                nodes.push(StructureNode::Choice { of: block, arms });
            }
        }
    }

    /// Returns the target of a jump for [`StructureNode::Jump`]: `None` if the target is emitted right after the
    /// jump.
    fn leaves(&self, from: u32, to: u32) -> Option<u32> {
        let leads_back = self.rank(to) <= self.rank(from);
        (leads_back || get(&self.is_place, to)).then_some(to)
    }
}

fn get<T: Copy + Default>(all: &[T], block: u32) -> T {
    all.get(block as usize).copied().unwrap_or_default()
}

fn set<T>(all: &mut [T], block: u32, value: T) {
    if let Some(place) = all.get_mut(block as usize) {
        *place = value;
    }
}

fn list(all: &[Vec<u32>], block: u32) -> &[u32] {
    all.get(block as usize).map_or(&[], Vec::as_slice)
}

fn dominates(above: &[Option<u32>], head: u32, block: u32) -> bool {
    let mut at = Some(block);
    while let Some(block) = at.filter(|&block| block != head) {
        at = get(above, block);
    }
    at.is_some()
}

fn predecessors(graph: &BlockGraph, order: &[u32]) -> Vec<Vec<u32>> {
    let mut found = vec![Vec::new(); graph.successors.len()];
    for &from in order {
        for &to in list(&graph.successors, from) {
            if let Some(found) = found.get_mut(to as usize) {
                found.push(from);
            }
        }
    }
    found
}

/// Returns the blocks reachable from the first one, each after its predecessors (except along back edges).
fn reverse_postorder(graph: &BlockGraph) -> Vec<u32> {
    let mut is_seen = vec![false; graph.successors.len()];
    let mut order = Vec::new();
    let mut path: Vec<(u32, &[u32])> = Vec::new();
    if !is_seen.is_empty() {
        set(&mut is_seen, 0, true);
        path.push((0, list(&graph.successors, 0)));
    }
    while let Some((block, left)) = path.last_mut() {
        let Some((&to, others)) = left.split_last() else {
            order.push(*block);
            path.pop();
            continue;
        };
        *left = others;
        if is_seen.get_mut(to as usize).is_some_and(|seen| !std::mem::replace(seen, true)) {
            path.push((to, list(&graph.successors, to)));
        }
    }
    order.reverse();
    order
}
