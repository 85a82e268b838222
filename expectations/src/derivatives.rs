//! Expectations about derivatives: `grad y x=2 -> value~8 x~12`, `hessian y -> x,x~2`,
//! `jacobian -> y[0],x~3`. Every gradient is also compared with tangents and finite differences.

use reviver_isa::Module;
use reviver_vm::Travel;
use reviver_vm::differentiate::check::{Verdict, check as compare};
use reviver_vm::differentiate::matrices::{hessian_products, jacobian};
use reviver_vm::differentiate::{DifferentiateError, Gradient, Subject, Variable, gradient};
use reviver_vm::explain::Explanation;
use reviver_vm::values::Value;

use crate::assessment::{Mismatch, MissReason};
use crate::bounded::{go, is_meant, reported};
use crate::comparison;
use crate::given::{NoStart, ReadyProgram};
use crate::grammar::{DerivativeKind, DerivativeResult, ExpectedDerivative, ExpectedEnd};
use crate::settings::{CheckGradient, TestSettings};
use crate::words::counted;

/// The reason why derivatives can't be computed.
enum NoDerivatives {
    /// A trap in the primal or in the reverse sweep.
    Trap(Box<Explanation>),
    Other(MissReason, String),
}

impl From<DifferentiateError> for NoDerivatives {
    fn from(error: DifferentiateError) -> NoDerivatives {
        match error {
            DifferentiateError::Trap { explanation, .. } => NoDerivatives::Trap(explanation),
            DifferentiateError::StepLimit { .. } => {
                NoDerivatives::Other(MissReason::Steps, error.to_string())
            }
            DifferentiateError::NoMemory(_) => NoDerivatives::Other(MissReason::Memory, error.to_string()),
            _ => NoDerivatives::Other(MissReason::Value, error.to_string()),
        }
    }
}

impl From<NoStart> for NoDerivatives {
    fn from(error: NoStart) -> NoDerivatives {
        NoDerivatives::Other(error.reason(), error.to_string())
    }
}

impl NoDerivatives {
    fn miss(self, expected: impl Into<String>) -> Mismatch {
        match self {
            NoDerivatives::Trap(trap) => {
                Mismatch::new(expected, reported(&trap)).because(MissReason::Trap).trapped(Some(trap))
            }
            NoDerivatives::Other(reason, message) => Mismatch::new(expected, message).because(reason),
        }
    }
}

fn other(message: String) -> NoDerivatives {
    NoDerivatives::Other(MissReason::Value, message)
}

/// Checks an expectation about derivatives. Returns the mismatches; the list is empty if the expectation holds.
pub(crate) fn assess(
    line: &ExpectedDerivative,
    module: &Module,
    settings: &TestSettings<'_>,
) -> Vec<Mismatch> {
    let found = subject(line, module, settings).and_then(|subject| misses(line, &subject, settings));
    match (found, &line.end) {
        (Ok(misses), ExpectedEnd::Results(_)) => misses,
        (Err(NoDerivatives::Trap(trap)), ExpectedEnd::Trap(text)) if is_meant(&trap, text) => Vec::new(),
        (Err(NoDerivatives::Other(_, found)), ExpectedEnd::Refused(text)) if found.contains(text) => {
            Vec::new()
        }
        (Err(error), ExpectedEnd::Results(_)) => vec![error.miss("derivatives")],
        (Err(error), ExpectedEnd::Trap(text)) => vec![error.miss(format!("a trap with \"{text}\""))],
        (Err(error), ExpectedEnd::Refused(text)) => {
            vec![error.miss(format!("an error with \"{text}\""))]
        }
        (Ok(_), ExpectedEnd::Trap(text)) => {
            vec![Mismatch::new(format!("a trap with \"{text}\""), "a run without a trap")]
        }
        (Ok(_), ExpectedEnd::Refused(text)) => {
            vec![Mismatch::new(format!("an error with \"{text}\""), "no error")]
        }
    }
}

