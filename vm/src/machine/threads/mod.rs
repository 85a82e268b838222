//! Tasks at the same time: where a run comes to a `fork`, each of several threads goes over what is up to the `join` with a copy of
//! the state, and makes the tasks that no other one has begun. Behind the last one, what they have changed is put together as if they had
//! been made one after the other: cells, adjoints, histories, counts and step numbers are the same.
//!
//! What can't be put together like that is made again by one thread: a task that traps, so that the trap is the first one in their order, and
//! reports that depend on the numbers of steps. Knows no instruction but the bounds of tasks and their calls.

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
use crate::travel::{Leg, Stop, Travel};
use crate::workers::{MOST_THREADS, share};

use history::StepsOfTasks;
use places::TaskPlaces;
use unfinished::Unfinished;
use worker::{Finished, Worker};

/// How many threads a machine may use, and what it has found out about tasks.
#[derive(Clone, Debug)]
pub(super) struct Threads {
    /// At least 1.
    pub count: u32,
    /// Tasks that take fewer steps together aren't worth threads.
    pub worth: u64,
    /// Where tasks begin, with the places at which the run at hand is to stop.
    places: Option<Arc<TaskPlaces>>,
    /// By the `fork`, how many steps its tasks took the last time; 0 where they couldn't be put together.
    steps: HashMap<u32, u64>,
    tasks: StepsOfTasks,
    /// Words copied for tasks that were too short, minus [`WORDS_PER_STEP`] for each step since.
    unpaid: u64,
    /// The most memory that copies of the state took which threads had at the same time.
    bytes: usize,
}

impl Threads {
    pub fn new(count: u32, worth: u64) -> Threads {
        let (steps, tasks) = (HashMap::new(), StepsOfTasks::default());
        Threads { count, worth, places: None, steps, tasks, unpaid: 0, bytes: 0 }
    }

    /// As many threads, which know nothing of tasks yet.
    pub fn anew(&self) -> Threads {
        Threads::new(self.count, self.worth)
    }
}

/// Tasks that take fewer steps of the interpreter together aren't worth threads: beginning these would take a good part of that time.
pub const STEPS_WORTH_THREADS: u64 = 100_000;
/// Nor are those that take fewer steps than there are cells to copy, up to so many times as many as are worth it anyway.
const MOST_WORTH: u64 = 64;
/// Native code makes about so many steps in the time that the interpreter takes for one.
const NATIVE: u64 = 16;
/// Tasks that take on average less than this part of the steps that are worth threads are too short: to begin one, or to pass over one of
/// another thread, takes about as long.
const SHORTEST: u64 = 200;
/// Number of words copied for tasks that were too short beyond which no new `fork` is tried on threads: a few milliseconds.
const MOST_UNPAID: u64 = 1 << 20;
/// Words that can be copied in the time of one interpreted step. Therefore failed trials take at most as long as the steps, however many
/// `fork`s there are.
const WORDS_PER_STEP: u64 = 4;

impl<B: Interpreted> Machine<B> {
    /// Has tasks of the program made by `count` threads, where they took no fewer than `worth` steps the last time
    /// ([`STEPS_WORTH_THREADS`]). There is at least one thread and at most [`MOST_THREADS`], and fewer than `count` where the system
    /// starts no more. No result of a run depends on the number.
    pub fn run_on_threads(&mut self, count: u32, worth: u64) {
        self.threads = Threads::new(count.clamp(1, MOST_THREADS), worth);
    }

    /// Whether tasks may be made at the same time in a run that stops at these places.
    pub fn has_threads(&self, stops: Option<&Stops>) -> bool {
        // Places within tasks, or between them, are come to one after the other; main is no task.
        let flow = self.program.flow();
        let is_in_main = |node: Node| {
            let at = node.instruction();
            self.program.procedure_of(at) == 0 && flow.fork_around(at).is_none()
        };
        self.threads.count > 1
            && !flow.forks().is_empty()
            && stops.is_none_or(|stops| stops.nodes().all(is_in_main))
    }

    /// The most memory that threads took for copies of the state, as far as tasks were made by them.
    pub fn thread_bytes(&self) -> usize {
        self.threads.bytes
    }

