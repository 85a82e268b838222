//! The history of tasks that are made at the same time: each has a history of its own, of records that are numbered as if the tasks were made
//! one after the other. Leading away from the start, that is put right when they are put together; leading back, it must be known before how
//! many steps each took. Knows no thread.

use std::sync::Arc;

use super::unfinished::Unfinished;
use crate::history::{KeptSlot, Residues};
use crate::interp::engine::Interpreted;
use crate::machine::Machine;
use crate::travel::{Interval, Track, Travel};

/// How many steps tasks took that threads have made, by the number of the step behind them.
#[derive(Clone, Debug, Default)]
pub(super) struct StepsOfTasks {
    taken: Vec<(i64, Arc<[u64]>)>,
    /// How many tasks that are.
    tasks: usize,
}

/// So many tasks are remembered; those before are made by one thread on the way back.
const MOST_TASKS: usize = 1 << 20;

impl StepsOfTasks {
    /// What the tasks took that ended at a step, in the order in which they were made.
    pub fn note(&mut self, end: i64, steps: Vec<u64>) {
        if self.tasks + steps.len() > MOST_TASKS {
            (self.taken, self.tasks) = (Vec::new(), 0);
        }
        self.tasks += steps.len();
        self.taken.push((end, steps.into()));
    }

    /// What is known of the tasks that ended at a step; what was noted behind it is of another run.
    fn find(&self, end: i64) -> Option<Arc<[u64]>> {
        self.taken.iter().rev().find(|(number, _)| *number == end).map(|(_, steps)| Arc::clone(steps))
    }
}

/// What there is to know of the history that the tasks at hand find, or leave behind.
#[derive(Debug)]
pub(super) enum TaskHistory<'m, B> {
    /// None is kept.
    Unkept,
    /// What they lose is recorded, as here.
    Recorded(&'m Residues<B>),
    /// What they lost is restored, of the steps that each took, in the order in which they are made now.
    Restored { records: &'m Residues<B>, steps: Vec<u64> },
}

impl<B: Interpreted> TaskHistory<'_, B> {
    /// How many steps a task takes, if that must be known.
    pub fn steps_of(&self, task: u32) -> Option<u64> {
        match self {
            TaskHistory::Unkept | TaskHistory::Recorded(_) => None,
            TaskHistory::Restored { steps, .. } => Some(steps.get(task as usize).copied().unwrap_or(0)),
        }
    }

    /// What a task's machine has of the history where the task begins.
    ///
    /// # Errors
    /// There is no memory for it, or it says of adjoints what depends on the other tasks.
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
                let waits = own.records(Track::Program).iter().any(|(_, kept)| kept.slot == KeptSlot::Aside);
                if waits { Err(Unfinished::ByOneThread) } else { Ok(Some(own)) }
            }
        }
    }
}

impl<B: Interpreted> Machine<B> {
    /// Whether histories of tasks can be put together.
    pub(super) fn can_part_history(&self) -> bool {
        self.residues.as_ref().is_none_or(|residues| residues.can_be_parted() && !self.program.has_rules)
    }

    /// What the tasks find of a history that begin where the machine stands.
    pub(super) fn task_history(&self, travel: Travel) -> Result<TaskHistory<'_, B>, Unfinished> {
        let Some(records) = &self.residues else { return Ok(TaskHistory::Unkept) };
        let here = self.state.own_steps();
        let number = if travel == Travel::Forward { here } else { here - 1 };
        if travel.restores(Interval { track: Track::Program, number }) {
            let steps = self.threads.tasks.find(here).ok_or(Unfinished::ByOneThread)?;
            return Ok(TaskHistory::Restored { records, steps: steps.iter().rev().copied().collect() });
        }
        // What adjoints were is recorded beside what waited for the other tasks.
        if self.state.mode() { Err(Unfinished::ByOneThread) } else { Ok(TaskHistory::Recorded(records)) }
    }
}
