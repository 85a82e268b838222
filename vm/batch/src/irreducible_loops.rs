//! Transforms any control-flow graph to a reducible one. A loop with several entries gets a switch node, which becomes
//! the loop's only entry. Jumps from outside to the former entries are redirected to the switch, which dispatches to
//! these entries. All other control flow is unchanged. This module is independent of the content of blocks, and of the
//! target language.
//!
//! The nesting of loops is defined as in B. Steensgaard, "Sequentializing program dependence graphs for irreducible
//! programs" (1993). A loop is a strongly connected component, and all of its entries are heads. After the jumps to the
//! heads are removed, the remaining strongly connected components are the inner loops.
//!
//! There is one exception: if every iteration passes through one particular entry, only that entry is a head. Jumps
//! from inside the loop to the other entries then stay, and an iteration passes through the switch once.

use std::collections::BTreeMap;

use crate::graph::BlockGraph;

/// A reducible graph: each of its loops has one entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReducibleGraph {
    /// The program's blocks by their numbers, followed by the switch nodes.
    pub graph: BlockGraph,
    /// The data of each switch node. The key is the node's number.
    pub dispatch_nodes: BTreeMap<u32, DispatchNode>,
    /// For each jump that was redirected to a switch, the index of the jump's former target among the entries. The key
    /// is the jump's node and arm.
    pub chosen: BTreeMap<(u32, usize), u32>,
    /// The number of loops with several entries.
    pub irreducible_loops: u32,
}

/// A switch node, which branches on the index of the chosen entry. The first arm leads to the entries with lower
/// indices, and the second arm to the other entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DispatchNode {
    /// The entries to which this node and its subtree of nodes dispatch.
    pub entries: Vec<u32>,
    /// Bound that selects the arm: the first arm leads to entries with an index less than this bound, and the second
    /// arm to all others.
    pub below: u32,
}

impl ReducibleGraph {
    /// Makes a graph reducible. The entry block must have no predecessors.
    pub fn of(graph: BlockGraph) -> ReducibleGraph {
        let region = reached(&graph);
        let mut found = ReducibleGraph { graph: within(&graph, &region), ..ReducibleGraph::default() };
        let mut open = vec![region];
        while let Some(region) = open.pop() {
            for mut cycle in cycles(&found.graph, &region) {
                let entries = found.entries(&cycle);
                let heads = found.heads(&cycle, &entries);
                if entries.len() > 1 {
                    found.switch(&cycle, &entries, &heads);
                }
                cycle.retain(|block| !heads.contains(block));
                open.push(cycle);
            }
        }
        found
    }

    /// Returns the blocks of a cycle that have predecessors outside it, in ascending order.
    fn entries(&self, cycle: &[u32]) -> Vec<u32> {
        let mut is_inside = vec![false; self.graph.successors.len()];
        let mut is_entry = is_inside.clone();
        cycle.iter().for_each(|&block| set(&mut is_inside, block));
        for (from, successors) in self.graph.successors.iter().enumerate() {
            if is_inside.get(from) == Some(&false) {
                successors.iter().for_each(|&to| set(&mut is_entry, to));
            }
        }
        let mut entries: Vec<u32> =
            cycle.iter().copied().filter(|&block| is_entry.get(block as usize) == Some(&true)).collect();
        entries.sort_unstable();
        entries
    }

    /// Returns the heads of a cycle. If one entry is in every cycle that passes through any entry, that entry is the
    /// only head. Otherwise all entries are heads.
    fn heads(&self, cycle: &[u32], entries: &[u32]) -> Vec<u32> {
        let is_only = |&&head: &&u32| {
            let others: Vec<u32> = cycle.iter().copied().filter(|&block| block != head).collect();
            !cycles(&self.graph, &others).iter().flatten().any(|block| entries.contains(block))
        };
        entries.iter().find(is_only).map_or_else(|| entries.to_vec(), |&head| vec![head])
    }

