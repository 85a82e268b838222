//! Kinds of events at a step.

use std::collections::BTreeMap;

use crate::timeline::BranchNumber;

/// The reason for a stop at a time point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Point(u32),
    Trap,
}

/// The kinds of events shown on the timeline bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A breakpoint or a watchpoint stopped a run.
    Stop,
    Trap,
    Mark,
    Fence,
    Fork,
    /// A call was entered or left.
    Call,
}

impl EventKind {
    pub const ALL: [EventKind; 6] = [
        EventKind::Stop,
        EventKind::Trap,
        EventKind::Mark,
        EventKind::Fence,
        EventKind::Fork,
        EventKind::Call,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            EventKind::Stop => "stop",
            EventKind::Trap => "trap",
            EventKind::Mark => "mark",
            EventKind::Fence => "fence",
            EventKind::Fork => "fork",
            EventKind::Call => "call",
        }
    }

    pub fn named(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Events by the time points at which they happened.
pub(super) type EventLog = BTreeMap<(BranchNumber, i64), Event>;
