//! What a course keeps that goes back stretch by stretch: states, the first of them that of its start, and how far the
//! history of the stretch reaches that the machine is in. Knows distances from the start; makes no step.

use std::sync::Arc;

use crate::room::OutOfMemory;
use crate::state::State;

use super::bounds::MOST_BYTES_OF_A_STEP;
use super::checkpoints::{CheckpointBounds, Checkpoints, state_bytes};
use super::halt::CourseHalt;
use super::quiet::QuietStretches;
use super::saved::SavedStretches;
use super::{Bounds, Retention, Strategy, Why, online, schedule};

/// Kept states, and the stretch whose history the machine has.
#[derive(Debug)]
pub struct KeptStretches<B> {
    bounds: Bounds,
    /// States that are evenly spaced, as long as the way's length isn't known: without that of the start.
    online: Checkpoints<B>,
    /// The others, by their distances; that of the start is the first.
    stack: Vec<(u64, Arc<State<B>>)>,
    /// Where the machine's history begins.
    base: u64,
    /// The last end of a leaf that was passed, and what the history took there.
    passed: u64,
    history: usize,
    /// Whether a history was given up since.
    has_lost: bool,
    /// Whether the history reaches back to the start still, because all of it may be kept.
    is_whole: bool,
    /// The step at which that was given up.
    exceeded: Option<i64>,
    quiet: QuietStretches,
    /// How long the way is, if that was known when it began.
    length: Option<u64>,
    has_turned: bool,
}

/// Where a stretch that is made again pauses.
#[derive(Clone, Copy, Debug)]
pub struct StretchPause {
    pub at: u64,
    /// Whether the state there is kept.
    pub is_kept: bool,
}

impl<B> Clone for KeptStretches<B>
where
    B: Copy,
{
    fn clone(&self) -> KeptStretches<B> {
        let (online, stack, quiet) = (self.online.clone(), self.stack.clone(), self.quiet.clone());
        KeptStretches { online, stack, quiet, ..*self }
    }
}

impl<B: Copy + Default + PartialEq> KeptStretches<B> {
    /// At the start of a way.
    pub fn new(origin: Arc<State<B>>, retention: Retention) -> KeptStretches<B> {
        let bytes = state_bytes(&origin);
        let bounds = retention.bounds(bytes as u64);
        KeptStretches {
            bounds,
            online: Checkpoints::new(bounds.leaf, checkpoint_bounds(bounds, retention, bytes)),
            stack: vec![(0, origin)],
            base: 0,
            passed: 0,
            history: 0,
            has_lost: false,
            is_whole: retention.strategy == Strategy::Auto,
            exceeded: None,
            quiet: QuietStretches::default(),
            length: None,
            has_turned: false,
        }
    }

    /// The way is known to have so many steps.
    pub fn expect(&mut self, steps: Option<u64>) {
        self.length = steps;
    }

    /// Memory that the states take.
    pub fn bytes(&self) -> usize {
        self.online.bytes() + self.stack_bytes() + self.quiet.bytes()
    }

    fn stack_bytes(&self) -> usize {
        self.stack.iter().map(|(_, state)| state_bytes(state)).sum()
    }

    /// Where the machine's history begins.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Steps to the end of the leaf that a distance lies in.
    pub fn ahead(&self, here: u64) -> u64 {
        self.bounds.leaf - here % self.bounds.leaf
    }

    /// Whether a leaf ends at a distance that was never passed before.
    pub fn is_due(&self, here: u64) -> bool {
        !self.has_turned && here > self.passed && here.is_multiple_of(self.bounds.leaf)
    }

    /// A leaf ends at a distance, where the history takes so much.
    pub fn note_leaf(&mut self, here: u64, history: usize) {
        if history == self.history && !self.has_lost {
            self.quiet.note(self.passed, here, self.bounds.quiet);
        }
        (self.passed, self.history, self.has_lost) = (here, history, false);
    }

    /// Whether a leaf that ends at a state leaves the whole history in place: nothing is made again as long as that is kept.
    pub fn stays_whole(&self, here: u64, state: &State<B>, history: usize) -> bool {
        let added = if self.is_to_be_kept(here, state) { state_bytes(state) } else { 0 };
        self.is_whole && self.fitting(history + added) > 0
    }