    /// Adds a switch for the entries of a cycle. Redirects two kinds of jumps to the switch: jumps from outside to any
    /// entry, and jumps from inside to a head.
    fn switch(&mut self, cycle: &[u32], entries: &[u32], heads: &[u32]) {
        let root = self.graph.successors.len() as u32;
        for (from, successors) in (0..).zip(&mut self.graph.successors) {
            let is_inside = cycle.contains(&from);
            for (arm, to) in successors.iter_mut().enumerate() {
                let number = entries.iter().position(|entry| entry == to);
                if let Some(number) = number.filter(|_| !is_inside || heads.contains(to)) {
                    self.chosen.insert((from, arm), number as u32);
                    *to = root;
                }
            }
        }
        self.irreducible_loops += 1;
        self.lead_to(0, entries);
    }

    /// Adds a binary tree of nodes that dispatches to `entries`, and returns the root of the tree. `first` is the index
    /// of the first entry of `entries` among all entries of the loop.
    fn lead_to(&mut self, first: u32, entries: &[u32]) -> u32 {
        if let &[only] = entries {
            return only;
        }
        let (low, high) = entries.split_at(entries.len() / 2);
        let (node, below) = (self.graph.successors.len() as u32, first + low.len() as u32);
        self.graph.successors.push(Vec::new());
        self.dispatch_nodes.insert(node, DispatchNode { entries: entries.to_vec(), below });
        let arms = vec![self.lead_to(first, low), self.lead_to(below, high)];
        if let Some(successors) = self.graph.successors.get_mut(node as usize) {
            *successors = arms;
        }
        node
    }
}

/// Returns the subgraph of a region. Block numbers stay the same; blocks outside the region have no successors.
fn within(graph: &BlockGraph, region: &[u32]) -> BlockGraph {
    let mut found = BlockGraph { successors: vec![Vec::new(); graph.successors.len()] };
    for &block in region {
        if let Some(own) = found.successors.get_mut(block as usize) {
            own.extend(successors(graph, block));
        }
    }
    found
}

fn set(all: &mut [bool], block: u32) {
    if let Some(place) = all.get_mut(block as usize) {
        *place = true;
    }
}

/// Clears the flag of a block. Returns true if the flag was set.
fn is_taken(all: &mut [bool], block: u32) -> bool {
    all.get_mut(block as usize).is_some_and(std::mem::take)
}

fn successors(graph: &BlockGraph, block: u32) -> &[u32] {
    graph.successors.get(block as usize).map_or(&[], Vec::as_slice)
}

/// Returns the blocks that are reachable from the first one.
fn reached(graph: &BlockGraph) -> Vec<u32> {
    let all: Vec<u32> = (0..graph.successors.len() as u32).collect();
    let mut is_open = vec![true; all.len()];
    postorder(graph, all.get(..1).unwrap_or_default(), &mut is_open)
}

/// Returns the blocks that are reachable from `from` through open blocks, each after its successors (except along back
/// edges). Clears the flag `is_open` of the returned blocks.
fn postorder(graph: &BlockGraph, from: &[u32], is_open: &mut [bool]) -> Vec<u32> {
    let mut order = Vec::new();
    for &root in from {
        let mut path: Vec<(u32, &[u32])> = Vec::new();
        if is_taken(is_open, root) {
            path.push((root, successors(graph, root)));
        }
        while let Some((block, left)) = path.last_mut() {
            let Some((&to, others)) = left.split_first() else {
                order.push(*block);
                path.pop();
                continue;
            };
            *left = others;
            if is_taken(is_open, to) {
                path.push((to, successors(graph, to)));
            }
        }
    }
    order
}

