//! Laws of counters and shown values.

use reviver_isa::instruction::{Class, Operand};
use reviver_isa::module::RealSystem;
use reviver_isa::update::Update;
use reviver_vm::digest::state_digest;
use reviver_vm::{Cause, Machine, Stop, Travel};

use super::same;
use crate::run::{End, LONGEST, trace, travel};
use crate::subject::Subject;

/// Runs a machine, and returns the shown values, each with the index of its `show`.
fn shows(machine: &mut Machine, direction: Travel) -> Vec<(u32, u64)> {
    let mut shown = Vec::new();
    while let Ok(stop) = machine.run(direction, LONGEST) {
        match stop {
            Stop::Shown { at, bits, .. } => shown.push((at, bits)),
            Stop::Budget | Stop::Interrupted | Stop::Bound => break,
        }
    }
    shown
}

/// Law: in the first forward run, each execution of a `show` prints a value, in single steps as well as in one
/// uninterrupted run. Backward runs and repeated forward runs print nothing.
pub fn shown_once(subject: &Subject) -> Result<(), String> {
    let mut machine = subject.machine(true);
    let first = shows(&mut machine, Travel::Forward);
    let marks = |at: &u32| subject.program.module().code[*at as usize].update == Update::Show;
    if !first.iter().all(|(at, _)| marks(at)) {
        return Err("something was shown by another instruction than `show`".into());
    }
    same("shown step by step", stepwise(subject), first)?;
    same("shown on the way back", shows(&mut machine, Travel::Backward), Vec::new())?;
    same("shown on the second way forward", shows(&mut machine, Travel::Forward), Vec::new())
}

/// Returns every execution of a `show` in a forward run by single steps. An execution that shows nothing has the
/// value `u64::MAX`.
fn stepwise(subject: &Subject) -> Vec<(u32, u64)> {
    let mut machine = subject.machine(true);
    let mut shown = Vec::new();
    for _ in 0..LONGEST {
        let at = next_instruction(&machine);
        let is_show = subject.program.module().code[at as usize].update == Update::Show;
        match machine.run(Travel::Forward, 1) {
            Ok(Stop::Shown { at, bits, .. }) => shown.push((at, bits)),
            Ok(Stop::Budget) if is_show => shown.push((at, u64::MAX)),
            Ok(Stop::Budget) => {}
            Ok(Stop::Interrupted | Stop::Bound) | Err(_) => break,
        }
    }
    shown
}

/// Returns the index of the instruction that the next forward step executes; inside an uncall that step runs
/// backward.
fn next_instruction(machine: &Machine) -> u32 {
    let state = machine.state();
    if state.inverted { state.position - 1 } else { state.position }
}

/// Law: the counter of erased bits equals the sizes of the erased cells, and is 0 again after running backward.
pub fn erasures(subject: &Subject) -> Result<(), String> {
    let mut machine = subject.machine(true);
    let mut expected = 0;
    for _ in 0..LONGEST {
        let bits = erased_by(subject, next_instruction(&machine));
        if travel(&mut machine, Travel::Forward, 1) != End::Budget {
            break;
        }
        expected += bits;
    }
    same("erased bits", machine.state().counters.erased_bits, expected)?;
    travel(&mut machine, Travel::Backward, LONGEST);
    same("erased bits back at the beginning", machine.state().counters.erased_bits, 0)
}

/// Returns the number of bits that an instruction erases.
fn erased_by(subject: &Subject, at: u32) -> u64 {
    let module = subject.program.module();
    let instruction = &module.code[at as usize];
    let Some(Operand::Place(target)) = instruction.operands.first() else { return 0 };
    if instruction.update.is_reversible() {
        return 0;
    }
    // The update `Forget` erases a flag, which is one bit.
    if instruction.update == Update::Forget {
        return 1;
    }
    let procedure = &module.procedures[subject.program.procedure_of(at)];
    match (module.declaration(procedure, target.base).map(|d| d.class), module.real) {
        (Some(Class::Int), _) => u64::from(module.word.bits()),
        (_, RealSystem::F32) => 32,
        _ => 64,
    }
}

/// Law: without a history, a backward run traps at the last erasure, and the trap changes nothing.
pub fn erasures_are_final(subject: &Subject) -> Result<(), String> {
    if subject.is_reversible() || !subject.program.module().real.is_exact() && has_reals(subject) {
        return Ok(());
    }
    let mut trace = trace(subject, false);
    if trace.machine.state().counters.drops > 0 {
        return Ok(());
    }
    for (step, digest) in trace.digests.iter().enumerate().rev().skip(1) {
        let before = state_digest(trace.machine.state());
        match travel(&mut trace.machine, Travel::Backward, 1) {
            End::Trap(trap) => {
                same("the cause of the trap", trap.cause, Cause::Irreversible)?;
                if subject.program.module().code[trap.at as usize].update.is_reversible() {
                    return Err(format!("the way back ends at instruction {}, which can be undone", trap.at));
                }
                return same("the digest at the trap", state_digest(trace.machine.state()), before);
            }
            end => same("the end of a step back", end, End::Budget)?,
        }
        same(&format!("the digest back at step {step}"), state_digest(trace.machine.state()), *digest)?;
    }
    Ok(())
}

/// Returns true if the program has floats, which a backward run may not restore exactly.
fn has_reals(subject: &Subject) -> bool {
    let module = subject.program.module();
    let frames = module.procedures.iter().flat_map(|p| &p.frame).any(|v| v.class == Class::Real);
    frames || module.globals.iter().any(|g| g.class == Class::Real)
}

/// Law: the counter of calls increases by 1 in exactly those steps that change the call depth. It is 0 again after
/// running backward.
pub fn calls(subject: &Subject) -> Result<(), String> {
    let mut machine = subject.machine(true);
    let mut expected = 0;
    for _ in 0..LONGEST {
        let depth = machine.state().calls.len();
        if travel(&mut machine, Travel::Forward, 1) != End::Budget {
            break;
        }
        expected += i64::from(machine.state().calls.len() != depth);
        same("calls", machine.state().counters.calls, expected)?;
    }
    travel(&mut machine, Travel::Backward, LONGEST);
    same("calls back at the beginning", machine.state().counters.calls, 0)
}
