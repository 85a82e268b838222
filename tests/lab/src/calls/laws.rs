//! Laws of calls: properties of inputs, results, derivatives and traps that hold on every engine. A law is a function
//! that checks a prepared program. It returns the number of compared calls, or a sentence that describes the
//! violation.

use reviver_isa::module::RealSystem;

use super::interpreter::interpreted;
use super::subject::{CallCell, CallKind, CallSubject, LaneWords};
use super::{CallAnswers, CallOutcome, ReadyCalls};
use crate::laws::text::inverse;
use crate::rng::Rng;

/// A law of calls, with its name.
#[derive(Clone, Copy)]
pub struct CallLaw {
    pub name: &'static str,
    /// Returns the second program that the law compares with. `None` if the law needs none, or if this program has
    /// none.
    pub other: fn(&CallSubject) -> Option<CallSubject>,
    pub check: fn(&CallCase) -> Result<Compared, String>,
}

/// Data for checking a law: the prepared program, and the second one if the law needs it.
#[derive(Clone, Copy)]
pub struct CallCase<'c> {
    pub subject: &'c CallSubject,
    pub ready: &'c dyn ReadyCalls,
    pub other: Option<(&'c CallSubject, &'c dyn ReadyCalls)>,
    /// Inputs for forward calls, one entry per lane.
    pub lanes: &'c [LaneWords],
}

/// Counts of a law's comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    /// Number of calls that were compared.
    pub calls: usize,
    /// Number of compared calls that the interpreter completes without a remark.
    pub due: usize,
    /// Number of calls that the engine executed itself, without delegating them to another engine.
    pub own: usize,
}

impl Compared {
    fn calls(calls: usize) -> Compared {
        Compared { calls, ..Compared::default() }
    }

    pub fn add(&mut self, other: Compared) {
        self.calls += other.calls;
        self.due += other.due;
        self.own += other.own;
    }
}

/// All laws of calls.
pub const ALL: &[CallLaw] = &[
    CallLaw { name: "calls equal those of the interpreter", other: |_| None, check: as_interpreted },
    CallLaw { name: "lanes are independent", other: |_| None, check: lanes_are_independent },
    CallLaw { name: "a backward call undoes a call", other: |_| None, check: back_undoes },
    CallLaw { name: "calls of the inverse program undo calls", other: inverted, check: inverse_undoes },
    CallLaw {
        name: "calls of the program inverted twice equal its own",
        other: inverted_twice,
        check: same_runs,
    },
    CallLaw {
        name: "unchecked calls have the same results",
        other: without_checks,
        check: unchecked_calls_agree,
    },
    CallLaw { name: "a gradient by few inputs equals that by all", other: confined, check: same_derivatives },
    CallLaw { name: "doubling a loss doubles its gradient", other: doubled, check: doubles },
    CallLaw {
        name: "the first row of a Jacobian is the gradient",
        other: |_| None,
        check: rows_are_gradients,
    },
];

/// Calls a prepared program and checks that it answers every lane. Returns `None` if it has no calls of this kind.
fn asked(ready: &dyn ReadyCalls, kind: CallKind, lanes: &[LaneWords]) -> Result<Option<CallAnswers>, String> {
    let Some(answers) = ready.call(kind, lanes) else { return Ok(None) };
    match answers.outcomes.len() == lanes.len() {
        true => Ok(Some(answers)),
        false => Err(format!("{kind:?}: {} answers for {} lanes", answers.outcomes.len(), lanes.len())),
    }
}

/// Law: each call has the interpreter's outcome: the bits of results, or the code and place of a trap.
fn as_interpreted(case: &CallCase) -> Result<Compared, String> {
    let mut compared = Compared::default();
    let kinds = [
        CallKind::Forward,
        CallKind::Backward,
        CallKind::Gradient,
        CallKind::Jacobian,
        CallKind::Hessian,
        CallKind::Tangents,
    ];
    for kind in kinds {
        let lanes = lanes_for(case, kind);
        let Some(answers) = asked(case.ready, kind, &lanes)? else { continue };
        let Some(expected) = interpreted(case.subject, kind, &lanes) else {
            return Err(format!("{kind:?}: the interpreter has no such calls"));
        };
        for (lane, (found, expected)) in answers.outcomes.iter().zip(&expected).enumerate() {
            if !found.agrees_with(expected) {
                let words = &lanes[lane];
                return Err(format!("{kind:?} of {words:x?} comes to {found:x?}, expected {expected:x?}"));
            }
        }
        compared.calls += lanes.len();
        compared.due += expected.iter().filter(|outcome| outcome.plain().is_some()).count();
        compared.own += lanes.len() - answers.by_others;
    }
    Ok(compared)
}

