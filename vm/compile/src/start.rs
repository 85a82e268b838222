//! Start states of runs. A state is validated once, and then serves as the start of many runs. Before each run, the
//! caller changes only inputs, so the state needs no further validation. This module is independent of compiled code.

use std::ops::Range;

use reviver_vm::{Program, State, checkpoint};

use crate::frames;
use crate::function::{Demands, Specialization, ZerosAtEntry};

/// Validated state of a program, without open calls.
#[derive(Debug)]
pub struct RunStart {
    program: Program,
    state: State,
    zeros: ZerosAtEntry,
}

impl RunStart {
    /// Validates a state. Returns `None` if the state doesn't fit the program or has an open call.
    pub fn new(program: &Program, state: State) -> Option<RunStart> {
        if !state.calls.is_empty() || !checkpoint::fits(program, &state) {
            return None;
        }
        let zeros = frames::zeros(program, &state);
        Some(RunStart { program: program.clone(), state, zeros })
    }

    /// Returns the validated state.
    #[inline]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns true if the state meets the assumptions of a specialization: its position, its mode and its zeros at
    /// entry.
    pub fn suits(&self, specialization: &Specialization) -> bool {
        let state = &self.state;
        (state.position, state.inverted, state.mode())
            == (specialization.position, false, specialization.gradient)
            && self.zeros.include(specialization.zeros)
    }

    /// Returns the program of the state.
    #[inline]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the known zeros of the state.
    pub(crate) fn zeros(&self) -> ZerosAtEntry {
        self.zeros
    }

    /// Returns true if the state meets the assumptions of a call function. The state must be at the beginning of the
    /// program, without adjoints, and have the zeros `zeros`. The program's limits must allow the inlined calls.
    pub(crate) fn begins_calls(&self, program: &Program, zeros: ZerosAtEntry, demands: Demands) -> bool {
        let state = &self.state;
        (state.position, state.inverted, state.mode()) == (program.begin(), false, false)
            && std::ptr::eq(program.flow(), self.program.flow())
            && state.adjoints.is_none()
            && self.zeros.include(zeros)
            && frames::levels(program, state, demands, 0).is_some()
    }

    /// Returns the integers of a global at a range of addresses, so that the caller can set inputs. The caller may
    /// store only integers that are words of the program. Returns an empty slice unless all addresses belong to the
    /// global.
    #[inline]
    pub fn ints_mut(&mut self, global: usize, cells: Range<usize>) -> &mut [i64] {
        let cells = within(self.program.cells(global), cells);
        self.state.ints.get_mut(cells).unwrap_or_default()
    }

    /// Returns the reals of a global at a range of addresses, like [`RunStart::ints_mut`]. The caller may store only
    /// the bits of reals that a cell may hold, so a float must be finite.
    #[inline]
    pub fn reals_mut(&mut self, global: usize, cells: Range<usize>) -> &mut [u64] {
        let cells = within(self.program.cells(global), cells);
        self.state.reals.get_mut(cells).unwrap_or_default()
    }
}

/// Returns `cells` if all of them are within `all`, otherwise an empty range.
#[inline]
fn within(all: Range<usize>, cells: Range<usize>) -> Range<usize> {
    if all.start <= cells.start && cells.end <= all.end { cells } else { 0..0 }
}
