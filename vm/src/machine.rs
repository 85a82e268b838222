//! The machine: a program with a state, and runs in both directions. A caller can execute a single step, a number of
//! steps, or all steps up to a given step number or position.

mod runner;
mod threads;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::allocation::{self, OutOfMemory};
use crate::history::{Past, Residues};
use crate::interp::engine::Interpreted;
use crate::interp::window::Window;
use crate::observer::Observer;
use crate::program::Program;
use crate::reports::{Loss, Reports};
use crate::state::shown_mark::ShownMark;
use crate::state::values;
use crate::state::{Counters, Frame, State};
use crate::stops::{Node, Stops};
use crate::trap::Trap;
use crate::travel::{Segment, Stop, Travel};
use crate::watch::{Rounding, Watcher};

pub use runner::Runner;
use runner::in_parts;
pub use threads::MIN_STEPS_OF_REGION;
use threads::Threads;

/// A program together with the state of its run. `B` are the bits of a real: one word, or several for dual
/// numbers.
#[derive(Debug)]
pub struct Machine<B = u64> {
    program: Arc<Program>,
    state: State<B>,
    residues: Option<Residues<B>>,
    reports: Reports,
    window: Window,
    /// A flag that another thread sets to stop the run.
    interrupt: Option<Arc<AtomicBool>>,
    /// The engine that executes the steps; `None` for the interpreter.
    runner: Option<Arc<dyn Runner>>,
    /// The settings and statistics for parallel execution of tasks.
    threads: Threads,
}

/// The number of steps between two checks of the interrupt flag.
const CHUNK: u64 = 1 << 22;

impl Machine {
    /// Creates a machine at the start of the program, with initial values, and the defaults of inputs.
    ///
    /// # Errors
    /// Fails if there is no memory for the cells.
    pub fn at_begin(program: Arc<Program>) -> Result<Machine, OutOfMemory> {
        let mut state = initial_state(&program, program.begin())?;
        values::set_defaults(&program, &mut state)?;
        Ok(Machine::resume(program, state, None))
    }

    /// Creates a machine at the end of the program, before any result is set: all cells have initial values.
    /// A backward run from here takes step numbers below 0.
    ///
    /// # Errors
    /// Fails if there is no memory for the cells.
    pub fn at_end(program: Arc<Program>) -> Result<Machine, OutOfMemory> {
        let state = initial_state(&program, program.end())?;
        Ok(Machine::resume(program, state, None))
    }

    /// Restarts from a state of the same program, without history or reports, reusing allocated memory.
    ///
    /// # Errors
    /// Fails if there is no memory for the state. The machine's state is then invalid.
    pub fn renew(&mut self, start: &State) -> Result<(), OutOfMemory> {
        self.forget();
        self.state.renew(start)
    }

    /// Interprets a segment as [`Machine::interpret`] does, and shows an observer the states that it wants to see.
    ///
    /// # Errors
    /// Returns a trap, as [`Machine::run`].
    pub fn interpret_observed(
        &mut self,
        stops: Option<&Stops>,
        segment: Segment,
        observer: &mut dyn Observer,
    ) -> Result<Stop, Trap> {
        in_parts(self, stops, segment, observer, |machine, segment| machine.interpret(stops, segment))
    }
}

impl<B: Interpreted> Machine<B> {
    /// Returns a copy of the machine, with its state, history and reports.
    ///
    /// # Errors
    /// Fails if there is no memory.
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

