//! Laws of unchecked code: if the checked run doesn't trap, the unchecked run has the same state at every step. Its
//! gradients equal the verified ones. Programs of floats with `compute` are left out: unchecked code restores the cells
//! of such a block from saved values, while uncomputing them has rounding errors.

use reviver_isa::structure::BlockKind;
use reviver_vm::differentiate::{Gradient, Subject as Differentiated, gradient};
use reviver_vm::state::Counters;
use reviver_vm::{CheckLevel, Machine, State, Travel};

use super::same;
use crate::rng::Rng;
use crate::run::{LONGEST, travel};
use crate::subject::Subject;

/// Number of steps at which runs are stopped.
const STOPS: usize = 6;

/// Law: an unchecked run has the same states as the checked run, forward and backward, at each of a few steps.
pub fn runs(subject: &Subject) -> Result<(), String> {
    if !is_same_to_the_bit(subject) {
        return Ok(());
    }
    let mut checked = subject.machine(false);
    travel(&mut checked, Travel::Forward, LONGEST);
    compare(subject, &subject.machine(false), Travel::Forward, checked.state().step.unsigned_abs())?;
    let end = State { counters: Counters::default(), ..checked.into_state().as_start() };
    let mut checked = subject.resume(end.try_clone().map_err(|error| error.to_string())?, None);
    travel(&mut checked, Travel::Backward, LONGEST);
    compare(subject, &subject.resume(end, None), Travel::Backward, checked.state().step.unsigned_abs())
}

/// Law: an unchecked gradient equals the checked one.
pub fn gradients(subject: &Subject) -> Result<(), String> {
    let differentiated = || subject.differentiated(false, LONGEST);
    let (Some(runner), Ok(checked), Ok(unchecked)) =
        ((subject.engine.unchecked)(&subject.program), differentiated(), differentiated())
    else {
        return Ok(());
    };
    let unchecked = Differentiated { runner: Some(runner), level: CheckLevel::Unchecked, ..unchecked };
    let Some(loss) = checked.outputs().into_iter().next().filter(|_| is_same_to_the_bit(subject)) else {
        return Ok(());
    };
    let Ok(expected) = gradient(&checked, &loss) else { return Ok(()) };
    if expected.verification_report.recomputed.is_some() {
        return Ok(());
    }
    let found = gradient(&unchecked, &loss).map_err(|error| format!("unchecked there is none: {error}"))?;
    let reported =
        |found: &Gradient| (found.values[0], found.adjoints.cells.clone(), found.steps, found.steps_back);
    same("the unchecked gradient", reported(&found), reported(&expected))?;
    // An unchecked gradient isn't verified, so it has no error bound.
    same("what is judged", found.verification_report.loss_error, None)
}

/// Returns true if saving and restoring a cell gives the same bits as uncomputing it.
fn is_same_to_the_bit(subject: &Subject) -> bool {
    let module = subject.program.module();
    module.real.is_exact() || module.structure.blocks.iter().all(|block| block.kind != BlockKind::Compute)
}

/// Compares checked and unchecked runs from one state: over `steps` steps, which don't trap, and over some smaller
/// numbers of steps.
fn compare(subject: &Subject, start: &Machine, direction: Travel, steps: u64) -> Result<(), String> {
    let Some(runner) = (subject.engine.unchecked)(&subject.program) else { return Ok(()) };
    let mut rng = Rng::new(steps);
    let fewer = (0..STOPS).map(|_| rng.below(steps as usize + 1) as u64);
    for steps in fewer.chain([steps]) {
        let clone = || start.try_clone().map_err(|error| error.to_string());
        let (mut checked, mut unchecked) = (clone()?, clone()?);
        unchecked.run_by(runner.clone());
        travel(&mut checked, direction, steps);
        travel(&mut unchecked, direction, steps);
        let reported = |machine: Machine| State { counters: Counters::default(), ..machine.into_state() };
        let (expected, found) = (reported(checked), reported(unchecked));
        if found != expected {
            return Err(format!(
                "unchecked, {steps} steps {direction:?} lead to {found:#?}, and not to {expected:#?}"
            ));
        }
    }
    Ok(())
}
