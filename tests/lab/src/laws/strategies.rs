//! Laws of retention strategies: with any strategy, a backward run passes through the same states, and finds the same
//! adjoints, bit for bit.

use reviver_isa::instruction::Class;
use reviver_vm::differentiate::{DifferentiateError, Gradient, Origin, Subject as Differentiated, gradient};
use reviver_vm::digest::state_digest;
use reviver_vm::reports::{Loss, Tally};
use reviver_vm::strategy::{CheckpointedRun, Retention, RunHalt, Strategy};
use reviver_vm::{Stop, Travel};

use super::same;
use crate::run::LONGEST;
use crate::subject::Subject;

/// Returns the strategies that are compared with a complete history. `leaves` are lengths of leaves, in steps.
fn strategies(leaves: &[u64]) -> impl Iterator<Item = Retention> + '_ {
    let checkpoint = |slots, leaf| Strategy::Checkpoint { slots: Some(slots), leaf: Some(leaf) };
    let checkpoints =
        leaves.iter().flat_map(move |&leaf| [1, 2, 3, 5].map(|slots| (checkpoint(slots, leaf), None)));
    // With the first limit `auto` needs snapshots; with the second it doesn't.
    let auto = [1 << 14, 1 << 20].map(|memory| (Strategy::Auto, Some(memory)));
    let little = (Strategy::Checkpoint { slots: None, leaf: None }, Some(1 << 12));
    let all = [(Strategy::Tape, None), little].into_iter().chain(auto).chain(checkpoints);
    all.map(|(strategy, memory)| Retention { strategy, memory })
}

/// Parts of a gradient that don't depend on the strategy: the bits of the loss, adjoints, number of drops, number of
/// steps of the reverse sweep, and reports of lost derivatives.
type Outcome = (u64, Vec<Vec<u64>>, u64, u64, Vec<(u32, Loss, Tally)>);

fn outcome(gradient: Gradient) -> Outcome {
    let adjoints = gradient.adjoints;
    let lists = vec![adjoints.cells, adjoints.stack, adjoints.input, adjoints.output];
    (
        gradient.values[0],
        lists,
        gradient.drops,
        gradient.steps_back,
        gradient.verification_report.reports.iter().collect(),
    )
}

/// Law: the gradient of the first differentiable result, or the step of its trap, is the same for every strategy.
pub fn gradients_agree(subject: &Subject) -> Result<(), String> {
    let Ok(exact) = subject.differentiated(true, LONGEST) else { return Ok(()) };
    let globals = exact.program.module().globals.iter().enumerate();
    let reals = globals.filter(|(_, global)| global.class == Class::Real);
    let mut reals = reals.flat_map(|(n, _)| exact.variables(n).unwrap_or_default());
    let Some(loss) = reals.find(|real| matches!(real.origin, Origin::Cell(_))) else { return Ok(()) };
    let expected = gradient(&exact, &loss).map(outcome);
    let is_not_restored = matches!(expected, Err(DifferentiateError::NotRestored { .. }));
    let names_adjoints = exact.program.names_adjoints();
    for retention in strategies(&[1, 7]) {
        let start = exact.start.try_clone().map_err(|error| error.to_string())?;
        let by_strategy = Differentiated::new(exact.program.clone(), start, true, LONGEST);
        let by_strategy = by_strategy.map_err(|error| error.to_string())?;
        let is_tape = retention.strategy == Strategy::Tape;
        let (runner, retention) = (exact.runner.clone(), Some(retention));
        let by_strategy = Differentiated { runner, retention, ..by_strategy };
        match gradient(&by_strategy, &loss).map(outcome) {
            // A strategy may fail if its memory limit is smaller than one state.
            Err(DifferentiateError::MemoryFull { .. }) => {}
            // With adjoints as operands, undoing a step may read a changed adjoint. A tape restores the values
            // instead, so it may succeed where a history fails.
            Ok(_) if is_tape && names_adjoints && is_not_restored => {}
            found => same(&format!("the gradient by {retention:?}"), found, expected.clone())?,
        }
    }
    Ok(())
}

/// Law: with every strategy, a round trip passes through the same states.
pub fn backward_runs_agree(subject: &Subject) -> Result<(), String> {
    // Only a history of lost bits (`Reverse`) or of all changes (`Tape`) also restores adjoints.
    let by_history = |retention: &Retention| matches!(retention.strategy, Strategy::Reverse | Strategy::Tape);
    let switches = subject.program.switches_mode();
    let all = [Retention::RESIDUES].into_iter().chain(strategies(&[1, 5]));
    let mut expected = None;
    for retention in all.filter(|retention| !switches || by_history(retention)) {
        let Some(found) = round_trip(subject, retention)? else { continue };
        match &expected {
            None => expected = Some(found),
            Some(expected) => same(&format!("the way by {retention:?}"), &found, expected)?,
        }
    }
    Ok(())
}

/// Returns digest and counters of the state at each stop of a round trip, which runs a few steps at a time.
fn round_trip(subject: &Subject, retention: Retention) -> Result<Option<Vec<String>>, String> {
    let machine = subject.machine(false);
    let mut checkpointed_run = CheckpointedRun::begin(machine, Some(retention), Travel::Forward)
        .map_err(|error| error.to_string())?;
    let mut seen = Vec::new();
    for travel in [Travel::Forward, Travel::Backward] {
        let mut left = LONGEST;
        while left > 0 {
            let budget = left.min(3);
            let before = checkpointed_run.machine().state().step;
            let outcome = match checkpointed_run.run(None, travel, budget) {
                Ok(stop) => format!("{stop:?}"),
                Err(RunHalt::Trap(trap)) => format!("{trap:?}"),
                Err(RunHalt::Full { .. }) => return Ok(None),
            };
            let state = checkpointed_run.machine().state();
            left = left.saturating_sub(state.step.abs_diff(before).max(1));
            let counters = (state.counters.erased_bits, state.counters.discarded_bits, state.counters.calls);
            seen.push(format!("{outcome} at {}: {} {counters:?}", state.step, state_digest(state)));
            let is_shown = outcome.starts_with("Shown");
            if outcome != format!("{:?}", Stop::Budget) && !is_shown {
                break;
            }
        }
    }
    Ok(Some(seen))
}