/// Returns the inputs for calls of a kind. Backward calls start from the results of forward calls. If a forward call
/// doesn't complete and all cells are both inputs and results, the backward call starts from the forward inputs.
fn lanes_for(case: &CallCase, kind: CallKind) -> Vec<LaneWords> {
    if kind != CallKind::Backward {
        return case.lanes.to_vec();
    }
    let ends = interpreted(case.subject, CallKind::Forward, case.lanes).unwrap_or_default();
    let is_open = case.subject.inputs == case.subject.results;
    let lanes = case.lanes.iter().zip(ends).filter_map(|(lane, end)| match end {
        CallOutcome::Done(result) => Some(result.words),
        _ => is_open.then(|| lane.clone()),
    });
    lanes.collect()
}

/// Law: the result of a lane doesn't depend on other lanes, their order, or their number.
fn lanes_are_independent(case: &CallCase) -> Result<Compared, String> {
    let mut calls = 0;
    for kind in [CallKind::Forward, CallKind::Gradient] {
        let Some(all) = asked(case.ready, kind, case.lanes)? else { continue };
        let backward: Vec<usize> = (0..case.lanes.len()).rev().collect();
        let few: Vec<usize> = (0..case.lanes.len()).step_by(5).collect();
        for order in [backward, few] {
            let lanes: Vec<LaneWords> = order.iter().map(|&n| case.lanes[n].clone()).collect();
            let Some(found) = asked(case.ready, kind, &lanes)? else { continue };
            for (&n, found) in order.iter().zip(&found.outcomes) {
                if *found != all.outcomes[n] {
                    let other = &all.outcomes[n];
                    return Err(format!("{kind:?}: lane {n} is {other:x?}, and elsewhere {found:x?}"));
                }
            }
            calls += order.len();
        }
    }
    Ok(Compared::calls(calls))
}

/// Returns the inputs and the results of forward calls that complete without a remark. Both lists are empty if a run
/// may lose bits, or if the program uses stacks or tapes.
fn exact_runs(case: &CallCase) -> Result<(Vec<LaneWords>, Vec<LaneWords>), String> {
    let none = (Vec::new(), Vec::new());
    if !case.subject.is_exact() {
        return Ok(none);
    }
    let Some(answers) = asked(case.ready, CallKind::Forward, case.lanes)? else { return Ok(none) };
    let plain =
        |(lane, outcome): (&LaneWords, &CallOutcome)| Some((lane.clone(), outcome.plain()?.words.clone()));
    Ok(case.lanes.iter().zip(&answers.outcomes).filter_map(plain).unzip())
}

/// Returns the results of calls. A call that doesn't complete is an error.
fn arrived(answers: &CallAnswers) -> Result<Vec<LaneWords>, String> {
    let words = |outcome: &CallOutcome| match outcome {
        CallOutcome::Done(result) => Ok(result.words.clone()),
        other => Err(format!("a call that must arrive comes to {other:?}")),
    };
    answers.outcomes.iter().map(words).collect()
}

/// Law: a backward call from the results restores the inputs.
fn back_undoes(case: &CallCase) -> Result<Compared, String> {
    let (lanes, results) = exact_runs(case)?;
    let Some(back) = asked(case.ready, CallKind::Backward, &results)? else { return Ok(Compared::default()) };
    equal(&arrived(&back)?, &lanes, "a call back finds other inputs")
}

fn equal(found: &[LaneWords], expected: &[LaneWords], what: &str) -> Result<Compared, String> {
    match found.iter().zip(expected).find(|(found, expected)| found != expected) {
        Some((found, expected)) => Err(format!("{what}: {found:x?}, expected {expected:x?}")),
        None => Ok(Compared::calls(expected.len())),
    }
}

fn inverted(subject: &CallSubject) -> Option<CallSubject> {
    // If the inverse doesn't assemble, another law reports that.
    subject.is_exact().then(|| CallSubject::new(&inverse(&subject.text).ok()?).ok())?
}

/// Law: a call of the inverse program, with the results as inputs, restores the inputs.
fn inverse_undoes(case: &CallCase) -> Result<Compared, String> {
    let Some((other, ready)) = case.other else { return Ok(Compared::default()) };
    let (lanes, results) = exact_runs(case)?;
    let results: Vec<LaneWords> =
        results.iter().map(|words| by_name(words, &case.subject.results, &other.inputs)).collect();
    let Some(undone) = asked(ready, CallKind::Forward, &results)? else { return Ok(Compared::default()) };
    let found: Vec<LaneWords> =
        arrived(&undone)?.iter().map(|words| by_name(words, &other.results, &case.subject.inputs)).collect();
    equal(&found, &lanes, "the inverse program finds other inputs")
}

