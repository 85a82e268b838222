//! The data of a checkpointed run with snapshots: the snapshots, beginning with that of the initial state, and the
//! extent of the machine's current history. Places in the run are distances from its start, in steps. The module
//! executes no step.

use std::sync::Arc;

use crate::allocation::OutOfMemory;
use crate::state::State;

use super::bounds::MOST_BYTES_OF_A_STEP;
use super::checkpoints::{CheckpointBounds, Checkpoints, state_bytes};
use super::halt::RunHalt;
use super::lossless_segments::LosslessSegments;
use super::saved::SavedSnapshots;
use super::{Bounds, Retention, Strategy, StrategyReason, online, schedule};

/// The snapshots, and the segment that the machine's history covers.
#[derive(Debug)]
pub struct KeptSnapshots<B> {
    bounds: Bounds,
    /// Evenly spaced snapshots, used if the length of the run is unknown. The initial state isn't included.
    online: Checkpoints<B>,
    /// The other snapshots, by their distances; the first one is the initial state.
    stack: Vec<(u64, Arc<State<B>>)>,
    /// The distance at which the machine's history starts.
    base: u64,
    /// The distance of the last leaf end that was passed.
    passed: u64,
    /// The size of the history at that leaf end, in bytes.
    history: usize,
    /// True if a history has been discarded since that leaf end.
    has_lost: bool,
    /// True while the history covers the whole run, so that no step is repeated. The strategy `auto` begins in
    /// this way; it discards the history when it would exceed the memory bound.
    is_whole: bool,
    /// The step at which the full history was dropped; `None` if it wasn't dropped.
    exceeded: Option<i64>,
    lossless: LosslessSegments,
    /// The length of the run, if it was known at the start.
    length: Option<u64>,
    has_turned: bool,
}

/// A pause in the repetition of a segment.
#[derive(Clone, Copy, Debug)]
pub struct ReplayStop {
    pub at: u64,
    /// True if a snapshot is taken at the pause.
    pub is_kept: bool,
}

impl<B> Clone for KeptSnapshots<B>
where
    B: Copy,
{
    fn clone(&self) -> KeptSnapshots<B> {
        let (online, stack, lossless) = (self.online.clone(), self.stack.clone(), self.lossless.clone());
        KeptSnapshots { online, stack, lossless, ..*self }
    }
}

impl<B: Copy + Default + PartialEq> KeptSnapshots<B> {
    /// Creates the data at the start of a run.
    pub fn new(origin: Arc<State<B>>, retention: Retention) -> KeptSnapshots<B> {
        let bytes = state_bytes(&origin);
        let bounds = retention.bounds(bytes as u64);
        KeptSnapshots {
            bounds,
            online: Checkpoints::new(bounds.leaf, checkpoint_bounds(bounds, retention, bytes)),
            stack: vec![(0, origin)],
            base: 0,
            passed: 0,
            history: 0,
            has_lost: false,
            is_whole: retention.strategy == Strategy::Auto,
            exceeded: None,
            lossless: LosslessSegments::default(),
            length: None,
            has_turned: false,
        }
    }

    /// Sets the length of the run in steps, if it is known.
    pub fn expect(&mut self, steps: Option<u64>) {
        self.length = steps;
    }

    /// Returns the memory use of the snapshots, in bytes.
    pub fn bytes(&self) -> usize {
        self.online.bytes() + self.stack_bytes() + self.lossless.bytes()
    }

    fn stack_bytes(&self) -> usize {
        self.stack.iter().map(|(_, state)| state_bytes(state)).sum()
    }

    /// Returns the distance at which the machine's history starts.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the number of steps to the end of the leaf that contains a distance.
    pub fn ahead(&self, here: u64) -> u64 {
        self.bounds.leaf - here % self.bounds.leaf
    }

    /// Returns true if a leaf ends at a distance that the run reaches for the first time.
    pub fn is_due(&self, here: u64) -> bool {
        !self.has_turned && here > self.passed && here.is_multiple_of(self.bounds.leaf)
    }

    /// Notes the end of a leaf at a distance, with the size of the history there.
    pub fn note_leaf(&mut self, here: u64, history: usize) {
        if history == self.history && !self.has_lost {
            self.lossless.note(self.passed, here, self.bounds.lossless);
        }
        (self.passed, self.history, self.has_lost) = (here, history, false);
    }

    /// Returns true if the whole history still fits after this leaf. While it is kept, no step is repeated.
    pub fn stays_whole(&self, here: u64, state: &State<B>, history: usize) -> bool {
        let added = if self.is_to_be_kept(here, state) { state_bytes(state) } else { 0 };
        self.is_whole && self.fitting(history + added) > 0
    }

    /// Takes a snapshot at the end of a leaf, if the schedule demands one. Returns true if a snapshot was
    /// taken.
    pub fn keep_leaf(&mut self, here: u64, state: &State<B>) -> bool {
        let is_kept = self.is_to_be_kept(here, state)
            && match self.length {
                Some(_) => self.keep(here, state),
                // Without memory for the snapshot, longer segments are repeated.
                None => self.online.add(state).is_ok(),
            };
        if is_kept {
            self.give_back_before(here);
        }
        is_kept
    }

