//! Calls of the library give the same results as the machine, to the last bit. The test runs every program of the
//! repository with the default inputs.

use std::sync::Arc;

use reviver::{EngineChoice, Error, Executable, Program, open};
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, RealSystem, Role, Shape};
use reviver_vm::differentiate::{self, Subject};
use reviver_vm::explain::explain;
use reviver_vm::values::Value;
use reviver_vm::{Machine, ShownMark, State, Stop, Travel};

use crate::support::{ENGINES, programs};

/// Step limit that suffices for every program of the repository.
const ENOUGH: u64 = 200_000_000;

/// Runs a program in the interpreter. Returns the final state, or the message of its trap.
fn travelled(program: &Arc<Program>, start: State, travel: Travel) -> Result<State, String> {
    let mut machine = Machine::resume(program.clone(), start, None);
    machine.state_mut().counters.shown = ShownMark::SILENT;
    match machine.run(travel, ENOUGH) {
        Ok(stop) => {
            assert_eq!(stop, Stop::Bound);
            Ok(machine.into_state())
        }
        Err(trap) => Err(explain(program, machine.state(), trap).message),
    }
}

/// Returns the globals that aren't stacks, with their indices.
fn arrays(program: &Program) -> impl Iterator<Item = (usize, &Global)> {
    let globals = program.module().globals.iter().enumerate();
    globals.filter(|(_, global)| global.shape != Shape::Stack)
}

/// Returns the cells of each global after a call. Reals are the bits of the nearest `f64`.
fn read(executable: &Executable, call: &reviver::Workspace) -> Vec<Vec<u64>> {
    let each = arrays(executable.program()).map(|(_, global)| match global.class {
        Class::Int => {
            let cells = executable.ints(&global.name).unwrap();
            let mut values = vec![0; cells.len()];
            call.ints(cells, &mut values).unwrap();
            values.into_iter().map(|value| value as u64).collect()
        }
        Class::Real => {
            let cells = executable.reals(&global.name).unwrap();
            let mut values = vec![0.0; cells.len()];
            call.reals(cells, &mut values).unwrap();
            values.into_iter().map(f64::to_bits).collect()
        }
    });
    each.collect()
}

/// Returns the cells of each global in a state. Reals are the bits of the nearest `f64`.
fn expected(program: &Program, state: &State) -> Vec<Vec<u64>> {
    let number = |value| match value {
        Value::Int(value) => value as u64,
        Value::Real(_) => program.approximate(value).to_bits(),
    };
    arrays(program).map(|(n, _)| program.read(state, n).into_iter().map(number).collect()).collect()
}

#[test]
fn runs_have_the_same_bits() {
    let (mut arrived, mut native) = (0, 0);
    for path in programs() {
        let assembled = open(&path).unwrap();
        let program = assembled.program();
        let start = Machine::at_begin(program.clone()).unwrap().into_state();
        let wanted = travelled(program, start, Travel::Forward);
        for engine in ENGINES {
            let executable = assembled.compile(engine).unwrap();
            let mut call = executable.workspace().unwrap();
            native += usize::from(executable.is_native());
            for _ in 0..2 {
                match (call.run(), &wanted) {
                    (Ok(steps), Ok(state)) => {
                        assert_eq!(steps, state.step.unsigned_abs(), "{}", path.display());
                        assert_eq!(read(&executable, &call), expected(program, state), "{}", path.display());
                        arrived += 1;
                    }
                    (Err(Error::Trap { explanation, .. }), Err(message)) => {
                        assert_eq!(&explanation.message, message)
                    }
                    (Err(Error::Missing { .. }), _) => assert!(program.module().inverse),
                    (found, wanted) => {
                        panic!("{}: {found:?} for {:?}", path.display(), wanted.as_ref().err())
                    }
                }
            }
        }
    }
    assert!(arrived > 150, "only {arrived} runs arrived");
    assert!(native > 10, "only {native} programs are native");
}

#[test]
fn backward_runs_have_the_same_bits() {
    let mut arrived = 0;
    for path in programs() {
        let assembled = open(&path).unwrap();
        let program = assembled.program();
        let start = Machine::at_begin(program.clone()).unwrap().into_state();
        let Ok(end) = travelled(program, start, Travel::Forward) else { continue };
        // Callers can't set values on stacks and tapes as results, so programs that leave values there are skipped.
        if !(end.input.is_empty()
            && end.output.is_empty()
            && end.int_stack.is_empty()
            && end.real_stack.is_empty())
        {
            continue;
        }
        let mut start = Machine::at_end(program.clone()).unwrap().into_state();
        for (n, _) in arrays(program).filter(|(_, global)| global.role.is_result()) {
            program.give_values(&mut start, n, &program.read(&end, n)).unwrap();
        }
        let wanted = travelled(program, start, Travel::Backward);
        for engine in ENGINES {
            let executable = assembled.compile(engine).unwrap();
            let mut call = executable.workspace().unwrap();
            give_results(&executable, &mut call, &end);
            match (call.run_back(), &wanted) {
                (Ok(_), Ok(state)) => {
                    assert_eq!(read(&executable, &call), expected(program, state), "{}", path.display());
                    arrived += 1;
                }
                (Err(Error::Trap { explanation, backward: true, .. }), Err(message)) => {
                    assert_eq!(&explanation.message, message);
                }
                (Err(Error::NoSuchResults { .. }), Ok(state)) => {
                    assert!(!program.garbage(state, Travel::Backward).is_empty());
                }
                (found, wanted) => panic!("{}: {found:?} for {:?}", path.display(), wanted.as_ref().err()),
            }
        }
    }
    assert!(arrived > 60, "only {arrived} runs arrived");
}

