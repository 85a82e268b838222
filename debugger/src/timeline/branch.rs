//! One branch of the timeline: the run from one state in both directions. Travel on a branch is exact: the
//! state at a step is always the same bit for bit, no matter from which side the step is reached.
//!
//! Steps are counted from the *origin*, the state with which the branch began: the program's start, or an edit. A
//! step away from the origin may lose bits; a step toward the origin must restore the lost bits.
//!
//! - Programs over integers and fixed point without erasing instructions are lossless: going back executes inverse
//!   instructions, and no history is kept. If a branch has adjoints, or if its program can create them, the branch
//!   isn't lossless, because the adjoint of a vacated cell is discarded.
//! - A branch of any other program runs away from the origin without a history, and keeps a few checkpoints. To go
//!   back, it executes the interval since the last checkpoint again, and records residues. This interval is the
//!   *window*; its memory is bounded. Inside the window, going back executes inverse instructions, too, which take
//!   the lost bits from the residues.
//! - A branch may begin with an edit that changes no value. From there, its steps may undo steps of the earlier
//!   branch. The values that these steps of the earlier branch lost are then taken from the earlier branch
//!   ([`EarlierBranch`]).

use std::sync::Arc;

use reviver_isa::update::OperandShape;
use reviver_vm::allocation::{AllocationPurpose, OutOfMemory};
use reviver_vm::history::Residues;
use reviver_vm::observer::Observer;
use reviver_vm::stops::{Node, Stops};
use reviver_vm::strategy::Checkpoints;
use reviver_vm::travel::Segment;
use reviver_vm::{Cause, Machine, Program, Runner, ShownMark, State, Stop, Trap, Travel, drift};

use super::census::{Calls, Census};
use super::limits::TimelineLimits;
use super::long_runs::LongRuns;
use super::lossless::{is_lossless, uses_adjoints};
use super::past::{EarlierBranch, Remembering};

/// Data about the steps on one side of the origin: those after it, or those before it.
#[derive(Clone, Debug)]
struct BranchSide {
    checkpoints: Checkpoints,
    /// Counts of calls at some steps; `None` if the program has no calls.
    census: Option<Census>,
    /// The furthest step reached, as a distance from the origin.
    reached: u64,
    /// The reason why the branch ends on this side, if it is known.
    ends: Option<End>,
}

impl BranchSide {
    /// Returns the number of steps from `distance` to the next pause of the run. At a pause, calls are counted. If
    /// `keeps` is true, a checkpoint may be kept at the pause, too. `distance` is counted from the origin, in
    /// steps.
    fn steps_to_look(&self, distance: u64, keeps: bool) -> u64 {
        let count = self.census.as_ref().map(Census::due);
        let due = count.into_iter().chain(keeps.then(|| self.checkpoints.due()));
        due.filter_map(|due| due.checked_sub(distance).filter(|&steps| steps > 0)).min().unwrap_or(u64::MAX)
    }
}

/// Observer of runs away from the origin. It counts calls and keeps checkpoints.
struct SideNotes<'s> {
    side: &'s mut BranchSide,
    /// True if checkpoints are kept.
    keeps: bool,
}

impl Observer for SideNotes<'_> {
    fn due(&self, state: &State) -> u64 {
        self.side.steps_to_look(state.step.unsigned_abs(), self.keeps)
    }

    fn look(&mut self, state: &State) {
        let distance = state.step.unsigned_abs();
        if let Some(census) = &mut self.side.census {
            census.note(distance, state);
        }
        if self.keeps && distance == self.side.checkpoints.due() {
            // If there is no memory for a checkpoint, going back executes longer intervals again.
            self.side.checkpoints.add(state).ok();
        }
    }
}

/// The reason why a branch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The start or the end of the program.
    Bound,
    /// A step that the machine can't execute.
    Trap(Trap),
}

/// An interval of steps in which calls were entered or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSegment {
    /// The last step before the interval. In a short branch, each interval consists of one step.
    pub from: i64,
    /// The last step of the interval. All calls of the interval were entered or left up to this step.
    pub to: i64,
    /// Number of calls entered and left in the interval.
    pub calls: Calls,
}

