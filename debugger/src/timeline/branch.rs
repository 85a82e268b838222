//! One branch: everything that follows, in both directions, from one state. Travel along it
//! is exact: the state at a step is the same, bit for bit, however one gets there.
//!
//! Steps are counted from the *origin*, where the branch began: the program's beginning, or an edit.
//! Leading away from it a step may lose bits; leading toward it, it must bring them back.
//!
//! - Programs over integers and fixed point that erase nothing lose no bits. Going back executes
//!   inverses, and nothing is kept. Where there are adjoints, or may come to be, it isn't so: the adjoint
//!   of a vacated cell is dropped.
//! - Other programs run away from the origin without a history and leave a few checkpoints. Only when
//!   somebody goes back the stretch since the last checkpoint is run once more, now keeping residues:
//!   the *window*, whose size is bounded. Within the window going back is executing inverses too.
//! - A branch that left another one without changing a value may lead over steps that the other one made in
//!   the opposite direction. What those have lost is the other branch's to know ([`EarlierBranch`]).

use std::sync::Arc;

use reviver_isa::update::OperandShape;
use reviver_vm::history::Residues;
use reviver_vm::onlooker::Onlooker;
use reviver_vm::room::{OutOfMemory, Room};
use reviver_vm::stops::{Node, Stops};
use reviver_vm::strategy::Checkpoints;
use reviver_vm::travel::Leg;
use reviver_vm::{Cause, Machine, Program, Runner, ShownMark, State, Stop, Trap, Travel, drift};

use super::census::{Calls, Census};
use super::limits::TimelineLimits;
use super::long_runs::LongRuns;
use super::lossless::{is_lossless, uses_adjoints};
use super::past::{EarlierBranch, Remembering};

/// What is known about one side of the origin.
#[derive(Clone, Debug)]
struct BranchSide {
    checkpoints: Checkpoints,
    /// None where the program calls nothing.
    census: Option<Census>,
    /// The furthest step that was reached, as a distance.
    reached: u64,
    /// Whether it can't be passed: the bound of the program, or a trap.
    ends: Option<End>,
}

impl BranchSide {
    /// Steps from a distance to where calls are to be counted next, or where the next checkpoint is due if those are
    /// kept. What was passed before is done already.
    fn steps_to_look(&self, distance: u64, keeps: bool) -> u64 {
        let count = self.census.as_ref().map(Census::due);
        let due = count.into_iter().chain(keeps.then(|| self.checkpoints.due()));
        due.filter_map(|due| due.checked_sub(distance).filter(|&steps| steps > 0)).min().unwrap_or(u64::MAX)
    }
}

/// Takes note of what a run leads to that leads away from the origin.
struct SideNotes<'s> {
    side: &'s mut BranchSide,
    /// Whether checkpoints are kept.
    keeps: bool,
}

impl Onlooker for SideNotes<'_> {
    fn due(&self, state: &State) -> u64 {
        self.side.steps_to_look(state.step.unsigned_abs(), self.keeps)
    }

    fn look(&mut self, state: &State) {
        let distance = state.step.unsigned_abs();
        if let Some(census) = &mut self.side.census {
            census.note(distance, state);
        }
        if self.keeps && distance == self.side.checkpoints.due() {
            // Without memory for it going back leads over longer stretches.
            self.side.checkpoints.add(state).ok();
        }
    }
}

/// Why a branch goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The program's own beginning or end.
    Bound,
    Trap(Trap),
}

/// Steps between which calls were entered or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallStretch {
    /// The calls were made behind this step, and not behind `to`: one step where the branch is short.
    pub from: i64,
    pub to: i64,
    pub calls: Calls,
}

