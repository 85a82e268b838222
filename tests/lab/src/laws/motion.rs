//! Laws of motion: runs in both directions, along arbitrary paths, through traps, and after resuming. States are
//! compared by their digests.

use reviver_vm::digest::state_digest;
use reviver_vm::history::Residues;
use reviver_vm::state::Counters;
use reviver_vm::{Machine, State, Travel, checkpoint};

use super::same;
use crate::rng::Rng;
use crate::run::{End, LONGEST, Trace, follow, trace, travel};
use crate::subject::Subject;

/// Returns the kinds of runs to try: true for a run with a history, false for one without. Floats, erasures and
/// dropped adjoints need a history for an exact backward run.
fn histories(subject: &Subject) -> &'static [bool] {
    if subject.is_exact() && !drops(subject) { &[false, true] } else { &[true] }
}

/// Returns true if a run drops adjoints, in either direction.
fn drops(subject: &Subject) -> bool {
    let mut machine = subject.machine(true);
    travel(&mut machine, Travel::Forward, LONGEST);
    let dropped = machine.state().counters.drops > 0;
    let end = State { counters: Counters::default(), ..machine.into_state().as_start() };
    let mut machine = subject.resume(end, Some(Residues::default()));
    travel(&mut machine, Travel::Backward, LONGEST);
    dropped || machine.state().counters.drops > 0
}

/// Law: n steps forward and n steps backward pass through the same states, and end exactly at the start.
pub fn round_trip(subject: &Subject) -> Result<(), String> {
    for &exact in histories(subject) {
        let trace = trace(subject, exact);
        let Trace { digests, mut machine, .. } = trace;
        for (step, digest) in digests.iter().enumerate().rev().skip(1) {
            same("the end of one step back", travel(&mut machine, Travel::Backward, 1), End::Budget)?;
            same("the step number", machine.state().step, step as i64)?;
            same(&format!("the digest back at step {step}"), state_digest(machine.state()), *digest)?;
        }
        same("the end before the beginning", travel(&mut machine, Travel::Backward, 1), End::Bound)?;
        same("history bytes back at the beginning", machine.history_bytes(), 0)?;
    }
    Ok(())
}

/// Law: the state at a step number is the same on every path of forward and backward steps.
pub fn any_motions(subject: &Subject) -> Result<(), String> {
    for &exact in histories(subject) {
        let trace = trace(subject, exact);
        let last = trace.steps() as usize;
        let mut machine = subject.machine(exact);
        let mut rng = Rng::new(trace.digests.len() as u64);
        for _ in 0..24 {
            let step = rng.below(last + 1);
            let direction =
                if step as i64 >= machine.state().step { Travel::Forward } else { Travel::Backward };
            let steps = machine.state().step.abs_diff(step as i64);
            same(
                &format!("the end of a walk to step {step}"),
                travel(&mut machine, direction, steps),
                End::Budget,
            )?;
            let digest = state_digest(machine.state());
            same(&format!("the digest at step {step} after a walk"), digest, trace.digests[step])?;
        }
    }
    Ok(())
}

/// Law: at every step, a clone of the machine continues like the original. So does a machine that resumes from the
/// encoded and decoded state.
pub fn resume_anywhere(subject: &Subject) -> Result<(), String> {
    let trace = trace(subject, true);
    let mut machine = subject.machine(true);
    for step in 0..trace.steps() as usize {
        machine = saved_and_read(subject, &machine)?;
        travel(&mut machine, Travel::Forward, 1);
        same(
            &format!("the digest at step {}", step + 1),
            state_digest(machine.state()),
            trace.digests[step + 1],
        )?;
    }
    let middle = trace.steps() as usize / 2;
    for step in (middle..trace.steps() as usize).rev() {
        machine = saved_and_read(subject, &machine)?;
        travel(&mut machine, Travel::Backward, 1);
        same(&format!("the digest back at step {step}"), state_digest(machine.state()), trace.digests[step])?;
    }
    let mut clone = machine.try_clone().unwrap();
    travel(&mut clone, Travel::Forward, trace.steps() - middle as u64);
    travel(&mut machine, Travel::Backward, LONGEST);
    same(
        "the digest where the clone stopped",
        state_digest(clone.state()),
        *trace.digests.last().unwrap_or(&trace.digests[0]),
    )?;
    same("the digest where the original stopped", state_digest(machine.state()), trace.digests[0])
}

