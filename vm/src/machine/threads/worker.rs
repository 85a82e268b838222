//! A worker thread for parallel tasks. A worker runs from one bound of the region to the other. It executes each task
//! that no other thread has begun, and skips the calls of all other tasks. So a worker needs neither the number of
//! tasks nor their lengths. Workers share only two atomic variables: the number of begun tasks, and a flag to give up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use reviver_flow::TaskFork;
use reviver_isa::instruction::Class;

use super::history::TaskHistory;
use super::unfinished::Unfinished;
use crate::history::Residues;
use crate::interp::engine::Interpreted;
use crate::interp::tasks::{changed, only_read};
use crate::machine::{CHUNK, Machine};
use crate::program::FORWARD;
use crate::state::{Part, Reference};
use crate::stops::{Node, Stops};
use crate::travel::{Segment, Stop, Travel};

/// The results of a thread.
#[derive(Debug)]
pub(super) struct Finished<B> {
    /// The thread's machine, at the closing bound of the tasks.
    pub machine: Machine<B>,
    /// The tasks that the thread executed, in the order of execution.
    pub tasks: Vec<FinishedTask<B>>,
    /// The number of steps that belong to no task.
    pub between: u64,
}

/// The results of one task.
#[derive(Debug)]
pub(super) struct FinishedTask<B> {
    /// The task's number, counted from 0 in the direction of travel.
    pub number: u32,
    pub steps: u64,
    /// The number of steps without those in derivative rules.
    pub own_steps: u64,
    /// The cells that the task may have changed.
    pub ints: Vec<Reference>,
    pub reals: Vec<Reference>,
    /// The shares that the task accumulated for adjoints of cells that it only reads.
    pub shares: Vec<(u32, B)>,
    /// The task's records, with step numbers of the thread.
    pub records: Option<Residues<B>>,
}

/// The context of one worker thread.
pub(super) struct Worker<'w, B> {
    pub fork: &'w TaskFork,
    pub travel: Travel,
    /// Upper bound on the steps of all tasks together.
    pub left: u64,
    /// Breakpoints after each call.
    pub stops: &'w Stops,
    /// The number of tasks begun by all threads.
    pub begun: &'w AtomicU32,
    /// True once one of the threads can't continue.
    pub gives_up: &'w AtomicBool,
    pub history: &'w TaskHistory<'w, B>,
    /// Minimum average number of steps of a task. Shorter tasks are faster on one thread.
    pub shortest: u64,
}

/// Number of tasks that a thread executes before it compares their average length with the minimum.
const SAMPLE: usize = 512;

