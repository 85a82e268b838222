//! From any graph of blocks to one whose loops have one entry each: a loop with several entries gets a switch, which all jumps to these lead
//! through, and with which it begins. Whatever isn't such a loop stays as it is. Knows no block's content, and no language.
//!
//! Loops are nested as B. Steensgaard does it, "Sequentializing program dependence graphs for irreducible programs" (1993): the blocks that
//! lead to each other, all of whose entries are its heads, and then those that still do so without the jumps to these. Where all rounds lead
//! through one of the entries, only that one is a head: jumps from within to the others stay as they are, and a round asks the switch once.

use std::collections::BTreeMap;

use crate::graph::BlockGraph;

/// A graph each of whose loops is entered at one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReducibleGraph {
    /// Blocks by their numbers, and the nodes of switches behind them.
    pub graph: BlockGraph,
    /// By node that is no block.
    pub switches: BTreeMap<u32, SwitchNode>,
    /// By jump, a node and the number of its arm, the number of the entry that it was for. It leads to a switch.
    pub chosen: BTreeMap<(u32, usize), u32>,
    /// Loops with several entries.
    pub switched: u32,
}

/// A node that leads to one or the other part of a loop's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SwitchNode {
    /// The blocks that it leads to at last.
    pub entries: Vec<u32>,
    /// Entries whose number is below this are those of its first arm.
    pub below: u32,
}

impl ReducibleGraph {
    /// Of a graph to whose first block nothing leads.
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

    /// The blocks of a cycle that others lead to, in their order.
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

    /// The entries of a cycle through which its rounds lead: one of them, if the others aren't in a cycle without it.
    fn heads(&self, cycle: &[u32], entries: &[u32]) -> Vec<u32> {
        let is_only = |&&head: &&u32| {
            let others: Vec<u32> = cycle.iter().copied().filter(|&block| block != head).collect();
            !cycles(&self.graph, &others).iter().flatten().any(|block| entries.contains(block))
        };
        entries.iter().find(is_only).map_or_else(|| entries.to_vec(), |&head| vec![head])
    }

    /// Leads all jumps that enter a cycle, or begin another round of it, through a switch.
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
        self.switched += 1;
        self.lead_to(0, entries);
    }

    /// The node that leads to these entries, of which the first one has this number.
    fn lead_to(&mut self, first: u32, entries: &[u32]) -> u32 {
        if let &[only] = entries {
            return only;
        }
        let (low, high) = entries.split_at(entries.len() / 2);
        let (node, below) = (self.graph.successors.len() as u32, first + low.len() as u32);
        self.graph.successors.push(Vec::new());
        self.switches.insert(node, SwitchNode { entries: entries.to_vec(), below });
        let arms = vec![self.lead_to(first, low), self.lead_to(below, high)];
        if let Some(successors) = self.graph.successors.get_mut(node as usize) {
            *successors = arms;
        }
        node
    }
}

/// The same where other blocks lead nowhere, as nothing leads to them.
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

/// Takes a note of a block, once.
fn is_taken(all: &mut [bool], block: u32) -> bool {
    all.get_mut(block as usize).is_some_and(std::mem::take)
}

fn successors(graph: &BlockGraph, block: u32) -> &[u32] {
    graph.successors.get(block as usize).map_or(&[], Vec::as_slice)
}

/// The blocks that the first one leads to.
fn reached(graph: &BlockGraph) -> Vec<u32> {
    let all: Vec<u32> = (0..graph.successors.len() as u32).collect();
    let mut is_open = vec![true; all.len()];
    postorder(graph, all.get(..1).unwrap_or_default(), &mut is_open)
}

/// The blocks of a region that some of its blocks lead to within it, each behind those that it leads to, but for loops. Those that are found
/// aren't open any more.
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

/// The largest sets of blocks of a region that all lead to each other within it.
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
    fn loops_with_one_entry_stay_as_they_are() {
        let nested: &[&[u32]] = &[&[1], &[2, 4], &[3], &[2, 1], &[]];
        let found = of(nested);
        assert!(found.switches.is_empty() && found.chosen.is_empty());
        assert_eq!(found.graph.successors, nested);
    }

    #[test]
    fn only_the_loop_with_several_entries_begins_with_a_switch() {
        // 1 and 2 lead to each other and are both entered; 4 is a loop of its own.
        let found = of(&[&[1, 2], &[2], &[1, 3], &[4], &[4, 5], &[]]);
        assert_eq!(found.switches, BTreeMap::from([(6, SwitchNode { entries: vec![1, 2], below: 1 })]));
        assert_eq!(
            found.graph.successors,
            [vec![6, 6], vec![2], vec![6, 3], vec![4], vec![4, 5], vec![], vec![1, 2]]
        );
        assert_eq!(found.chosen, BTreeMap::from([((0, 0), 0), ((0, 1), 1), ((2, 0), 0)]));
        assert_eq!(found.switched, 1);
    }

    #[test]
    fn what_has_several_entries_within_another_loop_has_a_switch_within_it() {
        // 1 is the head of a loop in which 2 and 3 are both entered.
        let found = of(&[&[1], &[2, 3], &[3], &[2, 4], &[1, 5], &[]]);
        assert_eq!(found.graph.successors[1], [6, 6]);
        assert_eq!((found.graph.successors[4].as_slice(), found.switched), (&[1, 5][..], 1));
    }

    #[test]
    fn where_rounds_lead_through_several_entries_all_of_them_ask_the_switch() {
        // 1 and 2 are entered, and each is a loop without the other.
        let found = of(&[&[1, 2], &[1, 2], &[1, 2]]);
        assert_eq!(found.graph.successors, [vec![3, 3], vec![3, 3], vec![3, 3], vec![1, 2]]);
        assert_eq!(found.switched, 1);
    }

    #[test]
    fn three_entries_are_a_tree() {
        let found = of(&[&[4, 3], &[2], &[3], &[1, 5], &[1, 2], &[]]);
        let nodes: Vec<&SwitchNode> = found.switches.values().collect();
        assert_eq!(nodes.len(), 2);
        assert_eq!((nodes[0].entries.as_slice(), nodes[0].below), (&[1, 2, 3][..], 1));
        assert_eq!((nodes[1].entries.as_slice(), nodes[1].below), (&[2, 3][..], 2));
        assert_eq!(found.graph.successors[6..], [vec![1, 7], vec![2, 3]]);
    }
}
