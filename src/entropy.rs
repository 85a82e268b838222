//! Information that a program loses for a distribution of inputs: entropy of the inputs minus entropy of the end states.
//! The end state is a function of the input, so the run erases exactly this information. Another module computes the
//! heat.
//!
//! The garbage is a function of the input, too. So its entropy is the information that it has about the input. The mutual
//! information of results and garbage is the sum of their entropies minus the entropy of both together (Shannon, "A
//! mathematical theory of communication", 1948).

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use reviver_isa::module::Shape;
use reviver_vm::digest::{Digest, result_digests, value_digest};
use reviver_vm::{Program, Travel};

use crate::account::Entropy;
use crate::cli::{AccountOptions, Start};
use crate::failure::{Failure, Fallible};
use crate::run_to_end::{self, RunToEnd, Shows};
use crate::table::lines::{TableLines, shown_field};
use crate::table::{named, no_number};
use crate::{ended, engine, read, start};

/// Possible input with its weight.
struct Case {
    /// Names with the values of their cells.
    sets: Vec<(String, Vec<String>)>,
    weight: f64,
}

/// Returns the entropies of inputs and results for the distribution in the file of `--inputs`. `None` without that
/// option.
pub fn of(options: &Start, account: &AccountOptions, program: &Arc<Program>) -> Fallible<Option<Entropy>> {
    let Some(path) = &account.inputs else { return Ok(None) };
    let cases = cases(path, program)?;
    let runner = engine::runner(options, program)?;
    let mut inputs: HashMap<Digest, f64> = HashMap::new();
    let mut states: HashMap<Digest, f64> = HashMap::new();
    let (mut results, mut garbage) = (states.clone(), states.clone());
    for (n, case) in cases.iter().enumerate() {
        let mut machine = start::begun_with(&options.given, &case.sets, program, Travel::Forward)?.machine;
        *inputs.entry(value_digest(program, machine.state())).or_default() += case.weight;
        runner.iter().for_each(|runner| machine.run_by(runner.clone()));
        let mut checkpointed_run = run_to_end::begin(machine, None, Travel::Forward)?;
        let to_end = RunToEnd { limit: options.max_steps, shows: Shows::Dropped, observer: None };
        let ending = run_to_end::go(to_end, &mut checkpointed_run, Travel::Forward)?;
        ended::verdict(&options.given.file, &format!(" with the inputs of case {}", n + 1), &ending)?;
        let state = checkpointed_run.machine().state();
        let (of_results, of_garbage) = result_digests(program, state);
        *states.entry(value_digest(program, state)).or_default() += case.weight;
        *results.entry(of_results).or_default() += case.weight;
        *garbage.entry(of_garbage).or_default() += case.weight;
    }
    let [inputs, states, results, garbage] = [inputs, states, results, garbage].map(|it| entropy(&it));
    Ok(Some(Entropy { cases: cases.len(), inputs, states, results, garbage }))
}

/// Returns the entropy of a weighted distribution, in bits.
fn entropy(weights: &HashMap<Digest, f64>) -> f64 {
    // Dividing by the largest weight prevents overflow of the sum.
    let most = weights.values().copied().fold(0.0, f64::max);
    let sum: f64 = weights.values().map(|weight| weight / most).sum();
    let shares = weights.values().map(|weight| weight / most / sum).filter(|share| *share > 0.0);
    let mut terms: Vec<f64> = shares.map(|p| -p * p.log2()).collect();
    // Sorted terms make the sum independent of the hash map's order.
    terms.sort_by(f64::total_cmp);
    // Adding 0 turns -0 into 0.
    terms.into_iter().sum::<f64>() + 0.0
}

