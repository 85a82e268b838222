//! Parallel execution of tasks. At a `fork`, each of several threads runs through the region up to the `join` with its
//! own copy of the state. At each task, a thread executes the task if no other thread has begun it. After the last
//! task, the changes are combined as if the tasks had run one after the other: cells, adjoints, histories, counters and
//! step numbers are the same.
//!
//! If this isn't possible, one thread executes the region again. Examples are a task that traps, where the first trap
//! in the order of the tasks must be found, and reports that depend on step numbers. The only instructions that the
//! module handles are the bounds of task regions, and the calls of tasks.

mod history;
mod join;
mod places;
mod unfinished;
mod worker;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use reviver_flow::TaskFork;

use super::Machine;
use crate::interp::engine::Interpreted;
use crate::state::Part;
use crate::stops::{Node, Stops};
use crate::trap::Trap;
use crate::travel::{Segment, Stop, Travel};
use crate::workers::{MOST_THREADS, share};

use history::StepsOfTasks;
use places::TaskPlaces;
use unfinished::Unfinished;
use worker::{Finished, Worker};

/// The number of threads that a machine may use, and statistics on task regions.
#[derive(Clone, Debug)]
pub(super) struct Threads {
    /// The number of threads, at least 1.
    pub count: u32,
    /// Minimum number of steps of a task region for parallel execution.
    pub min_steps: u64,
    /// Breakpoints at the starts of task regions, and the breakpoints of the current run.
    places: Option<Arc<TaskPlaces>>,
    /// The number of steps of each region in its last execution; 0 if the tasks couldn't be joined. The key is the
    /// position of the `fork`.
    steps: HashMap<u32, u64>,
    tasks: StepsOfTasks,
    /// Number of words that were copied for regions that turned out to be too short, minus [`WORDS_PER_STEP`] for each
    /// step executed since then.
    unpaid: u64,
    /// The peak memory use of the threads' state copies, in bytes.
    bytes: usize,
}

impl Threads {
    pub fn new(count: u32, min_steps: u64) -> Threads {
        let (steps, tasks) = (HashMap::new(), StepsOfTasks::default());
        Threads { count, min_steps, places: None, steps, tasks, unpaid: 0, bytes: 0 }
    }

    /// Returns settings with the same number of threads, and without statistics.
    pub fn anew(&self) -> Threads {
        Threads::new(self.count, self.min_steps)
    }
}

/// Minimum number of interpreted steps in a task region for parallel execution. In a shorter region, starting threads
/// would take a considerable part of the time.
pub const MIN_STEPS_OF_REGION: u64 = 100_000;
/// Maximum factor by which the number of cells to copy raises the minimum number of steps. For parallel execution a
/// region needs at least as many steps as there are cells to copy, but at most this multiple of
/// [`MIN_STEPS_OF_REGION`].
const MOST_MIN_FACTOR: u64 = 64;
/// Estimated number of steps that native code executes in the time of one interpreted step.
const NATIVE: u64 = 16;
/// The minimum average length of a task is the minimum length of a region divided by this number. For a shorter task,
/// starting the task or skipping a task of another thread takes about as long as the task itself.
const SHORTEST: u64 = 200;
/// Maximum number of words copied for short regions. Beyond it, no further `fork` is tried on threads. Copying this
/// many words takes a few milliseconds.
const MOST_UNPAID: u64 = 1 << 20;
/// Number of words that can be copied in the time of one interpreted step. Failed trials thus take at most as
/// long as the steps, regardless of the number of `fork`s.
const WORDS_PER_STEP: u64 = 4;

impl<B: Interpreted> Machine<B> {
    /// Executes tasks on `count` threads if they took at least `min_steps` steps in their last execution
    /// ([`MIN_STEPS_OF_REGION`]). The count is limited to 1 up to [`MOST_THREADS`], and the system may start
    /// fewer threads. No result of a run depends on the number of threads.
    pub fn run_on_threads(&mut self, count: u32, min_steps: u64) {
        self.threads = Threads::new(count.clamp(1, MOST_THREADS), min_steps);
    }

