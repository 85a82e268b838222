//! When states are kept so that a way of known length is gone back over with the fewest steps: the binomial schedule
//! of Griewank ("Achieving logarithmic growth of temporal and spatial complexity in reverse automatic differentiation",
//! 1992) and Griewank & Walther ("Algorithm 799: revolve", 2000). Pure numbers: knows no state and no machine.
//!
//! A way is a row of *leaves*. A leaf is gone over once more while what its steps lose is kept, and then back; before
//! that it is come to by running from the nearest kept state before it. A *slot* holds one kept state; the state that
//! the way begins with takes the first one.

/// How many leaves can be gone back over with so many slots, if none is run over more than `repeats` times to come
/// to a later one: the binomial coefficient of both numbers together over one of them.
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

/// How often a leaf is run over at most, to come to later ones.
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

/// How many leaves are run over in all to come to later ones, the fewest that there can be. Each is besides run over
/// once while what it loses is kept: with that it is the number that revolve counts.
pub fn advances(leaves: u64, slots: u64) -> u64 {
    if leaves < 2 || slots == 0 {
        return 0;
    }
    let repeats = repeats(leaves, slots);
    let all = u128::from(leaves) * u128::from(repeats);
    let spared = u128::from(reach(slots + 1, repeats - 1));
    u64::try_from(all.saturating_sub(spared)).unwrap_or(u64::MAX)
}

/// How many leaves are run over from a kept state to the next one that is to be kept, where so many are left before the
/// end and so many slots, that of the kept state included. With one slot nothing more can be kept: it is the way to the
/// last leaf then. At least 1, if there are two leaves.
pub fn split(leaves: u64, slots: u64) -> u64 {
    if slots < 2 {
        return leaves.saturating_sub(1);
    }
    let repeats = repeats(leaves, slots);
    let most = reach(slots, repeats.saturating_sub(1));
    let most_behind = leaves.saturating_sub(reach(slots - 1, repeats.saturating_sub(1)));
    most.min(most_behind).clamp(1, leaves.saturating_sub(1).max(1))
}

/// A way that is to be gone back over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub steps: u64,
    /// At least 1.
    pub slots: u64,
    /// Steps of a leaf; the last one may have fewer. At least 1.
    pub leaf: u64,
}

impl Plan {
    pub fn leaves(self) -> u64 {
        self.steps.div_ceil(self.leaf.max(1))
    }

    /// Steps forward in all, those of which something is kept included: what revolve counts. Whoever runs over leaves
    /// to come to a later one never runs over the last, so all of those are whole.
    pub fn forward_steps(self) -> u64 {
        self.steps.saturating_add(advances(self.leaves(), self.slots).saturating_mul(self.leaf))
    }

    /// What is done, in order.
    pub fn actions(self) -> PlannedActions {
        PlannedActions { plan: self, kept: vec![0], end: self.leaves(), at: Some(0), next: None }
    }
}

/// Something that a plan does. Steps are counted from the beginning of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedAction {
    /// Runs forward from a kept state, or from where it is, and keeps nothing of the steps.
    Advance { from: u64, to: u64 },
    /// Keeps the state that it has come to.
    Keep { at: u64 },
    /// Runs forward, keeps what the steps lose, and goes back over them.
    Reverse { from: u64, to: u64 },
    /// A kept state is needed no more.
    Free { at: u64 },
}

/// The actions of a plan. What it remembers is bounded by the slots.
#[derive(Clone, Debug)]
pub struct PlannedActions {
    plan: Plan,
    /// The leaves before which states are kept, the last one last.
    kept: Vec<u64>,
    /// The leaf that was gone back over last; at first the one behind the last.
    end: u64,
    /// Where the run stands, if it goes on from there.
    at: Option<u64>,
    /// What follows an advance.
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
            // That of the beginning stays where there is nothing to go back over.
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

    /// What revolve counts.
    fn counted(steps: u64, slots: u64) -> u64 {
        Plan { steps, slots, leaf: 1 }.forward_steps()
    }

    #[test]
    fn the_numbers_are_those_of_revolve() {
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

    /// Carries a plan out on numbers: every step is gone back over once, the last first, from states that are there.
    /// Returns the steps forward.
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
    fn every_step_is_gone_back_over_once_and_in_order() {
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
    fn there_is_no_better_one() {
        const MOST: usize = 150;
        // The fewest leaves to run over, found by trying every place of the next state.
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
    fn great_numbers_stay_numbers() {
        assert_eq!(reach(40, 40), u64::MAX);
        assert_eq!(repeats(u64::MAX, u64::MAX), 1);
        assert_eq!(advances(u64::MAX, 1), u64::MAX);
        assert_eq!(advances(1 << 20, 1), (1 << 19) * ((1 << 20) - 1));
        assert_eq!((advances(0, 3), advances(1, 3), split(2, 1), split(2, 9)), (0, 0, 1, 1));
        assert_eq!(Plan { steps: 0, slots: 3, leaf: 4 }.forward_steps(), 0);
    }
}
