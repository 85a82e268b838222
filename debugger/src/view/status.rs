//! The status line: where one is in time, which way everything goes, and what it costs.

use reviver_vm::Travel;

use crate::outcome::Reason;
use crate::session::Session;
use crate::timeline::{BranchNumber, StepSpan};

/// The facts of the status line.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    pub step: i64,
    /// The steps that the branch spans.
    pub span: StepSpan,
    /// How far between its first and its last; none where nobody knows yet how far it goes.
    pub percent: Option<f64>,
    pub branch: BranchNumber,
    /// The direction of the last motion.
    pub travel: Travel,
    /// Whether the machine itself runs backward, inside an `uncall`.
    pub machine_inverted: bool,
    pub depth: usize,
    /// Why the last motion stopped.
    pub reason: Option<Reason>,
    /// Memory that residues and checkpoints take: both 0 for integers and fixed point.
    pub history_bytes: usize,
    pub checkpoint_bytes: usize,
    /// What `overwrite` and `erase` have thrown away up to here.
    pub erased_bits: u64,
    pub discarded_bits: u64,
    /// Whether gradient mode is on.
    pub gradient_mode: bool,
    /// Adjoints, other than 0, that were dropped with their cells.
    pub drops: u64,
}

pub fn status(session: &Session) -> Status {
    let (step, span) = (session.step_number(), session.timeline().span());
    let state = session.state();
    Status {
        step,
        span,
        percent: span.percent(step),
        branch: session.moment().branch,
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
