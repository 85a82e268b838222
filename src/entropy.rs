//! How much a program loses of a distribution of inputs: their entropy, and that of what they lead to. What a run ends with is a function of
//! its inputs, so the difference is what it has forgotten of them, however it did so. Knows no heat.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use reviver_vm::digest::{Digest, value_digest};
use reviver_vm::{Program, Travel};

use crate::account::Entropy;
use crate::cli::{AccountOptions, Start};
use crate::failure::{Failure, Fallible, counted};
use crate::journey::{self, RunWay, Shows};
use crate::lanes::delimiter;
use crate::{ended, engine, read, start};

/// Inputs that may come, and how likely that is.
struct Case {
    sets: Vec<String>,
    weight: f64,
}

/// The entropy of the distribution that is asked for, if one is.
pub fn of(options: &Start, account: &AccountOptions, program: &Arc<Program>) -> Fallible<Option<Entropy>> {
    let Some(path) = &account.inputs else { return Ok(None) };
    let cases = cases(path, program)?;
    let runner = engine::runner(options, program)?;
    let (mut inputs, mut results): (HashMap<Digest, f64>, HashMap<Digest, f64>) = Default::default();
    for (n, case) in cases.iter().enumerate() {
        let mut machine = start::begun_with(&options.given, &case.sets, program, Travel::Forward)?.machine;
        *inputs.entry(value_digest(program, machine.state())).or_default() += case.weight;
        runner.iter().for_each(|runner| machine.run_by(runner.clone()));
        let mut course = journey::begin(machine, None, Travel::Forward)?;
        let way = RunWay { limit: options.max_steps, shows: Shows::Dropped, follower: None };
        let ending = journey::go(way, &mut course, Travel::Forward)?;
        ended::verdict(&options.given.file, &format!(" with the inputs of case {}", n + 1), &ending)?;
        *results.entry(value_digest(program, course.machine().state())).or_default() += case.weight;
    }
    Ok(Some(Entropy { cases: cases.len(), inputs: entropy(&inputs), results: entropy(&results) }))
}

/// The entropy of weights, in bits.
fn entropy(weights: &HashMap<Digest, f64>) -> f64 {
    // Their sum may be greater than any number, that of their shares of the greatest isn't.
    let most = weights.values().copied().fold(0.0, f64::max);
    let sum: f64 = weights.values().map(|weight| weight / most).sum();
    let shares = weights.values().map(|weight| weight / most / sum).filter(|share| *share > 0.0);
    let mut terms: Vec<f64> = shares.map(|p| -p * p.log2()).collect();
    // In an order of their own, so that the sum is the same each time.
    terms.sort_by(f64::total_cmp);
    // Certainty has no sign.
    terms.into_iter().sum::<f64>() + 0.0
}

/// The lines of a file. The names stand on top.
fn cases(path: &Path, program: &Program) -> Fallible<Vec<Case>> {
    let (text, name) = (read::text(path)?, read::shown(path));
    let mut builder = csv::ReaderBuilder::new();
    let mut reader =
        builder.trim(csv::Trim::All).delimiter(delimiter(text.as_bytes())).from_reader(text.as_bytes());
    let unreadable = |error: csv::Error| Failure::usage(format_args!("{name}: {error}"));
    let names = reader.headers().map_err(unreadable)?.clone();
    let mut cases = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        let mut case = Case { sets: Vec::new(), weight: 1.0 };
        let mut arrays: BTreeMap<&str, BTreeMap<Vec<usize>, &str>> = BTreeMap::new();
        for (cell, value) in names.iter().zip(&record) {
            match (cell, element(cell)) {
                ("weight", _) => case.weight = weight(&name, line, value)?,
                (_, Some((array, index))) => _ = arrays.entry(array).or_default().insert(index, value),
                (cell, None) => case.sets.push(format!("{cell}={value}")),
            }
        }
        for (array, elements) in arrays {
            // Of one value every cell would get it.
            let declared = program.global(array).map(|(_, global)| global.shape.cells());
            let are_few = declared.is_some_and(|declared| (elements.len() as u64) < declared);
            if are_few || !are_all(elements.keys()) {
                return Err(Failure::usage(format_args!("{name}: elements of `{array}` are missing"))
                    .help(format_args!("each element has a column, `{array}[0]` and so on, or none has")));
            }
            let values: Vec<&str> = elements.into_values().collect();
            case.sets.push(format!("{array}={}", values.join(",")));
        }
        if case.weight > 0.0 {
            cases.push(case);
        }
    }
    match cases.len() {
        0 => Err(Failure::usage(format_args!("{name}: {} that may come", counted(0, "case")))
            .help("each line below the names is a case: `a,b,weight`, `1,0,0.25`")),
        _ => Ok(cases),
    }
}

/// The array and the indices of `A[3]` or `M[1,2]`.
fn element(cell: &str) -> Option<(&str, Vec<usize>)> {
    let (array, indices) = cell.strip_suffix(']')?.split_once('[')?;
    let indices: Option<Vec<usize>> = indices.split(',').map(|index| index.trim().parse().ok()).collect();
    Some((array, indices?))
}

/// Whether the indices, in their order, are those of all elements of a vector, or of a matrix, row after row.
fn are_all<'i>(indices: impl Iterator<Item = &'i Vec<usize>> + Clone) -> bool {
    let columns = indices.clone().filter_map(|index| index.get(1)).max().map_or(0, |last| last + 1);
    indices.enumerate().all(|(n, index)| match **index {
        [own] => own == n && columns == 0,
        [row, column] => columns > 0 && (row, column) == (n / columns, n % columns),
        _ => false,
    })
}

fn weight(file: &str, line: u64, text: &str) -> Fallible<f64> {
    let weight = text.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
    weight.ok_or_else(|| {
        Failure::usage(format_args!("{file}:{line}: `{text}` is no weight"))
            .help("a weight is a number, 0 or more")
    })
}