/// Reorders `words` from the order of the cells `from` to that of the cells `to`. Cells correspond by their names.
fn by_name(words: &[u64], from: &[CallCell], to: &[CallCell]) -> Vec<u64> {
    let word = |cell: &CallCell| {
        let place = from.iter().position(|other| other.name == cell.name);
        place.map_or(0, |place| words[place])
    };
    to.iter().map(word).collect()
}

fn inverted_twice(subject: &CallSubject) -> Option<CallSubject> {
    let is_reversible = subject.program.module().code.iter().all(|i| i.update.is_reversible());
    is_reversible.then(|| CallSubject::new(&inverse(&inverse(&subject.text).ok()?).ok()?).ok())?
}

/// Law: calls of the second program give the same results as calls of the first one.
fn same_runs(case: &CallCase) -> Result<Compared, String> {
    let Some((other, ready)) = case.other else { return Ok(Compared::default()) };
    let Some(own) = asked(case.ready, CallKind::Forward, case.lanes)? else { return Ok(Compared::default()) };
    let lanes: Vec<LaneWords> =
        case.lanes.iter().map(|words| by_name(words, &case.subject.inputs, &other.inputs)).collect();
    let Some(found) = asked(ready, CallKind::Forward, &lanes)? else { return Ok(Compared::default()) };
    let words = |outcome: &CallOutcome| match outcome {
        CallOutcome::Done(result) => Some(result.words.clone()),
        _ => None,
    };
    for (own, found) in own.outcomes.iter().zip(&found.outcomes) {
        let found = words(found).map(|words| by_name(&words, &other.results, &case.subject.results));
        if words(own) != found {
            return Err(format!("the results are {found:x?}, expected {own:x?}"));
        }
    }
    Ok(Compared::calls(lanes.len()))
}

fn without_checks(subject: &CallSubject) -> Option<CallSubject> {
    subject.is_exact().then(|| subject.unchecked())
}

/// Law: if a checked call completes, the unchecked call gives the same result.
fn unchecked_calls_agree(case: &CallCase) -> Result<Compared, String> {
    let Some((_, ready)) = case.other else { return Ok(Compared::default()) };
    let mut calls = 0;
    for kind in [CallKind::Forward, CallKind::Gradient] {
        // Only lanes that complete in the checked call are tried, because in others the unchecked call may run
        // forever.
        let Some(own) = asked(case.ready, kind, case.lanes)? else { continue };
        let plain = own.outcomes.iter().zip(case.lanes).filter(|(outcome, _)| outcome.plain().is_some());
        let (own, lanes): (Vec<&CallOutcome>, Vec<LaneWords>) =
            plain.map(|(o, lane)| (o, lane.clone())).unzip();
        let Some(found) = asked(ready, kind, &lanes)? else { continue };
        for (own, found) in own.iter().zip(&found.outcomes) {
            if !found.agrees_with(own) {
                return Err(format!("{kind:?} unchecked is {found:x?}, checked {own:x?}"));
            }
        }
        calls += lanes.len();
    }
    Ok(Compared::calls(calls))
}

/// Returns two random real inputs, which may be the same. The law of confined gradients computes the derivatives with
/// respect to these inputs only. The random numbers are the same for every program, so a shrunk program violates the
/// law with the same numbers.
fn few(subject: &CallSubject) -> Vec<&CallCell> {
    let (mut rng, reals) = (Rng::new(1), subject.real_inputs().collect::<Vec<_>>());
    if reals.is_empty() { Vec::new() } else { (0..2).map(|_| *rng.pick(&reals)).collect() }
}

fn confined(subject: &CallSubject) -> Option<CallSubject> {
    let few = few(subject);
    (!few.is_empty() && !subject.program.names_adjoints()).then(|| subject.with_respect_to(&few))
}

/// Returns the gradients (value and derivatives) of both programs, for lanes in which both complete without a remark.
fn gradients(case: &CallCase) -> Result<Vec<(LaneWords, LaneWords)>, String> {
    let Some((other, ready)) = case.other else { return Ok(Vec::new()) };
    let is_plain = |subject: &CallSubject| {
        let outcomes = interpreted(subject, CallKind::Gradient, case.lanes).unwrap_or_default();
        outcomes.iter().map(|outcome| outcome.plain().is_some()).collect::<Vec<bool>>()
    };
    let (own, others) = (is_plain(case.subject), is_plain(other));
    let both = case.lanes.iter().zip(own.iter().zip(&others)).filter(|(_, (own, others))| **own && **others);
    let lanes: Vec<LaneWords> = both.map(|(lane, _)| lane.clone()).collect();
    let Some(own) = asked(case.ready, CallKind::Gradient, &lanes)? else { return Ok(Vec::new()) };
    let Some(others) = asked(ready, CallKind::Gradient, &lanes)? else { return Ok(Vec::new()) };
    Ok(arrived(&own)?.into_iter().zip(arrived(&others)?).collect())
}

