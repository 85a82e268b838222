//! The programs in `tests/tangent/` compute values and gradients with a relative error of at most 1e-13, and restore
//! their inputs, on every engine. The page `tests/tangent/README.md` explains where the expected numbers come from.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use reviver_assembler::files::Disk;
use reviver_expectations::assessment::Mismatch;
use reviver_expectations::examine;
use reviver_expectations::expected::{Expectations, ExpectedLine};
use reviver_expectations::grammar::{DerivativeResult, Expectation, ExpectedEnd};
use reviver_expectations::program::ProgramUnderTest;
use reviver_expectations::settings::TestSettings;
use reviver_lab::engine::{self, Engine};
use reviver_lab::tree::in_tree;
use reviver_vm::differentiate::{Gradient, Subject, Variable};
use reviver_vm::values::Value;

use super::{assert_formatted, programs, reported};

/// Greatest relative error of a value or derivative. An expected 0 must be found exactly.
const RELATIVE: f64 = 1e-13;
/// Number of functions in Tangent's file of test functions.
const FUNCTIONS: usize = 142;

#[test]
fn gradients_are_right_to_13_digits() {
    let programs = programs("tests/tangent");
    let page = std::fs::read_to_string(in_tree("tests/tangent/README.md")).unwrap();
    let count = format!("{} of the {FUNCTIONS} functions", programs.len());
    assert!(page.contains(&count), "tests/tangent/README.md doesn't say: {count}");
    programs.iter().for_each(|path| assert_formatted(path));
    let mut failures = Vec::new();
    for (engine, path) in
        engine::ALL.iter().flat_map(|engine| programs.iter().map(move |path| (engine, path)))
    {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let found = failures_on(*engine, path);
        failures.extend(found.into_iter().map(|reason| format!("{name} on {}: {reason}", engine.name)));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn failures_on(engine: Engine, path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.display().to_string();
    let program = ProgramUnderTest::assemble(&name, text.clone().into_bytes(), &Disk);
    let mut failures: Vec<String> =
        program.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect();
    let inputs = Cell::new(0);
    // Numbers in all lines with the same loss and the same inputs, by the text before the arrow.
    let mut rows: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines(&name, &text) {
        let results = results(&line);
        let settings = TestSettings {
            prepare: &|program| Ok((engine.prepare)(program)),
            gradients: &|subject: &Subject, _: &Variable, gradient: &Gradient| {
                inputs.set(subject.inputs().len());
                results.iter().find_map(|result| imprecision(subject, gradient, result))
            },
            ..TestSettings::interpreted()
        };
        if !results.is_empty() {
            let row = line.text.split("->").next().unwrap_or_default().trim().to_owned();
            *rows.entry(row).or_default() += results.iter().map(numbers).sum::<usize>();
        }
        let alone = Expectations { name: name.clone(), lines: vec![line] };
        let assessed = examine(&program, &alone, &Disk, &settings);
        failures.extend(assessed.iter().filter(|line| !line.is_met()).map(reported));
    }
    let is_complete = |found: usize| found == 1 + inputs.get();
    failures.extend(
        rows.iter()
            .filter(|(_, found)| !is_complete(**found))
            .map(|(row, found)| format!("`{row}` has {found} numbers of {}", 1 + inputs.get())),
    );
    if rows.len() < 2 {
        failures.push("the header has fewer than two rows".to_owned());
    }
    failures
}

/// Returns the lines of a header. For the inputs of each gradient, a line is added that runs the program and keeps
/// residues, so that the start must be restored bit for bit.
fn lines(name: &str, text: &str) -> Vec<ExpectedLine> {
    let mut lines = Expectations::of(name, text).lines;
    let inputs = lines.iter().filter_map(|line| {
        let (row, _) = line.text.strip_prefix("grad ")?.split_once("->")?;
        Some(row.split_once(' ')?.1.trim())
    });
    let inputs: BTreeSet<&str> = inputs.collect();
    let runs: String = inputs.iter().map(|inputs| format!(";! run {inputs} exact ->\n")).collect();
    lines.extend(Expectations::of(name, &runs).lines);
    lines
}

/// Returns the expected numbers of a line about a gradient.
fn results(line: &ExpectedLine) -> Vec<DerivativeResult> {
    match &line.read {
        Ok(Expectation::Derivative(derivative)) => match &derivative.end {
            ExpectedEnd::Results(results) => results.clone(),
            ExpectedEnd::Trap(_) | ExpectedEnd::Refused(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns the number of numbers in a word of a line.
fn numbers(result: &DerivativeResult) -> usize {
    match result {
        DerivativeResult::Value(values) | DerivativeResult::By { values, .. } => values.len(),
        _ => 0,
    }
}

/// Returns a mismatch if a number of the gradient differs too much from the expected number.
fn imprecision(subject: &Subject, gradient: &Gradient, result: &DerivativeResult) -> Option<Mismatch> {
    let (what, found, expected) = match result {
        DerivativeResult::Value(expected) => {
            let values = gradient.values.iter();
            let found = values.map(|&bits| subject.program.approximate(Value::Real(bits))).collect();
            ("value", found, expected)
        }
        DerivativeResult::By { name, values } => {
            let (global, _) = subject.program.global(name.split('[').next()?)?;
            let mut variables = subject.variables(global).ok()?;
            variables.retain(|variable| !name.contains('[') || subject.name(variable) == *name);
            (name.as_str(), subject.components(&gradient.adjoints, 0, &variables).ok()?, values)
        }
        _ => return None,
    };
    let found: Vec<f64> = found;
    let is_close = |(found, expected): (&f64, &f64)| (found - expected).abs() <= RELATIVE * expected.abs();
    let is_right = found.len() == expected.len() && found.iter().zip(expected).all(is_close);
    (!is_right)
        .then(|| Mismatch::new(format!("{what} ~ {expected:?} to 13 digits"), format!("{what} = {found:?}")))
}