    /// Makes steps as [`Machine::run_heeding`], of which tasks are made at the same time.
    ///
    /// # Errors
    /// A trap, as [`Machine::run`].
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
            // The bound is a step of its own, which finds out whether the tasks are apart.
            let bound = here.instruction();
            let stop = self.interpret(None, Leg { travel, budget: 1 })?;
            left -= 1;
            if stop != Stop::Budget || left == 0 {
                return Ok(stop);
            }
            match self.make_tasks(bound, travel, left) {
                Ok(made) => left -= made,
                Err(Unfinished::Interrupted) => return Ok(Stop::Interrupted),
                // One after the other, then.
                Err(Unfinished::ByOneThread) => {}
            }
        }
    }

    /// The places at which a run stops that may use threads.
    fn task_places(&mut self, stops: Option<&Stops>) -> Arc<TaskPlaces> {
        if let Some(places) = self.threads.places.as_ref().filter(|places| places.are_for(stops)) {
            return Arc::clone(places);
        }
        let places = Arc::new(TaskPlaces::new(&self.program, stops));
        self.threads.places = Some(Arc::clone(&places));
        places
    }

    /// Makes all tasks that begin here, behind the bound that opens them, and goes to the bound that closes them; how many
    /// steps that were.
    fn make_tasks(&mut self, bound: u32, travel: Travel, left: u64) -> Result<u64, Unfinished> {
        let program = Arc::clone(&self.program);
        let fork = program.flow().fork_at(bound).ok_or(Unfinished::ByOneThread)?;
        // A run of few steps would end within the tasks.
        if left < self.worth() || !self.is_worth_threads(fork) {
            return Err(Unfinished::ByOneThread);
        }
        let finished = self.finished(fork, travel, left);
        let outcome = finished.and_then(|finished| {
            let copies = |one: &Finished<B>| one.machine.state.bytes() + one.machine.threads.bytes;
            self.threads.bytes = self.threads.bytes.max(finished.iter().map(copies).sum());
            self.put_together(fork, travel, left, &finished)
        });
        // Of a run that is interrupted nothing is known.
        if outcome != Err(Unfinished::Interrupted) {
            let steps = outcome.unwrap_or(0);
            self.threads.steps.insert(fork.stretch.opens, steps);
            if steps < self.worth() {
                self.threads.unpaid = self.threads.unpaid.saturating_add(self.words_to_copy(fork));
            }
        }
        outcome
    }

    /// Number of words that are copied before threads can run the tasks of a `fork`: the code with its stops, and a state per thread.
    fn words_to_copy(&self, fork: &TaskFork) -> u64 {
        let cells = self.state.ints.len() + self.state.reals.len();
        let code = self.program.module().code.len();
        (code + cells * self.threads_for(fork) as usize) as u64
    }

    /// Steps that are worth threads, by those who make them here.
    fn worth(&self) -> u64 {
        let is_native = self.runner.as_ref().is_some_and(|runner| runner.steps_made() > 0);
        self.threads.worth.saturating_mul(if is_native { NATIVE } else { 1 })
    }

    fn is_worth_threads(&self, fork: &TaskFork) -> bool {
        let cells = (self.state.ints.len() + self.state.reals.len()) as u64;
        let worth = self.worth();
        let is_short = |&steps: &u64| steps < worth.max(cells.min(worth.saturating_mul(MOST_WORTH)));
        let last = self.threads.steps.get(&fork.stretch.opens);
        let may_be_tried = last.is_some() || self.threads.unpaid <= MOST_UNPAID;
        let is_in_rule = self.state.calls.iter().any(|call| call.part != Part::Whole);
        // Lines that are printed come in the order of the tasks.
        !last.is_some_and(is_short)
            && may_be_tried
            && !is_in_rule
            && !self.adjoints_depend_on_order(fork)
            && !fork.shows
            && self.can_part_history()
    }

    /// Returns true if a task may add to an adjoint that an earlier task has changed. With the mode off a program does so that names adjoints,
    /// in gradient mode one whose adjoints are exact and thus not deferred. An intermediate exact sum may overflow in one order only.
    fn adjoints_depend_on_order(&self, fork: &TaskFork) -> bool {
        let (flow, module) = (self.program.flow(), self.program.module());
        let are_direct =
            if self.state.mode() { module.real.is_exact() } else { self.program.names_adjoints() };
        are_direct && fork.calls.iter().any(|&at| flow.reads_shared_reals(module, at))
    }

    /// Number of threads that can run the tasks of a `fork` at the same time.
    fn threads_for(&self, fork: &TaskFork) -> u32 {
        match fork.calls.len() as u32 {
            // A single call may be made by many rounds.
            1 => self.threads.count,
            calls => self.threads.count.min(calls),
        }
    }

    /// What each thread has made.
    fn finished(&self, fork: &TaskFork, travel: Travel, left: u64) -> Result<Vec<Finished<B>>, Unfinished> {
        let most = self.threads_for(fork);
        if most < 2 {
            return Err(Unfinished::ByOneThread);
        }
        let history = self.task_history(travel)?;
        let (begun, gives_up) = (AtomicU32::new(0), AtomicBool::new(false));
        let places = self.threads.places.as_deref().ok_or(Unfinished::ByOneThread)?;
        let stops = places.behind(&self.program, fork);
        let worker = || {
            let worker = Worker {
                fork,
                travel,
                left,
                stops: &stops,
                begun: &begun,
                gives_up: &gives_up,
                history: &history,
                shortest: self.worth() / SHORTEST,
            };
            worker.run(self.for_tasks(self.threads.count / most)?)
        };
        let all: Vec<_> =
            share(most, worker).into_iter().map(|one| one.unwrap_or(Err(Unfinished::ByOneThread))).collect();
        // A request to stop the machine comes before what the other threads came to.
        match all.iter().any(|one| matches!(one, Err(Unfinished::Interrupted))) {
            true => Err(Unfinished::Interrupted),
            false => all.into_iter().collect(),
        }
    }

    /// A machine for a thread, which may use so many itself.
    fn for_tasks(&self, threads: u32) -> Result<Machine<B>, Unfinished> {
        let state = self.state.try_clone().map_err(|_| Unfinished::ByOneThread)?;
        let machine = Machine::resume(Arc::clone(&self.program), state, None);
        Ok(Machine {
            reports: self.reports.anew(),
            interrupt: self.interrupt.clone(),
            runner: self.runner.clone(),
            threads: Threads::new(threads.max(1), self.threads.worth),
            ..machine
        })
    }
}
