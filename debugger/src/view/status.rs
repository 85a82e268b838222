//! The status line: position in time, directions, and memory use.

use reviver_vm::Travel;

use crate::outcome::Reason;
use crate::session::Session;
use crate::timeline::{BranchNumber, StepSpan};

/// The data of the status line.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The current step of the timeline.
    pub step: i64,
    /// The range of steps of the current branch.
    pub span: StepSpan,
    /// The position in the branch, in percent; `None` while the end of the branch is unknown.
    pub percent: Option<f64>,
    /// Number of the current branch; 0 is the program's own.
    pub branch: BranchNumber,
    /// The direction of the last movement.
    pub travel: Travel,
    /// True if the machine runs inverted, inside an `uncall`.
    pub machine_inverted: bool,
    /// Number of open calls; 0 in main.
    pub depth: usize,
    /// The reason why the last movement stopped.
    pub reason: Option<Reason>,
    /// Memory used by residues, in bytes; 0 on lossless branches.
    pub history_bytes: usize,
    /// Memory used by checkpoints, in bytes; 0 on lossless branches.
    pub checkpoint_bytes: usize,
    /// Number of bits that `erase` and `overwrite` have discarded so far.
    pub erased_bits: u64,
    /// Number of bits discarded so far because a vacated float wasn't 0, but was within the tolerance of 0.
    pub discarded_bits: u64,
    /// True while gradient mode is on.
    pub gradient_mode: bool,
    /// Number of nonzero adjoints discarded so far, because their cells were vacated.
    pub drops: u64,
}

/// Collects the data of the status line at the current time point.
pub fn status(session: &Session) -> Status {
    let (step, span) = (session.step_number(), session.timeline().span());
    let state = session.state();
    Status {
        step,
        span,
        percent: span.percent(step),
        branch: session.time_point().branch,
        travel: session.facing(),
        machine_inverted: state.inverted,
        depth: state.calls.len(),
        reason: session.reason().cloned(),
        history_bytes: session.timeline().history_bytes(),
        checkpoint_bytes: session.timeline().checkpoint_bytes(),
        erased_bits: state.counters.erased_bits,
        discarded_bits: state.counters.discarded_bits,
        gradient_mode: state.mode(),
        drops: state.counters.drops,
    }
}