/// A branch and the current position on it.
#[derive(Debug)]
pub struct Branch {
    program: Arc<Program>,
    origin: Arc<State>,
    /// Records of the earlier branches whose steps this branch may undo.
    pasts: Vec<EarlierBranch>,
    /// The timeline step of the origin.
    offset: i64,
    machine: Machine,
    /// The distance from the origin, in steps, at which the machine's residues begin. With these residues, the
    /// machine can go back to this distance.
    base: u64,
    /// The half of the window that is nearer to the origin. It consists of a machine at the distance `base`, and
    /// the distance from the origin at which this machine's residues begin.
    older: Option<(Machine, u64)>,
    sides: [BranchSide; 2],
    lossless: bool,
    limits: TimelineLimits,
    /// The engine for long runs; the interpreter is used if `None`.
    long_runs: Option<LongRuns>,
    /// The mark of the last `show` whose output was printed. The mark stays the same when the branch moves
    /// backward, so that no output is printed twice.
    shown: ShownMark,
}

impl Branch {
    /// Creates a branch whose origin is a state at a step of the timeline.
    ///
    /// # Errors
    /// There is no memory for a second copy of the state; the origin and the machine need one each.
    pub fn new(
        program: Arc<Program>,
        origin: State,
        offset: i64,
        limits: TimelineLimits,
    ) -> Result<Branch, OutOfMemory> {
        let mut origin = origin.as_start();
        let limits = TimelineLimits { short: limits.short.max(1), ..limits };
        // Adjoints must exist from the origin on, because going back doesn't remove adjoints that were
        // created later.
        if origin.mode() || uses_adjoints(program.module()) {
            // If there is no memory for the adjoints, the first step reports the error.
            origin.make_adjoints().ok();
        }
        let lossless = is_lossless(program.module(), &origin) && !limits.taped;
        let residues = (limits.whole && !lossless).then(|| limits.residues());
        let machine = Machine::resume(program.clone(), origin.try_clone()?, residues);
        let checkpoints = Checkpoints::new(limits.spacing, limits.checkpoint_bounds());
        let calls = program.module().code.iter().any(|i| i.update.shape() == OperandShape::Call);
        let census = calls.then(|| Census::new(&origin));
        let sides = [Travel::Forward, Travel::Backward].map(|travel| {
            let ends = is_at_bound(&program, &origin, travel).then_some(End::Bound);
            BranchSide { checkpoints: checkpoints.clone(), census: census.clone(), reached: 0, ends }
        });
        let (origin, pasts) = (Arc::new(origin), Vec::new());
        let (base, older, shown, long_runs) = (0, None, ShownMark::default(), None);
        Ok(Branch {
            program,
            origin,
            pasts,
            offset,
            machine,
            base,
            older,
            sides,
            lossless,
            limits,
            long_runs,
            shown,
        })
    }

    /// Sets the engine for long runs.
    pub fn run_long_by(&mut self, long_runs: LongRuns) {
        self.long_runs = Some(long_runs);
    }

    /// Returns the engine for long runs, if one is set.
    pub fn long_runs(&self) -> Option<&LongRuns> {
        self.long_runs.as_ref()
    }

    /// Informs the engine policy that a movement begins, so that its first steps are interpreted.
    pub fn begin_motion(&mut self) {
        self.long_runs.iter_mut().for_each(LongRuns::begin);
    }

    /// Returns true if the current movement has become so long that the engine for long runs is used.
    pub fn is_long_run(&self) -> bool {
        self.fast_runner().is_some()
    }

    fn fast_runner(&self) -> Option<&Arc<dyn Runner>> {
        self.long_runs.as_ref().and_then(LongRuns::now)
    }

