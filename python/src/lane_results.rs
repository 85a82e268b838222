//! Results of a batch: NumPy arrays with a first dimension for the lanes, sums, failures, and remarks about lanes.

use std::collections::BTreeMap;

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use reviver::{LaneNumbers, LaneResults, NotedLanes};

use crate::compiled::{Compiled, NamedCells, all_indices};
use crate::found::reals;

/// Returns result columns as a dictionary of arrays. The columns of all cells of an array become one array, whose name has no
/// indices.
pub fn grouped<'py>(
    py: Python<'py>,
    compiled: &Compiled,
    (columns, lanes): (Vec<(String, LaneNumbers)>, usize),
    results: &LaneResults,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (name, dimensions, columns) in groups(compiled, columns) {
        let reals = columns.iter().all(|column| matches!(column, LaneNumbers::Reals(_)));
        let array = if reals {
            let columns = columns.into_iter().filter_map(|column| match column {
                LaneNumbers::Reals(mut numbers) => {
                    // No number is better than a wrong one: a failed lane has no results.
                    for failure in results.failures() {
                        numbers
                            .get_mut(failure.lane as usize)
                            .into_iter()
                            .for_each(|number| *number = f64::NAN);
                    }
                    Some(numbers)
                }
                LaneNumbers::Ints(_) => None,
            });
            by_lanes(py, columns.collect(), lanes, &dimensions)?
        } else {
            let columns = columns.into_iter().filter_map(|column| match column {
                LaneNumbers::Ints(numbers) => Some(numbers),
                LaneNumbers::Reals(_) => None,
            });
            by_lanes(py, columns.collect(), lanes, &dimensions)?
        };
        found.set_item(name, array)?;
    }
    Ok(found)
}

type Group<T> = (String, Vec<usize>, Vec<T>);

/// Groups columns whose names differ only in their indices, if they are all columns of the declared arrays. Returns the
/// name, the dimensions, and the columns of each group.
fn groups<T>(compiled: &Compiled, columns: Vec<(String, T)>) -> Vec<Group<T>> {
    let mut order: Vec<String> = Vec::new();
    let mut groups: BTreeMap<String, Vec<(String, Vec<usize>, T)>> = BTreeMap::new();
    for (name, column) in columns {
        let (base, indices) = without_indices(&name);
        if !groups.contains_key(&base) {
            order.push(base.clone());
        }
        groups.entry(base).or_default().push((name, indices, column));
    }
    let mut found = Vec::new();
    for base in order {
        let group = groups.remove(&base).unwrap_or_default();
        let dimensions = declared_dimensions(compiled, &base);
        let is_whole = group.iter().map(|(_, indices, _)| indices).eq(all_indices(&dimensions).iter());
        if is_whole {
            found.push((base, dimensions, group.into_iter().map(|(_, _, column)| column).collect()));
        } else {
            found.extend(group.into_iter().map(|(name, _, column)| (name, Vec::new(), vec![column])));
        }
    }
    found
}

/// Returns the dimensions of a column's declarations: of `y` and `x` for the column `y/x` of a Jacobian.
fn declared_dimensions(compiled: &Compiled, base: &str) -> Vec<usize> {
    let names = base.split('/').map(|name| name.strip_suffix('\'').unwrap_or(name));
    let declared = names.filter_map(|name| compiled.cells.iter().find(|cells| cells.name == name));
    declared.flat_map(NamedCells::dimensions).collect()
}

/// Splits a name such as `M'[1,2]` or `y[0]/x[1]` into the name without indices, and the indices.
fn without_indices(name: &str) -> (String, Vec<usize>) {
    let (mut base, mut indices, mut rest) = (String::new(), Vec::new(), name);
    while let Some((before, after)) = rest.split_once('[') {
        let Some((inside, after)) = after.split_once(']') else { break };
        base.push_str(before);
        indices.extend(inside.split(',').filter_map(|index| index.parse::<usize>().ok()));
        rest = after;
    }
    base.push_str(rest);
    (base, indices)
}

/// Returns columns as an array with a first dimension for the lanes.
fn by_lanes<'py, T: Element + Copy>(
    py: Python<'py>,
    mut columns: Vec<Vec<T>>,
    lanes: usize,
    dimensions: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    if columns.len() == 1 && dimensions.is_empty() {
        return Ok(PyArray1::from_vec(py, columns.swap_remove(0)).into_any());
    }
    // In memory each column stays adjacent: the array is transposed.
    let array = PyArray1::from_vec(py, columns.concat());
    let reversed = dimensions.iter().rev().copied().collect::<Vec<_>>();
    if dimensions.len() == 1 {
        return array.reshape([reversed[0], lanes])?.call_method0("transpose");
    }
    let array = array.reshape([dimensions, &[lanes]].concat())?;
    let last = dimensions.len();
    let axes: Vec<usize> = std::iter::once(last).chain(0..last).collect();
    array.call_method1("transpose", (axes,))
}

/// Adds what a batch reports beside its numbers: sums, failures, and remarks about lanes.
pub fn remarks<'py>(
    py: Python<'py>,
    compiled: &Compiled,
    values: Bound<'py, PyDict>,
    results: LaneResults,
) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("reviver_vm.lanes")?.getattr("Lanes")?;
    let remarks = report(py, compiled, &[results])?;
    class.call((values,), Some(&remarks))
}

/// Returns the remarks of [`remarks`] as a dictionary. `blocks` are the results of a batch, in order.
pub fn report<'py>(
    py: Python<'py>,
    compiled: &Compiled,
    blocks: &[LaneResults],
) -> PyResult<Bound<'py, PyDict>> {
    let report = PyDict::new(py);
    let failures = blocks.iter().flat_map(LaneResults::failures).map(|failure| {
        let error = compiled.raised(py, &failure.error).into_value(py);
        error.bind(py).setattr("lane", failure.lane)?;
        Ok((failure.lane, error))
    });
    report.set_item("failures", PyList::new(py, failures.collect::<PyResult<Vec<_>>>()?)?)?;
    let last = blocks.last().map(|last| sums(py, compiled, last)).transpose()?;
    report.set_item("sums", last)?;
    let noted = |of: fn(&LaneResults) -> &NotedLanes| {
        let count: u64 = blocks.iter().map(|results| of(results).count).sum();
        let first = blocks.iter().find_map(|results| of(results).first.clone());
        (count, first)
    };
    report.set_item("recomputed", noted(LaneResults::recomputed))?;
    report.set_item("garbage", noted(LaneResults::leftovers))?;
    Ok(report)
}

/// Returns the sums over all lanes as a dictionary of numbers and arrays.
fn sums<'py>(py: Python<'py>, compiled: &Compiled, results: &LaneResults) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let sums = results.sums().iter().map(|sum| {
        let value = results.sum(&sum.name).map_err(|error| compiled.raised(py, &error))?;
        Ok((sum.name.clone(), value))
    });
    for (name, dimensions, values) in groups(compiled, sums.collect::<PyResult<Vec<_>>>()?) {
        found.set_item(name, reals(py, values, &dimensions)?)?;
    }
    Ok(found)
}
