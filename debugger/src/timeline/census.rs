//! Where calls were entered and left along one side of a branch's origin. The machine counts them, and
//! the count at evenly spaced steps tells which stretches have any: none is overlooked, and memory is
//! bounded however long the run. Makes no step.

use reviver_vm::State;
use reviver_vm::strategy::Spaced;

/// Counts that are kept at most on each side of an origin: many more than a screen has columns.
const MOST: usize = 4_096;

/// Calls that were entered and left within a stretch, told in the order of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub entered: u64,
    pub left: u64,
}

impl Calls {
    pub fn none(self) -> bool {
        self == Calls::default()
    }

    /// Those of two stretches together.
    #[must_use]
    pub fn and(self, other: Calls) -> Calls {
        Calls { entered: self.entered + other.entered, left: self.left + other.left }
    }
}

/// What is known of calls at one state.
#[derive(Clone, Copy, Debug)]
struct CallTally {
    /// Steps that entered or left a call, up to here.
    made: i64,
    /// Calls that are open.
    depth: u64,
}

impl CallTally {
    fn of(state: &State) -> CallTally {
        CallTally { made: state.counters.calls, depth: state.calls.len() as u64 }
    }

    /// What happened between an earlier state and this one: each call that was entered made the depth
    /// greater by one, each that was left smaller.
    fn since(self, earlier: CallTally) -> Calls {
        let made = self.made.wrapping_sub(earlier.made).max(0).unsigned_abs();
        let deeper = i128::from(self.depth) - i128::from(earlier.depth);
        let half = |twice: i128| u64::try_from(twice / 2).unwrap_or(0);
        Calls { entered: half(i128::from(made) + deeper), left: half(i128::from(made) - deeper) }
    }
}

/// The counts of one side, by their distance from the origin.
#[derive(Clone, Debug)]
pub(super) struct Census {
    origin: CallTally,
    tallies: Spaced<CallTally>,
    /// The count at the furthest step, and how far that is.
    last: (u64, CallTally),
}

impl Census {
    pub fn new(origin: &State) -> Census {
        let tally = CallTally::of(origin);
        Census { origin: tally, tallies: Spaced::new(1), last: (0, tally) }
    }

    /// The distance at which the next count is due: a run pauses there.
    pub fn due(&self) -> u64 {
        self.tallies.due()
    }

    /// Takes the count of a state, if nobody was so far from the origin before.
    pub fn note(&mut self, distance: u64, state: &State) {
        if distance <= self.last.0 {
            return;
        }
        let tally = CallTally::of(state);
        self.last = (distance, tally);
        if distance == self.tallies.due() {
            self.tallies.add(tally, MOST);
        }
    }

    /// The stretches between neighbouring counts in which calls were entered or left: the near end, the
    /// far end, and what happened. `is_ahead` says whether time leads away from the origin.
    pub fn stretches(&self, is_ahead: bool) -> impl DoubleEndedIterator<Item = (u64, u64, Calls)> {
        let counts = self.tallies.iter().map(|(at, tally)| (at, *tally)).chain([self.last]);
        let mut near = (0, self.origin);
        let stretch = |far: (u64, CallTally)| {
            let (from, to) = (std::mem::replace(&mut near, far), far);
            let calls = if is_ahead { to.1.since(from.1) } else { from.1.since(to.1) };
            (from.0, to.0, calls)
        };
        let all: Vec<_> = counts.map(stretch).filter(|(.., calls)| !calls.none()).collect();
        all.into_iter()
    }
}