    /// Returns true if a run with these breakpoints may execute tasks in parallel.
    pub fn has_threads(&self, stops: Option<&Stops>) -> bool {
        // Breakpoints in main outside of task regions are harmless, because main is no task. All others need
        // sequential execution.
        let flow = self.program.flow();
        let is_in_main = |node: Node| {
            let at = node.instruction();
            self.program.procedure_of(at) == 0 && flow.fork_around(at).is_none()
        };
        self.threads.count > 1
            && !flow.forks().is_empty()
            && stops.is_none_or(|stops| stops.nodes().all(is_in_main))
    }

    /// Returns the peak memory use of the state copies for threads, in bytes.
    pub fn thread_bytes(&self) -> usize {
        self.threads.bytes
    }

    /// Executes steps as [`Machine::run_interruptibly`], with tasks in parallel.
    ///
    /// # Errors
    /// Returns a trap, as [`Machine::run`].
    pub(super) fn run_threaded(
        &mut self,
        stops: Option<&Stops>,
        travel: Travel,
        budget: u64,
    ) -> Result<Stop, Trap> {
        let places = self.task_places(stops);
        let mut left = budget;
        loop {
            let before = self.state.step;
            let stop = self.run_by_one_thread(Some(&places.stops), travel, left)?;
            let made = self.state.step.abs_diff(before);
            self.threads.unpaid = self.threads.unpaid.saturating_sub(made.saturating_mul(WORDS_PER_STEP));
            left -= made;
            let here = Node::of(&self.state, travel);
            if stop != Stop::Budget || left == 0 || stops.is_some_and(|stops| stops.contains(here)) {
                return Ok(stop);
            }
            // The bound is a separate step, which checks the tasks for conflicts.
            let bound = here.instruction();
            let stop = self.interpret(None, Segment { travel, budget: 1 })?;
            left -= 1;
            if stop != Stop::Budget || left == 0 {
                return Ok(stop);
            }
            match self.make_tasks(bound, travel, left) {
                Ok(made) => left -= made,
                Err(Unfinished::Interrupted) => return Ok(Stop::Interrupted),
                // The next iteration of the loop executes the tasks sequentially.
                Err(Unfinished::ByOneThread) => {}
            }
        }
    }

    /// Returns the breakpoints of a run that may use threads.
    fn task_places(&mut self, stops: Option<&Stops>) -> Arc<TaskPlaces> {
        if let Some(places) = self.threads.places.as_ref().filter(|places| places.are_for(stops)) {
            return Arc::clone(places);
        }
        let places = Arc::new(TaskPlaces::new(&self.program, stops));
        self.threads.places = Some(Arc::clone(&places));
        places
    }

    /// Executes all tasks that begin after the bound `bound`, moves to the bound that closes them, and
    /// returns the number of steps.
    fn make_tasks(&mut self, bound: u32, travel: Travel, left: u64) -> Result<u64, Unfinished> {
        let program = Arc::clone(&self.program);
        let fork = program.flow().fork_at(bound).ok_or(Unfinished::ByOneThread)?;
        // A run with fewer steps left would end within the tasks.
        if left < self.min_steps() || !self.pays_for_threads(fork) {
            return Err(Unfinished::ByOneThread);
        }
        let finished = self.finished(fork, travel, left);
        let outcome = finished.and_then(|finished| {
            let copies = |one: &Finished<B>| one.machine.state.bytes() + one.machine.threads.bytes;
            self.threads.bytes = self.threads.bytes.max(finished.iter().map(copies).sum());
            self.put_together(fork, travel, left, &finished)
        });
        // The steps of an interrupted run don't show the length of the region.
        if outcome != Err(Unfinished::Interrupted) {
            let steps = outcome.unwrap_or(0);
            self.threads.steps.insert(fork.region.opens, steps);
            if steps < self.min_steps() {
                self.threads.unpaid = self.threads.unpaid.saturating_add(self.words_to_copy(fork));
            }
        }
        outcome
    }

    /// Number of words that are copied before threads can run the tasks of a `fork`: the code with its stops,
    /// and a state per thread.
    fn words_to_copy(&self, fork: &TaskFork) -> u64 {
        let cells = self.state.ints.len() + self.state.reals.len();
        let code = self.program.module().code.len();
        (code + cells * self.threads_for(fork) as usize) as u64
    }

