//! Checkpointed runs. Away from its origin, a checkpointed run keeps what its strategy demands. Toward its origin, it
//! provides the history of the next steps, if necessary by repeating a segment from a snapshot. The sequence of states
//! is the same as with a full history. The module reads neither instructions nor adjoints.
//!
//! A segment is repeated on a separate machine, and its history is handed to the machine that runs backward. So the
//! machine that runs backward may have adjoints, although no snapshot has any.

use std::sync::Arc;

use crate::allocation::{AllocationPurpose, OutOfMemory};
use crate::history::Residues;
use crate::interp::engine::Interpreted;
use crate::machine::Machine;
use crate::state::State;
use crate::stops::{Node, Stops};
use crate::trap::{Cause, Trap};
use crate::travel::{Stop, Travel};

use super::halt::RunHalt;
use super::saved::SavedRun;
use super::snapshots::KeptSnapshots;
use super::{Retention, RunCost, Strategy, StrategyReason, UsedStrategy, loses_nothing};

/// A machine in a run, with the data that is kept for going back.
#[derive(Debug)]
pub struct CheckpointedRun<B = u64> {
    machine: Machine<B>,
    /// The strategy; `None` if nothing is kept, so that going back only executes inverses and rounding errors remain.
    retention: Option<Retention>,
    kept: KeptHistory<B>,
    /// The number of the program's own steps at the start of the run.
    origin: i64,
    /// The direction of travel that leads away from the start.
    away: Travel,
    cost: RunCost,
}

#[derive(Debug)]
enum KeptHistory<B> {
    /// Nothing: no step loses anything, or no strategy is requested.
    Nothing,
    /// A full history, in the machine.
    Log,
    /// Snapshots, and a history of the machine's current segment.
    Snapshots(Box<KeptSnapshots<B>>),
}

/// Number of steps between two checks of a bounded history's size.
const CHECKED_STEPS: u64 = 1 << 16;

impl<B: Interpreted> CheckpointedRun<B> {
    /// Creates a checkpointed run from a machine without history. `away` is the direction of the forward
    /// sweep.
    ///
    /// # Errors
    /// Fails if there is no memory for a copy of the state.
    pub fn begin(
        mut machine: Machine<B>,
        retention: Option<Retention>,
        away: Travel,
    ) -> Result<CheckpointedRun<B>, OutOfMemory> {
        let program = machine.program();
        let is_lossless = loses_nothing(program.module()) && !program.switches_mode();
        let kept = match retention.map(|retention| (retention, retention.strategy)) {
            None => KeptHistory::Nothing,
            Some((_, Strategy::Reverse | Strategy::Tape)) => KeptHistory::Log,
            Some(_) if is_lossless => KeptHistory::Nothing,
            Some((retention, Strategy::Checkpoint { .. } | Strategy::Auto)) => {
                let origin = Arc::new(machine.state().try_clone()?);
                KeptHistory::Snapshots(Box::new(KeptSnapshots::new(origin, retention)))
            }
        };
        if !matches!(kept, KeptHistory::Nothing) {
            machine.keep_residues();
        }
        if retention.is_some_and(|retention| retention.strategy == Strategy::Tape) {
            machine.tape();
        }
        let (origin, cost) = (machine.state().own_steps(), RunCost::default());
        Ok(CheckpointedRun { machine, retention, kept, origin, away, cost })
    }

    /// Sets the length of the run in steps, if it is known in advance.
    #[must_use]
    pub fn of_length(mut self, steps: Option<u64>) -> CheckpointedRun<B> {
        if let KeptHistory::Snapshots(snapshots) = &mut self.kept {
            snapshots.expect(steps);
        }
        self
    }