/// A branch, and where on it the session is.
#[derive(Debug)]
pub struct Branch {
    program: Arc<Program>,
    origin: Arc<State>,
    /// The earlier branches that this one leads along.
    pasts: Vec<EarlierBranch>,
    /// The step of the timeline at which the origin is.
    offset: i64,
    machine: Machine,
    /// The distance at which the machine's residues begin.
    base: u64,
    /// The earlier half of the window: a machine that stands where `base` is, and its own base.
    older: Option<(Machine, u64)>,
    sides: [BranchSide; 2],
    lossless: bool,
    limits: TimelineLimits,
    /// Who makes the steps of long runs, if the interpreter doesn't.
    long_runs: Option<LongRuns>,
    /// How far `show` has shown values, wherever the branch was since.
    shown: ShownMark,
}

impl Branch {
    /// A branch that begins with a state at a step of the timeline.
    ///
    /// # Errors
    /// There is no memory for a copy of the state: one stays, the other moves.
    pub fn new(
        program: Arc<Program>,
        origin: State,
        offset: i64,
        limits: TimelineLimits,
    ) -> Result<Branch, OutOfMemory> {
        let mut origin = origin.as_start();
        let limits = TimelineLimits { short: limits.short.max(1), ..limits };
        // Adjoints that the way makes would still be there after the way back.
        if origin.mode() || uses_adjoints(program.module()) {
            // Where there is no memory for them, the first step says so.
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

    /// Has somebody else than the interpreter make the steps of long runs.
    pub fn run_long_by(&mut self, long_runs: LongRuns) {
        self.long_runs = Some(long_runs);
    }

    /// Who makes the steps of long runs, if the interpreter doesn't.
    pub fn long_runs(&self) -> Option<&LongRuns> {
        self.long_runs.as_ref()
    }

    /// A motion begins: it isn't known yet whether it is long.
    pub fn begin_motion(&mut self) {
        self.long_runs.iter_mut().for_each(LongRuns::begin);
    }

    /// Whether the run under way has become a long one, which somebody else than the interpreter makes.
    pub fn is_long_run(&self) -> bool {
        self.fast_runner().is_some()
    }

    fn fast_runner(&self) -> Option<&Arc<dyn Runner>> {
        self.long_runs.as_ref().and_then(LongRuns::now)
    }

    /// The branch that leaves this one here with another state. Where that has the same values, it takes over
    /// what this branch knows about the steps before.
    ///
    /// # Errors
    /// There is no memory for it.
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

    /// What a branch that leaves this one here takes over; nothing where there is nothing to take. In gradient
    /// mode steps in rules stand between those of the program, so that they have no place in a branch without
    /// them: such a branch is none to take from.
    fn past(&self) -> Result<Option<EarlierBranch>, OutOfMemory> {
        let number = self.state().own_steps();
        let usable = !self.is_lossless() && number != 0 && self.state().rule_steps == 0;
        if !usable {
            return Ok(None);
        }
        Ok(Some(EarlierBranch::new(Arc::new(self.remembered()?), number)))
    }

    /// The same branch with its checkpoints, at its origin and without a window. It leaves half of the
    /// memory for residues to the branch that remembers it, which asks for what steps lose alone.
    ///
    /// # Errors
    /// There is no memory for another copy of the origin.
    fn remembered(&self) -> Result<Branch, OutOfMemory> {
        let machine = Machine::resume(self.program.clone(), self.origin.try_clone()?, None);
        let limits = TimelineLimits { history: self.limits.history / 2, taped: false, ..self.limits };
        let pasts = self.pasts.iter().map(|past| past.from(0)).collect();
        Ok(Branch { pasts, base: 0, older: None, limits, ..self.at(machine) })
    }

    /// A copy. What doesn't change is shared.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn try_clone(&self) -> Result<Branch, OutOfMemory> {
        let older = match &self.older {
            Some((machine, base)) => Some((machine.try_clone()?, *base)),
            None => None,
        };
        Ok(Branch { older, ..self.at(self.machine.try_clone()?) })
    }

    /// The same branch with another machine, and without the older half of the window.
    fn at(&self, machine: Machine) -> Branch {
        let (program, origin) = (self.program.clone(), self.origin.clone());
        let (pasts, sides) = (self.pasts.clone(), self.sides.clone());
        let long_runs = self.long_runs.clone();
        Branch { program, origin, pasts, machine, older: None, sides, long_runs, ..*self }
    }

    /// What was lost on the stretch that leads away from the origin to a step which was reached before, and
    /// the distance at which it begins: the end of it that the newer half of the window holds.
    ///
    /// # Errors
    /// There is no memory to find it.
    fn lost_before(mut self, step: i64) -> Result<(Residues, u64), OutOfMemory> {
        self.open_window(step)?;
        if self.distance() == self.base {
            self.take_older();
        }
        Ok((self.machine.into_residues().unwrap_or_default(), self.base))
    }

    /// The current state. Its `step` counts from the origin; [`Branch::step`] is the timeline's.
    pub fn state(&self) -> &State {
        self.machine.state()
    }

    /// The state that the branch began with.
    pub fn origin(&self) -> &State {
        &self.origin
    }

    /// The step of the timeline where the branch began.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Where the branch is now, counted as the timeline counts.
    pub fn step(&self) -> i64 {
        self.offset + self.state().step
    }

    /// The first and the last step that were ever reached.
    pub fn extent(&self) -> (i64, i64) {
        let [ahead, behind] = &self.sides;
        (self.offset - behind.reached as i64, self.offset + ahead.reached as i64)
    }

    /// Where in its extent calls were entered and left, in the order of time. Every call is in one of the
    /// stretches; they are the shorter the shorter the extent is.
    pub fn calls(&self) -> impl Iterator<Item = CallStretch> {
        let [ahead, behind] = self.sides.each_ref().map(|side| side.census.as_ref());
        let behind = behind.into_iter().flat_map(|census| census.stretches(false).rev());
        let behind = behind.map(|(near, far, calls)| (-(far as i64), -(near as i64), calls));
        let ahead = ahead.into_iter().flat_map(|census| census.stretches(true));
        let ahead = ahead.map(|(near, far, calls)| (near as i64, far as i64, calls));
        let offset = self.offset;
        let stretch = move |(from, to, calls)| CallStretch { from: offset + from, to: offset + to, calls };
        behind.chain(ahead).map(stretch)
    }

    /// Why the branch goes no further than its extent in a direction, if that is known.
    pub fn end(&self, travel: Travel) -> Option<End> {
        self.sides[side_of(travel)].ends
    }

    /// Whether nobody has left the state that the branch began with.
    pub fn is_untouched(&self) -> bool {
        self.sides.iter().all(|side| side.reached == 0)
    }

    /// Whether going back needs no history at all.
    pub fn is_lossless(&self) -> bool {
        self.lossless
    }

    /// Memory that residues take now; 0 for lossless programs.
    pub fn history_bytes(&self) -> usize {
        let older = self.older.as_ref().map_or(0, |(machine, _)| machine.history_bytes());
        self.machine.history_bytes() + older + self.inherited_bytes()
    }

    /// Memory that what earlier branches know takes.
    fn inherited_bytes(&self) -> usize {
        self.pasts.iter().map(EarlierBranch::bytes).sum()
    }

    /// Memory that checkpoints take; 0 for lossless programs.
    pub fn checkpoint_bytes(&self) -> usize {
        self.sides.iter().map(|side| side.checkpoints.bytes()).sum()
    }

    /// Makes at most `budget` steps. [`Stop::Shown`] is reported once for each `show`.
    ///
    /// # Errors
    /// A trap; the state is then the one before the instruction that trapped.
    pub fn run(&mut self, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        self.run_until(None, travel, budget)
    }

    /// The same, but it stops before a step that a place to stop at is at.
    ///
    /// # Errors
    /// A trap, as [`Branch::run`].
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

    /// Looks at the state behind the next step without making it: [`Machine::peek`]. What is known of the
    /// branch stays as it is.
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

    /// Has at hand what the next step needs, and the step that undoes it.
    fn prepare_peek(&mut self, travel: Travel) -> Result<(), OutOfMemory> {
        // A window that was just made can be full where it ends: its older half reaches back then.
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

    /// The trap of a step that there is no copy of a state for.
    fn no_memory(&self, travel: Travel) -> Trap {
        let at = Node::of(self.state(), travel).instruction();
        Trap { at, cause: Cause::NoMemory(Room::Copy) }
    }

    /// Says how many steps will be made at most: before many of them the window is given up, also if they
    /// are made a few at a time.
    pub fn prepare(&mut self, travel: Travel, steps: u64) {
        let leads_away = !self.lossless && !self.leads_back(travel);
        if leads_away && steps > self.limits.short {
            self.give_up_window();
        }
    }

    /// Stays here without a window.
    fn give_up_window(&mut self) {
        if self.machine.residues().is_some() {
            self.base = self.distance();
            self.older = None;
            self.machine.forget();
            self.machine.state_mut().counters.shown = self.shown;
        }
    }

    /// Goes as near to a step of the timeline as a checkpoint leads, where that saves steps. The rest of
    /// the way is [`Branch::run`]'s.
    pub fn approach(&mut self, step: i64) {
        if !self.lossless {
            self.jump(step.saturating_sub(self.offset));
        }
    }

    /// Takes the nearest checkpoint on the origin's side of the target where that saves steps.
    fn jump(&mut self, target: i64) {
        let now = self.state().step;
        let within = now.signum() * target.signum() >= 0 && target.unsigned_abs() >= self.window_base();
        if within && target.unsigned_abs() <= now.unsigned_abs() {
            return;
        }
        let start = self.checkpoint(target);
        let saves = start.step.abs_diff(target) < now.abs_diff(target);
        let leads_back = target.unsigned_abs() < now.unsigned_abs();
        // Without memory for a copy one goes all the way.
        if (leads_back || saves || now.signum() * target.signum() < 0)
            && let Ok(start) = start.try_clone()
        {
            self.install(start);
        }
    }

    /// The furthest known state between the origin and a step, the step included.
    fn checkpoint(&self, step: i64) -> &State {
        let side = &self.sides[usize::from(step < 0)];
        side.checkpoints.before(step.unsigned_abs()).unwrap_or(&self.origin)
    }

    /// Goes on from a state of this branch, without a window.
    pub fn install(&mut self, mut state: State) {
        state.counters.shown = self.shown;
        self.base = state.step.unsigned_abs();
        self.older = None;
        self.machine = Machine::resume(self.program.clone(), state, None);
    }

    /// The state at the other end of a stretch that leads back and that nobody has a window of: the
    /// checkpoint before. Running from there to here is faster than going back.
    pub fn stretch(&self, travel: Travel) -> Option<&State> {
        let outside = !self.lossless && self.leads_back(travel) && self.distance() == self.window_base();
        let start = self.checkpoint(self.state().step + travel.sign());
        (outside && start.step.abs_diff(self.state().step) > self.limits.short).then_some(start)
    }

    fn leads_back(&self, travel: Travel) -> bool {
        self.state().step * travel.sign() < 0
    }

    /// Gives the window up, while nobody is on this branch.
    pub fn rest(&mut self) {
        self.pasts.iter_mut().for_each(EarlierBranch::rest);
        self.give_up_window();
    }

    /// How close to the origin the window reaches.
    fn window_base(&self) -> u64 {
        self.older.as_ref().map_or(self.base, |(_, base)| *base)
    }

    fn distance(&self) -> u64 {
        self.state().step.unsigned_abs()
    }

    /// Runs where no step loses bits.
    fn plainly(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        let outcome = match self.leads_back(travel) {
            true => self.back(stops, Leg { travel, budget: budget.min(self.distance()) }),
            false => self.seen(stops, Leg { travel, budget }, false),
        };
        self.note(travel, outcome);
        outcome
    }

    /// Runs toward the origin, where everything was noted that is to be.
    fn back(&mut self, stops: Option<&Stops>, leg: Leg) -> Result<Stop, Trap> {
        match self.fast_runner().cloned() {
            Some(runner) => runner.run(&mut self.machine, stops, leg),
            None => self.machine.interpret(stops, leg),
        }
    }

    /// Runs away from the origin, and notes what is due on the way.
    fn seen(&mut self, stops: Option<&Stops>, leg: Leg, keeps: bool) -> Result<Stop, Trap> {
        let runner = self.fast_runner().cloned();
        let mut notes = SideNotes { side: &mut self.sides[side_of(leg.travel)], keeps };
        match runner {
            Some(runner) => runner.run_seen(&mut self.machine, stops, leg, &mut notes),
            None => self.machine.interpret_seen(stops, leg, &mut notes),
        }
    }

    fn away(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        let has_window = self.machine.residues().is_some();
        let known = self.inherit(self.state().own_steps(), travel).map_err(|_| self.no_memory(travel))?;
        // What a window takes is looked at often.
        let to_look = || self.sides[side_of(travel)].steps_to_look(self.distance(), true);
        let pause = if has_window { self.limits.short.min(to_look()) } else { u64::MAX };
        let budget = budget.min(pause).min(known.unwrap_or(u64::MAX));
        let outcome = self.seen(stops, Leg { travel, budget }, true);
        self.note(travel, outcome);
        if !has_window {
            self.base = self.distance();
        }
        if self.bound_window().is_err() {
            self.give_up_window();
        }
        outcome
    }

    /// Runs the machine away from the origin once more, with what an earlier branch knows about the steps. Makes
    /// fewer than `budget` where that has to be looked up again.
    fn advance(&mut self, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        let known = self.inherit(self.state().own_steps(), travel).map_err(|_| self.no_memory(travel))?;
        let budget = known.map_or(budget, |steps| budget.min(steps));
        self.machine.interpret(None, Leg { travel, budget })
    }

    /// Lends the machine what an earlier branch knows about the way from a number on, if there is one that
    /// leads along it. Returns for how many steps that is enough.
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
        let outcome = self.machine.interpret(stops, Leg { travel, budget });
        self.shown = self.shown.further(self.state().counters.shown);
        outcome
    }

    /// Makes the window reach back beyond where it ends: with its older half, or by running the
    /// stretch since the checkpoint before once more.
    fn reach_back(&mut self) -> Result<(), OutOfMemory> {
        self.take_older();
        if self.distance() == self.base { self.open_window(self.state().step) } else { Ok(()) }
    }

    /// Goes on with the older half of the window where there is one; the machine stands at its far end.
    fn take_older(&mut self) {
        if let Some((machine, base)) = self.older.take() {
            (self.machine, self.base) = (machine, base);
            // The newer half may have shown more since.
            self.machine.state_mut().counters.shown = self.shown;
        }
    }

    /// Goes to a step that was reached before, from the checkpoint before it, keeping residues. Without
    /// memory for that it stays where it is.
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

    /// Runs over a stretch that was passed before: it can trap for want of memory only.
    fn fill_window(&mut self, step: i64) -> Result<(), OutOfMemory> {
        let travel = if step > 0 { Travel::Forward } else { Travel::Backward };
        while self.state().step != step {
            let steps = self.state().step.abs_diff(step).min(self.limits.short);
            self.advance(travel, steps).map_err(|_| OutOfMemory)?;
            self.bound_window()?;
        }
        Ok(())
    }

    /// Lets the older half of the window go once the newer half is full.
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

    /// Remembers how far the branch goes.
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
            // Memory may be there again.
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

/// Whether a state is the program's own bound in a direction.
fn is_at_bound(program: &Program, state: &State, travel: Travel) -> bool {
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    state.calls.is_empty() && state.position == bound
}

fn side_of(travel: Travel) -> usize {
    usize::from(travel == Travel::Backward)
}

impl Remembering for Branch {
    fn lost_on_the_way(&self, number: i64) -> Result<(Residues, u64), OutOfMemory> {
        self.try_clone()?.lost_before(number)
    }
}