    /// Returns the minimum number of steps for parallel execution with the current engine.
    fn min_steps(&self) -> u64 {
        let is_native = self.runner.as_ref().is_some_and(|runner| runner.steps_made() > 0);
        self.threads.min_steps.saturating_mul(if is_native { NATIVE } else { 1 })
    }

    fn pays_for_threads(&self, fork: &TaskFork) -> bool {
        let cells = (self.state.ints.len() + self.state.reals.len()) as u64;
        let min_steps = self.min_steps();
        let is_short =
            |&steps: &u64| steps < min_steps.max(cells.min(min_steps.saturating_mul(MOST_MIN_FACTOR)));
        let last = self.threads.steps.get(&fork.region.opens);
        let may_be_tried = last.is_some() || self.threads.unpaid <= MOST_UNPAID;
        let is_in_rule = self.state.calls.iter().any(|call| call.part != Part::Whole);
        // Printed lines must come in the order of the tasks.
        !last.is_some_and(is_short)
            && may_be_tried
            && !is_in_rule
            && !self.adjoints_depend_on_order(fork)
            && !fork.shows
            && self.can_part_history()
    }

    /// Returns true if a task may add to an adjoint that an earlier task has changed. Even in exact numbers the order
    /// may matter then, because an intermediate sum may overflow in one order only. With gradient mode off, this needs
    /// a program that names adjoints. With gradient mode on, it needs an exact number system, because only there
    /// adjoints aren't deferred.
    fn adjoints_depend_on_order(&self, fork: &TaskFork) -> bool {
        let (flow, module) = (self.program.flow(), self.program.module());
        let are_direct =
            if self.state.mode() { module.real.is_exact() } else { self.program.names_adjoints() };
        are_direct && fork.calls.iter().any(|&at| flow.reads_shared_reals(module, at))
    }

    /// Number of threads that can run the tasks of a `fork` at the same time.
    fn threads_for(&self, fork: &TaskFork) -> u32 {
        match fork.calls.len() as u32 {
            // A single call may be executed in many iterations.
            1 => self.threads.count,
            calls => self.threads.count.min(calls),
        }
    }

    /// Runs all threads and returns their results.
    fn finished(&self, fork: &TaskFork, travel: Travel, left: u64) -> Result<Vec<Finished<B>>, Unfinished> {
        let most = self.threads_for(fork);
        if most < 2 {
            return Err(Unfinished::ByOneThread);
        }
        let history = self.task_history(travel)?;
        let (begun, gives_up) = (AtomicU32::new(0), AtomicBool::new(false));
        let places = self.threads.places.as_deref().ok_or(Unfinished::ByOneThread)?;
        let stops = places.after_calls(&self.program, fork);
        let worker = || {
            let worker = Worker {
                fork,
                travel,
                left,
                stops: &stops,
                begun: &begun,
                gives_up: &gives_up,
                history: &history,
                shortest: self.min_steps() / SHORTEST,
            };
            worker.run(self.for_tasks(self.threads.count / most)?)
        };
        let all: Vec<_> =
            share(most, worker).into_iter().map(|one| one.unwrap_or(Err(Unfinished::ByOneThread))).collect();
        // A request to stop takes precedence over the results of the other threads.
        match all.iter().any(|one| matches!(one, Err(Unfinished::Interrupted))) {
            true => Err(Unfinished::Interrupted),
            false => all.into_iter().collect(),
        }
    }

    /// Creates a machine for one thread, which may use `threads` threads itself.
    fn for_tasks(&self, threads: u32) -> Result<Machine<B>, Unfinished> {
        let state = self.state.try_clone().map_err(|_| Unfinished::ByOneThread)?;
        let machine = Machine::resume(Arc::clone(&self.program), state, None);
        Ok(Machine {
            reports: self.reports.anew(),
            interrupt: self.interrupt.clone(),
            runner: self.runner.clone(),
            threads: Threads::new(threads.max(1), self.threads.min_steps),
            ..machine
        })
    }
}
