//! The status line: where one is in time, which way everything goes, and what it costs.

use reviver_vm::Travel;

use crate::outcome::Reason;
use crate::session::Session;
use crate::timeline::LineNumber;

/// The facts of the status line.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    pub step: i64,
    /// The first and the last step reached, and whether the last is the end of the line.
    pub extent: (i64, i64),
    pub end_is_known: bool,
    /// How far between the two, where the end is known.
    pub percent: Option<f64>,
    pub line: LineNumber,
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
    let branch = session.timeline().branch();
    let (step, (first, last)) = (session.step_number(), branch.extent());
    let end_is_known = branch.end(Travel::Forward).is_some();
    let width = (last - first).max(1) as f64;
    let state = session.state();
    Status {
        step,
        extent: (first, last),
        end_is_known,
        percent: end_is_known.then(|| (step - first) as f64 / width * 100.0),
        line: session.moment().line,
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
