//! Where calls are tasks: in the stretch of code between a `fork` and its `join`. Knows no cell and no callee.

use crate::instruction::Instruction;
use crate::update::{Action, TaskBound};

/// The code between a `fork` and its `join`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskStretch {
    /// Index of the `fork`.
    pub opens: u32,
    /// Index of the `join`.
    pub closes: u32,
}

impl TaskStretch {
    /// Whether an instruction stands in between.
    pub fn contains(self, at: u32) -> bool {
        self.opens < at && at < self.closes
    }

    /// The one around an instruction, of some in the order of the code.
    pub fn around(stretches: &[TaskStretch], at: u32) -> Option<TaskStretch> {
        let before = stretches.partition_point(|stretch| stretch.opens < at);
        let last = before.checked_sub(1).and_then(|n| stretches.get(n)).copied();
        last.filter(|stretch| stretch.contains(at))
    }
}

/// A bound of tasks that doesn't fit to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MisplacedBound {
    /// A `fork` behind another one that is still open.
    ForkInFork { at: u32, open: u32 },
    /// A `join` without a `fork`.
    JoinAlone { at: u32 },
    /// A `fork` without a `join`.
    ForkAlone { at: u32 },
}

/// The stretches of a procedure's code, whose first instruction has the index `start`.
///
/// # Errors
/// Bounds that don't pair.
pub fn stretches(start: u32, code: &[Instruction]) -> Result<Vec<TaskStretch>, MisplacedBound> {
    let mut found = Vec::new();
    let mut open: Option<u32> = None;
    for (at, instruction) in (start..).zip(code) {
        match (instruction.update.action(), open) {
            (Action::Tasks(TaskBound::Opens), None) => open = Some(at),
            (Action::Tasks(TaskBound::Opens), Some(open)) => {
                return Err(MisplacedBound::ForkInFork { at, open });
            }
            (Action::Tasks(TaskBound::Closes), Some(opens)) => {
                found.push(TaskStretch { opens, closes: at });
                open = None;
            }
            (Action::Tasks(TaskBound::Closes), None) => return Err(MisplacedBound::JoinAlone { at }),
            _ => {}
        }
    }
    match open {
        Some(at) => Err(MisplacedBound::ForkAlone { at }),
        None => Ok(found),
    }
}