    /// Returns a copy. Snapshots are shared.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub fn try_clone(&self) -> Result<CheckpointedRun<B>, OutOfMemory> {
        let kept = match &self.kept {
            KeptHistory::Nothing => KeptHistory::Nothing,
            KeptHistory::Log => KeptHistory::Log,
            KeptHistory::Snapshots(snapshots) => KeptHistory::Snapshots(snapshots.clone()),
        };
        Ok(CheckpointedRun { machine: self.machine.try_clone()?, kept, ..*self })
    }

    /// Returns the machine, in the current state of the run.
    pub fn machine(&self) -> &Machine<B> {
        &self.machine
    }

    /// Returns the machine for changes at the turning point. If the caller changes values, the kept data no
    /// longer applies.
    pub fn machine_mut(&mut self) -> &mut Machine<B> {
        &mut self.machine
    }

    /// Consumes the run and returns its machine.
    pub fn into_machine(self) -> Machine<B> {
        self.machine
    }

    /// Returns the strategy and its memory bound; `None` if no strategy was requested.
    pub fn retention(&self) -> Option<Retention> {
        self.retention
    }

    /// Returns the cost so far.
    pub fn cost(&self) -> RunCost {
        let peak_bytes = self.cost.peak_bytes.max(self.bytes());
        RunCost { peak_bytes, ..self.cost }
    }

    /// Returns the memory in use for going back, in bytes.
    fn bytes(&self) -> u64 {
        let states = match &self.kept {
            KeptHistory::Snapshots(snapshots) => snapshots.bytes(),
            KeptHistory::Nothing | KeptHistory::Log => 0,
        };
        (states + self.machine.history_bytes()) as u64
    }

    /// Returns the strategy in use and the reason for it; `None` if no strategy was requested.
    pub fn taken(&self) -> Option<UsedStrategy> {
        let retention = self.retention?;
        let asked = |strategy| UsedStrategy { strategy, why: StrategyReason::Asked };
        Some(match (&self.kept, retention.strategy) {
            (KeptHistory::Nothing, Strategy::Auto) => {
                UsedStrategy { strategy: Strategy::Reverse, why: StrategyReason::NothingIsLost }
            }
            (KeptHistory::Nothing, strategy) => UsedStrategy { strategy, why: StrategyReason::NothingIsLost },
            (KeptHistory::Log, strategy) => asked(strategy),
            (KeptHistory::Snapshots(snapshots), strategy) => {
                let why = snapshots.why(strategy, self.cost().peak_bytes);
                let strategy = if matches!(why, StrategyReason::Fits { .. }) {
                    Strategy::Reverse
                } else {
                    snapshots.strategy()
                };
                UsedStrategy { strategy, why }
            }
        })
    }

    /// Returns the distance of the state from the start, in the program's own steps.
    fn distance(&self) -> u64 {
        self.machine.state().own_steps().abs_diff(self.origin)
    }

    /// Executes at most `budget` steps, but none at a breakpoint, as [`Machine::run_interruptibly`].
    ///
    /// # Errors
    /// Returns a trap, or an error if the memory bound is exceeded.
    pub fn run(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, RunHalt> {
        let is_away = travel == self.away;
        match self.kept {
            KeptHistory::Nothing => self.make(stops, travel, budget).1.map_err(RunHalt::Trap),
            KeptHistory::Log => self.logged(stops, travel, budget),
            KeptHistory::Snapshots(_) if is_away => self.leave(stops, travel, budget),
            KeptHistory::Snapshots(_) => self.come_back(stops, travel, budget),
        }
    }

    /// Executes steps without changing the kept data. Returns their number and the outcome.
    fn make(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> (u64, Result<Stop, Trap>) {
        let before = self.machine.state().step;
        let outcome = self.machine.run_interruptibly(stops, travel, budget);
        let made = self.machine.state().step.abs_diff(before);
        self.cost.steps += made;
        (made, outcome)
    }

    /// Executes steps with a full history, until it exceeds the memory bound.
    fn logged(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, RunHalt> {
        let memory = self.retention.and_then(|retention| retention.memory);
        let mut left = budget;
        loop {
            let part = memory.map_or(left, |_| left.min(CHECKED_STEPS));
            let (made, outcome) = self.make(stops, travel, part);
            self.note_bytes();
            let stop = outcome?;
            if let Some(bytes) = memory.filter(|&memory| self.cost.peak_bytes > memory) {
                return Err(RunHalt::Full { bytes });
            }
            left -= made;
            if stop != Stop::Budget || left == 0 || made < part {
                return Ok(stop);
            }
        }
    }

    fn note_bytes(&mut self) {
        self.cost.peak_bytes = self.cost.peak_bytes.max(self.bytes());
    }

    fn snapshots(&mut self) -> Option<&mut KeptSnapshots<B>> {
        match &mut self.kept {
            KeptHistory::Snapshots(snapshots) => Some(snapshots),
            KeptHistory::Nothing | KeptHistory::Log => None,
        }
    }

    /// Runs away from the start, leaf by leaf.
    fn leave(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, RunHalt> {
        let mut left = budget;
        loop {
            let here = self.distance();
            let is_end = self.is_at_end(stops, travel);
            let Some(snapshots) = self.snapshots() else { return Ok(Stop::Budget) };
            let ahead = snapshots.ahead(here);
            if !is_end && snapshots.is_due(here) {
                self.pass_leaf(here);
            }
            let fitting = if is_end { u64::MAX } else { self.fitting(here)? };
            let part = left.min(ahead).min(fitting);
            let (made, outcome) = self.make(stops, travel, part);
            left -= made;
            if outcome != Ok(Stop::Budget) || left == 0 || made < part {
                self.note_bytes();
                return outcome.map_err(RunHalt::Trap);
            }
        }
    }

    /// Returns true if no further step is to be executed in this direction.
    fn is_at_end(&self, stops: Option<&Stops>, travel: Travel) -> bool {
        let (program, state) = (self.machine.program(), self.machine.state());
        let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
        let is_bound = state.calls.is_empty() && state.position == bound;
        is_bound || stops.is_some_and(|stops| stops.contains(Node::of(state, travel)))
    }

    /// Handles the end of a leaf: keeps the history and a snapshot, or discards them, as the strategy
    /// demands.
    fn pass_leaf(&mut self, here: u64) {
        self.note_bytes();
        let history = self.machine.history_bytes();
        let KeptHistory::Snapshots(snapshots) = &mut self.kept else { return };
        snapshots.note_leaf(here, history);
        // Without its history, the segment is repeated when it is needed. A lossless segment has no history.
        if history > 0 && !snapshots.stays_whole(here, self.machine.state(), history) {
            snapshots.give_history_up(here, self.machine.state().step);
            self.machine.replace_residues(Residues::default());
        }
        self.cost.checkpoints += u64::from(snapshots.keep_leaf(here, self.machine.state()));
    }

    /// Returns a number of steps whose losses certainly fit into the memory. If the memory isn't enough for one step,
    /// the history so far is discarded first. Fails if the memory still isn't enough.
    fn fitting(&mut self, here: u64) -> Result<u64, RunHalt> {
        let (step, history) = (self.machine.state().step, self.machine.history_bytes());
        let Some(snapshots) = self.snapshots() else { return Ok(u64::MAX) };
        let fitting = snapshots.fitting(history);
        if fitting > 0 {
            return Ok(fitting);
        }
        // The peak includes the history that is about to be discarded.
        let alone = snapshots.fitting(0);
        if history == 0 || alone == 0 {
            return Err(snapshots.full());
        }
        self.note_bytes();
        if let Some(snapshots) = self.snapshots() {
            snapshots.give_history_up(here, step);
        }
        self.machine.replace_residues(Residues::default());
        Ok(alone)
    }

    /// Runs back toward the start. Rule steps occur only in this direction, and don't count in distances.
    fn come_back(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, RunHalt> {
        let mut left = budget;
        loop {
            let here = self.distance();
            let Some(snapshots) = self.snapshots() else { return Ok(Stop::Budget) };
            snapshots.turn();
            if here > 0 && here == snapshots.base() && !self.reach_back(here)? {
                return Ok(Stop::Interrupted);
            }
            let base = self.snapshots().map_or(0, |snapshots| snapshots.base());
            let part = if here == 0 { left } else { left.min(here.saturating_sub(base).max(1)) };
            let (made, outcome) = self.make(stops, travel, part);
            left -= made;
            if outcome != Ok(Stop::Budget) || left == 0 || made < part {
                self.note_bytes();
                return outcome.map_err(RunHalt::Trap);
            }
        }
    }

    /// Provides the history of the steps just before the distance `here`. Returns false if the run was interrupted.
    fn reach_back(&mut self, here: u64) -> Result<bool, RunHalt> {
        let Some(snapshots) = self.snapshots() else { return Ok(true) };
        if snapshots.is_lossless_before(here) {
            self.machine.replace_residues(Residues::default());
            return Ok(true);
        }
        let no_memory = self.no_memory();
        let Some(snapshots) = self.snapshots() else { return Ok(true) };
        // The history of the later segment has been used up.
        let (mut at, state) = snapshots.last_before(here);
        let copy = state.try_clone().map_err(|_| no_memory)?;
        self.cost.returns += 1;
        let mut again = self.machine.with_state(copy);
        while let Some(next) = self.snapshots().and_then(|snapshots| snapshots.next(at, here)) {
            if !self.make_again(&mut again, at.abs_diff(next.at))? {
                return Ok(false);
            }
            at = next.at;
            if next.is_kept
                && let Some(snapshots) = self.snapshots()
                && snapshots.keep(at, again.state())
            {
                self.cost.checkpoints += 1;
            }
        }
        // The machine may have recorded steps in rules since then. Records of rules aren't needed for going back.
        self.machine.replace_residues(Residues::default());
        let Some(base) = self.record(&mut again, at, here)? else { return Ok(false) };
        self.machine.replace_residues(again.into_residues().unwrap_or_default());
        if let Some(snapshots) = self.snapshots() {
            snapshots.begin_at(base);
        }
        self.note_bytes();
        Ok(true)
    }

    /// Repeats a leaf, from distance `from` to distance `to`, and records its history. If the whole history doesn't fit
    /// into the memory, records only the history of the last steps. Returns the distance at which the recorded history
    /// starts; `None` if the run was interrupted.
    fn record(&mut self, again: &mut Machine<B>, from: u64, to: u64) -> Result<Option<u64>, RunHalt> {
        again.keep_residues();
        let (mut at, mut base) = (from, from);
        while at < to {
            let Some(snapshots) = self.snapshots() else { return Ok(None) };
            let mut fitting = snapshots.fitting(again.history_bytes());
            if fitting == 0 && again.history_bytes() > 0 {
                fitting = snapshots.fitting(0);
                again.replace_residues(Residues::default());
                base = at;
            }
            if fitting == 0 {
                return Err(self
                    .snapshots()
                    .map_or(RunHalt::Full { bytes: 0 }, |snapshots| snapshots.full()));
            }
            let part = fitting.min(to - at);
            if !self.make_again(again, part)? {
                return Ok(None);
            }
            at += part;
        }
        Ok(Some(base))
    }

    /// Repeats steps of the forward sweep. Returns false if the run was interrupted.
    fn make_again(&mut self, again: &mut Machine<B>, steps: u64) -> Result<bool, RunHalt> {
        let (before, lost) = (again.state().step, again.state().counters.erased_bits);
        let outcome = again.run_interruptibly(None, self.away, steps);
        let made = again.state().step.abs_diff(before);
        self.cost.lost_again += again.state().counters.erased_bits.abs_diff(lost);
        self.cost.steps += made;
        self.cost.again += made;
        match outcome {
            Ok(Stop::Interrupted) => Ok(false),
            // The steps succeeded the first time, so only a lack of memory can stop them.
            Ok(_) if made == steps => Ok(true),
            Ok(_) => Err(self.no_memory().into()),
            Err(trap) => Err(trap.into()),
        }
    }

    fn no_memory(&self) -> Trap {
        let at = Node::of(self.machine.state(), self.away.reversed()).instruction();
        Trap { at, cause: Cause::NoMemory(AllocationPurpose::Copy) }
    }
}

impl CheckpointedRun {
    /// Splits the run into its state, its history, and the other data that [`CheckpointedRun::resume`] needs.
    ///
    /// # Errors
    /// Fails if there is no memory for a copy of a shared state.
    pub fn into_saved(self) -> Result<(State, Option<Residues>, Option<SavedRun>), OutOfMemory> {
        let cost = self.cost();
        let (state, residues) = self.machine.into_parts();
        let Some(retention) = self.retention else { return Ok((state, residues, None)) };
        let snapshots = match self.kept {
            KeptHistory::Snapshots(snapshots) => Some(snapshots.into_saved()?),
            KeptHistory::Nothing | KeptHistory::Log => None,
        };
        Ok((state, residues, Some(SavedRun { retention, cost, snapshots })))
    }

    /// Resumes a checkpointed run. The machine has the state and the history from [`CheckpointedRun::into_saved`],
    /// and `start` is the initial state.
    ///
    /// # Errors
    /// Fails if there is no memory for a copy of the start.
    pub fn resume(machine: Machine, start: &State, saved: SavedRun) -> Result<CheckpointedRun, OutOfMemory> {
        let SavedRun { retention, cost, snapshots } = saved;
        let kept = match (snapshots, machine.residues()) {
            (Some(snapshots), _) => {
                let origin = Arc::new(start.try_clone()?);
                KeptHistory::Snapshots(Box::new(KeptSnapshots::resume(origin, retention, snapshots)))
            }
            (None, Some(_)) => KeptHistory::Log,
            (None, None) => KeptHistory::Nothing,
        };
        let (retention, away, origin) = (Some(retention), Travel::Forward, start.own_steps());
        let mut checkpointed_run = CheckpointedRun { machine, retention, kept, origin, away, cost };
        if retention.is_some_and(|retention| retention.strategy == Strategy::Tape) {
            checkpointed_run.machine.tape();
        }
        Ok(checkpointed_run)
    }
}
