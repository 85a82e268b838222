//! Requests for scans and their results. A scan executes steps in one direction until a reason to stop is
//! found.

use reviver_vm::stops::Node;
use reviver_vm::{State, Travel};

use super::Session;
use crate::outcome::{Printed, Reason};

/// Minimum number of steps between two checks of the interrupt flag.
const SLICE: u64 = 1 << 20;
/// For runs of native code: number of steps, per cell of the state, between two checks of the interrupt flag. At
/// each check, native code copies all cells; with this number of steps, copying takes little time compared to the
/// steps.
const STEPS_PER_CELL: u64 = 16;
/// Maximum number of steps between two checks, so that an interrupt takes effect quickly. If native code can't
/// execute the steps, they are interpreted, which takes some hundredths of a second for this number.
const LONGEST_SLICE: u64 = 1 << 23;

impl Session {
    /// Returns the number of steps to execute before the next check of the interrupt flag. They take milliseconds.
    pub(super) fn slice(&self) -> u64 {
        slice_of(self.state(), self.timeline.branch().is_long_run())
    }
}

/// Returns the number of steps between two checks of the interrupt flag, for a machine in this state. `is_fast` is
/// true if native code may execute the steps.
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

/// The condition that ends a scan if no point stops it before.
pub(super) enum Until {
    /// The steps of the budget have been executed.
    Budget,
    /// One of these nodes was reached.
    Nodes(Vec<Node>),
    /// At most this many calls are open.
    Depth(usize),
}

/// The result of a scan.
pub(super) struct ScanResult {
    pub reason: Reason,
    pub printed: Printed,
}
