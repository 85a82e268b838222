//! Expectations about derivatives: `;! grad y x=2 -> value~8 x~12`, `;! hessian y -> x,x~2`,
//! `;! jacobian -> y[0],x~3`. Every gradient is compared with tangents and differences besides.

use reviver_isa::Module;
use reviver_lab::engine::Engine;
use reviver_vm::differentiate::check::check as compare;
use reviver_vm::differentiate::matrices::{hessian_products, jacobian};
use reviver_vm::differentiate::{DifferentiateError, Gradient, Subject, Variable, gradient};
use reviver_vm::values::Value;

use super::given::Given;
use super::{Outcome, STEP_LIMIT, strategies};

/// Checks a line; `words` are those between the command and the arrow.
pub fn check(
    engine: Engine,
    command: &str,
    words: Vec<&str>,
    outcome: &Outcome,
    module: &Module,
) -> Result<(), String> {
    let line = Line::of(engine, command, words, module);
    match (line.and_then(|line| line.check(outcome.results())), outcome) {
        (Ok(()), Outcome::Results(_)) => Ok(()),
        (Err(Failure::Trap(found)), Outcome::Trap(text)) if found.contains(text) => Ok(()),
        (Err(Failure::Other(found)), Outcome::Error(text)) if found.contains(text) => Ok(()),
        (Err(Failure::Trap(found) | Failure::Other(found)), _) => Err(found),
        (Ok(()), Outcome::Trap(_)) => Err("it did not trap".into()),
        (Ok(()), Outcome::Error(_)) => Err("it was not refused".into()),
    }
}

enum Failure {
    Trap(String),
    Other(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Other(message)
    }
}

impl From<DifferentiateError> for Failure {
    fn from(error: DifferentiateError) -> Failure {
        match error {
            DifferentiateError::Trap { .. } => Failure::Trap(error.to_string()),
            _ => Failure::Other(error.to_string()),
        }
    }
}

enum Line {
    Grad { subject: Subject, loss: Variable },
    Hessian { subject: Subject, loss: Variable },
    Jacobian { subject: Subject },
}

impl Line {
    fn of(engine: Engine, command: &str, words: Vec<&str>, module: &Module) -> Result<Line, Failure> {
        let (names, given): (Vec<&str>, _) =
            words.into_iter().partition(|word| *word != "exact" && !word.contains('='));
        let given = Given { engine, words: given };
        let start = given.machine(module, false)?;
        let program = start.program().clone();
        let subject = Subject::new(program, start.into_state(), given.says("exact"), STEP_LIMIT)?;
        let subject = engine.differentiate(subject);
        match (command, &names[..]) {
            ("grad", [loss]) => Ok(Line::Grad { loss: one(&subject, loss)?, subject }),
            ("hessian", [loss]) => Ok(Line::Hessian { loss: one(&subject, loss)?, subject }),
            ("jacobian", []) => Ok(Line::Jacobian { subject }),
            _ => Err(Failure::Other("a line is `grad LOSS`, `hessian LOSS` or `jacobian`".into())),
        }
    }

    fn check(&self, results: &[&str]) -> Result<(), Failure> {
        match self {
            Line::Grad { subject, loss } => check_gradient(subject, loss, results),
            Line::Hessian { subject, loss } => {
                check_entries(subject, results, |rows, columns| hessian(subject, loss, rows, columns))
            }
            Line::Jacobian { subject } => {
                check_entries(subject, results, |rows, columns| Ok(jacobian(subject, rows, columns)?.rows))
            }
        }
    }
}

fn check_gradient(subject: &Subject, loss: &Variable, results: &[&str]) -> Result<(), Failure> {
    let gradient = gradient(subject, loss)?;
    for word in results {
        check_word(subject, &gradient, word)?;
    }
    let mended = gradient.trust.mended.as_ref();
    if mended.is_some() != results.contains(&"mended") {
        return Err(Failure::Other(format!("mended: {mended:?}")));
    }
    if !subject.exact && mended.is_none() && gradient.history_bytes != 0 {
        return Err(Failure::Other("a history was kept".into()));
    }
    strategies::agree(subject, loss, &gradient)?;
    let check = compare(subject, loss, &subject.inputs(), &gradient)?;
    match (check.agrees(), results.contains(&"disagrees")) {
        (true, false) | (false, true) => Ok(()),
        (true, true) => Err(Failure::Other("the gradient agrees with tangents and differences".into())),
        (false, false) => {
            let wrong = check.comparisons.into_iter().filter(|comparison| !comparison.agrees());
            let wrong: Vec<_> = wrong.collect();
            Err(Failure::Other(format!(
                "the check disagrees (say `disagrees` if a rule means it): {wrong:?}"
            )))
        }
    }
}