    /// Creates a machine that continues from a state of the same program.
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
            threads: Threads::new(1, MIN_STEPS_OF_REGION),
        }
    }

    /// Sets an engine that executes the steps instead of the interpreter.
    pub fn run_by(&mut self, runner: Arc<dyn Runner>) {
        self.runner = Some(runner);
    }

    /// Returns the engine that executes the steps, if it isn't the interpreter.
    pub fn runner(&self) -> Option<&Arc<dyn Runner>> {
        self.runner.as_ref()
    }

    /// Keeps a history from now on. Going back is then exact bit for bit, and possible over irreversible
    /// instructions.
    pub fn keep_residues(&mut self) {
        self.residues.get_or_insert_default();
    }

    /// Keeps a history from now on, and takes lost values from an earlier run. The earlier run reached a state with the
    /// same values as the start of this run.
    pub fn inherit(&mut self, past: Past<B>) {
        self.residues.get_or_insert_default().inherit(past);
    }

    /// Watches from now on whether the reverse sweep retraces the forward sweep. [`Reports::watch`] has the result.
    /// Only runs in floats without a history need to be watched.
    pub fn watch(&mut self) {
        self.reports.watch = Some(Box::default());
    }

    /// Returns the program that the machine executes.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns the current state, which is between two steps.
    pub fn state(&self) -> &State<B> {
        &self.state
    }

    /// Returns a mutable reference to the state, for setting inputs. A change of the state in the middle of a run makes
    /// the history invalid.
    pub fn state_mut(&mut self) -> &mut State<B> {
        &mut self.state
    }

    /// Returns the state for an engine that changes it directly. The engine may execute `segment.budget` steps; steps
    /// in derivative rules don't count. If the run is watched, also returns the watcher to which the engine reports
    /// branches and freed cells.
    pub fn state_and_watcher(&mut self, segment: Segment) -> (&mut State<B>, Option<Watcher<'_>>) {
        let (made, rounding) = (self.state.own_steps(), Rounding::of(self.program.module().real));
        let watcher = self.reports.watch.as_mut().map(|watch| Watcher::new(watch, segment, made, rounding));
        (&mut self.state, watcher)
    }

    /// Consumes the machine and returns its state.
    pub fn into_state(self) -> State<B> {
        self.state
    }

    /// Deletes the history and the reports, as if the machine had just been created in its current state.
    pub fn forget(&mut self) {
        (self.residues, self.reports) = (None, Reports::default());
    }

    /// Consumes the machine and returns its history.
    pub fn into_residues(self) -> Option<Residues<B>> {
        self.residues
    }

    /// Consumes the machine and returns its state and its history.
    pub fn into_parts(self) -> (State<B>, Option<Residues<B>>) {
        (self.state, self.residues)
    }

    /// Records all changes of every step from now on, instead of only the losses.
    pub(crate) fn tape(&mut self) {
        self.residues.get_or_insert_default().tape();
    }

    /// Replaces the history of the steps that lead to the current state.
    pub(crate) fn replace_residues(&mut self, residues: Residues<B>) {
        self.residues = Some(residues);
    }

    /// Creates a machine for another state of the program, without a history. The new machine has the same engine and
    /// interrupt flag, and shows nothing.
    pub(crate) fn with_state(&self, mut state: State<B>) -> Machine<B> {
        state.counters.shown = ShownMark::SILENT;
        let machine = Machine::resume(Arc::clone(&self.program), state, None);
        let threads = self.threads.anew();
        Machine { interrupt: self.interrupt.clone(), runner: self.runner.clone(), threads, ..machine }
    }

    /// Replaces the reports by those of an earlier machine that reached this state. Later reports are added to them.
    pub(crate) fn report_in(&mut self, reports: Reports) {
        self.reports = reports;
    }

    /// Notes a loss of a derivative at the instruction with index `at`.
    pub(crate) fn note(&mut self, at: u32, loss: Loss, size: f64) {
        self.reports.note(at, loss, size);
    }

    /// Returns the history; `None` if the machine keeps none.
    pub fn residues(&self) -> Option<&Residues<B>> {
        self.residues.as_ref()
    }

    /// Returns the reports since the machine was created: losses of derivatives that may make a gradient wrong.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Returns the memory use of the history, in bytes.
    pub fn history_bytes(&self) -> usize {
        self.residues.as_ref().map_or(0, Residues::bytes)
    }

    /// Sets an interrupt flag. [`Machine::run`] checks it every few milliseconds, and stops if it is set.
    pub fn stop_when(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = Some(flag);
    }

    /// Returns true if the machine has an interrupt flag.
    pub fn has_interrupt_flag(&self) -> bool {
        self.interrupt.is_some()
    }

    /// Returns true if the interrupt flag is set.
    pub fn is_asked_to_stop(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
    }

    /// Executes at most `budget` steps.
    ///
    /// # Errors
    /// Returns a trap; the state is then the one before the instruction that trapped.
    pub fn run(&mut self, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        self.run_interruptibly(None, travel, budget)
    }

    /// Executes at most `budget` steps, but stops before a step at one of the breakpoints `stops`, even if it is the
    /// first step.
    ///
    /// # Errors
    /// Returns a trap, as [`Machine::run`].
    pub fn run_interruptibly(
        &mut self,
        stops: Option<&Stops>,
        travel: Travel,
        budget: u64,
    ) -> Result<Stop, Trap> {
        match self.has_threads(stops) {
            true => self.run_threaded(stops, travel, budget),
            false => self.run_by_one_thread(stops, travel, budget),
        }
    }

    /// Executes a run on the current thread only. Checks the interrupt flag after each chunk of steps.
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

    /// Executes a run as [`Machine::run_interruptibly`], but on the current thread and without checking the interrupt
    /// flag.
    ///
    /// # Errors
    /// Returns a trap, as [`Machine::run`].
    pub fn run_until(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        let segment = Segment { travel, budget };
        if let Some(runner) = self.runner.clone()
            && let Some(plain) = (self as &mut dyn Any).downcast_mut::<Machine>()
        {
            return runner.run(plain, stops, segment);
        }
        self.interpret(stops, segment)
    }

    /// Executes a segment with the interpreter, even if the machine has another engine.
    ///
    /// # Errors
    /// Returns a trap, as [`Machine::run`].
    pub fn interpret(&mut self, stops: Option<&Stops>, segment: Segment) -> Result<Stop, Trap> {
        let program = stops.map_or(&*self.program, Stops::program);
        let residues = self.residues.as_mut();
        B::execute(program, &mut self.state, residues, &mut self.reports, &mut self.window, segment)
    }

    /// Executes a single step.
    ///
    /// # Errors
    /// Returns a trap, as [`Machine::run`].
    pub fn step(&mut self, travel: Travel) -> Result<Stop, Trap> {
        self.run(travel, 1)
    }

    /// Executes one step, calls `look` with the state after it, and undoes the step. Counters, reports and shown values
    /// are reset too. The second argument of `look` is true if the step lost bits, so that only a history can undo the
    /// step exactly. At the end of the program, the result is `None`.
    ///
    /// A step toward step 0 is undone exactly if the machine keeps a history, or if no step of the program loses bits.
    ///
    /// # Errors
    /// Returns the trap of the step; then nothing was changed either.
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

    /// Runs forward or backward to a step number. Stops earlier if it reaches an end of the program.
    ///
    /// # Errors
    /// Returns a trap, as [`Machine::run`].
    pub fn run_to_step(&mut self, step: i64) -> Result<Stop, Trap> {
        let travel = if step >= self.state.step { Travel::Forward } else { Travel::Backward };
        self.run(travel, step.abs_diff(self.state.step))
    }

    /// Runs until the machine is at a position, with at least one step and at most `budget` steps.
    ///
    /// # Errors
    /// Returns a trap, as [`Machine::run`].
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
        ints: allocation::zeros(ints)?,
        reals: allocation::zeros(reals)?,
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
