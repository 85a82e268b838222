//! Every gradient of the programs is the same, bit for bit, by a history, by a tape, and from 1 to 8 kept states.

use reviver_expectations::assessment::Mismatch;
use reviver_vm::differentiate::{DifferentiateError, Gradient, Subject, Variable, gradient};
use reviver_vm::strategy::{Retention, Strategy};

/// A way is cut into so many leaves: enough that each number of slots has a schedule of its own.
const LEAVES: u64 = 40;
/// Of gradients of more steps than this only some slots are tried, with fewer leaves.
const LONG: u64 = 300_000;

/// Compares with what a history of everything gives, which is looked at once more where the gradient had none.
pub fn disagreement(subject: &Subject, loss: &Variable, found: &Gradient) -> Option<Mismatch> {
    let is_long = found.steps > LONG;
    let leaves = if is_long { LEAVES / 8 } else { LEAVES };
    let slots: &[u32] = if is_long { &[2, 8] } else { &[1, 2, 3, 4, 5, 6, 7, 8] };
    let leaf = Some((found.steps / leaves).max(1));
    let checkpoints = slots.iter().map(|&slots| Strategy::Checkpoint { slots: Some(slots), leaf });
    let expected = told(gradient_by(subject, loss, Strategy::Reverse));
    checkpoints.chain([Strategy::Tape]).find_map(|strategy| {
        let found = told(gradient_by(subject, loss, strategy));
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

/// Everything of a gradient that its strategy has no part in, or why there is none.
fn told(gradient: Result<Gradient, DifferentiateError>) -> String {
    match gradient {
        Ok(Gradient { values, adjoints, steps, turned, steps_back, drops, trust, .. }) => {
            let reports: Vec<_> = trust.reports.iter().collect();
            let (all, mended): (Vec<u64>, _) = (adjoints.all().copied().collect(), trust.mended);
            format!("{values:x?} {all:x?} {steps} {turned:?} {steps_back} {drops} {reports:?} {mended:?}")
        }
        Err(error) => error.to_string(),
    }
}
