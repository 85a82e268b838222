//! The binomial checkpointing schedule, which minimises repeated steps for a run of known length. Sources: Griewank
//! ("Achieving logarithmic growth of temporal and spatial complexity in reverse automatic differentiation", 1992) and
//! Griewank & Walther ("Algorithm 799: revolve", 2000). The module only computes with numbers, and uses no state and no
//! machine.
//!
//! A run is a sequence of *leaves*. To reverse a leaf, the machine runs from the nearest earlier snapshot to
//! the leaf's start, executes the leaf once more with a history, and undoes it. A *slot* holds one snapshot;
//! the initial state takes the first slot.

/// Returns the maximum number of leaves that can be reversed with `slots` slots if no leaf is advanced over more than
/// `repeats` times. The result is the binomial coefficient (`slots` + `repeats`) choose `slots`.
pub fn reach(slots: u64, repeats: u64) -> u64 {
    let (few, many) = (slots.min(repeats), slots.max(repeats));
    let mut reach = 1_u128;
    for n in 1..=u128::from(few) {
        reach = reach * (u128::from(many) + n) / n;
        if reach > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    reach as u64
}

/// Returns the least number r such that `leaves` leaves can be reversed without advancing over any leaf more than r
/// times (see [`reach`]).
pub fn repeats(leaves: u64, slots: u64) -> u64 {
    let (mut least, mut most) = (0, 1);
    while reach(slots, most) < leaves {
        (least, most) = (most, most.saturating_mul(2));
    }
    while least < most {
        let middle = least + (most - least) / 2;
        if reach(slots, middle) < leaves { least = middle + 1 } else { most = middle }
    }
    most
}

/// Returns the minimum total number of leaves that are advanced over to reach later ones. In addition, each
/// leaf is executed once with a history. The sum of both is the number that revolve counts.
pub fn advances(leaves: u64, slots: u64) -> u64 {
    if leaves < 2 || slots == 0 {
        return 0;
    }
    let repeats = repeats(leaves, slots);
    let all = u128::from(leaves) * u128::from(repeats);
    let spared = u128::from(reach(slots + 1, repeats - 1));
    u64::try_from(all.saturating_sub(spared)).unwrap_or(u64::MAX)
}

/// Returns the number of leaves to advance from a snapshot to the next one, for the given number of remaining leaves
/// and slots. The snapshot's own slot is included in `slots`. With a single slot, the result is the distance to the
/// last leaf. The result is at least 1 if there are two leaves.
pub fn split(leaves: u64, slots: u64) -> u64 {
    if slots < 2 {
        return leaves.saturating_sub(1);
    }
    let repeats = repeats(leaves, slots);
    let most = reach(slots, repeats.saturating_sub(1));
    let most_behind = leaves.saturating_sub(reach(slots - 1, repeats.saturating_sub(1)));
    most.min(most_behind).clamp(1, leaves.saturating_sub(1).max(1))
}

/// The parameters of a run that is to be reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The length of the run, in steps.
    pub steps: u64,
    /// The number of slots, at least 1.
    pub slots: u64,
    /// The number of steps of a leaf, at least 1. The last leaf may have fewer.
    pub leaf: u64,
}

impl Plan {
    /// Returns the number of leaves, including a shorter last one.
    pub fn leaves(self) -> u64 {
        self.steps.div_ceil(self.leaf.max(1))
    }

    /// Returns the total number of forward steps, including those with a history, as revolve counts. The last
    /// leaf is never advanced over, so all leaves that are advanced over have full length.
    pub fn forward_steps(self) -> u64 {
        self.steps.saturating_add(advances(self.leaves(), self.slots).saturating_mul(self.leaf))
    }

    /// Returns the actions of the plan, in order.
    pub fn actions(self) -> PlannedActions {
        PlannedActions { plan: self, kept: vec![0], end: self.leaves(), at: Some(0), next: None }
    }
}

/// An action of a plan. Step numbers count from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedAction {
    /// Runs forward from a snapshot, or from the current state, without a history.
    Advance {
        /// The step number at which the run starts.
        from: u64,
        /// The step number at which the run ends, greater than `from`.
        to: u64,
    },
    /// Takes a snapshot of the current state.
    Keep {
        /// The step number of the current state.
        at: u64,
    },
    /// Runs forward with a history, and then undoes these steps.
    Reverse {
        /// The step number before the first of these steps.
        from: u64,
        /// The step number after the last of these steps.
        to: u64,
    },
    /// Releases a snapshot that is no longer needed.
    Free {
        /// The step number of the snapshot's state.
        at: u64,
    },
}

/// An iterator over the actions of a plan. Its memory use is bounded by the number of slots.
#[derive(Clone, Debug)]
pub struct PlannedActions {
    plan: Plan,
    /// The leaves before which snapshots exist, in ascending order.
    kept: Vec<u64>,
    /// The leaf that was reversed last; initially the end of the run.
    end: u64,
    /// The leaf before which the machine is; `None` if the machine must return to a snapshot first.
    at: Option<u64>,
    /// The action that follows an advance.
    next: Option<PlannedAction>,
}

impl PlannedActions {
    fn step(&self, leaf: u64) -> u64 {
        leaf.saturating_mul(self.plan.leaf).min(self.plan.steps)
    }
}