/// Returns the strongly connected components of a region that contain a cycle.
///
/// M. Sharir, "A strong-connectivity algorithm and its applications in data flow analysis" (1981).
fn cycles(graph: &BlockGraph, region: &[u32]) -> Vec<Vec<u32>> {
    let mut is_open = vec![false; graph.successors.len()];
    region.iter().for_each(|&block| set(&mut is_open, block));
    let mut mirrored = BlockGraph { successors: vec![Vec::new(); graph.successors.len()] };
    let is_inside = is_open.clone();
    for &from in region {
        for &to in successors(graph, from) {
            if let Some(back) = mirrored.successors.get_mut(to as usize) {
                back.push(from);
            }
        }
    }
    let order = postorder(graph, region, &mut is_open);
    let mut is_open = is_inside;
    let sets = order.iter().rev().map(|&block| postorder(&mirrored, &[block], &mut is_open));
    let is_cycle = |set: &Vec<u32>| match set.as_slice() {
        [] => false,
        &[only] => successors(graph, only).contains(&only),
        _ => true,
    };
    sets.filter(is_cycle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(successors: &[&[u32]]) -> ReducibleGraph {
        ReducibleGraph::of(BlockGraph { successors: successors.iter().map(|to| to.to_vec()).collect() })
    }

    #[test]
    fn loops_with_one_entry_are_unchanged() {
        let nested: &[&[u32]] = &[&[1], &[2, 4], &[3], &[2, 1], &[]];
        let found = of(nested);
        assert!(found.dispatch_nodes.is_empty() && found.chosen.is_empty());
        assert_eq!(found.graph.successors, nested);
    }

    #[test]
    fn only_a_loop_with_several_entries_begins_with_a_dispatch() {
        // Blocks 1 and 2 jump to each other, and both are entered from outside. Block 4 is a loop by itself.
        let found = of(&[&[1, 2], &[2], &[1, 3], &[4], &[4, 5], &[]]);
        assert_eq!(
            found.dispatch_nodes,
            BTreeMap::from([(6, DispatchNode { entries: vec![1, 2], below: 1 })])
        );
        assert_eq!(
            found.graph.successors,
            [vec![6, 6], vec![2], vec![6, 3], vec![4], vec![4, 5], vec![], vec![1, 2]]
        );
        assert_eq!(found.chosen, BTreeMap::from([((0, 0), 0), ((0, 1), 1), ((2, 0), 0)]));
        assert_eq!(found.irreducible_loops, 1);
    }

    #[test]
    fn an_inner_loop_with_several_entries_has_its_own_dispatch() {
        // Block 1 is the head of a loop that contains a loop with the two entries 2 and 3.
        let found = of(&[&[1], &[2, 3], &[3], &[2, 4], &[1, 5], &[]]);
        assert_eq!(found.graph.successors[1], [6, 6]);
        assert_eq!((found.graph.successors[4].as_slice(), found.irreducible_loops), (&[1, 5][..], 1));
    }

    #[test]
    fn back_edges_to_several_entries_all_lead_to_the_dispatch() {
        // Blocks 1 and 2 are both entries of a loop, and each is also a loop by itself.
        let found = of(&[&[1, 2], &[1, 2], &[1, 2]]);
        assert_eq!(found.graph.successors, [vec![3, 3], vec![3, 3], vec![3, 3], vec![1, 2]]);
        assert_eq!(found.irreducible_loops, 1);
    }

    #[test]
    fn three_entries_are_a_tree() {
        let found = of(&[&[4, 3], &[2], &[3], &[1, 5], &[1, 2], &[]]);
        let nodes: Vec<&DispatchNode> = found.dispatch_nodes.values().collect();
        assert_eq!(nodes.len(), 2);
        assert_eq!((nodes[0].entries.as_slice(), nodes[0].below), (&[1, 2, 3][..], 1));
        assert_eq!((nodes[1].entries.as_slice(), nodes[1].below), (&[2, 3][..], 2));
        assert_eq!(found.graph.successors[6..], [vec![1, 7], vec![2, 3]]);
    }
}
