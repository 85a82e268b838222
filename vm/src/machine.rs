//! A program and a state, and travel through it: a step, a run, to the end, to a step, to a
//! position, in both directions.

mod runner;
mod threads;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::history::{Past, Residues};
use crate::interp::engine::Interpreted;
use crate::interp::window::Window;
use crate::onlooker::Onlooker;
use crate::program::Program;
use crate::reports::{Loss, Reports};
use crate::room::{self, OutOfMemory};
use crate::state::shown_mark::ShownMark;
use crate::state::values;
use crate::state::{Counters, Frame, State};
use crate::stops::{Node, Stops};
use crate::trap::Trap;
use crate::travel::{Leg, Stop, Travel};
use crate::watch::{Rounding, Watch, Watcher};

pub use runner::Runner;
use runner::in_parts;
pub use threads::STEPS_WORTH_THREADS;
use threads::Threads;

/// A running program. Its reals have as many words as the bits `B`.
#[derive(Debug)]
pub struct Machine<B = u64> {
    program: Arc<Program>,
    state: State<B>,
    residues: Option<Residues<B>>,
    reports: Reports,
    window: Window,
    /// Set by somebody who wants the run to stop.
    interrupt: Option<Arc<AtomicBool>>,
    /// Who makes the steps; the interpreter if nobody else does.
    runner: Option<Arc<dyn Runner>>,
    /// Who makes tasks at the same time.
    threads: Threads,
}

/// Steps between two looks at whether to stop.
const CHUNK: u64 = 1 << 22;

impl Machine {
    /// At the beginning: initial values, and the defaults of given cells.
    ///
    /// # Errors
    /// There is no memory for the cells.
    pub fn at_begin(program: Arc<Program>) -> Result<Machine, OutOfMemory> {
        let mut state = initial_state(&program, program.begin())?;
        values::set_defaults(&program, &mut state)?;
        Ok(Machine::resume(program, state, None))
    }

    /// At the end, before any result is given: initial values everywhere. Running backward from
    /// here takes steps below 0.
    ///
    /// # Errors
    /// There is no memory for the cells.
    pub fn at_end(program: Arc<Program>) -> Result<Machine, OutOfMemory> {
        let state = initial_state(&program, program.end())?;
        Ok(Machine::resume(program, state, None))
    }

    /// Begins anew at a state of the same program, with no history and nothing reported, in the memory that there is.
    ///
    /// # Errors
    /// There is no memory for the state, which is none of the program's then.
    pub fn renew(&mut self, start: &State) -> Result<(), OutOfMemory> {
        self.forget();
        self.state.renew(start)
    }

    /// As [`Machine::interpret`], with somebody who looks at the machine on the way.
    ///
    /// # Errors
    /// A trap, as [`Machine::run`].
    pub fn interpret_seen(
        &mut self,
        stops: Option<&Stops>,
        leg: Leg,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Stop, Trap> {
        in_parts(self, stops, leg, onlooker, |machine, leg| machine.interpret(stops, leg))
    }
}

impl<B: Interpreted> Machine<B> {
    /// A copy of the whole run.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn try_clone(&self) -> Result<Machine<B>, OutOfMemory> {
        Ok(Machine {
            program: self.program.clone(),
            state: self.state.try_clone()?,
            residues: self.residues.as_ref().map(Residues::try_clone).transpose()?,
            reports: self.reports.clone(),
            window: self.program.window(),
            interrupt: self.interrupt.clone(),
            runner: self.runner.clone(),
            threads: self.threads.anew(),
        })
    }

    /// Goes on from a state of the same program.
    pub fn resume(program: Arc<Program>, state: State<B>, residues: Option<Residues<B>>) -> Machine<B> {
        let window = program.window();
        let reports = Reports::default();
        Machine {
            program,
            state,
            residues,
            reports,
            window,
            interrupt: None,
            runner: None,
            threads: Threads::new(1, STEPS_WORTH_THREADS),
        }
    }

    /// Has somebody else than the interpreter make the steps.
    pub fn run_by(&mut self, runner: Arc<dyn Runner>) {
        self.runner = Some(runner);
    }

    /// Who makes the steps instead of the interpreter, if anybody does.
    pub fn runner(&self) -> Option<&Arc<dyn Runner>> {
        self.runner.as_ref()
    }

    /// Keeps residues from now on, so that going back is bit for bit exact and leads over
    /// irreversible instructions too.
    pub fn keep_residues(&mut self) {
        self.residues.get_or_insert_default();
    }

