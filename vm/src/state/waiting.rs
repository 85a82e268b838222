//! Adjoints as a whole while tasks are open, of which a part waits. Knows no instruction.

use crate::interp::engine::Interpreted;
use crate::program::Program;
use crate::state::State;

impl Program {
    /// The adjoint of a real cell, with what waits for tasks that are open; 0 of a cell that isn't there. Where the sum is no number of
    /// the program's number system, so that the task would trap at its end, it is what the task has added so far.
    pub fn whole_adjoint(&self, state: &State, cell: usize) -> u64 {
        let Some(adjoints) = &state.adjoints else { return 0 };
        let share = adjoints.cells.get(cell).copied().unwrap_or(0);
        let waits = adjoints.aside.iter().rev().filter(|aside| aside.cell as usize == cell);
        waits.fold(share, |share, aside| u64::sum_of_shares(self, aside.adjoint, share).unwrap_or(share))
    }
}
