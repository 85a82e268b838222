//! From a graph of blocks to sequences, choices and loops with places that jumps lead to: what a language without `goto` can say, but for
//! jumps that leave several levels. Knows no block's content, and no language.
//!
//! After N. Ramsey, "Beyond Relooper: recursive translation of unstructured control flow to structured control flow" (2022), with one
//! difference: what a loop leads to stands behind the loop and not in it, so that lanes which leave it in different rounds go on together.

use std::collections::BTreeMap;

use crate::graph::BlockGraph;
use crate::switches::ReducibleGraph;

/// A part of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StructurePiece {
    /// What a block does. One that leads nowhere ends everything.
    Block(u32),
    /// The jump of this number of a block is taken. It leads to the piece behind it, or, if it leaves, to the place or the head of the loop around it
    /// that is its target.
    Jump { from: u32, arm: usize, leaves: Option<u32> },
    /// What follows a block that leads to two.
    Choice { of: u32, arms: [Vec<StructurePiece>; 2] },
    /// Begins anew wherever something in it leaves for its head, which is its first block. Its body has no other end.
    Loop { head: u32, body: Vec<StructurePiece> },
    /// Jumps to this block that leave what is in front of it in the sequence go on here.
    Place(u32),
}

/// The pieces of a graph, in their order.
pub(crate) fn structured(reducible: &ReducibleGraph) -> Vec<StructurePiece> {
    let graph = &reducible.graph;
    StructureShape::of(graph).sequence(graph, 0, false)
}

/// What is known of each block of a graph.
#[derive(Debug, Default)]
struct StructureShape {
    /// Its number in an order in which blocks are behind those that lead to them, but for loops; none of a block that nothing leads to.
    rank: Vec<Option<usize>>,
    /// The innermost loop that it is in, by its head; a head is in its own.
    inside: Vec<Option<u32>>,
    /// By head the loop around a loop.
    around: BTreeMap<u32, Option<u32>>,
    /// The blocks that stand behind it, or behind the loop whose head it is, in their order.
    followers: Vec<Vec<u32>>,
    /// Whether it stands where several jumps lead, or behind a loop: else where the one jump is that leads there.
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

    /// The block that all ways to a block lead through last.
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
            // Heads come before the heads of the loops in theirs, which then take over.
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
        // In the order of the blocks, so that followers are in theirs.
        for &block in order.iter().skip(1) {
            let Some(parent) = get(above, block) else { continue };
            let home = match self.around.get(&block) {
                Some(&around) => around,
                None => get(&self.inside, block),
            };
            let mut left = get(&self.inside, parent);
            let mut behind = None;
            while left != home {
                // A block's only loops are those around what all ways to it lead through.
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

    /// The pieces from a block to the end of what it dominates, but for what stands behind the loop of which it is the head, if the body of that is
    /// asked for.
    fn sequence(&self, graph: &BlockGraph, first: u32, is_body: bool) -> Vec<StructurePiece> {
        let mut pieces = Vec::new();
        // What stands behind a block comes before what stands behind the one in front.
        let mut open = Vec::new();
        if is_body {
            open.extend(self.behind(first, false));
            self.block(graph, first, &mut pieces, &mut open);
        } else {
            open.push((first, false));
        }
        while let Some((block, is_led_to)) = open.pop() {
            if is_led_to {
                pieces.push(StructurePiece::Place(block));
            }
            if self.around.contains_key(&block) {
                open.extend(self.behind(block, true));
                pieces.push(StructurePiece::Loop { head: block, body: self.sequence(graph, block, true) });
            } else {
                open.extend(self.behind(block, false));
                self.block(graph, block, &mut pieces, &mut open);
            }
        }
        pieces
    }

    /// What stands behind a block, or behind the loop that it is the head of; the first one last.
    fn behind(&self, block: u32, is_loop: bool) -> impl Iterator<Item = (u32, bool)> {
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

    /// A block, with what it leads to where that stands there.
    fn block(
        &self,
        graph: &BlockGraph,
        block: u32,
        pieces: &mut Vec<StructurePiece>,
        open: &mut Vec<(u32, bool)>,
    ) {
        pieces.push(StructurePiece::Block(block));
        match *list(&graph.successors, block) {
            [] => {}
            [only] => {
                let leaves = self.leaves(block, only);
                pieces.push(StructurePiece::Jump { from: block, arm: 0, leaves });
                if leaves.is_none() {
                    open.push((only, false));
                }
            }
            [yes, no, ..] => {
                let arms = [(0, yes), (1, no)].map(|(arm, to)| {
                    let leaves = self.leaves(block, to);
                    let mut pieces = vec![StructurePiece::Jump { from: block, arm, leaves }];
                    if leaves.is_none() {
                        pieces.extend(self.sequence(graph, to, false));
                    }
                    pieces
                });
                pieces.push(StructurePiece::Choice { of: block, arms });
            }
        }
    }

    /// Where a jump leaves for; none if its target stands behind it.
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

/// The blocks that the first one leads to, each behind those that lead to it, but for loops.
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
