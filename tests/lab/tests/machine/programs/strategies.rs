//! Gradients of the programs are the same, bit for bit, with a history, with a tape, and with 1 to 8 snapshots.

use reviver_expectations::assessment::Mismatch;
use reviver_vm::differentiate::{DifferentiateError, Gradient, Subject, Variable, gradient};
use reviver_vm::strategy::{Retention, Strategy};

/// Number of leaves of a run (parts between snapshots). The number is so large that a gradient's schedule differs for
/// each number of snapshots.
const LEAVES: u64 = 40;
/// Number of steps above which a program's gradient counts as long. A long gradient is tried with only a few numbers of
/// snapshots, and with fewer leaves.
const LONG: u64 = 30_000;
/// Number of steps above which a gradient isn't recomputed with other strategies, because that takes many seconds.
const LONGEST: u64 = 1_000_000;

/// Recomputes a gradient with a complete history, and compares the result with that of other strategies. Returns a
/// mismatch if one differs.
pub fn disagreement(subject: &Subject, loss: &Variable, found: &Gradient) -> Option<Mismatch> {
    if found.steps > LONGEST {
        return None;
    }
    let is_long = found.steps > LONG;
    let leaves = if is_long { LEAVES / 8 } else { LEAVES };
    let slots: &[u32] = if is_long { &[2, 8] } else { &[1, 2, 3, 4, 5, 6, 7, 8] };
    let leaf = Some((found.steps / leaves).max(1));
    let checkpoints = slots.iter().map(|&slots| Strategy::Checkpoint { slots: Some(slots), leaf });
    let expected = reported(gradient_by(subject, loss, Strategy::Reverse));
    checkpoints.chain([Strategy::Tape]).find_map(|strategy| {
        let found = reported(gradient_by(subject, loss, strategy));
        (found != expected).then(|| Mismatch::new(expected.clone(), format!("{found} by {strategy:?}")))
    })
}

fn gradient_by(
    subject: &Subject,
    loss: &Variable,
    strategy: Strategy,
) -> Result<Gradient, DifferentiateError> {
    let start = subject.start.try_clone()?;
    let plain = Subject::new(subject.program.clone(), start, true, subject.max_steps)?;
    let (runner, retention) = (subject.runner.clone(), Some(Retention { strategy, memory: None }));
    gradient(&Subject { runner, retention, ..plain }, loss)
}

/// Formats the parts of a gradient that don't depend on the strategy, or the error.
fn reported(gradient: Result<Gradient, DifferentiateError>) -> String {
    match gradient {
        Ok(Gradient { values, adjoints, steps, turned, steps_back, drops, verification_report, .. }) => {
            let reports: Vec<_> = verification_report.reports.iter().collect();
            let (all, recomputed): (Vec<u64>, _) =
                (adjoints.all().copied().collect(), verification_report.recomputed);
            format!("{values:x?} {all:x?} {steps} {turned:?} {steps_back} {drops} {reports:?} {recomputed:?}")
        }
        Err(error) => error.to_string(),
    }
}
