//! A bounded number of states along a way, evenly spaced: where re-execution starts. Of places where none would serve the states can be
//! given back. Knows no machine.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::room::OutOfMemory;
use crate::state::State;

use super::spaced::Spaced;

/// How many states may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointBounds {
    /// Memory that they may take.
    pub bytes: usize,
    /// How many are kept at least, whatever their size, and at most.
    pub least: usize,
    pub most: usize,
}

impl CheckpointBounds {
    /// How many states of a size may be kept.
    pub fn count(self, bytes: usize) -> usize {
        (self.bytes / bytes.max(1)).max(self.least).min(self.most)
    }
}

/// States at multiples of a spacing, by their distance from the origin. A clone shares the states.
#[derive(Clone, Debug)]
pub struct Checkpoints<B = u64> {
    bounds: CheckpointBounds,
    /// None where a state would serve nothing.
    states: Spaced<Option<Arc<State<B>>>>,
}

impl<B: Copy + Default + PartialEq> Checkpoints<B> {
    /// None yet. `spacing` is the number of steps between two of them at first.
    pub fn new(spacing: u64, bounds: CheckpointBounds) -> Checkpoints<B> {
        Checkpoints { bounds, states: Spaced::new(spacing) }
    }

    /// The distance from the origin at which the next one is due.
    pub fn due(&self) -> u64 {
        self.states.due()
    }

    /// How many steps are between two of them now.
    pub fn spacing(&self) -> u64 {
        self.states.spacing()
    }

    /// Whether there is room for a state of a size.
    pub fn holds(&self, bytes: usize) -> bool {
        self.bounds.count(bytes) > 0
    }

    /// Takes the state at the distance that is due.
    ///
    /// # Errors
    /// There is no memory for it: then none is taken any more, and going back leads over longer stretches.
    pub fn add(&mut self, state: &State<B>) -> Result<(), OutOfMemory> {
        let copy = Arc::new(state.try_clone()?);
        self.take(copy);
        Ok(())
    }

    /// Takes a state that is a copy already.
    pub fn take(&mut self, state: Arc<State<B>>) {
        let most = self.bounds.count(state_bytes(&state));
        if most > 0 {
            self.states.add(Some(state), most);
        }
        // Those before it may be larger.
        while self.bytes() > self.bounds.bytes && self.states.count() > self.bounds.least.max(1) {
            self.states.thin();
        }
    }

    /// Those at some distances again, in their order. Between them there were others that served nothing.
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

    /// Gives back the states of a stretch that nothing is made again from, but for the last one. That may go when there are too many, as every
    /// other one does then; so those before it stay that would outlast all behind them, which are few.
    pub fn give_back(&mut self, stretch: RangeInclusive<u64>) {
        let spacing = self.states.spacing();
        let there = self.states.iter_mut().filter(|(at, state)| stretch.contains(at) && state.is_some());
        // How often the spacing may double until a state goes.
        let mut there: Vec<_> = there.map(|(at, state)| ((at / spacing).trailing_zeros(), state)).collect();
        let mut longest = None;
        for (lasts, state) in there.iter_mut().rev() {
            match longest {
                Some(longest) if *lasts <= longest => **state = None,
                _ => longest = Some(*lasts),
            }
        }
    }

    /// The furthest one that is at most `distance` from the origin.
    pub fn before(&self, distance: u64) -> Option<&Arc<State<B>>> {
        self.states.up_to(distance).iter().rev().find_map(Option::as_ref)
    }

    /// All of them, with their distances.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Arc<State<B>>)> {
        self.states.iter().filter_map(|(at, state)| Some((at, state.as_ref()?)))
    }

    /// Memory that they take.
    pub fn bytes(&self) -> usize {
        self.iter().map(|(_, state)| state_bytes(state)).sum()
    }
}

/// Memory that a state takes which is a copy.
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
