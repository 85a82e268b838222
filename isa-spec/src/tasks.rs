//! Fork–join regions: the code between a `fork` and its `join`, in which calls are tasks. To find the regions,
//! only the updates of instructions are read, not the operands or callees.

use crate::instruction::Instruction;
use crate::update::{Action, TaskBound};

/// A fork–join region: the code between a `fork` and its `join`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRegion {
    /// Index of the `fork` in the code.
    pub opens: u32,
    /// Index of the `join` in the code.
    pub closes: u32,
}

impl TaskRegion {
    /// Returns true if an instruction is strictly between `fork` and `join`.
    pub fn contains(self, at: u32) -> bool {
        self.opens < at && at < self.closes
    }

    /// Returns the region that contains an instruction. `regions` must be in the order of the code.
    pub fn around(regions: &[TaskRegion], at: u32) -> Option<TaskRegion> {
        let before = regions.partition_point(|region| region.opens < at);
        let last = before.checked_sub(1).and_then(|n| regions.get(n)).copied();
        last.filter(|region| region.contains(at))
    }
}

/// A `fork` or `join` without a matching partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MisplacedBound {
    /// A `fork` while another one is still open.
    ForkInFork {
        /// Index of the second `fork` in the code.
        at: u32,
        /// Index of the `fork` that is still open.
        open: u32,
    },
    /// A `join` without a `fork`.
    JoinAlone {
        /// Index of the `join` in the code.
        at: u32,
    },
    /// A `fork` without a `join`.
    ForkAlone {
        /// Index of the `fork` in the code.
        at: u32,
    },
}

/// Finds the fork–join regions of a procedure's code. `start` is the index of its first instruction.
///
/// # Errors
/// Returns the first `fork` or `join` that has no partner.
pub fn regions(start: u32, code: &[Instruction]) -> Result<Vec<TaskRegion>, MisplacedBound> {
    let mut found = Vec::new();
    let mut open: Option<u32> = None;
    for (at, instruction) in (start..).zip(code) {
        match (instruction.update.action(), open) {
            (Action::Tasks(TaskBound::Opens), None) => open = Some(at),
            (Action::Tasks(TaskBound::Opens), Some(open)) => {
                return Err(MisplacedBound::ForkInFork { at, open });
            }
            (Action::Tasks(TaskBound::Closes), Some(opens)) => {
                found.push(TaskRegion { opens, closes: at });
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