/// Law: a gradient with respect to some inputs has the same derivatives as the gradient with respect to all inputs.
fn same_derivatives(case: &CallCase) -> Result<Compared, String> {
    let (few, gradients) = (few(case.subject), gradients(case)?);
    let chosen: Vec<usize> = (1..)
        .zip(case.subject.real_inputs())
        .filter(|(_, cell)| few.contains(cell))
        .map(|(n, _)| n)
        .collect();
    for (all, alone) in &gradients {
        if let Some(n) = chosen.iter().find(|&&n| all[n] != alone[n]) {
            return Err(format!("derivative {n} alone is {:x}, among all {:x}", alone[*n], all[*n]));
        }
    }
    Ok(Compared::calls(gradients.len()))
}

/// Name of the result that is added to a program: twice its first loss.
const DOUBLED: &str = "twice_the_loss";

fn doubled(subject: &CallSubject) -> Option<CallSubject> {
    let loss = &subject.losses.first()?.name;
    if matches!(subject.program.module().real, RealSystem::Fixed(_)) || subject.program.names_adjoints() {
        return None;
    }
    let mut lines: Vec<String> = subject.text.lines().map(str::to_owned).collect();
    let end = lines.iter().position(|line| line.starts_with(".proc")).unwrap_or(lines.len());
    lines.insert(end, format!("add.mul {DOUBLED}, {loss}, 2.0"));
    let declared = lines.iter().position(|line| line.starts_with(".inout "))?;
    lines.insert(declared, format!(".out {DOUBLED}: real"));
    let mut other = CallSubject::new(&(lines.join("\n") + "\n")).ok()?;
    other.losses = other.results.iter().filter(|cell| cell.name == DOUBLED).cloned().collect();
    (other.losses.len() == 1).then_some(other)
}

/// Tolerance for rounding in the reverse sweep, relative to the largest magnitude among the derivatives.
const ROUNDING: f64 = 1e-5;

/// Law: doubling the loss doubles the gradient.
fn doubles(case: &CallCase) -> Result<Compared, String> {
    let program = &case.subject.program;
    let number = |&bits: &u64| program.approximate(reviver_vm::values::Value::Real(bits));
    let digits = program.ulp(reviver_isa::number::literal_bits(program.module().real, 1.0)) / f64::EPSILON;
    let gradients = gradients(case)?;
    for (once, twice) in &gradients {
        let once: Vec<f64> = once.iter().map(|bits| 2.0 * number(bits)).collect();
        let twice: Vec<f64> = twice.iter().map(number).collect();
        let size = once[1..].iter().fold(0.0, |size: f64, component| size.max(component.abs()));
        let differs = |(a, b): (&f64, &f64)| (a - b).abs() > ROUNDING * digits.sqrt() * size;
        if once[0] != twice[0] || once[1..].iter().zip(&twice[1..]).any(differs) {
            return Err(format!("the gradient of the doubled loss is {twice:?}, expected {once:?}"));
        }
    }
    Ok(Compared::calls(gradients.len()))
}

/// Law: the first row of a Jacobian of several losses is the gradient of the first loss.
fn rows_are_gradients(case: &CallCase) -> Result<Compared, String> {
    let losses = case.subject.losses.len();
    if losses < 2 {
        return Ok(Compared::default());
    }
    let ends = interpreted(case.subject, CallKind::Jacobian, case.lanes).unwrap_or_default();
    let plain = case.lanes.iter().zip(&ends).filter(|(_, end)| end.plain().is_some());
    let lanes: Vec<LaneWords> = plain.map(|(lane, _)| lane.clone()).collect();
    let Some(rows) = asked(case.ready, CallKind::Jacobian, &lanes)? else { return Ok(Compared::default()) };
    let Some(single) = asked(case.ready, CallKind::Gradient, &lanes)? else { return Ok(Compared::default()) };
    let reals = case.subject.real_inputs().count();
    let row = |words: LaneWords| [&words[..1], &words[losses..losses + reals]].concat();
    let rows: Vec<LaneWords> = arrived(&rows)?.into_iter().map(row).collect();
    equal(&rows, &arrived(&single)?, "the first row of the Jacobian differs from the gradient")
}
