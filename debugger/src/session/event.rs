//! Kinds of events at a step.

use std::collections::BTreeMap;

use crate::timeline::BranchNumber;

/// The reason for a stop at a time point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The point with this number stopped a run.
    Point(u32),
    /// A run ended with a trap.
    Trap,
}

/// The kinds of events shown on the timeline bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A breakpoint or a watchpoint stopped a run.
    Stop,
    /// The machine couldn't execute the next step.
    Trap,
    /// A time point was named with `mark`.
    Mark,
    /// A fence: a step at which runs stop.
    Fence,
    /// A branch begins at this step.
    Fork,
    /// A call was entered or left.
    Call,
}

impl EventKind {
    /// All kinds, in the order of the legend in the timeline pane.
    pub const ALL: [EventKind; 6] = [
        EventKind::Stop,
        EventKind::Trap,
        EventKind::Mark,
        EventKind::Fence,
        EventKind::Fork,
        EventKind::Call,
    ];

    /// Returns the name of the kind as `next-event` accepts it.
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

    /// Parses the name of a kind. Returns `None` for any other text.
    pub fn named(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Events by the time points at which they happened.
pub(super) type EventLog = BTreeMap<(BranchNumber, i64), Event>;