/// Returns the subject of differentiation. The history of a gradient has no memory limit. So if the line has the word
/// `exact`, this function first runs the program once within the limits.
fn subject(
    line: &ExpectedDerivative,
    module: &Module,
    settings: &TestSettings<'_>,
) -> Result<Subject, NoDerivatives> {
    let ready = ReadyProgram::new(module, &line.given, settings)?;
    let mut start = ready.machine(&line.given, Travel::Forward)?;
    let first = start.state().try_clone().map_err(DifferentiateError::NoMemory)?;
    if line.given.exact {
        go(&mut start, Travel::Forward, settings.limits).map_err(|halt| match halt.explanation() {
            Some(trap) => NoDerivatives::Trap(trap),
            None => NoDerivatives::Other(halt.reason(), halt.to_string()),
        })?;
    }
    let subject = Subject::new(ready.program, first, line.given.exact, settings.limits.max_steps)?;
    let subject = Subject { runner: ready.runner, interrupt: ready.interrupt, ..subject };
    Ok(subject.with_strategy_where_needed())
}

fn misses(
    line: &ExpectedDerivative,
    subject: &Subject,
    settings: &TestSettings<'_>,
) -> Result<Vec<Mismatch>, NoDerivatives> {
    let results = line.end.results();
    match &line.kind {
        DerivativeKind::Grad { loss } => {
            gradient_misses(subject, &one(subject, loss)?, results, settings.gradients)
        }
        DerivativeKind::Hessian { loss } => {
            let loss = one(subject, loss)?;
            entry_misses(subject, results, |rows, columns| hessian(subject, &loss, rows, columns))
        }
        DerivativeKind::Jacobian => {
            entry_misses(subject, results, |rows, columns| Ok(jacobian(subject, rows, columns)?.rows))
        }
    }
}

fn gradient_misses(
    subject: &Subject,
    loss: &Variable,
    results: &[DerivativeResult],
    check_gradient: &CheckGradient<'_>,
) -> Result<Vec<Mismatch>, NoDerivatives> {
    let gradient = gradient(subject, loss)?;
    let mut misses = Vec::new();
    for result in results {
        misses.extend(result_miss(subject, &gradient, result)?);
    }
    let recomputed = gradient.verification_report.recomputed.as_ref();
    match (recomputed, results.contains(&DerivativeResult::Mended)) {
        (Some(why), false) => {
            misses.push(Mismatch::new(
                "a reverse sweep without a history",
                format!("a reverse sweep repeated with a history: {why}"),
            ));
        }
        (None, true) => {
            misses.push(Mismatch::new("a reverse sweep repeated with a history", "no repetition"))
        }
        (Some(_), true) | (None, false) => {}
    }
    if !subject.exact && recomputed.is_none() && gradient.history_bytes != 0 {
        misses.push(Mismatch::new("0 bytes of history", counted(gradient.history_bytes as u64, "byte")));
    }
    misses.extend(check_gradient(subject, loss, &gradient));
    misses.extend(disagreement(subject, loss, &gradient, results.contains(&DerivativeResult::Disagrees))?);
    Ok(misses)
}

/// Compares the gradient with dual numbers and finite differences. Returns a mismatch if they differ, unless the line
/// expects a difference (`is_meant`).
fn disagreement(
    subject: &Subject,
    loss: &Variable,
    gradient: &Gradient,
    is_meant: bool,
) -> Result<Option<Mismatch>, NoDerivatives> {
    let inputs = subject.inputs();
    let check = compare(subject, &subject.seeds_of(loss)?, &inputs, gradient)?;
    // At a kink no derivative exists, and the gradient is that of one side. The verdict is `NotVerified` then, and not
    // `Differs`.
    let differs = check.verdict() == Verdict::Differs;
    Ok(match (differs, is_meant) {
        (false, false) | (true, true) => None,
        (false, true) => Some(Mismatch::new("a gradient that differs from the derivative", "the derivative")),
        (true, false) => {
            let wrong =
                check.comparisons.iter().filter(|comparison| comparison.verdict() == Verdict::Differs);
            let wrong: Vec<String> = wrong.map(|comparison| format!("{comparison:?}")).collect();
            let expected = "the derivative, as computed by tangents and differences (write `disagrees` if the rule is meant to differ)";
            Some(Mismatch::new(expected, wrong.join("; ")))
        }
    })
}

