//! Laws of the assembler's static findings: each prediction holds in every run that reaches the predicted place.

use reviver_assembler::certain::{Finding, findings};
use reviver_vm::values::Value;
use reviver_vm::{Machine, State, Travel};

use crate::run::{End, LONGEST, travel};
use crate::subject::Subject;

/// Law: no run passes a place where the assembler predicts a trap, and every run that completes ends with the predicted
/// values.
pub fn findings_are_correct(subject: &Subject) -> Result<(), String> {
    let findings = findings(subject.program.module());
    if findings.is_empty() {
        return Ok(());
    }
    let mut machine = subject.machine(true);
    let start = machine.state().try_clone().unwrap();
    for _ in 0..LONGEST {
        let (before, inverted) = (machine.state().position, machine.state().inverted);
        let end = travel(&mut machine, Travel::Forward, 1);
        match end {
            End::Bound => return findings.iter().try_for_each(|finding| ends(&machine, &start, *finding)),
            End::Trap(_) => return Ok(()),
            End::Budget => {}
        }
        let after = machine.state().position;
        let went = |finding: &&Finding| match **finding {
            Finding::Falls { from, .. } => before == from,
            Finding::Jumps { br, from, .. } => before == br && after == from + 1,
            Finding::Ends { .. } | Finding::EndsAsGiven { .. } => false,
        };
        if let Some(finding) = findings.iter().find(went).filter(|_| !inverted) {
            return Err(format!("{finding:?}, and a run passes there at step {}", machine.state().step));
        }
    }
    Ok(())
}

fn ends(machine: &Machine, start: &State, finding: Finding) -> Result<(), String> {
    let program = machine.program();
    let read = |state: &State, global: u32| program.read(state, global as usize);
    let (global, expected) = match finding {
        Finding::Ends { global, value } => (global, vec![Value::Int(value)]),
        Finding::EndsAsGiven { global, given, plus } => {
            let shift = 64 - program.module().word.bits();
            let raised = |value| match value {
                Value::Int(value) => Value::Int((value + plus) << shift >> shift),
                real => real,
            };
            (global, read(start, given).into_iter().map(raised).collect())
        }
        Finding::Falls { .. } | Finding::Jumps { .. } => return Ok(()),
    };
    let found = read(machine.state(), global);
    if found == expected { Ok(()) } else { Err(format!("{finding:?}, and it ends as {found:?}")) }
}