/// Reads the weighted inputs of a CSV file: a header line, then one input per line.
fn cases(path: &Path, program: &Program) -> Fallible<Vec<Case>> {
    let name = read::shown(path);
    let mut lines = TableLines::new(name.clone(), Cursor::new(read::data(path)?));
    let names = if lines.first()? { named::names(&mut lines)? } else { Vec::new() };
    let mut cases = Vec::new();
    while lines.next()? {
        named::number_count(&mut lines, names.len())?;
        let mut case = Case { sets: Vec::new(), weight: 1.0 };
        let mut arrays: BTreeMap<&str, BTreeMap<Vec<usize>, String>> = BTreeMap::new();
        for (n, (cell, value)) in names.iter().zip(lines.fields()).enumerate() {
            match (cell.as_str(), element(cell)) {
                ("weight", _) => case.weight = weight(&lines, n, value)?,
                (_, Some((array, index))) => {
                    check(program, array, (cell, value), |what| lines.fault(Some(n), what))?;
                    arrays.entry(array).or_default().insert(index, value.to_owned());
                }
                (cell, None) => case.sets.push((
                    cell.to_owned(),
                    values(program, (cell, value), |what| lines.fault(Some(n), what))?,
                )),
            }
        }
        for (array, elements) in arrays {
            // Setting an array to a single value would fill every cell, so an array needs as many values as it has
            // cells.
            let declared = program.global(array).map(|(_, global)| global.shape.cells());
            let are_few = declared.is_some_and(|declared| (elements.len() as u64) < declared);
            if are_few || !are_all(elements.keys()) {
                return Err(Failure::usage(format_args!("{name}: elements of `{array}` are missing"))
                    .help(format_args!("add a column for each element: `{array}[0]` and so on")));
            }
            case.sets.push((array.to_owned(), elements.into_values().collect()));
        }
        if case.weight > 0.0 {
            cases.push(case);
        }
    }
    match cases.len() {
        0 => Err(Failure::usage(format_args!("{name}: no case has a weight above 0"))
            .help("write a case in each line below the names: `a,b,weight`, `1,0,0.25`")),
        _ => Ok(cases),
    }
}

/// Returns the values of a field. The field of a cell has one value. The field of an array or a stack has a
/// comma-separated list, in row-major order.
fn values(
    program: &Program,
    (cell, text): (&str, &str),
    fault: impl Fn(&str) -> Failure,
) -> Fallible<Vec<String>> {
    let is_one = program.global(cell).is_none_or(|(_, global)| global.shape == Shape::Scalar);
    let values: Vec<String> = match is_one || text.is_empty() {
        true => vec![text.to_owned()],
        false => text.split(',').map(|value| value.trim().to_owned()).collect(),
    };
    let is_empty_stack = !is_one && text.is_empty();
    for value in values.iter().filter(|_| !is_empty_stack) {
        check(program, cell, (cell, value), &fault)?;
    }
    Ok(values)
}

/// Checks that a text is a valid number for a global's class. An unknown name passes; a later check refuses it with
/// advice.
fn check(
    program: &Program,
    global: &str,
    (cell, text): (&str, &str),
    fault: impl FnOnce(&str) -> Failure,
) -> Fallible {
    let Some((_, declared)) = program.global(global) else { return Ok(()) };
    program.parse(declared.class, text).map(drop).map_err(|error| no_number(program, cell, error, fault))
}

/// Splits `A[3]` or `M[1,2]` into array and indices.
fn element(cell: &str) -> Option<(&str, Vec<usize>)> {
    let (array, indices) = cell.strip_suffix(']')?.split_once('[')?;
    let indices: Option<Vec<usize>> = indices.split(',').map(|index| index.trim().parse().ok()).collect();
    Some((array, indices?))
}

/// Returns true if the indices cover an array completely and in order: 0, 1, 2, … for a vector, row-major for a
/// matrix.
fn are_all<'i>(indices: impl Iterator<Item = &'i Vec<usize>> + Clone) -> bool {
    let columns = indices.clone().filter_map(|index| index.get(1)).max().map_or(0, |last| last + 1);
    indices.enumerate().all(|(n, index)| match **index {
        [own] => own == n && columns == 0,
        [row, column] => columns > 0 && (row, column) == (n / columns, n % columns),
        _ => false,
    })
}

fn weight(lines: &TableLines<'_>, field: usize, text: &str) -> Fallible<f64> {
    let weight = text.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
    weight.ok_or_else(|| {
        lines
            .fault(Some(field), &format!("`{}` is no weight", shown_field(text)))
            .help("write a number as the weight, 0 or more")
    })
}