    /// Creates a branch that leaves this one at the current step, with an edited state. If the edit changes only
    /// adjoints or the mode, and no value, the new branch gets a record of this branch. With this record, the new
    /// branch can undo the steps of this branch.
    ///
    /// # Errors
    /// There is no memory for the new branch.
    pub fn edited(&self, state: State) -> Result<Branch, OutOfMemory> {
        let number = self.state().own_steps();
        let inherits = drift::same_values(self.state(), &state);
        let branch = Branch::new(self.program.clone(), state, self.step(), self.limits)?;
        let mut branch = Branch { long_runs: self.long_runs.clone(), ..branch };
        if inherits {
            branch.pasts = self.past()?.into_iter().collect();
            branch.pasts.extend(self.pasts.iter().map(|past| past.from(number)));
        }
        Ok(branch)
    }

    /// Returns the record of this branch for a branch that begins at the current step. Returns `None` if this
    /// branch has lost no bits. Also returns `None` if this branch has executed steps of derivative rules: these
    /// steps have no counterpart on the new branch, so the step numbers of the two branches wouldn't match.
    fn past(&self) -> Result<Option<EarlierBranch>, OutOfMemory> {
        let number = self.state().own_steps();
        let usable = !self.is_lossless() && number != 0 && self.state().rule_steps == 0;
        if !usable {
            return Ok(None);
        }
        Ok(Some(EarlierBranch::new(Arc::new(self.remembered()?), number)))
    }

    /// Copies the branch with its checkpoints, for use as the record of an earlier branch. The copy is at its
    /// origin and has no window. The copy's residues contain only the bits that steps lose. They may use half of
    /// the memory limit for residues; the later branch uses the other half.
    ///
    /// # Errors
    /// There is no memory for another copy of the origin.
    fn remembered(&self) -> Result<Branch, OutOfMemory> {
        let machine = Machine::resume(self.program.clone(), self.origin.try_clone()?, None);
        let limits = TimelineLimits { history: self.limits.history / 2, taped: false, ..self.limits };
        let pasts = self.pasts.iter().map(|past| past.from(0)).collect();
        Ok(Branch { pasts, base: 0, older: None, limits, ..self.at(machine) })
    }