fn give_results(executable: &Executable, call: &mut reviver::Workspace, end: &State) {
    let program = executable.program();
    for (n, global) in arrays(program).filter(|(_, global)| global.role.is_result()) {
        let values = program.read(end, n);
        match global.class {
            Class::Int => {
                let ints: Vec<i64> =
                    values.iter().map(|v| if let Value::Int(v) = v { *v } else { 0 }).collect();
                call.give_result_ints(executable.ints(&global.name).unwrap(), &ints).unwrap();
            }
            Class::Real => {
                let bits: Vec<u64> =
                    values.iter().map(|v| if let Value::Real(v) = v { *v } else { 0 }).collect();
                let cells = executable.reals(&global.name).unwrap();
                call.give_result_bits(cells, &bits).unwrap();
                // Fixed-point numbers are given as bits only, because `f64` may not hold them.
                if !matches!(program.module().real, RealSystem::Fixed(_)) {
                    let reals: Vec<f64> = values.iter().map(|v| program.approximate(*v)).collect();
                    call.give_result_reals(cells, &reals).unwrap();
                }
            }
        }
    }
}

/// Differentiates the first cell of every real result by every real input.
#[test]
fn gradients_have_the_same_bits() {
    let (mut found, mut native) = (0, 0);
    for path in programs() {
        let assembled = open(&path).unwrap();
        let program = assembled.program();
        let start = || Machine::at_begin(program.clone()).unwrap().into_state();
        let is_exact = matches!(program.module().real, RealSystem::Fixed(_));
        let Ok(subject) = Subject::new(program.clone(), start(), false, ENOUGH) else { continue };
        let is_loss =
            |global: &Global| global.class == Class::Real && matches!(global.role, Role::Out | Role::InOut);
        for (n, global) in arrays(program).filter(|(_, global)| is_loss(global)) {
            let variable = subject.variables(n).unwrap().remove(0);
            let wanted = differentiate::gradient(&subject, &variable);
            for engine in ENGINES {
                let executable = assembled.compile(engine).unwrap();
                let loss = executable.loss(&program.cell_name(n, 0)).unwrap();
                let mut call = executable.workspace().unwrap();
                for _ in 0..2 {
                    match (call.gradient_anyway(&loss), &wanted) {
                        (Ok(derivative), Ok(wanted)) => {
                            let value = program.approximate(Value::Real(wanted.values[0]));
                            assert_eq!(derivative.value.to_bits(), value.to_bits(), "{}", path.display());
                            assert_eq!(
                                (derivative.steps, derivative.steps_back),
                                (wanted.steps, wanted.steps_back)
                            );
                            let [own, wanted_losses] =
                                [&derivative.verification_report, &wanted.verification_report].map(
                                    |verification_report| {
                                        verification_report.reports.iter().collect::<Vec<_>>()
                                    },
                                );
                            assert_eq!(own, wanted_losses, "{}: {}", path.display(), global.name);
                            assert_eq!(
                                derivative.verification_report.recomputed,
                                wanted.verification_report.recomputed
                            );
                            assert_eq!(
                                derivative.verification_report.loss_error,
                                wanted.verification_report.loss_error
                            );
                            assert!(!is_exact || wanted.verification_report.recomputed.is_none());
                            for input in
                                arrays(program).filter(|(_, g)| g.class == Class::Real && g.role.is_given())
                            {
                                let cells = executable.reals(&input.1.name).unwrap();
                                let mut slope = vec![0.0; cells.len()];
                                call.adjoints(cells, &mut slope).unwrap();
                                let variables = subject.variables(input.0).unwrap();
                                let wanted = subject.components(&wanted.adjoints, 0, &variables).unwrap();
                                assert_eq!(
                                    bits(&slope),
                                    bits(&wanted),
                                    "{}: {}",
                                    path.display(),
                                    global.name
                                );
                            }
                            found += 1;
                            native += usize::from(loss.is_native());
                        }
                        (Err(error), Err(_)) => {
                            assert!(!matches!(error, Error::Foreign | Error::Doubtful { .. }), "{error}");
                        }
                        (found, wanted) => {
                            panic!("{}: {} for {:?}", path.display(), found.is_ok(), wanted.as_ref().err());
                        }
                    }
                }
            }
        }
    }
    assert!(found > 80, "only {found} gradients were found");
    assert!(native > 10, "only {native} gradients are native code's");
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn engines_are_found_by_their_name() {
    for choice in EngineChoice::ALL {
        assert_eq!(EngineChoice::from_name(choice.name()), Some(choice));
    }
    assert_eq!(EngineChoice::from_name("fast"), None);
}
