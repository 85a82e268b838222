//! Joining of parallel tasks: their results are combined in the order of the tasks. The module starts no threads.

use std::collections::BTreeMap;

use reviver_flow::TaskFork;

use super::unfinished::Unfinished;
use super::worker::{Finished, FinishedTask};
use crate::history::Residues;
use crate::interp::address::Addresses;
use crate::interp::engine::Interpreted;
use crate::machine::Machine;
use crate::state::Reference;
use crate::travel::{Interval, Track, Travel};

/// A finished task, and the number of the thread that executed it.
type TaskOfThread<'f, B> = (usize, &'f FinishedTask<B>);

impl<B: Interpreted> Machine<B> {
    /// Combines the results of the threads: moves the machine to the closing bound of the task region, and returns the
    /// number of steps of the region. On failure nothing is changed.
    pub(super) fn put_together(
        &mut self,
        fork: &TaskFork,
        travel: Travel,
        left: u64,
        finished: &[Finished<B>],
    ) -> Result<u64, Unfinished> {
        let mut made: Vec<TaskOfThread<'_, B>> = finished
            .iter()
            .enumerate()
            .flat_map(|(n, one)| one.tasks.iter().map(move |task| (n, task)))
            .collect();
        made.sort_unstable_by_key(|(_, task)| task.number);
        let first = finished.first().ok_or(Unfinished::ByOneThread)?;
        let steps = first.between + made.iter().map(|(_, task)| task.steps).sum::<u64>();
        let reports_add_up = finished.iter().all(|one| one.machine.reports.are_order_independent());
        if steps > left || !reports_add_up {
            return Err(Unfinished::ByOneThread);
        }
        let adjoints = self.joined_adjoints(&made)?;
        let own = first.between + made.iter().map(|(_, task)| task.own_steps).sum::<u64>();
        self.join_histories(&made, travel, own)?;
        made.iter().for_each(|&(n, task)| self.take_cells(&finished[n].machine, task));
        if let Some(own) = &mut self.state.adjoints {
            adjoints.into_iter().for_each(|(cell, adjoint)| own.cells[cell as usize] = adjoint);
        }
        self.take_counted(fork, &first.machine);
        let before = self.state.counters;
        for one in finished {
            self.state.counters.add_since(before, one.machine.state.counters);
            self.reports.absorb_tasks(&one.machine.reports);
        }
        self.state.position = first.machine.state.position;
        self.state.step += travel.sign() * steps as i64;
        self.state.rule_steps += travel.sign() * (steps - own) as i64;
        Ok(steps)
    }

    /// Returns the adjoints to which several tasks may have contributed. Each result is the sum of the shares of all
    /// tasks.
    fn joined_adjoints(&self, made: &[TaskOfThread<'_, B>]) -> Result<BTreeMap<u32, B>, Unfinished> {
        let mut joined = BTreeMap::new();
        let Some(own) = &self.state.adjoints else { return Ok(joined) };
        for &(cell, share) in made.iter().flat_map(|(_, task)| &task.shares) {
            let waited = joined.entry(cell).or_insert(own.cells[cell as usize]);
            let sum = B::sum_of_shares(&self.program, *waited, share);
            *waited = sum.map_err(|_| Unfinished::ByOneThread)?;
        }
        Ok(joined)
    }

    /// Copies the cells that a task may have changed.
    fn take_cells(&mut self, thread: &Machine<B>, task: &FinishedTask<B>) {
        let from = &thread.state;
        for cell in task.ints.iter().copied().flat_map(Reference::cells) {
            self.state.ints[cell as usize] = from.ints[cell as usize];
        }
        for cell in task.reals.iter().copied().flat_map(Reference::cells) {
            self.state.reals[cell as usize] = from.reals[cell as usize];
            if let (Some(own), Some(from)) = (&mut self.state.adjoints, &from.adjoints) {
                own.cells[cell as usize] = from.cells[cell as usize];
            }
        }
    }

    /// Copies the cells changed by the steps between the tasks, which every thread has executed.
    fn take_counted(&mut self, fork: &TaskFork, from: &Machine<B>) {
        let flow = self.program.flow();
        let scope = Addresses { flow, frame: self.state.frame, references: &self.state.references };
        let mut changed = Vec::new();
        for step in (fork.region.opens + 1..fork.region.closes).filter_map(|at| flow.step(at)) {
            let targets = step.operation.update.shape().targets();
            changed.extend(
                step.slots.iter().take(targets).filter_map(|slot| scope.slot(slot, &from.state.ints).ok()),
            );
        }
        changed.into_iter().for_each(|cell| self.state.ints[cell] = from.state.ints[cell]);
    }

    /// Appends the records of the tasks, renumbered as if the tasks had run one after the other. If the run restores
    /// records, the records that it has restored are deleted instead.
    fn join_histories(
        &mut self,
        made: &[TaskOfThread<'_, B>],
        travel: Travel,
        steps: u64,
    ) -> Result<(), Unfinished> {
        let start = self.state.own_steps();
        let Some(residues) = &mut self.residues else { return Ok(()) };
        let (end, sign) = (start + travel.sign() * steps as i64, travel.sign());
        let number = if travel == Travel::Forward { start } else { start - 1 };
        if travel.restores(Interval { track: Track::Program, number }) {
            residues.forget_between(start, end);
            return Ok(());
        }
        let records = made.iter().filter_map(|(_, task)| task.records.as_ref());
        residues.reserve(records.map(Residues::len).sum()).map_err(|_| Unfinished::ByOneThread)?;
        let (mut all, mut by_thread) = (0, BTreeMap::new());
        for &(thread, task) in made {
            // A thread numbers steps as if the tasks of other threads took no steps.
            let own = by_thread.entry(thread).or_insert(0);
            if let Some(records) = &task.records {
                residues.append(records, sign * (all - *own));
            }
            all += task.own_steps as i64;
            *own += task.own_steps as i64;
        }
        self.threads.tasks.note(end, made.iter().map(|(_, task)| task.own_steps).collect());
        Ok(())
    }
}
