//! Batches: a program for many lanes at once. Inputs and results have a first dimension with an entry for each lane.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use numpy::ndarray::{ArrayViewD, Axis};
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};
use reviver::batch::plan::LaneTask;
use reviver::{
    Batch, BatchOptions, Device, Error, LaneInputs, LaneNumbers, LaneResults, NotedLanes, RealCells,
};
use reviver_isa::module::Shape;

use crate::arrow;
use crate::compiled::{Cells, Compiled, NamedCells};
use crate::errors::{raised, unfit};
use crate::given::{Numbers, int_array, numbers, numpy, readable, real_array, shape_text};
use crate::patient::patiently;

/// Arguments of `Program.batch`.
pub struct BatchRequest<'py, 'a> {
    pub shared: Option<Bound<'py, PyMapping>>,
    pub grad: Option<String>,
    pub jacobian: Option<Vec<String>>,
    pub hessian: Option<String>,
    pub wrt: Option<Vec<String>>,
    pub back: bool,
    pub device: &'a str,
    pub threads: Option<usize>,
    pub keep_going: bool,
}

/// Runs a batch on lanes in a mapping of NumPy arrays, or in an Arrow table.
pub fn run<'py>(
    py: Python<'py>,
    compiled: &Compiled,
    lanes: &Bound<'py, PyAny>,
    request: BatchRequest<'py, '_>,
) -> PyResult<Bound<'py, PyAny>> {
    let error = |error| compiled.raised(py, &error);
    if request.wrt.as_ref().is_some_and(Vec::is_empty) {
        return Err(unfit(py, "`wrt` has no names", "name inputs, or leave out `wrt` for all real inputs"));
    }
    let task = task(compiled, &request).map_err(error)?.ok_or_else(|| {
        let cause = "several of `grad`, `jacobian`, `hessian` and `back` are given";
        unfit(py, cause, "choose one of them")
    })?;
    let stop = Arc::<AtomicBool>::default();
    let options = BatchOptions {
        most_steps: compiled.most_steps(),
        keeps_going: request.keep_going,
        interrupt: Some(Arc::clone(&stop)),
        ..BatchOptions::default()
    };
    let device = device(py, &request)?;
    let batch = Batch::new(&compiled.executable, device).with(options);
    let shared = shared(compiled, request.shared.as_ref())?;
    if arrow::is_arrow(lanes)? {
        return arrow::run(py, compiled, (&batch, task), &shared, (lanes, &stop));
    }
    let given = LaneArrays::of(compiled, lanes.cast::<PyMapping>()?)?;
    if given.arrays.is_empty() {
        return Err(unfit(
            py,
            "no input has lanes",
            "give an array for each lane, or call the program itself",
        ));
    }
    let inputs = with_shared(given.inputs(), &shared);
    let columns: Vec<&str> = given.columns.iter().map(|column| column.name.as_str()).collect();
    let outcome = patiently(py, &stop, || batch.prepare(task, &columns, &inputs)?.begin().lanes_of(&inputs))?;
    let mut results = outcome.map_err(error)?;
    let numbers = results.take_columns();
    let values = grouped(py, compiled, (numbers, given.lanes), &results)?;
    remarks(py, compiled, values, results)
}

/// Returns what each lane computes; `None` if the arguments ask for several things.
fn task(compiled: &Compiled, request: &BatchRequest<'_, '_>) -> Result<Option<LaneTask>, Error> {
    let reals = |names: &[String]| -> Result<Vec<RealCells>, Error> {
        names.iter().map(|name| compiled.reals(name)).collect()
    };
    let by = reals(request.wrt.as_deref().unwrap_or_default())?;
    let loss = |name: &String| compiled.executable.loss(name);
    Ok(match (&request.grad, &request.jacobian, &request.hessian, request.back) {
        (None, None, None, false) => Some(LaneTask::Run),
        (None, None, None, true) => Some(LaneTask::Back),
        (Some(name), None, None, false) => Some(LaneTask::Gradient { loss: loss(name)?, by }),
        (None, Some(names), None, false) => Some(LaneTask::Jacobian { of: reals(names)?, by }),
        (None, None, Some(name), false) => Some(LaneTask::Hessian { loss: loss(name)?, by }),
        _ => None,
    })
}

