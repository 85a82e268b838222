//! Where a scan is to end, and what it finds.

use reviver_vm::Travel;
use reviver_vm::stops::Node;

use crate::outcome::{Printed, Reason};

/// Steps between two looks at the interrupt flag.
pub(super) const SLICE: u64 = 1 << 20;

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
