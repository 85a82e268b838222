//! Positions of calls on one side of a branch's origin. The machine counts the calls that it enters and leaves.
//! This module stores the machine's count at evenly spaced steps; the differences show which intervals contain
//! calls. No call is missed, and memory is bounded for runs of any length. This module executes no steps.

use reviver_vm::State;
use reviver_vm::strategy::Spaced;

/// Maximum number of counts that are stored on each side of an origin. A screen has far fewer columns, so more
/// counts would change no picture.
const MOST: usize = 4_096;

/// Numbers of calls that were entered and left within an interval, as seen forward in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Number of calls that were entered.
    pub entered: u64,
    /// Number of calls that were left.
    pub left: u64,
}

impl Calls {
    /// Returns true if no call was entered or left.
    pub fn none(self) -> bool {
        self == Calls::default()
    }

    /// Adds the counts of another interval.
    #[must_use]
    pub fn and(self, other: Calls) -> Calls {
        Calls { entered: self.entered + other.entered, left: self.left + other.left }
    }
}

/// The machine's count of calls and the call depth in one state.
#[derive(Clone, Copy, Debug)]
struct CallTally {
    /// Number of steps that entered or left a call, up to this state.
    made: i64,
    /// Number of open calls.
    depth: u64,
}

impl CallTally {
    fn of(state: &State) -> CallTally {
        CallTally { made: state.counters.calls, depth: state.calls.len() as u64 }
    }

    /// Returns the numbers of calls entered and left between an earlier state and this one. The machine counts the
    /// sum of both numbers. Their difference is the change of the call depth: an entered call increases the depth by
    /// one, and a left call decreases it by one.
    fn since(self, earlier: CallTally) -> Calls {
        let made = self.made.wrapping_sub(earlier.made).max(0).unsigned_abs();
        let deeper = i128::from(self.depth) - i128::from(earlier.depth);
        let half = |twice: i128| u64::try_from(twice / 2).unwrap_or(0);
        Calls { entered: half(i128::from(made) + deeper), left: half(i128::from(made) - deeper) }
    }
}

/// The stored counts on one side of the origin, by their distance from the origin in steps.
#[derive(Clone, Debug)]
pub(super) struct Census {
    origin: CallTally,
    tallies: Spaced<CallTally>,
    /// The distance of the furthest step reached, and the count at this step.
    last: (u64, CallTally),
}

impl Census {
    pub fn new(origin: &State) -> Census {
        let tally = CallTally::of(origin);
        Census { origin: tally, tallies: Spaced::new(1), last: (0, tally) }
    }

    /// Returns the distance at which the next count is due; a run must pause there.
    pub fn due(&self) -> u64 {
        self.tallies.due()
    }

    /// Records the count of a state. Ignores the state if an equally far or further state was recorded already.
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

    /// Returns the intervals between neighbouring counts that contain calls. The entry of an interval has the
    /// distances of its near end and its far end from the origin, and its calls. `is_ahead` is true if the
    /// intervals are later in time than the origin.
    pub fn intervals(&self, is_ahead: bool) -> impl DoubleEndedIterator<Item = (u64, u64, Calls)> {
        let counts = self.tallies.iter().map(|(at, tally)| (at, *tally)).chain([self.last]);
        let mut near = (0, self.origin);
        let interval = |far: (u64, CallTally)| {
            let (from, to) = (std::mem::replace(&mut near, far), far);
            let calls = if is_ahead { to.1.since(from.1) } else { from.1.since(to.1) };
            (from.0, to.0, calls)
        };
        let all: Vec<_> = counts.map(interval).filter(|(.., calls)| !calls.none()).collect();
        all.into_iter()
    }
}