fn device(py: Python<'_>, request: &BatchRequest<'_, '_>) -> PyResult<Device> {
    match (request.device, request.threads) {
        ("cpu", Some(threads)) => Ok(Device::cpu_with(threads)),
        (_, Some(_)) => Err(unfit(py, "only the CPU has `threads`", "leave out `threads` or `device`")),
        (name, None) => Device::named(name).map_err(|error| raised(py, None, &error.into())),
    }
}

/// Values that all lanes share.
pub type SharedNumbers<'py> = Vec<(String, Numbers<'py>)>;

fn shared<'py>(compiled: &Compiled, given: Option<&Bound<'py, PyMapping>>) -> PyResult<SharedNumbers<'py>> {
    let Some(given) = given else { return Ok(SharedNumbers::new()) };
    let pairs = given.items()?;
    let shared = pairs.iter().map(|pair| {
        let (name, value) = pair.extract::<(String, Bound<'py, PyAny>)>()?;
        let cells = selected(compiled, &name).map_err(|error| compiled.raised(value.py(), &error))?;
        let numbers = numbers(&cells, &value)?;
        Ok((name, numbers))
    });
    shared.collect()
}

/// Adds the values that all lanes share.
pub fn with_shared<'a>(inputs: LaneInputs<'a>, shared: &'a SharedNumbers<'_>) -> LaneInputs<'a> {
    shared.iter().fold(inputs, |inputs, (name, numbers)| match numbers {
        Numbers::Real(_) | Numbers::Reals(_) => inputs.shared_reals(name, numbers.reals()),
        Numbers::Int(_) | Numbers::Ints(_) => inputs.shared_ints(name, numbers.ints()),
    })
}

/// Returns the cells that a name selects: a declaration as a whole, or an element.
fn selected(compiled: &Compiled, name: &str) -> Result<NamedCells, Error> {
    let base = name.split('[').next().unwrap_or_default().trim();
    let declared = &compiled.cells[compiled.index(base)?];
    if base == name {
        return Ok(declared.clone());
    }
    let cells = match declared.cells {
        Cells::Ints(_) => Cells::Ints(compiled.executable.ints(name)?),
        Cells::Reals(_) => Cells::Reals(compiled.executable.reals(name)?),
    };
    Ok(NamedCells { name: name.to_owned(), shape: Shape::Scalar, cells, ..declared.clone() })
}

/// NumPy arrays with a first dimension for the lanes, and the columns that they have.
struct LaneArrays<'py> {
    lanes: usize,
    arrays: Vec<LaneArray<'py>>,
    columns: Vec<Column>,
}

