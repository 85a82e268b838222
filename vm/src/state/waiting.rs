//! Total adjoints while tasks are open. During a task, a part of an adjoint is deferred; the total includes this part.
//! The module reads no instructions.

use crate::interp::engine::Interpreted;
use crate::program::Program;
use crate::state::State;

impl Program {
    /// Returns the adjoint of a real cell, including the deferred adjoints of open tasks; 0 if the cell
    /// doesn't exist. If the number system can't represent the sum, the task would trap at its end. In that
    /// case, the task's share so far is returned.
    pub fn whole_adjoint(&self, state: &State, cell: usize) -> u64 {
        let Some(adjoints) = &state.adjoints else { return 0 };
        let share = adjoints.cells.get(cell).copied().unwrap_or(0);
        let waits = adjoints.deferred.iter().rev().filter(|deferred| deferred.cell as usize == cell);
        waits
            .fold(share, |share, deferred| u64::sum_of_shares(self, deferred.adjoint, share).unwrap_or(share))
    }
}
