//! Where a scan is to end, and what it finds.

use reviver_vm::stops::Node;
use reviver_vm::{State, Travel};

use super::Session;
use crate::outcome::{Printed, Reason};

/// Steps between two looks at the interrupt flag, if there aren't many cells.
const SLICE: u64 = 1 << 20;
/// Native code makes many more steps in the time that a copy of the cells takes, which it needs for each slice.
const STEPS_PER_CELL: u64 = 16;
/// Nobody waits longer for a run to stop: the interpreter, which makes the steps where native code can't, takes some hundredths of a second
/// for so many.
const LONGEST_SLICE: u64 = 1 << 23;

impl Session {
    /// Steps between two looks at the interrupt flag: it takes milliseconds to make them.
    pub(super) fn slice(&self) -> u64 {
        slice_of(self.state(), self.timeline.branch().is_long_run())
    }
}

/// The same for any machine, by its state and whether native code may run it.
pub(super) fn slice_of(state: &State, is_fast: bool) -> u64 {
    let cells = (state.ints.len() + state.reals.len()) as u64;
    if is_fast { (STEPS_PER_CELL * cells).clamp(SLICE, LONGEST_SLICE) } else { SLICE }
}

/// A scan that is to be made.
pub(super) struct Scan {
    pub travel: Travel,
    pub budget: u64,
    pub until: Until,
}

/// Where a scan ends besides at points.
pub(super) enum Until {
    /// When the steps of its budget are made.
    Budget,
    /// At one of these nodes.
    Nodes(Vec<Node>),
    /// Where no more calls than these are open.
    Depth(usize),
}

/// What a scan found.
pub(super) struct ScanResult {
    pub reason: Reason,
    pub printed: Printed,
}
