//! Laws of gradient mode: adjoints are correct, values don't change, and both are restored. These laws switch the
//! mode on from outside. The laws of motion cover programs that switch it themselves.

use std::sync::Arc;

use reviver_isa::instruction::Operand;
use reviver_isa::update::OperandShape;
use reviver_vm::history::Residues;
use reviver_vm::state::{MODE, Part};
use reviver_vm::{Program, State, Travel};

use super::same;
use crate::pairing::{paired_in_the_forward_sweep, paired_in_the_reverse_sweep, seed_adjoints};
use crate::rng::Rng;
use crate::run::{End, follow, trace, travel};
use crate::subject::{Subject, load};

/// Returns true if no value depends on an adjoint or on the mode.
pub(super) fn is_of_values_alone(subject: &Subject) -> bool {
    let differs = |operand: &Operand| match operand {
        Operand::Mode => true,
        Operand::Place(place) => place.adjoint,
        _ => false,
    };
    let code = &subject.program.module().code;
    code.iter().all(|i| i.update.shape() != OperandShape::Switch && !i.operands.iter().any(differs))
}

/// Returns the program without its custom derivative rules, so that calls propagate adjoints through the callees'
/// bodies.
fn without_rules(program: &Arc<Program>) -> Result<Arc<Program>, String> {
    let mut module = program.module().clone();
    module.procedures.iter_mut().for_each(|procedure| procedure.rule = None);
    load(module).map(Arc::new)
}

/// Returns a generator that gives the same numbers for every program. So a shrunk program violates the law with the
/// same numbers.
pub(super) fn rng() -> Rng {
    Rng::new(1)
}

/// Law: the pairing of tangents and adjoints is the same before and after every step, so ⟨Jv, w⟩ = ⟨v, Jᵀw⟩.
pub fn pairing(subject: &Subject) -> Result<(), String> {
    if !is_of_values_alone(subject) {
        return Ok(());
    }
    let subject = subject.with_program(without_rules(&subject.program)?);
    let (program, machine) = (&subject.program, subject.machine(true));
    let mut rng = rng();
    paired_in_the_reverse_sweep(program, machine.try_clone().unwrap(), &mut rng)
        .map_err(|broken| format!("backward: {broken}"))?;
    paired_in_the_forward_sweep(program, machine, &mut rng).map_err(|broken| format!("forward: {broken}"))?;
    Ok(())
}

/// Returns a state without adjoints and the mode, to compare values only.
fn values(state: &State) -> State {
    let (step, rule_steps) = (state.own_steps(), 0);
    let mut state = State {
        adjoints: None,
        counters: Default::default(),
        step,
        rule_steps,
        ..state.try_clone().unwrap()
    };
    state.ints[MODE] = 0;
    state.calls.iter_mut().for_each(|call| call.part = Part::Whole);
    state
}

/// Returns true while a derivative rule runs; a run without gradient mode has no such steps.
fn is_in_rule(state: &State) -> bool {
    state.calls.iter().any(|call| call.part == Part::Rule)
}

/// Law: a run in gradient mode has the same values as the run without it. A trap in gradient mode changes no value.
pub fn gradient_mode_keeps_values(subject: &Subject) -> Result<(), String> {
    if !is_of_values_alone(subject) {
        return Ok(());
    }
    let mut plain = trace(subject, true).machine;
    let mut carrying = plain.try_clone().unwrap();
    if subject.is_exact() {
        carrying = subject.resume(plain.state().try_clone().unwrap(), None);
    }
    seed_adjoints(&subject.program, carrying.state_mut(), &mut rng());
    while carrying.state().own_steps() > 0 {
        let end = travel(&mut carrying, Travel::Backward, 1);
        if carrying.state().own_steps() < plain.state().own_steps() {
            travel(&mut plain, Travel::Backward, 1);
        }
        if !is_in_rule(carrying.state()) && values(carrying.state()) != values(plain.state()) {
            return Err(format!("the values at step {} are others in gradient mode", plain.state().step));
        }
        if end != End::Budget {
            return Ok(());
        }
    }
    Ok(())
}

/// Law: a round trip restores adjoints bit for bit. With a history this always holds. Without a history it holds in
/// exact number systems if no adjoint was dropped.
pub fn adjoints_are_restored(subject: &Subject) -> Result<(), String> {
    if !is_of_values_alone(subject) {
        return Ok(());
    }
    let mut rng = rng();
    let mut begin = subject.machine(false).state().try_clone().unwrap();
    seed_adjoints(&subject.program, &mut begin, &mut rng);
    round_trip(subject, &begin, Travel::Forward)?;
    let end = trace(subject, true);
    if !end.end.arrived() {
        return Ok(());
    }
    let mut end = end.machine.state().try_clone().unwrap().as_start();
    seed_adjoints(&subject.program, &mut end, &mut rng);
    round_trip(subject, &end, Travel::Backward)
}

fn round_trip(subject: &Subject, start: &State, direction: Travel) -> Result<(), String> {
    let histories: &[bool] = if subject.is_exact() { &[false, true] } else { &[true] };
    for &history in histories {
        let residues = history.then(Residues::default);
        let followed = follow(subject.resume(start.try_clone().unwrap(), residues), direction);
        let drops = followed.machine.state().counters.drops;
        if !history && drops > 0 {
            continue;
        }
        let mut machine = followed.machine;
        for (step, digest) in followed.digests.iter().enumerate().rev().skip(1) {
            let end = travel(&mut machine, direction.reversed(), 1);
            same(&format!("the end of the step back to {step}"), end, End::Budget)?;
            let found = reviver_vm::digest::state_digest(machine.state());
            same(&format!("the digest back at step {step}, {direction:?} and back"), found, *digest)?;
        }
        same("history bytes back at the start", machine.history_bytes(), 0)?;
        same("drops back at the start", machine.state().counters.drops, 0)?;
    }
    Ok(())
}