    /// Keeps the state at the end of a leaf, if it is one of those that are to be kept. Whether it is.
    pub fn keep_leaf(&mut self, here: u64, state: &State<B>) -> bool {
        let is_kept = self.is_to_be_kept(here, state)
            && match self.length {
                Some(_) => self.keep(here, state),
                // Without memory for it, longer stretches are made again.
                None => self.online.add(state).is_ok(),
            };
        if is_kept {
            self.give_back_before(here);
        }
        is_kept
    }

    /// Whether the state at the end of a leaf is to be kept.
    fn is_to_be_kept(&self, here: u64, state: &State<B>) -> bool {
        match self.length {
            Some(length) => self.is_split(here, length, state_bytes(state)),
            None => here == self.online.due() && self.online.holds(state_bytes(state)),
        }
    }

    /// A state is kept at a distance. If no step of the stretch before it has lost anything, those that were kept there serve no more:
    /// what follows is made again from the new one, and the stretch itself never.
    fn give_back_before(&mut self, here: u64) {
        let Some(begin) = self.quiet.begin(here) else { return };
        self.online.give_back(begin..=here);
        self.stack.retain(|(at, _)| *at == 0 || !(begin..here).contains(at));
    }

    /// Whether the schedule of a known length keeps the state at a distance.
    fn is_split(&self, here: u64, length: u64, size: usize) -> bool {
        let last = self.stack.last().map_or(0, |(at, _)| *at);
        let leaves = length.saturating_sub(last).div_ceil(self.bounds.leaf);
        let free = self.free(size);
        free > 0 && leaves > 1 && here == last + schedule::split(leaves, free + 1) * self.bounds.leaf
    }

    /// Steps whose losses fit into the memory beside a history of a size, whatever they lose.
    pub fn fitting(&self, history: usize) -> u64 {
        let free = |memory: u64| memory.saturating_sub((self.bytes() + history) as u64);
        self.bounds.memory.map_or(u64::MAX, |memory| free(memory) / MOST_BYTES_OF_A_STEP)
    }

    /// The history of what lies before a distance is given up.
    pub fn give_history_up(&mut self, here: u64, step: i64) {
        if std::mem::replace(&mut self.is_whole, false) {
            self.exceeded = Some(step);
        }
        // Of a leaf in whose middle that happens it is known that it has lost something.
        self.has_lost |= here > self.passed;
        (self.base, self.history) = (here, 0);
    }

    /// There is too little memory.
    pub fn full(&self) -> CourseHalt {
        CourseHalt::Full { bytes: self.bounds.memory.unwrap_or_default() }
    }

    /// The way there has ended, if that isn't known yet: the states that serve best stay.
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
        // States of the middle size fit into the memory so often.
        let bytes = all.iter().map(|(_, state)| state_bytes(state)).sum::<usize>();
        let fitting = self.bounds.states / (bytes / all.len().max(1)).max(1) as u64;
        let chosen = online::chosen(&leaves, self.base.div_ceil(leaf), self.bounds.slots.min(fitting.max(1)));
        self.stack = chosen.into_iter().filter_map(|n| all.get(n).cloned()).collect();
    }

    /// Whether no step of the stretch before a distance has lost anything: then the stretch is at hand.
    pub fn is_quiet_before(&mut self, here: u64) -> bool {
        let begin = self.quiet.begin(here);
        self.base = begin.unwrap_or(self.base);
        begin.is_some()
    }

    /// The kept state that is nearest before a distance. Those behind it are needed no more.
    pub fn last_before(&mut self, here: u64) -> (u64, Arc<State<B>>) {
        while self.stack.len() > 1 && self.stack.last().is_some_and(|(at, _)| *at >= here) {
            self.stack.pop();
        }
        let (at, state) = &self.stack[self.stack.len() - 1];
        (*at, Arc::clone(state))
    }

    /// Slots that are free, for states of a size.
    fn free(&self, size: usize) -> u64 {
        let room = self.bounds.states.saturating_sub(self.stack_bytes() as u64);
        self.bounds.slots.saturating_sub(self.stack.len() as u64).min(room / size.max(1) as u64)
    }

    /// Where a stretch that is made again from a distance pauses next on its way to another one; none where it is a leaf.
    pub fn next(&self, at: u64, here: u64) -> Option<StretchPause> {
        let leaves = here.saturating_sub(at).div_ceil(self.bounds.leaf);
        let size = self.stack.last().map_or(0, |(_, state)| state_bytes(state));
        let free = self.free(size);
        let pause = |free: u64| at + schedule::split(leaves, free + 1) * self.bounds.leaf;
        (leaves > 1).then(|| StretchPause { at: pause(free), is_kept: free > 0 })
    }

    /// Keeps a state. Whether there is memory for it.
    pub fn keep(&mut self, at: u64, state: &State<B>) -> bool {
        let has_room = self.free(state_bytes(state)) > 0;
        let copy = if has_room { state.try_clone().ok() } else { None };
        let is_kept = copy.is_some();
        self.stack.extend(copy.map(|copy| (at, Arc::new(copy))));
        is_kept
    }

    /// The machine's history begins at a distance.
    pub fn begin_at(&mut self, at: u64) {
        self.base = at;
    }

    /// The strategy, with its bounds.
    pub fn strategy(&self) -> Strategy {
        let slots = u32::try_from(self.bounds.slots).unwrap_or(u32::MAX);
        Strategy::Checkpoint { slots: Some(slots), leaf: Some(self.bounds.leaf) }
    }

    /// Why it is taken where another was asked for.
    pub fn why(&self, asked: Strategy, bytes: u64) -> Why {
        let memory = self.bounds.memory.unwrap_or_default();
        match (asked, self.exceeded) {
            (Strategy::Auto, Some(step)) => Why::Exceeds { step, memory },
            (Strategy::Auto, None) => Why::Fits { bytes, memory },
            (Strategy::Reverse | Strategy::Tape | Strategy::Checkpoint { .. }, _) => Why::Asked,
        }
    }
}