enum LaneArray<'py> {
    Reals(PyReadonlyArrayDyn<'py, f64>),
    Ints(PyReadonlyArrayDyn<'py, i64>),
}

/// Column with the numbers of one cell.
struct Column {
    name: String,
    /// Index of the array, and the indices of the cell in it.
    array: usize,
    indices: Vec<usize>,
}

impl<'py> LaneArrays<'py> {
    fn of(compiled: &Compiled, given: &Bound<'py, PyMapping>) -> PyResult<LaneArrays<'py>> {
        let (py, mut found) = (given.py(), LaneArrays { lanes: 0, arrays: Vec::new(), columns: Vec::new() });
        for (n, pair) in given.items()?.iter().enumerate() {
            let (name, value) = pair.extract::<(String, Bound<'py, PyAny>)>()?;
            let cells = selected(compiled, &name).map_err(|error| compiled.raised(py, &error))?;
            let array = numpy(py)?.call_method1("asarray", (value,))?.cast_into::<PyUntypedArray>()?;
            let dimensions = cells.dimensions();
            let lanes = array.shape().first().copied();
            if n == 0 {
                found.lanes = lanes.unwrap_or_default();
            }
            if lanes != Some(found.lanes) || array.shape().get(1..) != Some(&dimensions[..]) {
                let expected = shape_text(&[&[found.lanes], &dimensions[..]].concat());
                let shape = shape_text(array.shape());
                let cause = format!("`{name}` needs the shape {expected}, and an array of {shape} is given");
                return Err(unfit(
                    py,
                    &cause,
                    "give numbers for each lane, or one value for all in `shared`",
                ));
            }
            let columns = all_indices(&dimensions).into_iter().map(|indices| {
                let texts: Vec<String> = indices.iter().map(usize::to_string).collect();
                let of_cell = if texts.is_empty() { String::new() } else { format!("[{}]", texts.join(",")) };
                Column { name: format!("{name}{of_cell}"), array: n, indices }
            });
            found.columns.extend(columns);
            found.arrays.push(match cells.cells {
                Cells::Reals(_) => LaneArray::Reals(readable(&real_array(&name, &array)?)?),
                Cells::Ints(_) => LaneArray::Ints(readable(&int_array(&name, &array)?)?),
            });
        }
        Ok(found)
    }

    /// Returns the columns as inputs. A column is copied unless its numbers are adjacent in memory.
    fn inputs(&self) -> LaneInputs<'_> {
        self.columns.iter().fold(LaneInputs::new(self.lanes), |inputs, column| {
            match self.arrays.get(column.array) {
                Some(LaneArray::Reals(array)) => match column_of(array.as_array(), &column.indices) {
                    ColumnNumbers::Borrowed(numbers) => inputs.reals(&column.name, numbers),
                    ColumnNumbers::Copied(numbers) => inputs.reals(&column.name, numbers),
                },
                Some(LaneArray::Ints(array)) => match column_of(array.as_array(), &column.indices) {
                    ColumnNumbers::Borrowed(numbers) => inputs.ints(&column.name, numbers),
                    ColumnNumbers::Copied(numbers) => inputs.ints(&column.name, numbers),
                },
                None => inputs,
            }
        })
    }
}

enum ColumnNumbers<'a, T> {
    Borrowed(&'a [T]),
    Copied(Vec<T>),
}

/// Returns the numbers of a cell in all lanes.
fn column_of<'a, T: Copy>(array: ArrayViewD<'a, T>, indices: &[usize]) -> ColumnNumbers<'a, T> {
    let column = indices.iter().fold(array, |array, &index| array.index_axis_move(Axis(1), index));
    match column.to_slice() {
        Some(numbers) => ColumnNumbers::Borrowed(numbers),
        None => ColumnNumbers::Copied(column.iter().copied().collect()),
    }
}

/// Returns the indices of all cells with the given dimensions, in row-major order.
fn all_indices(dimensions: &[usize]) -> Vec<Vec<usize>> {
    dimensions.iter().fold(vec![Vec::new()], |found, &length| {
        let longer = |indices: &Vec<usize>| {
            let indices = indices.clone();
            (0..length).map(move |index| [&indices[..], &[index]].concat())
        };
        found.iter().flat_map(longer).collect()
    })
}

/// Returns result columns as a dictionary of arrays. The columns of all cells of an array become one array, whose name has no
/// indices.
fn grouped<'py>(
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
        let value = results.sum(&sum.name).map_err(|error| raised(py, None, &error))?;
        Ok((sum.name.clone(), value))
    });
    for (name, dimensions, values) in groups(compiled, sums.collect::<PyResult<Vec<_>>>()?) {
        found.set_item(name, crate::found::reals(py, values, &dimensions)?)?;
    }
    Ok(found)
}
