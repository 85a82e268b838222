//! Every gradient of the programs is the same, bit for bit, by a history, by a tape, and from 1 to 8 kept states.

use reviver_vm::differentiate::{DifferentiateError, Gradient, Subject, Variable, gradient};
use reviver_vm::strategy::{Retention, Strategy};

/// A way is cut into so many leaves: enough that each number of slots has a schedule of its own.
const LEAVES: u64 = 40;
/// Of gradients of more steps than this only some slots are tried, with fewer leaves.
const LONG: u64 = 300_000;

/// Compares with what a history of everything gives, which is looked at once more where the gradient had none.
pub fn agree(subject: &Subject, loss: &Variable, found: &Gradient) -> Result<(), String> {
    let is_long = found.steps > LONG;
    let leaves = if is_long { LEAVES / 8 } else { LEAVES };
    let slots: &[u32] = if is_long { &[2, 8] } else { &[1, 2, 3, 4, 5, 6, 7, 8] };
    let leaf = Some((found.steps / leaves).max(1));
    let checkpoints = slots.iter().map(|&slots| Strategy::Checkpoint { slots: Some(slots), leaf });
    let expected = bits(gradient_by(subject, loss, Strategy::Reverse));
    for strategy in checkpoints.chain([Strategy::Tape]) {
        let found = bits(gradient_by(subject, loss, strategy));
        if found != expected {
            return Err(format!("by {strategy:?} it is {found:?}, by a history {expected:?}"));
        }
    }
    Ok(())
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

/// Everything of a gradient that its strategy has no part in.
fn bits(gradient: Result<Gradient, DifferentiateError>) -> Result<String, DifferentiateError> {
    let Gradient { value, adjoints, steps, turned, steps_back, drops, trust, .. } = gradient?;
    let reports: Vec<_> = trust.reports.iter().collect();
    let all: Vec<u64> = adjoints.all().copied().collect();
    Ok(format!("{value:x} {all:x?} {steps} {turned:?} {steps_back} {drops} {reports:?} {:?}", trust.mended))
}