fn saved_and_read(subject: &Subject, machine: &Machine) -> Result<Machine, String> {
    let bytes = checkpoint::encode(&subject.program, machine.state(), machine.residues())
        .map_err(|error| error.to_string())?;
    let (state, residues) = checkpoint::decode(&subject.program, &bytes)
        .map_err(|error| format!("the state saved at step {} is refused: {error}", machine.state().step))?;
    if state != *machine.state() || residues.as_ref() != machine.residues() {
        return Err(format!("the state saved at step {} reads back as another", machine.state().step));
    }
    Ok(subject.resume(state, residues))
}

/// Law: a trap changes nothing, even repeatedly, and steps in the other direction remain possible.
pub fn traps_change_nothing(subject: &Subject) -> Result<(), String> {
    let forward = trace(subject, true);
    trap_is_clean(forward, Travel::Forward)?;
    // Results that aren't given are 0, so most backward runs from the end soon trap.
    let backward = follow(subject.machine_at_end(true), Travel::Backward);
    trap_is_clean(backward, Travel::Backward)
}

fn trap_is_clean(trace: Trace, direction: Travel) -> Result<(), String> {
    let Trace { digests, end: End::Trap(trap), mut machine } = trace else { return Ok(()) };
    let before = (machine.state().try_clone().unwrap(), machine.history_bytes());
    for budget in [1, 1000] {
        same("the end of another try", travel(&mut machine, direction, budget), End::Trap(trap))?;
        if (machine.state(), machine.history_bytes()) != (&before.0, before.1) {
            return Err(format!("the trap {trap:?} changed the state"));
        }
    }
    let Some(previous) = digests.len().checked_sub(2) else { return Ok(()) };
    same("the end of the step away", travel(&mut machine, direction.reversed(), 1), End::Budget)?;
    same("the digest one step before the trap", state_digest(machine.state()), digests[previous])
}

/// Law: a backward run from the program's end reaches the start with negative step numbers, and a forward run then
/// restores the end.
pub fn runs_from_the_end(subject: &Subject) -> Result<(), String> {
    let forward = trace(subject, true);
    if !forward.end.arrived() {
        return Ok(());
    }
    for &exact in histories(subject) {
        let end = forward.machine.state().try_clone().unwrap().as_start();
        let end = State { counters: Counters::default(), ..end };
        let machine = subject.resume(end, exact.then(Residues::default));
        let mut backward = follow(machine, Travel::Backward);
        if subject.is_exact() && !drops(subject) {
            same("the end of the way back", backward.end, End::Bound)?;
            let mirrored: Vec<_> = forward.digests.iter().rev().copied().collect();
            same("the states on the way back", backward.digests.len(), mirrored.len())?;
            if backward.digests != mirrored {
                return Err("the way back from the end leads through other states".into());
            }
        }
        let steps = backward.steps();
        let again = travel(&mut backward.machine, Travel::Forward, steps);
        same("the end of the way forward again", again, End::Budget)?;
        same("the digest at the end again", state_digest(backward.machine.state()), backward.digests[0])?;
        same("history bytes at the end again", backward.machine.history_bytes(), 0)?;
    }
    Ok(())
}

/// Law: programs with integers and fixed point only record nothing in a history.
pub fn no_history(subject: &Subject) -> Result<(), String> {
    if !subject.is_exact() || drops(subject) {
        return Ok(());
    }
    let trace = trace(subject, true);
    same("history bytes", trace.machine.history_bytes(), 0)
}

/// Law: keeping a history doesn't change a run.
pub fn history_changes_nothing(subject: &Subject) -> Result<(), String> {
    let (plain, exact) = (trace(subject, false), trace(subject, true));
    same("the end with a history", exact.end, plain.end)?;
    match plain.digests.iter().zip(&exact.digests).position(|(a, b)| a != b) {
        Some(step) => Err(format!("at step {step} the state is another one with a history")),
        None => same("the counts", exact.machine.state().counters, plain.machine.state().counters),
    }
}