    /// Copies the branch. Immutable parts are shared.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn try_clone(&self) -> Result<Branch, OutOfMemory> {
        let older = match &self.older {
            Some((machine, base)) => Some((machine.try_clone()?, *base)),
            None => None,
        };
        Ok(Branch { older, ..self.at(self.machine.try_clone()?) })
    }

    /// Returns a copy of the branch that has the given machine, and no older half of the window.
    fn at(&self, machine: Machine) -> Branch {
        let (program, origin) = (self.program.clone(), self.origin.clone());
        let (pasts, sides) = (self.pasts.clone(), self.sides.clone());
        let long_runs = self.long_runs.clone();
        Branch { program, origin, pasts, machine, older: None, sides, long_runs, ..*self }
    }

    /// Returns the residues of steps that lead from the origin to a step that the branch has reached, and the
    /// distance from the origin at which these residues begin. If the window is full, the residues begin where its
    /// newer half begins.
    ///
    /// # Errors
    /// There is no memory to execute the interval again.
    fn residues_before(mut self, step: i64) -> Result<(Residues, u64), OutOfMemory> {
        self.open_window(step)?;
        if self.distance() == self.base {
            self.take_older();
        }
        Ok((self.machine.into_residues().unwrap_or_default(), self.base))
    }

    /// Returns the current state. The state's `step` counts from the origin; [`Branch::step`] counts on the
    /// timeline.
    pub fn state(&self) -> &State {
        self.machine.state()
    }

    /// Returns the state with which the branch began.
    pub fn origin(&self) -> &State {
        &self.origin
    }

    /// Returns the timeline step of the origin.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Returns the current step on the timeline.
    pub fn step(&self) -> i64 {
        self.offset + self.state().step
    }

    /// Returns the first and the last step that the branch has ever reached, on the timeline.
    pub fn extent(&self) -> (i64, i64) {
        let [ahead, behind] = &self.sides;
        (self.offset - behind.reached as i64, self.offset + ahead.reached as i64)
    }

    /// Returns the intervals in which calls were entered or left, in ascending order of steps. Every call is in
    /// exactly one interval. The fewer steps the branch has, the shorter the intervals are.
    pub fn calls(&self) -> impl Iterator<Item = CallSegment> {
        let [ahead, behind] = self.sides.each_ref().map(|side| side.census.as_ref());
        let behind = behind.into_iter().flat_map(|census| census.intervals(false).rev());
        let behind = behind.map(|(near, far, calls)| (-(far as i64), -(near as i64), calls));
        let ahead = ahead.into_iter().flat_map(|census| census.intervals(true));
        let ahead = ahead.map(|(near, far, calls)| (near as i64, far as i64, calls));
        let offset = self.offset;
        let interval = move |(from, to, calls)| CallSegment { from: offset + from, to: offset + to, calls };
        behind.chain(ahead).map(interval)
    }

    /// Returns the reason why the branch ends in a direction. Returns `None` if the branch hasn't been run to its
    /// end in that direction.
    pub fn end(&self, travel: Travel) -> Option<End> {
        self.sides[side_of(travel)].ends
    }

    /// Returns true if no step has been executed from the origin.
    pub fn is_untouched(&self) -> bool {
        self.sides.iter().all(|side| side.reached == 0)
    }

    /// Returns true if going back needs no history.
    pub fn is_lossless(&self) -> bool {
        self.lossless
    }

    /// Returns the memory used by residues, in bytes; 0 for lossless programs.
    pub fn history_bytes(&self) -> usize {
        let older = self.older.as_ref().map_or(0, |(machine, _)| machine.history_bytes());
        self.machine.history_bytes() + older + self.inherited_bytes()
    }

    /// Returns the memory used by the records of earlier branches, in bytes.
    fn inherited_bytes(&self) -> usize {
        self.pasts.iter().map(EarlierBranch::bytes).sum()
    }

    /// Returns the memory used by checkpoints, in bytes; 0 for lossless programs.
    pub fn checkpoint_bytes(&self) -> usize {
        self.sides.iter().map(|side| side.checkpoints.bytes()).sum()
    }

    /// Executes at most `budget` steps. The output of each `show` is reported only once ([`Stop::Shown`]),
    /// even if the `show` is executed again.
    ///
    /// # Errors
    /// A trap; the state is then the one before the instruction that trapped.
    pub fn run(&mut self, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        self.run_until(None, travel, budget)
    }

    /// Executes steps like [`Branch::run`], and stops before a step from a node in `stops`.
    ///
    /// # Errors
    /// A trap, as in [`Branch::run`].
    pub fn run_until(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        let first = self.state().step;
        loop {
            let before = self.state().step;
            let left = budget - before.abs_diff(first);
            self.prepare(travel, left);
            let part = self.long_runs.as_ref().map_or(left, |long_runs| long_runs.part(left));
            let outcome = match (self.lossless, self.leads_back(travel)) {
                (true, _) => self.plainly(stops, travel, part),
                (false, true) => self.toward(stops, travel, part),
                (false, false) => self.away(stops, travel, part),
            };
            let made = self.state().step.abs_diff(first);
            let is_at_stop = stops.is_some_and(|stops| stops.contains(Node::of(self.state(), travel)));
            if let Some(long_runs) = &mut self.long_runs {
                long_runs.made(self.machine.state().step.abs_diff(before));
                if is_at_stop {
                    long_runs.pause(self.machine.state().calls.len());
                }
            }
            if outcome != Ok(Stop::Budget) || made >= budget || is_at_stop {
                return outcome;
            }
        }
    }

    /// Executes the next step on a temporary state, and calls `look` with that state: [`Machine::peek`]. The
    /// position and the extent of the branch stay the same.
    ///
    /// # Errors
    /// The trap of the step.
    pub fn peek<T>(
        &mut self,
        travel: Travel,
        look: impl FnOnce(&State, bool) -> T,
    ) -> Result<Option<T>, Trap> {
        self.prepare_peek(travel).map_err(|_| self.no_memory(travel))?;
        self.machine.peek(travel, look)
    }

    /// Prepares the residues for executing the next step, and those for undoing the next step.
    fn prepare_peek(&mut self, travel: Travel) -> Result<(), OutOfMemory> {
        // If the window was full at this step, its newer half is now empty. Then the next iteration continues with
        // the older half.
        while !self.lossless && self.leads_back(travel) && self.distance() == self.base {
            self.reach_back()?;
        }
        let number = self.state().own_steps();
        match self.leads_back(travel) {
            true => self.inherit(number + travel.sign(), travel.reversed()),
            false => self.inherit(number, travel),
        }
        .map(drop)
    }

    /// Builds the trap of a step for which there is no memory for a copy of the state.
    fn no_memory(&self, travel: Travel) -> Trap {
        let at = Node::of(self.state(), travel).instruction();
        Trap { at, cause: Cause::NoMemory(AllocationPurpose::Copy) }
    }

    /// Prepares a run of at most `steps` steps. If the run is long and leads away from the origin, drops the window
    /// at once. A caller that executes a long run in small parts must call this method first.
    pub fn prepare(&mut self, travel: Travel, steps: u64) {
        let leads_away = !self.lossless && !self.leads_back(travel);
        if leads_away && steps > self.limits.short {
            self.give_up_window();
        }
    }

    /// Drops the window and stays at the current state.
    fn give_up_window(&mut self) {
        if self.machine.residues().is_some() {
            self.base = self.distance();
            self.older = None;
            self.machine.forget();
            self.machine.state_mut().counters.shown = self.shown;
        }
    }

    /// Jumps to a checkpoint near a step of the timeline, if that saves steps. [`Branch::run`] executes the
    /// remaining steps.
    pub fn approach(&mut self, step: i64) {
        if !self.lossless {
            self.jump(step.saturating_sub(self.offset));
        }
    }

    /// Jumps to the last checkpoint between the origin and the target, if that saves steps. The target is a step,
    /// counted from the origin.
    fn jump(&mut self, target: i64) {
        let now = self.state().step;
        let within = now.signum() * target.signum() >= 0 && target.unsigned_abs() >= self.window_base();
        if within && target.unsigned_abs() <= now.unsigned_abs() {
            return;
        }
        let start = self.checkpoint(target);
        let saves = start.step.abs_diff(target) < now.abs_diff(target);
        let leads_back = target.unsigned_abs() < now.unsigned_abs();
        // If there is no memory for a copy, no jump is made, and all steps are executed.
        if (leads_back || saves || now.signum() * target.signum() < 0)
            && let Ok(start) = start.try_clone()
        {
            self.install(start);
        }
    }

    /// Returns the known state nearest to a step, between the origin and the step, both included. The step is
    /// counted from the origin.
    fn checkpoint(&self, step: i64) -> &State {
        let side = &self.sides[usize::from(step < 0)];
        side.checkpoints.before(step.unsigned_abs()).unwrap_or(&self.origin)
    }

    /// Sets the position to a state of this branch, and drops the window.
    pub fn install(&mut self, mut state: State) {
        state.counters.shown = self.shown;
        self.base = state.step.unsigned_abs();
        self.older = None;
        self.machine = Machine::resume(self.program.clone(), state, None);
    }

    /// If travelling toward the origin, returns the last checkpoint before the current step: running from this
    /// checkpoint to the current step is faster than going back to the checkpoint. Returns `None` if `travel` leads
    /// away from the origin, if a window covers the steps since the checkpoint, or if these steps are only a short
    /// run.
    pub fn interval(&self, travel: Travel) -> Option<&State> {
        let outside = !self.lossless && self.leads_back(travel) && self.distance() == self.window_base();
        let start = self.checkpoint(self.state().step + travel.sign());
        (outside && start.step.abs_diff(self.state().step) > self.limits.short).then_some(start)
    }

    fn leads_back(&self, travel: Travel) -> bool {
        self.state().step * travel.sign() < 0
    }

    /// Drops the branch's windows to free memory. Called when another branch becomes the current one.
    pub fn rest(&mut self) {
        self.pasts.iter_mut().for_each(EarlierBranch::rest);
        self.give_up_window();
    }

    /// Returns the distance from the origin at which the window begins: its older half or, if there is none, its
    /// newer half.
    fn window_base(&self) -> u64 {
        self.older.as_ref().map_or(self.base, |(_, base)| *base)
    }

    fn distance(&self) -> u64 {
        self.state().step.unsigned_abs()
    }

    /// Runs a lossless branch, which needs no window and no checkpoints.
    fn plainly(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        let outcome = match self.leads_back(travel) {
            true => self.back(stops, Segment { travel, budget: budget.min(self.distance()) }),
            false => self.seen(stops, Segment { travel, budget }, false),
        };
        self.note(travel, outcome);
        outcome
    }

    /// Runs toward the origin in a lossless branch. Such a run records nothing.
    fn back(&mut self, stops: Option<&Stops>, segment: Segment) -> Result<Stop, Trap> {
        match self.fast_runner().cloned() {
            Some(runner) => runner.run(&mut self.machine, stops, segment),
            None => self.machine.interpret(stops, segment),
        }
    }

    /// Runs away from the origin, counts calls, and keeps checkpoints if `keeps`.
    fn seen(&mut self, stops: Option<&Stops>, segment: Segment, keeps: bool) -> Result<Stop, Trap> {
        let runner = self.fast_runner().cloned();
        let mut notes = SideNotes { side: &mut self.sides[side_of(segment.travel)], keeps };
        match runner {
            Some(runner) => runner.run_observed(&mut self.machine, stops, segment, &mut notes),
            None => self.machine.interpret_observed(stops, segment, &mut notes),
        }
    }

    fn away(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        let has_window = self.machine.residues().is_some();
        let known = self.inherit(self.state().own_steps(), travel).map_err(|_| self.no_memory(travel))?;
        // With a window, the run pauses often, so that the memory of the window can be checked.
        let to_look = || self.sides[side_of(travel)].steps_to_look(self.distance(), true);
        let pause = if has_window { self.limits.short.min(to_look()) } else { u64::MAX };
        let budget = budget.min(pause).min(known.unwrap_or(u64::MAX));
        let outcome = self.seen(stops, Segment { travel, budget }, true);
        self.note(travel, outcome);
        if !has_window {
            self.base = self.distance();
        }
        if self.bound_window().is_err() {
            self.give_up_window();
        }
        outcome
    }

    /// Executes steps away from the origin that this branch has executed before. Uses the residues of an earlier
    /// branch; if these residues end, executes fewer than `budget` steps.
    fn advance(&mut self, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        let known = self.inherit(self.state().own_steps(), travel).map_err(|_| self.no_memory(travel))?;
        let budget = known.map_or(budget, |steps| budget.min(steps));
        self.machine.interpret(None, Segment { travel, budget })
    }

    /// If an earlier branch covers the steps from state `number` on, passes its residues to the machine.
    /// Returns the number of steps that the residues cover, or `None` if no earlier branch covers them.
    fn inherit(&mut self, number: i64, travel: Travel) -> Result<Option<u64>, OutOfMemory> {
        let asked = self.pasts.iter().position(|past| past.covers(number, travel));
        let others =
            self.pasts.iter_mut().enumerate().filter(|(n, _)| asked.is_some_and(|asked| *n != asked));
        others.for_each(|(_, past)| past.rest());
        let Some(past) = asked.and_then(|asked| self.pasts.get_mut(asked)) else { return Ok(None) };
        let (records, steps) = past.records(number)?;
        self.machine.inherit(records);
        Ok(Some(steps))
    }

    fn toward(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        if self.distance() == self.base {
            self.reach_back().map_err(|_| self.no_memory(travel))?;
        }
        let budget = budget.min(self.distance() - self.base);
        let outcome = self.machine.interpret(stops, Segment { travel, budget });
        self.shown = self.shown.further(self.state().counters.shown);
        outcome
    }

    /// Extends the window toward the origin: uses its older half, or executes the interval since the previous
    /// checkpoint again.
    fn reach_back(&mut self) -> Result<(), OutOfMemory> {
        self.take_older();
        if self.distance() == self.base { self.open_window(self.state().step) } else { Ok(()) }
    }

    /// Continues with the older half of the window, if there is one. The state of that half's machine is the current
    /// state: the older half ends where the newer half begins.
    fn take_older(&mut self) {
        if let Some((machine, base)) = self.older.take() {
            (self.machine, self.base) = (machine, base);
            // The newer half may have printed output after the older half.
            self.machine.state_mut().counters.shown = self.shown;
        }
    }

    /// Travels to a step that the branch has reached before. The run begins at the checkpoint before this step, and
    /// records residues. If there is no memory for the run, the branch stays unchanged.
    fn open_window(&mut self, step: i64) -> Result<(), OutOfMemory> {
        let mut start = self.checkpoint(step - step.signum()).try_clone()?;
        start.counters.shown = self.shown;
        let base = std::mem::replace(&mut self.base, start.step.unsigned_abs());
        let start = Machine::resume(self.program.clone(), start, Some(self.limits.residues()));
        let before = (std::mem::replace(&mut self.machine, start), base, self.older.take());
        let opened = self.fill_window(step);
        if opened.is_err() {
            (self.machine, self.base, self.older) = before;
        }
        opened
    }

    /// Executes the steps up to `step` again, and records residues. Because the steps were executed before, they
    /// fail only for lack of memory.
    fn fill_window(&mut self, step: i64) -> Result<(), OutOfMemory> {
        let travel = if step > 0 { Travel::Forward } else { Travel::Backward };
        while self.state().step != step {
            let steps = self.state().step.abs_diff(step).min(self.limits.short);
            self.advance(travel, steps).map_err(|_| OutOfMemory)?;
            self.bound_window()?;
        }
        Ok(())
    }

    /// If the newer half of the window is full, drops the older half and begins a new newer half.
    fn bound_window(&mut self) -> Result<(), OutOfMemory> {
        let most = self.limits.history.saturating_sub(self.inherited_bytes());
        if self.machine.history_bytes() * 2 < most || self.machine.residues().is_none() {
            return Ok(());
        }
        let (distance, state) = (self.distance(), self.state().try_clone()?);
        let next = Machine::resume(self.program.clone(), state, Some(self.limits.residues()));
        let full = std::mem::replace(&mut self.machine, next);
        self.older = Some((full, self.base));
        self.base = distance;
        Ok(())
    }

    /// Records the furthest step that the branch has reached. If the branch ends at this step, also records the
    /// reason.
    fn note(&mut self, travel: Travel, outcome: Result<Stop, Trap>) {
        self.shown = self.shown.further(self.state().counters.shown);
        let step = self.state().step;
        let side = &mut self.sides[usize::from(step < 0)];
        side.reached = side.reached.max(step.unsigned_abs());
        if let Some(census) = &mut side.census {
            census.note(step.unsigned_abs(), self.machine.state());
        }
        let end = match outcome {
            Ok(Stop::Bound) => End::Bound,
            // More memory may be available later.
            Err(Trap { cause: Cause::NoMemory(_), .. }) => return,
            Err(trap) => End::Trap(trap),
            Ok(Stop::Budget | Stop::Interrupted | Stop::Shown { .. }) => return,
        };
        let side = &mut self.sides[side_of(travel)];
        if side.reached == step.unsigned_abs() {
            side.ends = Some(end);
        }
    }
}

/// Returns true if a state is the program's start or end in the given direction.
fn is_at_bound(program: &Program, state: &State, travel: Travel) -> bool {
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    state.calls.is_empty() && state.position == bound
}

fn side_of(travel: Travel) -> usize {
    usize::from(travel == Travel::Backward)
}

impl Remembering for Branch {
    fn residues_to_origin(&self, number: i64) -> Result<(Residues, u64), OutOfMemory> {
        self.try_clone()?.residues_before(number)
    }
}