fn result_miss(
    subject: &Subject,
    gradient: &Gradient,
    result: &DerivativeResult,
) -> Result<Option<Mismatch>, NoDerivatives> {
    let real = |bits: u64| subject.program.approximate(Value::Real(bits));
    Ok(match result {
        DerivativeResult::Value(expected) => {
            let values: Vec<f64> = gradient.values.iter().map(|&bits| real(bits)).collect();
            close(subject, "value", &values, expected)
        }
        DerivativeResult::Tape(expected) => {
            let found: Vec<f64> = gradient.adjoints.input.iter().rev().map(|&bits| real(bits)).collect();
            close(subject, "tape", &found, expected)
        }
        DerivativeResult::By { name, values } => {
            let variables = variables(subject, name)?;
            let found = subject.components(&gradient.adjoints, 0, &variables);
            close(subject, name, &found.map_err(DifferentiateError::NoMemory)?, values)
        }
        DerivativeResult::Drops(expected) => count("drops", gradient.drops, *expected),
        DerivativeResult::Reported(expected) => {
            count("reported", gradient.verification_report.reports.iter().count() as u64, *expected)
        }
        DerivativeResult::Disagrees | DerivativeResult::Mended | DerivativeResult::Entry { .. } => None,
    })
}

/// Compares the entries of a Jacobian or a Hessian. For a pair of arrays, the entries are a block of the matrix.
fn entry_misses(
    subject: &Subject,
    results: &[DerivativeResult],
    block: impl Fn(&[Variable], &[Variable]) -> Result<Vec<Vec<f64>>, NoDerivatives>,
) -> Result<Vec<Mismatch>, NoDerivatives> {
    let mut misses = Vec::new();
    for result in results {
        if let DerivativeResult::Entry { row, column, values } = result {
            let found = block(&variables(subject, row)?, &variables(subject, column)?)?;
            misses.extend(close(subject, &format!("{row},{column}"), &found.concat(), values));
        }
    }
    Ok(misses)
}

fn hessian(
    subject: &Subject,
    loss: &Variable,
    rows: &[Variable],
    columns: &[Variable],
) -> Result<Vec<Vec<f64>>, NoDerivatives> {
    let inputs = subject.inputs();
    let unit = |row: &Variable| inputs.iter().map(|i| if i == row { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
    let directions: Vec<_> = rows.iter().map(unit).collect();
    let products = hessian_products(subject, &subject.seeds_of(loss)?, &inputs, &directions)?.products;
    let places: Option<Vec<usize>> =
        columns.iter().map(|column| inputs.iter().position(|input| input == column)).collect();
    let places = places.ok_or_else(|| {
        other("an entry that isn't for two inputs: name an input for its row and for its column".to_owned())
    })?;
    let row = |product: &Vec<f64>| places.iter().filter_map(|&n| product.get(n).copied()).collect();
    Ok(products.iter().map(row).collect())
}

fn one(subject: &Subject, name: &str) -> Result<Variable, NoDerivatives> {
    match &variables(subject, name)?[..] {
        [variable] => Ok(variable.clone()),
        many => Err(other(format!("`{name}` has {} cells", many.len()))),
    }
}

/// Returns the variables that a name denotes: `x`, `A`, `A[3]` or `M[1,2]`.
fn variables(subject: &Subject, name: &str) -> Result<Vec<Variable>, NoDerivatives> {
    let unknown = || NoDerivatives::Other(MissReason::MissingCell, format!("no cell `{name}`"));
    let base = name.split('[').next().unwrap_or_default();
    let (global, _) = subject.program.global(base).ok_or_else(unknown)?;
    let mut variables = subject.variables(global)?;
    if base != name {
        variables.retain(|variable| subject.name(variable) == name);
    }
    if variables.is_empty() { Err(unknown()) } else { Ok(variables) }
}

/// Compares numbers within a tolerance: relative 1e-10, or absolute 1e-14. In number systems with fewer digits, the
/// tolerance is 1,000 units in the last place.
fn close(subject: &Subject, name: &str, found: &[f64], expected: &[f64]) -> Option<Mismatch> {
    let unit = 1000.0 * subject.program.ulp(subject.number(1.0));
    let (relative, absolute) = if unit < 1e-12 { (1e-10, 1e-14) } else { (unit.max(1e-10), unit) };
    comparison::close(name, found, expected, |found, wanted| {
        (found - wanted).abs() <= absolute.max(relative * wanted.abs())
    })
}

fn count(what: &str, found: u64, expected: u64) -> Option<Mismatch> {
    (found != expected).then(|| Mismatch::new(format!("{what} = {expected}"), format!("{what} = {found}")))
}