    /// Keeps residues from now on, and finds values that steps away from the start need in those of an
    /// earlier run, which came to a state with the same values as this one's start.
    pub fn inherit(&mut self, past: Past<B>) {
        self.residues.get_or_insert_default().inherit(past);
    }

    /// Watches from here whether the way back is that of the way there: what [`Reports::watch`] then says
    /// concerns floats that go back without a history.
    pub fn watch(&mut self) {
        self.reports.watch = Some(Watch::default());
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    pub fn state(&self) -> &State<B> {
        &self.state
    }

    /// The state, to give inputs. Changing it in the middle of a run begins another history.
    pub fn state_mut(&mut self) -> &mut State<B> {
        &mut self.state
    }

    /// The state, for whoever makes steps of the program itself, at most so many; and what watches them, if anything
    /// does.
    pub fn state_and_watcher(&mut self, leg: Leg) -> (&mut State<B>, Option<Watcher<'_>>) {
        let (made, rounding) = (self.state.own_steps(), Rounding::of(self.program.module().real));
        let watcher = self.reports.watch.as_mut().map(|watch| Watcher::new(watch, leg, made, rounding));
        (&mut self.state, watcher)
    }

    /// The state at the end of a machine's use.
    pub fn into_state(self) -> State<B> {
        self.state
    }

    /// Gives up what it has kept and reported: as if it had just come to where it is.
    pub fn forget(&mut self) {
        (self.residues, self.reports) = (None, Reports::default());
    }

    /// Its history at the end of its use.
    pub fn into_residues(self) -> Option<Residues<B>> {
        self.residues
    }

    /// Its state and its history at the end of its use.
    pub fn into_parts(self) -> (State<B>, Option<Residues<B>>) {
        (self.state, self.residues)
    }

    /// Keeps what every step changes, not just what it loses, from now on.
    pub(crate) fn tape(&mut self) {
        self.residues.get_or_insert_default().tape();
    }

    /// Has another history than before of the steps that lead to where it is.
    pub(crate) fn replace_residues(&mut self, residues: Residues<B>) {
        self.residues = Some(residues);
    }

    /// A machine at another state of the program, without a history, whose steps the same one makes and which heeds the same flag.
    /// It shows nothing.
    pub(crate) fn beside(&self, mut state: State<B>) -> Machine<B> {
        state.counters.shown = ShownMark::SILENT;
        let machine = Machine::resume(Arc::clone(&self.program), state, None);
        let threads = self.threads.anew();
        Machine { interrupt: self.interrupt.clone(), runner: self.runner.clone(), threads, ..machine }
    }

    /// Goes on with what a machine has reported that came here before.
    pub(crate) fn report_in(&mut self, reports: Reports) {
        self.reports = reports;
    }

    /// Notes a loss of the derivative at the instruction of this index.
    pub(crate) fn note(&mut self, at: u32, loss: Loss, size: f64) {
        self.reports.note(at, loss, size);
    }

    pub fn residues(&self) -> Option<&Residues<B>> {
        self.residues.as_ref()
    }

    /// What gradient mode lost in a way that one should know of, since the machine was made.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Memory that the history takes.
    pub fn history_bytes(&self) -> usize {
        self.residues.as_ref().map_or(0, Residues::bytes)
    }

    /// Has [`Machine::run`] look every few milliseconds whether a flag is set, and stop if it is.
    pub fn stop_when(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = Some(flag);
    }

    /// Whether there is such a flag.
    pub fn heeds_a_flag(&self) -> bool {
        self.interrupt.is_some()
    }

    /// Whether the flag that it heeds asks it to stop.
    pub fn is_asked_to_stop(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
    }

    /// Makes at most `budget` steps.
    ///
    /// # Errors
    /// A trap; the state is then the one before the instruction that trapped.
    pub fn run(&mut self, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        self.run_heeding(None, travel, budget)
    }

    /// The same, but it stops before a step that one of the places to stop at is at: the first too.
    ///
    /// # Errors
    /// A trap, as [`Machine::run`].
    pub fn run_heeding(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        match self.has_threads(stops) {
            true => self.run_threaded(stops, travel, budget),
            false => self.run_by_one_thread(stops, travel, budget),
        }
    }

    /// The same, with no step made at the same time as another.
    fn run_by_one_thread(
        &mut self,
        stops: Option<&Stops>,
        travel: Travel,
        budget: u64,
    ) -> Result<Stop, Trap> {
        let Some(interrupt) = self.interrupt.clone() else { return self.run_until(stops, travel, budget) };
        let mut left = budget;
        while !interrupt.load(Ordering::Relaxed) {
            let made = left.min(CHUNK);
            left -= made;
            let stop = self.run_until(stops, travel, made)?;
            let is_there = stops.is_some_and(|stops| stops.contains(Node::of(&self.state, travel)));
            if stop != Stop::Budget || left == 0 || is_there {
                return Ok(stop);
            }
        }
        Ok(Stop::Interrupted)
    }

    /// The same, whoever wants it to stop in between.
    ///
    /// # Errors
    /// A trap, as [`Machine::run`].
    pub fn run_until(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        let leg = Leg { travel, budget };
        if let Some(runner) = self.runner.clone()
            && let Some(plain) = (self as &mut dyn Any).downcast_mut::<Machine>()
        {
            return runner.run(plain, stops, leg);
        }
        self.interpret(stops, leg)
    }

    /// Has the interpreter make the steps of a leg, whoever else makes those of the machine.
    ///
    /// # Errors
    /// A trap, as [`Machine::run`].
    pub fn interpret(&mut self, stops: Option<&Stops>, leg: Leg) -> Result<Stop, Trap> {
        let program = stops.map_or(&*self.program, Stops::program);
        let residues = self.residues.as_mut();
        B::execute(program, &mut self.state, residues, &mut self.reports, &mut self.window, leg)
    }

    /// Makes one step.
    ///
    /// # Errors
    /// A trap, as [`Machine::run`].
    pub fn step(&mut self, travel: Travel) -> Result<Stop, Trap> {
        self.run(travel, 1)
    }

    /// Makes one step, lets `look` see the state behind it, and undoes it: nothing is left of the step, not
    /// what it counts, shows or reports. `look` also learns whether the step lost bits, so that only a
    /// history can undo it exactly. `None` at the bound. A step that leads back toward step 0 is undone
    /// exactly if the machine keeps residues, or if its steps lose nothing.
    ///
    /// # Errors
    /// The trap of the step; then nothing was changed either.
    pub fn peek<T>(
        &mut self,
        travel: Travel,
        look: impl FnOnce(&State<B>, bool) -> T,
    ) -> Result<Option<T>, Trap> {
        let counters = self.state.counters;
        let reports = std::mem::take(&mut self.reports);
        let keeps_residues = self.residues.is_some();
        self.keep_residues();
        let records = self.records();
        let outcome = self.step(travel);
        let seen = match outcome {
            Ok(Stop::Bound) => Ok(None),
            Ok(_) => {
                let seen = look(&self.state, self.records() != records);
                self.step(travel.reversed()).map(|_| Some(seen))
            }
            Err(trap) => Err(trap),
        };
        if !keeps_residues {
            self.residues = None;
        }
        self.state.counters = counters;
        self.reports = reports;
        seen
    }

    fn records(&self) -> usize {
        self.residues.as_ref().map_or(0, Residues::len)
    }

    /// Travels to a step, in whichever direction it lies, or to the bound before it.
    ///
    /// # Errors
    /// A trap, as [`Machine::run`].
    pub fn run_to_step(&mut self, step: i64) -> Result<Stop, Trap> {
        let travel = if step >= self.state.step { Travel::Forward } else { Travel::Backward };
        self.run(travel, step.abs_diff(self.state.step))
    }

    /// Travels until the machine stands at a position, at least one and at most `budget` steps.
    ///
    /// # Errors
    /// A trap, as [`Machine::run`].
    pub fn run_to_position(&mut self, position: u32, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        for _ in 0..budget {
            let stop = self.step(travel)?;
            if stop == Stop::Bound || self.state.position == position {
                return Ok(stop);
            }
        }
        Ok(Stop::Budget)
    }
}

fn initial_state(program: &Program, position: u32) -> Result<State, OutOfMemory> {
    let (ints, reals) = program.layout().static_cells();
    let mut state = State {
        ints: room::zeros(ints)?,
        reals: room::zeros(reals)?,
        adjoints: None,
        int_stack: Vec::new(),
        real_stack: Vec::new(),
        input: Vec::new(),
        output: Vec::new(),
        calls: Vec::new(),
        references: Vec::new(),
        frame: Frame::default(),
        inverted: false,
        position,
        step: 0,
        rule_steps: 0,
        counters: Counters::default(),
    };
    let layout = program.layout();
    state.ints[layout.pool_ints_start as usize..].copy_from_slice(&layout.pool_ints);
    state.reals[layout.pool_reals_start as usize..].copy_from_slice(&layout.pool_reals);
    values::set_initial(program, &mut state)?;
    Ok(state)
}
