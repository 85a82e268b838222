//! Goals and results of scans.

use reviver_vm::stops::Node;
use reviver_vm::{State, Travel};

use super::Session;
use crate::outcome::{Printed, Reason};

/// Number of steps between two checks of the interrupt flag, for states with few cells.
const SLICE: u64 = 1 << 20;
/// Number of steps per cell in a slice of native code. Native code copies all cells for each slice, and
/// executes many steps in the time of that copy.
const STEPS_PER_CELL: u64 = 16;
/// Maximum number of steps in a slice, so that an interrupt takes effect quickly. The interpreter, which
/// executes the steps that native code can't, needs some hundredths of a second for them.
const LONGEST_SLICE: u64 = 1 << 23;

impl Session {
    /// Returns the number of steps between two checks of the interrupt flag; a slice takes milliseconds.
    pub(super) fn slice(&self) -> u64 {
        slice_of(self.state(), self.timeline.branch().is_long_run())
    }
}

/// Returns the slice for any machine, given its state and whether native code may run it.
pub(super) fn slice_of(state: &State, is_fast: bool) -> u64 {
    let cells = (state.ints.len() + state.reals.len()) as u64;
    if is_fast { (STEPS_PER_CELL * cells).clamp(SLICE, LONGEST_SLICE) } else { SLICE }
}

/// A scan to execute.
pub(super) struct Scan {
    pub travel: Travel,
    pub budget: u64,
    pub until: Until,
}

/// The goal of a scan, apart from points.
pub(super) enum Until {
    /// The end of the step budget.
    Budget,
    /// Arrival at one of these nodes.
    Nodes(Vec<Node>),
    /// A state with at most this many open calls.
    Depth(usize),
}

/// The result of a scan.
pub(super) struct ScanResult {
    pub reason: Reason,
    pub printed: Printed,
}