    /// Returns true if the schedule demands a snapshot at the end of this leaf.
    fn is_to_be_kept(&self, here: u64, state: &State<B>) -> bool {
        match self.length {
            Some(length) => self.is_split(here, length, state_bytes(state)),
            None => here == self.online.due() && self.online.holds(state_bytes(state)),
        }
    }

    /// Releases snapshots after a new one was taken. If no step of the segment before the new one lost anything, the
    /// snapshots within the segment aren't needed. Later steps are repeated from the new snapshot, and the segment
    /// itself is never repeated.
    fn give_back_before(&mut self, here: u64) {
        let Some(begin) = self.lossless.begin(here) else { return };
        self.online.give_back(begin..=here);
        self.stack.retain(|(at, _)| *at == 0 || !(begin..here).contains(at));
    }

    /// Returns true if the schedule for a known length demands a snapshot at a distance.
    fn is_split(&self, here: u64, length: u64, size: usize) -> bool {
        let last = self.stack.last().map_or(0, |(at, _)| *at);
        let leaves = length.saturating_sub(last).div_ceil(self.bounds.leaf);
        let free = self.free(size);
        free > 0 && leaves > 1 && here == last + schedule::split(leaves, free + 1) * self.bounds.leaf
    }

    /// Returns a number of steps whose history certainly fits into the memory, in addition to a history of `history`
    /// bytes.
    pub fn fitting(&self, history: usize) -> u64 {
        let free = |memory: u64| memory.saturating_sub((self.bytes() + history) as u64);
        self.bounds.memory.map_or(u64::MAX, |memory| free(memory) / MOST_BYTES_OF_A_STEP)
    }

    /// Notes that the history before the distance `here` is discarded. `step` is the step number at which this happens.
    pub fn give_history_up(&mut self, here: u64, step: i64) {
        if std::mem::replace(&mut self.is_whole, false) {
            self.exceeded = Some(step);
        }
        // If the history is discarded within a leaf, the leaf is known to have losses.
        self.has_lost |= here > self.passed;
        (self.base, self.history) = (here, 0);
    }

    /// Returns the error for an exceeded memory bound.
    pub fn full(&self) -> RunHalt {
        RunHalt::Full { bytes: self.bounds.memory.unwrap_or_default() }
    }

    /// Ends the forward sweep, unless it has ended already. Keeps only the snapshots that are most useful for going
    /// back.
    pub fn turn(&mut self) {
        if std::mem::replace(&mut self.has_turned, true) {
            return;
        }
        let none = Checkpoints::new(1, CheckpointBounds { bytes: 0, least: 0, most: 0 });
        let online = std::mem::replace(&mut self.online, none);
        if self.length.is_some() || self.is_whole {
            return;
        }
        let all = online.iter().map(|(at, state)| (at, Arc::clone(state)));
        let all: Vec<_> = self.stack.drain(..).chain(all.filter(|(at, _)| *at < self.base)).collect();
        let leaf = self.bounds.leaf;
        let leaves: Vec<u64> = all.iter().map(|(at, _)| at / leaf).collect();
        // The number of snapshots of average size that fit into the memory.
        let bytes = all.iter().map(|(_, state)| state_bytes(state)).sum::<usize>();
        let fitting = self.bounds.states / (bytes / all.len().max(1)).max(1) as u64;
        let chosen = online::chosen(&leaves, self.base.div_ceil(leaf), self.bounds.slots.min(fitting.max(1)));
        self.stack = chosen.into_iter().filter_map(|n| all.get(n).cloned()).collect();
    }

    /// Returns true if the segment before a distance is lossless. A lossless segment needs no history. So if the result
    /// is true, the machine's history is empty and starts at the start of the segment.
    pub fn is_lossless_before(&mut self, here: u64) -> bool {
        let begin = self.lossless.begin(here);
        self.base = begin.unwrap_or(self.base);
        begin.is_some()
    }

    /// Returns the nearest snapshot before a distance, and releases later ones.
    pub fn last_before(&mut self, here: u64) -> (u64, Arc<State<B>>) {
        while self.stack.len() > 1 && self.stack.last().is_some_and(|(at, _)| *at >= here) {
            self.stack.pop();
        }
        let (at, state) = &self.stack[self.stack.len() - 1];
        (*at, Arc::clone(state))
    }

    /// Returns the number of free slots for states of this size.
    fn free(&self, size: usize) -> u64 {
        let remaining = self.bounds.states.saturating_sub(self.stack_bytes() as u64);
        self.bounds.slots.saturating_sub(self.stack.len() as u64).min(remaining / size.max(1) as u64)
    }