fn check_word(subject: &Subject, gradient: &Gradient, word: &str) -> Result<(), String> {
    let real = |bits: u64| subject.program.approximate(Value::Real(bits));
    match (word.split_once('~'), word.split_once('=')) {
        (Some(("value", expected)), _) => close(subject, "value", &[real(gradient.value)], expected),
        (Some(("tape", expected)), _) => {
            let found: Vec<f64> = gradient.adjoints.input.iter().rev().map(|&bits| real(bits)).collect();
            close(subject, "tape", &found, expected)
        }
        (Some((name, expected)), _) => {
            let found = subject.components(&gradient.adjoints, 0, &variables(subject, name)?).unwrap();
            close(subject, name, &found, expected)
        }
        (_, Some(("drops", expected))) => equal("drops", gradient.drops, expected),
        (_, Some(("reported", expected))) => {
            equal("reported", gradient.trust.reports.iter().count() as u64, expected)
        }
        _ if ["disagrees", "mended"].contains(&word) => Ok(()),
        _ => Err(format!("`{word}` means nothing")),
    }
}

/// Words like `x,y~0.5`: a row and a column, and what stands there (of arrays the block, row after row).
fn check_entries(
    subject: &Subject,
    results: &[&str],
    block: impl Fn(&[Variable], &[Variable]) -> Result<Vec<Vec<f64>>, Failure>,
) -> Result<(), Failure> {
    for word in results {
        let (names, expected) = word.split_once('~').ok_or(format!("`{word}` means nothing"))?;
        let comma = names.match_indices(',').find(|(at, _)| {
            let before = &names[..*at];
            before.matches('[').count() == before.matches(']').count()
        });
        let (row, column) =
            comma.map(|(at, _)| (&names[..at], &names[at + 1..])).ok_or(format!("`{names}` is no pair"))?;
        let found = block(&variables(subject, row)?, &variables(subject, column)?)?;
        close(subject, names, &found.concat(), expected)?;
    }
    Ok(())
}

fn hessian(
    subject: &Subject,
    loss: &Variable,
    rows: &[Variable],
    columns: &[Variable],
) -> Result<Vec<Vec<f64>>, Failure> {
    let inputs = subject.inputs();
    let unit = |row: &Variable| inputs.iter().map(|i| if i == row { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
    let directions: Vec<_> = rows.iter().map(unit).collect();
    let products = hessian_products(subject, loss, &inputs, &directions)?.products;
    let places: Option<Vec<usize>> =
        columns.iter().map(|column| inputs.iter().position(|i| i == column)).collect();
    let places = places.ok_or("the Hessian's rows and columns are inputs".to_owned())?;
    Ok(products.iter().map(|product| places.iter().map(|&n| product[n]).collect()).collect())
}

fn one(subject: &Subject, name: &str) -> Result<Variable, Failure> {
    match &variables(subject, name)?[..] {
        [variable] => Ok(variable.clone()),
        many => Err(Failure::Other(format!("`{name}` has {} cells", many.len()))),
    }
}

/// The cells of `x`, `A`, `A[3]` or `M[1,2]`.
fn variables(subject: &Subject, name: &str) -> Result<Vec<Variable>, String> {
    let base = name.split('[').next().unwrap_or_default();
    let (global, _) = subject.program.global(base).ok_or(format!("no cell `{base}`"))?;
    let mut variables = subject.variables(global).map_err(|error| error.to_string())?;
    if base != name {
        variables.retain(|variable| subject.name(variable) == name);
    }
    if variables.is_empty() { Err(format!("no cell `{name}`")) } else { Ok(variables) }
}

/// Within 1e-10 relative or 1e-14 absolute; number systems with fewer digits may be 1,000 units off.
fn close(subject: &Subject, name: &str, found: &[f64], expected: &str) -> Result<(), String> {
    let unit = 1000.0 * subject.program.ulp(subject.number(1.0));
    let (relative, absolute) = if unit < 1e-12 { (1e-10, 1e-14) } else { (unit.max(1e-10), unit) };
    let wanted: Vec<f64> = expected.split(',').map(|n| n.parse().unwrap_or(f64::NAN)).collect();
    let near = |(f, e): (&f64, &f64)| (f - e).abs() <= absolute.max(relative * e.abs());
    if found.len() == wanted.len() && found.iter().zip(&wanted).all(near) {
        Ok(())
    } else {
        Err(format!("{name} is {found:?}"))
    }
}

fn equal(what: &str, found: u64, expected: &str) -> Result<(), String> {
    if expected.parse() == Ok(found) { Ok(()) } else { Err(format!("{what} is {found}")) }
}
