//! A bounded number of evenly spaced snapshots of a run, from which steps are repeated. Snapshots that are no longer
//! needed are released. The module uses no machine.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::allocation::OutOfMemory;
use crate::state::State;

use super::spaced::Spaced;

/// The limits on the number of snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointBounds {
    /// Maximum memory for the snapshots, in bytes.
    pub bytes: usize,
    /// Minimum number of snapshots, regardless of their size.
    pub least: usize,
    /// Maximum number of snapshots, regardless of their size.
    pub most: usize,
}

impl CheckpointBounds {
    /// Returns the number of snapshots of this size that may be kept.
    pub fn count(self, bytes: usize) -> usize {
        (self.bytes / bytes.max(1)).max(self.least).min(self.most)
    }
}

/// Snapshots at multiples of a spacing, by their distance from the origin. Clones share the states.
#[derive(Clone, Debug)]
pub struct Checkpoints<B = u64> {
    bounds: CheckpointBounds,
    /// The snapshots; `None` for a released one.
    states: Spaced<Option<Arc<State<B>>>>,
}

impl<B: Copy + Default + PartialEq> Checkpoints<B> {
    /// Creates an empty list. `spacing` is the initial number of steps between two snapshots.
    pub fn new(spacing: u64, bounds: CheckpointBounds) -> Checkpoints<B> {
        Checkpoints { bounds, states: Spaced::new(spacing) }
    }

    /// Returns the distance from the origin at which the next snapshot is due.
    pub fn due(&self) -> u64 {
        self.states.due()
    }

    /// Returns the current number of steps between two snapshots.
    pub fn spacing(&self) -> u64 {
        self.states.spacing()
    }

    /// Returns true if a state of this size fits.
    pub fn holds(&self, bytes: usize) -> bool {
        self.bounds.count(bytes) > 0
    }

    /// Adds a copy of the state at the distance that is due.
    ///
    /// # Errors
    /// Fails if there is no memory. Then no further snapshot is added, and longer segments are repeated.
    pub fn add(&mut self, state: &State<B>) -> Result<(), OutOfMemory> {
        let copy = Arc::new(state.try_clone()?);
        self.take(copy);
        Ok(())
    }

    /// Adds a state without copying it. Releases other snapshots if there are too many.
    pub fn take(&mut self, state: Arc<State<B>>) {
        let most = self.bounds.count(state_bytes(&state));
        if most > 0 {
            self.states.add(Some(state), most);
        }
        // Earlier snapshots may be larger than this one.
        while self.bytes() > self.bounds.bytes && self.states.count() > self.bounds.least.max(1) {
            self.states.thin();
        }
    }

    /// Restores a list from snapshots at given distances, in ascending order. At multiples of the spacing between these
    /// distances, snapshots were released.
    pub fn resume(
        spacing: u64,
        bounds: CheckpointBounds,
        states: impl IntoIterator<Item = (u64, Arc<State<B>>)>,
    ) -> Checkpoints<B> {
        let mut checkpoints = Checkpoints::new(spacing, bounds);
        for (at, state) in states {
            while checkpoints.due() < at {
                checkpoints.states.add(None, usize::MAX);
            }
            checkpoints.states.add(Some(state), usize::MAX);
        }
        checkpoints
    }

    /// Releases the snapshots in a lossless segment, because the segment is never repeated. The last snapshot of the
    /// segment stays, because later steps are repeated from it. The last snapshot may be removed when the spacing is
    /// doubled. So an earlier snapshot stays, too, if it survives more doublings than every snapshot after it.
    pub fn give_back(&mut self, segment: RangeInclusive<u64>) {
        let spacing = self.states.spacing();
        let states = self.states.iter_mut().filter(|(at, state)| segment.contains(at) && state.is_some());
        // Each snapshot is paired with the number of times that the spacing may double before it is removed.
        let mut states: Vec<_> = states.map(|(at, state)| ((at / spacing).trailing_zeros(), state)).collect();
        let mut longest = None;
        for (lasts, state) in states.iter_mut().rev() {
            match longest {
                Some(longest) if *lasts <= longest => **state = None,
                _ => longest = Some(*lasts),
            }
        }
    }

    /// Returns the furthest snapshot that is at most `distance` from the origin.
    pub fn before(&self, distance: u64) -> Option<&Arc<State<B>>> {
        self.states.up_to(distance).iter().rev().find_map(Option::as_ref)
    }

    /// Iterates over all snapshots with their distances.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Arc<State<B>>)> {
        self.states.iter().filter_map(|(at, state)| Some((at, state.as_ref()?)))
    }

    /// Returns the memory use of the snapshots, in bytes.
    pub fn bytes(&self) -> usize {
        self.iter().map(|(_, state)| state_bytes(state)).sum()
    }
}

/// Returns the memory use of a copied state, in bytes.
pub fn state_bytes<B>(state: &State<B>) -> usize {
    let adjoints = state.adjoints.as_ref().map_or(0, |adjoints| adjoints.all().count());
    let ints = state.ints.len() + state.int_stack.len();
    let reals = state.reals.len() + state.real_stack.len() + adjoints;
    let entries = state.input.len() + state.output.len();
    size_of::<State<B>>()
        + ints * size_of::<i64>()
        + reals * size_of::<B>()
        + entries * size_of::<crate::state::TapeEntry<B>>()
        + state.calls.len() * size_of::<crate::state::CallRecord>()
        + state.references.len() * size_of::<crate::state::Reference>()
}
