//! Online selection of snapshots for a run of unknown length. In the forward sweep, snapshots are evenly spaced
//! ([`super::Checkpoints`]), and the spacing grows with the run. At the end of the run, the subset with the least cost
//! for the backward run is selected. The other slots are then free for the binomial schedule at the end of the run.

use super::schedule::advances;

/// Maximum number of snapshots for which the subset is computed. If there are more, all are used, because segments are
/// short then and the search would take long.
const MOST: usize = 160;

/// Returns the indices of the snapshots to use in the backward run. `kept` are the leaves before which snapshots were
/// taken, in ascending order; the first one is leaf 0, before which the initial state was taken. `leaves` is the length
/// of the run in leaves, and `slots` is the maximum number of snapshots.
pub fn chosen(kept: &[u64], leaves: u64, slots: u64) -> Vec<usize> {
    if kept.len() > MOST {
        return (0..kept.len()).collect();
    }
    let Some(table) = ChoiceTable::of(kept, leaves, slots) else { return (0..kept.len()).collect() };
    let mut chosen = vec![0];
    let mut here = (0, 1);
    while let Some(next) = table.next(here) {
        chosen.push(next);
        here = (next, here.1 + 1);
    }
    chosen
}

/// Table of the least costs of going back from the end of the run to a snapshot. The cost is the number of leaves to
/// advance over. The cost depends on the snapshot, and on the number of snapshots in use up to this one.
struct ChoiceTable {
    /// The choices, indexed by the snapshot and by the number of snapshots in use up to this one.
    best: Vec<Vec<Choice>>,
}

#[derive(Clone, Copy, Default)]
struct Choice {
    cost: u64,
    /// The next later snapshot in use, if there is one.
    next: Option<usize>,
}

impl ChoiceTable {
    fn of(kept: &[u64], leaves: u64, slots: u64) -> Option<ChoiceTable> {
        let count = kept.len();
        let mut best = vec![vec![Choice::default(); count + 2]; count];
        for n in (0..count).rev() {
            let here = *kept.get(n)?;
            for used in 1..=n + 1 {
                // The number of remaining slots, including that of this snapshot.
                let left = slots.saturating_sub(used as u64 - 1).max(1);
                let mut choice = Choice { cost: advances(leaves.saturating_sub(here), left), next: None };
                for (next, &next_slot) in kept.iter().enumerate().skip(n + 1) {
                    let behind = best.get(next)?.get(used + 1)?.cost;
                    let cost = advances(next_slot.saturating_sub(here), left).saturating_add(behind);
                    if cost < choice.cost && used as u64 <= slots.saturating_sub(1) {
                        choice = Choice { cost, next: Some(next) };
                    }
                }
                *best.get_mut(n)?.get_mut(used)? = choice;
            }
        }
        Some(ChoiceTable { best })
    }

    fn next(&self, (state, used): (usize, usize)) -> Option<usize> {
        self.best.get(state)?.get(used)?.next
    }
}

#[cfg(test)]
mod tests {
    use super::super::spaced::Spaced;
    use super::*;

    /// Returns the leaves with snapshots at the end of a run of unknown length.
    fn kept(leaves: u64, slots: u64) -> Vec<u64> {
        let mut spaced = Spaced::new(1);
        for leaf in 1..leaves {
            if slots > 1 && leaf == spaced.due() {
                spaced.add((), slots as usize - 1);
            }
        }
        [0].into_iter().chain(spaced.iter().map(|(at, ())| at)).collect()
    }

    /// Returns the number of leaves that are advanced over, in the forward sweep (all but the last one) and later.
    fn cost(leaves: u64, slots: u64) -> u64 {
        let kept = kept(leaves, slots);
        let chosen: Vec<u64> = chosen(&kept, leaves, slots).into_iter().map(|n| kept[n]).collect();
        assert!(chosen.len() as u64 <= slots && chosen[0] == 0);
        let ends = chosen.iter().skip(1).copied().chain([leaves]);
        let again = |((n, from), to): ((usize, &u64), u64)| advances(to - from, slots - n as u64);
        // The last leaf is reversed directly at the end of the forward sweep.
        (leaves - 1) + chosen.iter().enumerate().zip(ends).map(again).sum::<u64>()
    }

    #[test]
    fn online_checkpointing_costs_at_most_one_more_sweep() {
        for slots in 1..40 {
            for leaves in 2..600 {
                let (found, least) = (cost(leaves, slots), advances(leaves, slots));
                assert!(
                    found <= least + leaves,
                    "{leaves} leaves, {slots} slots: {found}, and {least} would do"
                );
            }
        }
        for (leaves, slots) in [(1_200, 30), (1_500, 30), (1_900, 30), (9_000, 30), (15_000, 30)] {
            let (found, least) = (cost(leaves, slots), advances(leaves, slots));
            assert!(
                found * 100 <= least * 106,
                "{leaves} leaves, {slots} slots: {found}, and {least} would do"
            );
        }
    }

    #[test]
    fn the_initial_snapshot_is_enough() {
        assert_eq!(chosen(&[0], 10, 1), [0]);
        assert_eq!(cost(10, 1), 9 + 45);
    }
}