impl KeptStretches<u64> {
    /// As plain data, without the state of the start.
    ///
    /// # Errors
    /// There is no memory for a copy of a state that somebody else has, too.
    pub fn into_saved(self) -> Result<SavedStretches, OutOfMemory> {
        let spacing = self.online.spacing();
        let owned = |(at, state): (u64, Arc<State>)| {
            let mut state = Arc::try_unwrap(state).or_else(|state| state.try_clone())?;
            state.counters.shown = state.counters.shown.without_silence();
            Ok((at, state))
        };
        let online = self.online.iter().map(|(at, state)| (at, Arc::clone(state))).collect::<Vec<_>>();
        drop(self.online);
        let all = self.stack.into_iter().skip(1).chain(online);
        Ok(SavedStretches {
            spacing,
            states: all.map(owned).collect::<Result<_, OutOfMemory>>()?,
            base: self.base,
            passed: self.passed,
            history: self.history as u64,
            has_lost: self.has_lost,
            is_whole: self.is_whole,
            exceeded: self.exceeded,
            quiet: self.quiet,
            has_turned: self.has_turned,
        })
    }

    /// The inverse of that. States before the turn are evenly spaced.
    pub fn resume(origin: Arc<State>, retention: Retention, saved: SavedStretches) -> KeptStretches<u64> {
        let mut stretches = KeptStretches::new(origin, retention);
        let SavedStretches {
            spacing,
            states,
            base,
            passed,
            history,
            has_lost,
            is_whole,
            exceeded,
            quiet,
            has_turned,
        } = saved;
        let states = states.into_iter().map(|(at, state)| (at, Arc::new(state)));
        if has_turned {
            stretches.stack.extend(states);
        } else {
            let size = stretches.stack.first().map_or(0, |(_, origin)| state_bytes(origin));
            let bounds = checkpoint_bounds(stretches.bounds, retention, size);
            stretches.online = Checkpoints::resume(spacing, bounds, states);
        }
        let history = usize::try_from(history).unwrap_or(usize::MAX);
        KeptStretches { base, passed, history, has_lost, is_whole, exceeded, quiet, has_turned, ..stretches }
    }
}

/// How many states are kept besides that of the start, as long as the length of the way isn't known: no more than a quarter of the memory as long
/// as all of the history is kept as well.
fn checkpoint_bounds(bounds: Bounds, retention: Retention, origin: usize) -> CheckpointBounds {
    let quarter = match (retention.strategy, bounds.memory) {
        (Strategy::Auto, Some(memory)) => memory / 4,
        _ => u64::MAX,
    };
    let room = usize::try_from(bounds.states.min(quarter)).unwrap_or(usize::MAX);
    let most = usize::try_from(bounds.slots.saturating_sub(1)).unwrap_or(usize::MAX);
    CheckpointBounds { bytes: room.saturating_sub(origin), least: 0, most }
}