    /// Returns the next pause in the repetition from `at` to `here`; `None` if only one leaf remains.
    pub fn next(&self, at: u64, here: u64) -> Option<ReplayStop> {
        let leaves = here.saturating_sub(at).div_ceil(self.bounds.leaf);
        let size = self.stack.last().map_or(0, |(_, state)| state_bytes(state));
        let free = self.free(size);
        let pause = |free: u64| at + schedule::split(leaves, free + 1) * self.bounds.leaf;
        (leaves > 1).then(|| ReplayStop { at: pause(free), is_kept: free > 0 })
    }

    /// Takes a snapshot at distance `at`. Returns true if there was a free slot and memory for it.
    pub fn keep(&mut self, at: u64, state: &State<B>) -> bool {
        let has_room = self.free(state_bytes(state)) > 0;
        let copy = if has_room { state.try_clone().ok() } else { None };
        let is_kept = copy.is_some();
        self.stack.extend(copy.map(|copy| (at, Arc::new(copy))));
        is_kept
    }

    /// Sets the start of the machine's history.
    pub fn begin_at(&mut self, at: u64) {
        self.base = at;
    }

    /// Returns the strategy with its actual bounds.
    pub fn strategy(&self) -> Strategy {
        let slots = u32::try_from(self.bounds.slots).unwrap_or(u32::MAX);
        Strategy::Checkpoint { slots: Some(slots), leaf: Some(self.bounds.leaf) }
    }

    /// Returns the reason why the run uses its strategy. `asked` is the requested strategy.
    pub fn why(&self, asked: Strategy, bytes: u64) -> StrategyReason {
        let memory = self.bounds.memory.unwrap_or_default();
        match (asked, self.exceeded) {
            (Strategy::Auto, Some(step)) => StrategyReason::Exceeds { step, memory },
            (Strategy::Auto, None) => StrategyReason::Fits { bytes, memory },
            (Strategy::Reverse | Strategy::Tape | Strategy::Checkpoint { .. }, _) => StrategyReason::Asked,
        }
    }
}

impl KeptSnapshots<u64> {
    /// Converts the data to its serialisable form, without the initial state.
    ///
    /// # Errors
    /// Fails if there is no memory for a copy of a shared state.
    pub fn into_saved(self) -> Result<SavedSnapshots, OutOfMemory> {
        let spacing = self.online.spacing();
        let owned = |(at, state): (u64, Arc<State>)| {
            let mut state = Arc::try_unwrap(state).or_else(|state| state.try_clone())?;
            state.counters.shown = state.counters.shown.without_silence();
            Ok((at, state))
        };
        let online = self.online.iter().map(|(at, state)| (at, Arc::clone(state))).collect::<Vec<_>>();
        drop(self.online);
        let all = self.stack.into_iter().skip(1).chain(online);
        Ok(SavedSnapshots {
            spacing,
            states: all.map(owned).collect::<Result<_, OutOfMemory>>()?,
            base: self.base,
            passed: self.passed,
            history: self.history as u64,
            has_lost: self.has_lost,
            is_whole: self.is_whole,
            exceeded: self.exceeded,
            lossless: self.lossless,
            has_turned: self.has_turned,
        })
    }

    /// Restores the data; the inverse of [`KeptSnapshots::into_saved`]. Before the turning point, snapshots
    /// are evenly spaced.
    pub fn resume(origin: Arc<State>, retention: Retention, saved: SavedSnapshots) -> KeptSnapshots<u64> {
        let mut snapshots = KeptSnapshots::new(origin, retention);
        let SavedSnapshots {
            spacing,
            states,
            base,
            passed,
            history,
            has_lost,
            is_whole,
            exceeded,
            lossless,
            has_turned,
        } = saved;
        let states = states.into_iter().map(|(at, state)| (at, Arc::new(state)));
        if has_turned {
            snapshots.stack.extend(states);
        } else {
            let size = snapshots.stack.first().map_or(0, |(_, origin)| state_bytes(origin));
            let bounds = checkpoint_bounds(snapshots.bounds, retention, size);
            snapshots.online = Checkpoints::resume(spacing, bounds, states);
        }
        let history = usize::try_from(history).unwrap_or(usize::MAX);
        KeptSnapshots {
            base,
            passed,
            history,
            has_lost,
            is_whole,
            exceeded,
            lossless,
            has_turned,
            ..snapshots
        }
    }
}

/// Returns the limits on snapshots, except for the initial state, while the length of the run is unknown. As
/// long as the full history is kept too, snapshots take at most a quarter of the memory.
fn checkpoint_bounds(bounds: Bounds, retention: Retention, origin: usize) -> CheckpointBounds {
    let quarter = match (retention.strategy, bounds.memory) {
        (Strategy::Auto, Some(memory)) => memory / 4,
        _ => u64::MAX,
    };
    let remaining = usize::try_from(bounds.states.min(quarter)).unwrap_or(usize::MAX);
    let most = usize::try_from(bounds.slots.saturating_sub(1)).unwrap_or(usize::MAX);
    CheckpointBounds { bytes: remaining.saturating_sub(origin), least: 0, most }
}