impl Iterator for PlannedActions {
    type Item = PlannedAction;

    fn next(&mut self) -> Option<PlannedAction> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        let last = *self.kept.last()?;
        if last >= self.end {
            self.kept.pop();
            // For an empty run, this releases the initial state.
            return Some(PlannedAction::Free { at: self.step(last) });
        }
        let at = self.at.unwrap_or(last);
        let leaves = self.end - at;
        if leaves == 1 {
            (self.end, self.at) = (at, None);
            return Some(PlannedAction::Reverse { from: self.step(at), to: self.step(at + 1) });
        }
        let free = self.plan.slots.saturating_sub(self.kept.len() as u64);
        let to = at + split(leaves, free + 1);
        self.at = Some(to);
        if free > 0 {
            self.kept.push(to);
            self.next = Some(PlannedAction::Keep { at: self.step(to) });
        }
        Some(PlannedAction::Advance { from: self.step(at), to: self.step(to) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of steps as revolve counts them.
    fn counted(steps: u64, slots: u64) -> u64 {
        Plan { steps, slots, leaf: 1 }.forward_steps()
    }

    #[test]
    fn costs_equal_those_of_revolve() {
        let known = [
            (10, 3, 25),
            (14, 3, 41),
            (100, 5, 416),
            (100, 10, 322),
            (1_000, 5, 7_284),
            (1_000, 10, 4_636),
            (1_000, 20, 3_747),
            (1_000, 40, 3_097),
            (10_000, 10, 67_624),
            (100_003, 30, 547_658),
        ];
        for (steps, slots, forward) in known {
            assert_eq!(counted(steps, slots), forward, "{steps} steps, {slots} slots");
            assert_eq!(played(Plan { steps, slots, leaf: 1 }), forward, "{steps} steps, {slots} slots");
        }
    }

    /// Simulates a plan on numbers, and checks that every step is undone exactly once, in descending order,
    /// from existing snapshots. Returns the number of forward steps.
    fn played(plan: Plan) -> u64 {
        let (mut kept, mut at, mut end, mut forward) = (vec![0], 0, plan.steps, 0);
        for action in plan.actions() {
            match action {
                PlannedAction::Advance { from, to } => {
                    assert!(from == at || kept.contains(&from), "{action:?}");
                    assert!(from < to && to <= end, "{action:?}");
                    (at, forward) = (to, forward + (to - from));
                }
                PlannedAction::Keep { at: here } => {
                    assert_eq!(here, at);
                    kept.push(here);
                    assert!(kept.len() as u64 <= plan.slots, "{plan:?}");
                }
                PlannedAction::Reverse { from, to } => {
                    assert!(from == at || kept.contains(&from), "{action:?}");
                    assert!(to == end && to - from <= plan.leaf && from < to, "{action:?}");
                    (at, end, forward) = (u64::MAX, from, forward + (to - from));
                }
                PlannedAction::Free { at } => {
                    assert_eq!(kept.pop(), Some(at));
                    assert!(at >= end);
                }
            }
        }
        assert_eq!((end, kept.len()), (0, 0), "{plan:?}");
        forward
    }

    #[test]
    fn every_step_is_reversed_once_in_order() {
        for steps in 0..120 {
            for slots in 1..9 {
                for leaf in [1, 2, 3, 7, 64, 200] {
                    let plan = Plan { steps, slots, leaf };
                    assert_eq!(played(plan), plan.forward_steps(), "{plan:?}");
                }
            }
        }
    }

    #[test]
    fn the_schedule_is_optimal() {
        const MOST: usize = 150;
        // The minimum number of leaves to advance over, found by trying every position of the next snapshot.
        let mut fewest = vec![vec![0_u64; MOST + 1]; 10];
        for slots in 1..10 {
            for leaves in 2..=MOST {
                fewest[slots][leaves] = match slots {
                    1 => (leaves * (leaves - 1) / 2) as u64,
                    _ => (1..leaves)
                        .map(|m| m as u64 + fewest[slots - 1][leaves - m] + fewest[slots][m])
                        .min()
                        .unwrap(),
                };
                let (n, s) = (leaves as u64, slots as u64);
                assert_eq!(advances(n, s), fewest[slots][leaves], "{leaves} leaves, {slots} slots");
                let m = split(n, s) as usize;
                let found = match slots {
                    1 => fewest[1][leaves],
                    _ => m as u64 + fewest[slots - 1][leaves - m] + fewest[slots][m],
                };
                assert_eq!(found, fewest[slots][leaves], "{leaves} leaves, {slots} slots, split at {m}");
            }
        }
    }

    #[test]
    fn large_numbers_saturate() {
        assert_eq!(reach(40, 40), u64::MAX);
        assert_eq!(repeats(u64::MAX, u64::MAX), 1);
        assert_eq!(advances(u64::MAX, 1), u64::MAX);
        assert_eq!(advances(1 << 20, 1), (1 << 19) * ((1 << 20) - 1));
        assert_eq!((advances(0, 3), advances(1, 3), split(2, 1), split(2, 9)), (0, 0, 1, 1));
        assert_eq!(Plan { steps: 0, slots: 3, leaf: 4 }.forward_steps(), 0);
    }
}
