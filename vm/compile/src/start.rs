//! What runs of a program begin with over and over: a state that was looked at once, of which only what is given changes. So nobody
//! looks at it again for each run. Knows no code.

use std::ops::Range;

use reviver_vm::{Program, State, checkpoint};

use crate::form::{Demands, FrameZeros, Version};
use crate::frames;

/// A state of a program in which no call is open.
#[derive(Debug)]
pub struct RouteStart {
    program: Program,
    state: State,
    zeros: FrameZeros,
}

impl RouteStart {
    /// None of a state that isn't the program's, or stands inside of a call.
    pub fn new(program: &Program, state: State) -> Option<RouteStart> {
        if !state.calls.is_empty() || !checkpoint::fits(program, &state) {
            return None;
        }
        let zeros = frames::zeros(program, &state);
        Some(RouteStart { program: program.clone(), state, zeros })
    }

    /// The state.
    #[inline]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Whether a version that begins there finds what it takes for granted.
    pub fn suits(&self, version: &Version) -> bool {
        let state = &self.state;
        (state.position, state.inverted, state.mode()) == (version.position, false, version.gradient)
            && self.zeros.include(version.zeros)
            && version.known.hold_in(state)
    }

    /// The program.
    #[inline]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What is known of its cells.
    pub(crate) fn zeros(&self) -> FrameZeros {
        self.zeros
    }

    /// Checks the assumptions of a call function: the state is the beginning of its program, without adjoints, and the limits allow its inlined
    /// calls.
    pub(crate) fn begins_calls(&self, program: &Program, zeros: FrameZeros, demands: Demands) -> bool {
        let state = &self.state;
        (state.position, state.inverted, state.mode()) == (program.begin(), false, false)
            && std::ptr::eq(program.flow(), self.program.flow())
            && state.adjoints.is_none()
            && self.zeros.include(zeros)
            && frames::levels(program, state, demands, 0).is_some()
    }

    /// Integers of a global, by their addresses, to give them others, which must be words of the program; none where other cells lie.
    #[inline]
    pub fn ints_mut(&mut self, global: usize, cells: Range<usize>) -> &mut [i64] {
        let cells = within(self.program.cells(global), cells);
        self.state.ints.get_mut(cells).unwrap_or_default()
    }

    /// The same of reals, whose bits must be those of a number that may stand in a cell.
    #[inline]
    pub fn reals_mut(&mut self, global: usize, cells: Range<usize>) -> &mut [u64] {
        let cells = within(self.program.cells(global), cells);
        self.state.reals.get_mut(cells).unwrap_or_default()
    }
}

/// Some cells, if they are all among others.
#[inline]
fn within(all: Range<usize>, cells: Range<usize>) -> Range<usize> {
    if all.start <= cells.start && cells.end <= all.end { cells } else { 0..0 }
}
