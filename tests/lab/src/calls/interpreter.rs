//! Reference engine for calls: runs by an interpreted machine, and gradients by `reviver_vm::differentiate`.

use reviver_vm::differentiate::matrices::{hessian, jacobian_product};
use reviver_vm::differentiate::{
    DifferentiateError, Origin, SeededCell, Subject, Variable, VerificationReport, gradient,
};
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
        _ => {
            let is_refused = subject.program.switches_mode() || subject.program.reads_mode();
            let differentiated = || lanes.iter().map(|lane| differentiated(subject, kind, lane)).collect();
            (!subject.losses_of(kind).is_empty() && !is_refused).then(differentiated)
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

fn differentiated(subject: &CallSubject, kind: CallKind, lane: &[u64]) -> CallOutcome {
    let start = subject.start(kind, lane);
    let of = Subject::new(subject.program.clone(), start, false, MOST_STEPS);
    let of = of.expect("a program that can be differentiated");
    let losses = variables(&of, subject.losses_of(kind).iter());
    let found = match kind {
        CallKind::Hessian => second_derivatives(subject, &of, &losses),
        CallKind::Tangents => tangents(subject, &of, &losses),
        _ => first_derivatives(subject, &of, &losses),
    };
    match found {
        Ok((words, is_noted)) => {
            CallOutcome::Done(CallResult { words, steps: None, is_noted: Some(is_noted) })
        }
        Err(DifferentiateError::Trap { backward, explanation }) => seen(&explanation, backward),
        Err(DifferentiateError::StepLimit { .. }) => CallOutcome::StepLimit,
        Err(_) => CallOutcome::NoDerivative,
    }
}

/// Returns the variables of real cells.
fn variables<'c>(of: &Subject, cells: impl Iterator<Item = &'c CallCell>) -> Vec<Variable> {
    let all = (0..of.program.module().globals.len()).filter_map(|n| of.variables(n).ok());
    let all: Vec<Variable> = all.flatten().collect();
    let variable = |cell: &CallCell| {
        all.iter().find(|variable| variable.origin == Origin::Cell(cell.address)).expect("a real").clone()
    };
    cells.map(variable).collect()
}

/// Results of derivatives: the bits of the numbers in the order of a batch's columns, and true if there is a remark.
type Derivatives = Result<(LaneWords, bool), DifferentiateError>;

fn has_remark(report: &VerificationReport) -> bool {
    report.recomputed.is_some() || !report.reports.is_empty()
}

fn first_derivatives(subject: &CallSubject, of: &Subject, losses: &[Variable]) -> Derivatives {
    let (mut values, mut derivatives) = (Vec::new(), Vec::new());
    let mut is_noted = false;
    for loss in losses {
        let found = gradient(of, loss)?;
        values.extend(found.values);
        derivatives.extend(subject.real_inputs().map(|cell| found.adjoints.cells[cell.address]));
        is_noted |= has_remark(&found.verification_report);
    }
    Ok(([values, derivatives].concat(), is_noted))
}

fn second_derivatives(subject: &CallSubject, of: &Subject, losses: &[Variable]) -> Derivatives {
    let seeds: Vec<SeededCell> =
        losses.iter().map(|loss| of.seeds_of(loss)).collect::<Result<Vec<_>, _>>()?.concat();
    let found = hessian(of, &seeds, &variables(of, subject.real_inputs()))?;
    let numbers = found.gradient.iter().chain(found.products.iter().flatten());
    let words = found.values.iter().copied().chain(numbers.map(|&number| of.number(number)));
    Ok((words.collect(), has_remark(&found.verification_report)))
}

fn tangents(subject: &CallSubject, of: &Subject, losses: &[Variable]) -> Derivatives {
    let inputs = variables(of, subject.real_inputs());
    let found = jacobian_product(of, losses, &inputs, &subject.direction())?;
    let words = found.values.iter().copied().chain(found.product.iter().map(|&number| of.number(number)));
    Ok((words.collect(), has_remark(&found.verification_report)))
}

fn seen(explanation: &Explanation, is_backward: bool) -> CallOutcome {
    let Explanation { code, at, step, .. } = *explanation;
    CallOutcome::Trap(TrapSeen { code, at, step, is_backward })
}
