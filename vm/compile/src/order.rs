//! Block orders, dominators and loops of an SSA function, and removal of unreachable blocks. This module is independent
//! of operations.

use std::collections::BTreeMap;

use crate::function::{SsaEnd, SsaFunction};

/// Returns all blocks in postorder, following only edges to blocks for which `followed` is true. If these edges form no
/// cycle, each block comes after its successors.
pub fn postorder(function: &SsaFunction, followed: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut order = Vec::with_capacity(function.blocks.len());
    let mut is_seen = vec![false; function.blocks.len()];
    let successors = |block: u32| {
        let ends = function.blocks.get(block as usize).into_iter().flat_map(|block| block.end.jumps());
        ends.map(|jump| jump.to).filter(|&to| followed(to)).collect::<Vec<u32>>()
    };
    let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
    for root in 0..function.blocks.len() as u32 {
        if !std::mem::replace(&mut is_seen[root as usize], true) {
            path.push((root, successors(root)));
        }
        while let Some((block, left)) = path.last_mut() {
            match left.pop() {
                Some(to) if std::mem::replace(&mut is_seen[to as usize], true) => {}
                Some(to) => path.push((to, successors(to))),
                None => {
                    order.push(*block);
                    path.pop();
                }
            }
        }
    }
    order
}

/// Returns the blocks reachable from the entry, in postorder: each block comes after its successors, except for back
/// edges.
pub fn reached(function: &SsaFunction) -> Vec<u32> {
    let mut order = postorder(function, |_| true);
    // The traversal begins with block 0, and finishes it before it continues with unreachable blocks.
    order.truncate(order.iter().position(|&block| block == 0).map_or(0, |end| end + 1));
    order
}

/// Empties the blocks that aren't reachable from the entry.
pub(crate) fn drop_unreachable(function: &mut SsaFunction) {
    let mut is_reached = vec![false; function.blocks.len()];
    reached(function).into_iter().for_each(|block| is_reached[block as usize] = true);
    for block in (0..function.blocks.len() as u32).filter(|&block| !is_reached[block as usize]) {
        if let Some(block) = function.blocks.get_mut(block as usize) {
            block.ops.clear();
            block.parameters.clear();
            block.end = SsaEnd::Exit { exit: 0 };
        }
    }
}

/// Returns the immediate dominator of each block; `None` for the entry and for unreachable blocks.
///
/// K. Cooper, T. Harvey and K. Kennedy, "A simple, fast dominance algorithm" (2001).
pub fn dominators(function: &SsaFunction) -> Vec<Option<u32>> {
    let order = reached(function);
    let mut rank = vec![None; function.blocks.len()];
    for (n, &block) in order.iter().enumerate() {
        rank[block as usize] = Some(n);
    }
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); function.blocks.len()];
    for &block in &order {
        for jump in function.blocks[block as usize].end.jumps() {
            predecessors[jump.to as usize].push(block);
        }
    }
    let mut found: Vec<Option<u32>> = vec![None; function.blocks.len()];
    let mut has_changed = true;
    while std::mem::replace(&mut has_changed, false) {
        for &block in order.iter().rev().skip(1) {
            let known = predecessors[block as usize].iter().copied();
            let mut known = known.filter(|&other| other == 0 || found[other as usize].is_some());
            let Some(first) = known.next() else { continue };
            let meet = known.fold(first, |a, b| common(&found, &rank, a, b));
            has_changed |= found[block as usize].replace(meet) != Some(meet);
        }
    }
    found
}

/// Returns the back edges: edges from a block to the block itself or to one of its dominators. Each back edge closes a
/// natural loop.
pub fn back_edges(function: &SsaFunction, dominators: &[Option<u32>]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let spans = spans(dominators);
    let dominates = |above: u32, block: u32| {
        let (above, block) = (spans.get(above as usize), spans.get(block as usize));
        above.zip(block).is_some_and(|(above, block)| above.0 <= block.0 && block.1 <= above.1)
    };
    for (from, block) in (0..).zip(&function.blocks) {
        for to in block.end.jumps().map(|jump| jump.to) {
            if dominates(to, from) {
                found.push((from, to));
            }
        }
    }
    found
}

/// Returns the entry time and the exit time of each block in a traversal of the dominator tree. The interval between
/// both times contains the intervals of all blocks that the block dominates.
fn spans(dominators: &[Option<u32>]) -> Vec<(u32, u32)> {
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); dominators.len()];
    let mut roots = Vec::new();
    for (block, above) in (0..).zip(dominators) {
        match above.and_then(|above| children.get_mut(above as usize)) {
            Some(children) => children.push(block),
            None => roots.push(block),
        }
    }
    let mut spans = vec![(0, 0); dominators.len()];
    let (mut clock, mut path) = (0, Vec::new());
    for root in roots {
        path.push((root, 0));
        while let Some((block, child)) = path.last_mut() {
            if *child == 0 {
                clock += 1;
                spans[*block as usize].0 = clock;
            }
            *child += 1;
            match children[*block as usize].get(*child - 1) {
                Some(&below) => path.push((below, 0)),
                None => {
                    clock += 1;
                    spans[*block as usize].1 = clock;
                    path.pop();
                }
            }
        }
    }
    spans
}

/// Returns for each block whether it is in a natural loop.
pub fn in_loops(function: &SsaFunction, dominators: &[Option<u32>]) -> Vec<bool> {
    loop_depths(function, dominators).into_iter().map(|depth| depth > 0).collect()
}

/// Returns for each block the number of natural loops that contain it.
pub fn loop_depths(function: &SsaFunction, dominators: &[Option<u32>]) -> Vec<u32> {
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); function.blocks.len()];
    for (from, block) in (0..).zip(&function.blocks) {
        for jump in block.end.jumps() {
            predecessors[jump.to as usize].push(from);
        }
    }
    let mut latches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (from, head) in back_edges(function, dominators) {
        latches.entry(head).or_default().push(from);
    }
    let mut depths = vec![0; function.blocks.len()];
    // Loops may share blocks. For each block, this is the header of the last loop that was found to contain the block.
    let mut seen_in = vec![None; function.blocks.len()];
    for (head, mut open) in latches {
        seen_in[head as usize] = Some(head);
        depths[head as usize] += 1;
        while let Some(block) = open.pop() {
            if seen_in[block as usize].replace(head) != Some(head) {
                depths[block as usize] += 1;
                open.extend(&predecessors[block as usize]);
            }
        }
    }
    depths
}

/// Returns the nearest common dominator of two blocks.
fn common(found: &[Option<u32>], rank: &[Option<usize>], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        let is_later = rank[a as usize] < rank[b as usize];
        let later = if is_later { &mut a } else { &mut b };
        match found[*later as usize] {
            Some(above) => *later = above,
            None => return 0,
        }
    }
    a
}
