//! Reference engine for calls: runs by an interpreted machine, and gradients by `reviver_vm::differentiate`.

use reviver_vm::differentiate::{DifferentiateError, Origin, Subject, gradient};
use reviver_vm::explain::{Explanation, explain};
use reviver_vm::{Machine, Stop, Travel};

use super::subject::{CallCell, CallKind, CallSubject, LaneWords, MOST_STEPS};
use super::{CallAnswers, CallEngine, CallOutcome, CallResult, ReadyCalls, TrapSeen};
use reviver_isa::instruction::Class;

/// Interpreter as the reference engine for calls.
#[derive(Clone, Copy, Debug)]
pub struct InterpretedCalls;

impl CallEngine for InterpretedCalls {
    fn name(&self) -> &'static str {
        "the interpreter"
    }

    /// Prepares each program; `None` for unchecked programs, because the interpreter always checks.
    fn prepare<'s>(&self, subjects: &'s [CallSubject]) -> Vec<Option<Box<dyn ReadyCalls + 's>>> {
        let ready = |subject: &'s CallSubject| Box::new(Interpreted(subject)) as Box<dyn ReadyCalls>;
        subjects.iter().map(|subject| subject.level.is_checked().then(|| ready(subject))).collect()
    }
}

struct Interpreted<'s>(&'s CallSubject);

impl ReadyCalls for Interpreted<'_> {
    fn call(&self, kind: CallKind, lanes: &[LaneWords]) -> Option<CallAnswers> {
        interpreted(self.0, kind, lanes).map(|outcomes| CallAnswers { outcomes, by_others: 0 })
    }
}

/// Returns the interpreter's outcomes, one for each lane. `None` if the program has no calls of this kind.
pub fn interpreted(subject: &CallSubject, kind: CallKind, lanes: &[LaneWords]) -> Option<Vec<CallOutcome>> {
    match kind {
        CallKind::Forward | CallKind::Backward => {
            Some(lanes.iter().map(|lane| ran(subject, kind, lane)).collect())
        }
        CallKind::Gradient | CallKind::Jacobian => {
            let losses = subject.losses_of(kind);
            let is_refused = subject.program.switches_mode() || subject.program.reads_mode();
            let differentiated = || lanes.iter().map(|lane| differentiated(subject, losses, lane)).collect();
            (!losses.is_empty() && !is_refused).then(differentiated)
        }
    }
}

/// Runs one lane from one end of the program to the other.
fn ran(subject: &CallSubject, kind: CallKind, lane: &[u64]) -> CallOutcome {
    let program = &subject.program;
    let (travel, bound) = match kind {
        CallKind::Backward => (Travel::Backward, program.begin()),
        _ => (Travel::Forward, program.end()),
    };
    let mut machine = Machine::resume(program.clone(), subject.start(kind, lane), None);
    loop {
        let left = MOST_STEPS - machine.state().step.unsigned_abs();
        let is_there =
            |machine: &Machine| machine.state().position == bound && machine.state().calls.is_empty();
        match machine.run(travel, left) {
            Ok(Stop::Bound) => break,
            Ok(Stop::Budget) if is_there(&machine) => break,
            Ok(Stop::Budget) => return CallOutcome::StepLimit,
            Ok(Stop::Shown { .. } | Stop::Interrupted) => {}
            Err(trap) => {
                let explanation = explain(program, machine.state(), trap);
                return seen(&explanation, travel == Travel::Backward);
            }
        }
    }
    let state = machine.state();
    let has_leftovers = !program.garbage(state, travel).is_empty();
    if has_leftovers && kind == CallKind::Backward {
        return CallOutcome::Leftovers;
    }
    let word = |cell: &CallCell| match cell.class {
        Class::Int => state.ints[cell.address] as u64,
        Class::Real => state.reals[cell.address],
    };
    CallOutcome::Done(CallResult {
        words: subject.found(kind).iter().map(word).collect(),
        steps: Some(state.step.unsigned_abs()),
        is_noted: Some(has_leftovers),
    })
}

fn differentiated(subject: &CallSubject, losses: &[CallCell], lane: &[u64]) -> CallOutcome {
    let start = subject.start(CallKind::Gradient, lane);
    let gradient_subject = Subject::new(subject.program.clone(), start, false, MOST_STEPS);
    let gradient_subject = gradient_subject.expect("a program that can be differentiated");
    let (mut values, mut derivatives, mut is_noted) = (Vec::new(), Vec::new(), false);
    for loss in losses {
        let variables =
            (0..subject.program.module().globals.len()).filter_map(|n| gradient_subject.variables(n).ok());
        let variable = variables.flatten().find(|variable| variable.origin == Origin::Cell(loss.address));
        let found = match gradient(&gradient_subject, &variable.expect("a loss that is a real")) {
            Ok(found) => found,
            Err(DifferentiateError::Trap { backward, explanation }) => return seen(&explanation, backward),
            Err(DifferentiateError::StepLimit { .. }) => return CallOutcome::StepLimit,
            Err(_) => return CallOutcome::NoDerivative,
        };
        values.extend(found.values);
        derivatives.extend(subject.real_inputs().map(|cell| found.adjoints.cells[cell.address]));
        is_noted |=
            found.verification_report.recomputed.is_some() || !found.verification_report.reports.is_empty();
    }
    let words = [values, derivatives].concat();
    CallOutcome::Done(CallResult { words, steps: None, is_noted: Some(is_noted) })
}

fn seen(explanation: &Explanation, is_backward: bool) -> CallOutcome {
    let Explanation { code, at, step, .. } = *explanation;
    CallOutcome::Trap(TrapSeen { code, at, step, is_backward })
}