impl<B: Interpreted> Worker<'_, B> {
    /// Runs through all tasks. The machine is after the opening bound of the region.
    pub fn run(self, mut machine: Machine<B>) -> Result<Finished<B>, Unfinished> {
        let outcome = self.go(&mut machine);
        if outcome.is_err() {
            self.gives_up.store(true, Ordering::Relaxed);
        }
        outcome.map(|(tasks, between)| Finished { machine, tasks, between })
    }

    fn go(&self, machine: &mut Machine<B>) -> Result<(Vec<FinishedTask<B>>, u64), Unfinished> {
        let (mut tasks, mut number, mut between) = (Vec::new(), 0, 0);
        loop {
            let at = Node::of(&machine.state, self.travel).instruction();
            if self.gives_up.load(Ordering::Relaxed) {
                return Err(Unfinished::ByOneThread);
            }
            if !self.fork.region.contains(at) {
                return Ok((tasks, between));
            }
            if self.fork.calls.binary_search(&at).is_err() {
                between += 1;
                self.one_step(machine)?;
                continue;
            }
            if self.begun.compare_exchange(number, number + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                tasks.push(self.task(machine, number, at)?);
                if tasks.len() == SAMPLE && steps(&tasks) < self.shortest.saturating_mul(SAMPLE as u64) {
                    return Err(Unfinished::ByOneThread);
                }
            } else {
                self.pass_over(machine, number, at);
            }
            number += 1;
        }
    }

    /// Skips a call that another thread executes.
    fn pass_over(&self, machine: &mut Machine<B>, number: u32, at: u32) {
        let is_backward = Node::of(&machine.state, self.travel).backward;
        machine.state.position = if is_backward { at } else { at + 1 };
        machine.state.step += self.travel.sign() * self.history.steps_of(number).unwrap_or(0) as i64;
    }

    fn one_step(&self, machine: &mut Machine<B>) -> Result<(), Unfinished> {
        match machine.interpret(None, Segment { travel: self.travel, budget: 1 }) {
            Ok(Stop::Budget) => Ok(()),
            Ok(_) | Err(_) => Err(Unfinished::ByOneThread),
        }
    }

    /// Executes a task, from before its call to after it.
    fn task(&self, machine: &mut Machine<B>, number: u32, at: u32) -> Result<FinishedTask<B>, Unfinished> {
        let (depth, step, first) = (machine.state.calls.len(), machine.state.step, machine.state.own_steps());
        machine.residues = self.history.of_task(number, first, self.travel)?;
        self.one_step(machine)?;
        if machine.state.calls.len() != depth + 1 {
            return Err(Unfinished::ByOneThread);
        }
        let references = machine.state.references.get(machine.state.frame.references as usize..);
        let references = references.unwrap_or_default().to_vec();
        let waiting = self.take_waiting(machine, at, depth, &references);
        self.run_to_return(machine, depth)?;
        let program = Arc::clone(&machine.program);
        let (_, call) = program.call(program.code[FORWARD][at as usize].a);
        let own_steps = machine.state.own_steps().abs_diff(first);
        if self.history.steps_of(number).is_some_and(|steps| steps != own_steps) {
            return Err(Unfinished::ByOneThread);
        }
        Ok(FinishedTask {
            number,
            steps: machine.state.step.abs_diff(step),
            own_steps,
            ints: changed(&program, call, &references, Class::Int),
            reals: changed(&program, call, &references, Class::Real),
            shares: take_shares(machine, &waiting),
            records: machine.residues.take(),
        })
    }

    /// Runs until the call that was entered has returned.
    fn run_to_return(&self, machine: &mut Machine<B>, depth: usize) -> Result<(), Unfinished> {
        let first = machine.state.step;
        while machine.state.calls.len() > depth {
            let left = self.left.saturating_sub(machine.state.step.abs_diff(first));
            let stop = match machine.threads.count > 1 {
                true => machine.run_threaded(Some(self.stops), self.travel, left),
                false => machine.run_by_one_thread(Some(self.stops), self.travel, CHUNK.min(left)),
            };
            let is_there = || self.stops.contains(Node::of(&machine.state, self.travel));
            match stop {
                // The breakpoint was reached in a deeper call.
                Ok(Stop::Budget) if machine.state.calls.len() > depth && is_there() => {
                    self.one_step(machine)?
                }
                Ok(Stop::Budget) => {}
                Ok(Stop::Interrupted) => return Err(Unfinished::Interrupted),
                Ok(Stop::Bound | Stop::Shown { .. }) | Err(_) => return Err(Unfinished::ByOneThread),
            }
            if left == 0 || self.gives_up.load(Ordering::Relaxed) {
                return Err(Unfinished::ByOneThread);
            }
        }
        Ok(())
    }

    /// Removes the deferred adjoints of the current task from the machine, and returns one for each cell that the task
    /// only reads: 0 if none was deferred. After the removal, the thread can't add the task's shares to the deferred
    /// adjoints. The shares of all threads are added when the results are joined.
    fn take_waiting(
        &self,
        machine: &mut Machine<B>,
        at: u32,
        depth: usize,
        references: &[Reference],
    ) -> Vec<(u32, B)> {
        let is_in_mode =
            machine.state.mode() || machine.state.calls.last().is_some_and(|call| call.part != Part::Whole);
        let program = Arc::clone(&machine.program);
        let Some(adjoints) = machine.state.adjoints.as_mut().filter(|_| is_in_mode) else {
            return Vec::new();
        };
        let own = adjoints.deferred.partition_point(|deferred| (deferred.depth as usize) < depth);
        let waiting = adjoints.deferred.split_off(own);
        let (_, call) = program.call(program.code[FORWARD][at as usize].a);
        let waited = |cell: u32| {
            let found = waiting.binary_search_by_key(&cell, |deferred| deferred.cell);
            found.map_or_else(|_| B::default(), |n| waiting[n].adjoint)
        };
        only_read(&program, call, references).into_iter().map(|cell| (cell, waited(cell))).collect()
    }
}

/// Returns the total number of steps of the tasks.
fn steps<B>(tasks: &[FinishedTask<B>]) -> u64 {
    tasks.iter().map(|task| task.steps).sum()
}

/// Returns the shares that a task has accumulated, and restores the adjoints from before the task.
fn take_shares<B: Interpreted>(machine: &mut Machine<B>, waiting: &[(u32, B)]) -> Vec<(u32, B)> {
    let Some(adjoints) = &mut machine.state.adjoints else { return Vec::new() };
    let mut shares = Vec::new();
    for &(cell, waited) in waiting {
        let share = std::mem::replace(&mut adjoints.cells[cell as usize], waited);
        if share != B::default() {
            shares.push((cell, share));
        }
    }
    shares
}
