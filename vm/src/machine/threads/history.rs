//! Histories of tasks that run in parallel. Each task has its own history, with records numbered as if the tasks ran
//! one after the other. In a run away from the start, the numbers are corrected when the histories are joined. In a run
//! toward the start, the number of steps of each task must be known in advance. The module uses no threads.

use std::sync::Arc;

use super::unfinished::Unfinished;
use crate::history::{KeptSlot, Residues};
use crate::interp::engine::Interpreted;
use crate::machine::Machine;
use crate::travel::{Interval, Track, Travel};

/// The number of steps of each task that ran in parallel. The lists are found by the step number at the end of a task
/// region.
#[derive(Clone, Debug, Default)]
pub(super) struct StepsOfTasks {
    taken: Vec<(i64, Arc<[u64]>)>,
    /// The total number of tasks in all lists.
    tasks: usize,
}

/// Maximum number of tasks whose step counts are stored. If there are more tasks, the step counts of all earlier tasks
/// are deleted, and a backward run executes the earlier tasks on a single thread.
const MOST_TASKS: usize = 1 << 20;

impl StepsOfTasks {
    /// Records the number of steps of each task in a region that ended at step `end`, in the order of execution.
    pub fn note(&mut self, end: i64, steps: Vec<u64>) {
        if self.tasks + steps.len() > MOST_TASKS {
            (self.taken, self.tasks) = (Vec::new(), 0);
        }
        self.tasks += steps.len();
        self.taken.push((end, steps.into()));
    }

    /// Returns the number of steps of each task in the last region that ended at step `end`. The stored lists may be
    /// those of other runs.
    fn find(&self, end: i64) -> Option<Arc<[u64]>> {
        self.taken.iter().rev().find(|(number, _)| *number == end).map(|(_, steps)| Arc::clone(steps))
    }
}

/// The history that the tasks of a region read or write.
#[derive(Debug)]
pub(super) enum TaskHistory<'m, B> {
    /// No history is kept.
    Unkept,
    /// Losses of the tasks are recorded. Each task has a new history of the same kind as this one.
    Recorded(&'m Residues<B>),
    /// Losses are restored from `records`. `steps` are the numbers of steps of each task, in the current
    /// order of execution.
    Restored { records: &'m Residues<B>, steps: Vec<u64> },
}

impl<B: Interpreted> TaskHistory<'_, B> {
    /// Returns the number of steps of a task, if it must be known in advance.
    pub fn steps_of(&self, task: u32) -> Option<u64> {
        match self {
            TaskHistory::Unkept | TaskHistory::Recorded(_) => None,
            TaskHistory::Restored { steps, .. } => Some(steps.get(task as usize).copied().unwrap_or(0)),
        }
    }

    /// Returns the history for a task's machine at the start of the task.
    ///
    /// # Errors
    /// Fails if there is no memory, or if the records hold deferred adjoints, which depend on the other
    /// tasks.
    pub fn of_task(&self, task: u32, first: i64, travel: Travel) -> Result<Option<Residues<B>>, Unfinished> {
        match self {
            TaskHistory::Unkept => Ok(None),
            TaskHistory::Recorded(records) => Ok(Some(records.anew())),
            TaskHistory::Restored { records, .. } => {
                let steps = self.steps_of(task).unwrap_or(0) as i64;
                let numbers = match travel {
                    Travel::Forward => first..first + steps,
                    Travel::Backward => first - steps..first,
                };
                let own = records.part(numbers).map_err(|_| Unfinished::ByOneThread)?;
                let waits =
                    own.records(Track::Program).iter().any(|(_, kept)| kept.slot == KeptSlot::Deferred);
                if waits { Err(Unfinished::ByOneThread) } else { Ok(Some(own)) }
            }
        }
    }
}

impl<B: Interpreted> Machine<B> {
    /// Returns true if histories of tasks can be separated and joined.
    pub(super) fn can_part_history(&self) -> bool {
        self.residues.as_ref().is_none_or(|residues| residues.can_be_parted() && !self.program.has_rules)
    }

    /// Returns the history for the tasks that begin at the current position.
    pub(super) fn task_history(&self, travel: Travel) -> Result<TaskHistory<'_, B>, Unfinished> {
        let Some(records) = &self.residues else { return Ok(TaskHistory::Unkept) };
        let here = self.state.own_steps();
        let number = if travel == Travel::Forward { here } else { here - 1 };
        if travel.restores(Interval { track: Track::Program, number }) {
            let steps = self.threads.tasks.find(here).ok_or(Unfinished::ByOneThread)?;
            return Ok(TaskHistory::Restored { records, steps: steps.iter().rev().copied().collect() });
        }
        // In gradient mode adjoints are recorded together with deferred adjoints, which depend on the other
        // tasks.
        if self.state.mode() { Err(Unfinished::ByOneThread) } else { Ok(TaskHistory::Recorded(records)) }
    }
}
