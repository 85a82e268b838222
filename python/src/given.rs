//! Inputs: Python objects as numbers of cells. A number is accepted only if the cell can hold it, or if it is a real that the
//! program's number system rounds.

use std::borrow::Cow;

use numpy::{
    PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyInt, PyMapping};
use reviver::{Error, Travel};

use crate::compiled::{Call, Cells, Compiled, NamedCells};
use crate::errors::unfit;

/// The largest integer below which every integer has an exact `f64`.
const EXACT: i64 = 1 << 53;

/// Numbers for some cells, in row-major order.
pub enum Numbers<'py> {
    Real(f64),
    Int(i64),
    Reals(PyReadonlyArrayDyn<'py, f64>),
    Ints(PyReadonlyArrayDyn<'py, i64>),
}

impl Numbers<'_> {
    /// Returns the reals; none if these are integers.
    pub fn reals(&self) -> &[f64] {
        match self {
            Numbers::Real(value) => std::slice::from_ref(value),
            // Each array is made contiguous when it is converted.
            Numbers::Reals(array) => array.as_slice().unwrap_or_default(),
            Numbers::Int(_) | Numbers::Ints(_) => &[],
        }
    }

    /// Returns the integers; none if these are reals.
    pub fn ints(&self) -> &[i64] {
        match self {
            Numbers::Int(value) => std::slice::from_ref(value),
            Numbers::Ints(array) => array.as_slice().unwrap_or_default(),
            Numbers::Real(_) | Numbers::Reals(_) => &[],
        }
    }
}

/// Arguments of a call: indices of cells, with their Python objects, sorted by index.
pub type Arguments<'py> = Vec<(usize, Bound<'py, PyAny>)>;

/// Returns the arguments of a call: a mapping, and keyword arguments.
pub fn arguments<'py>(
    compiled: &Compiled,
    inputs: Option<&Bound<'py, PyMapping>>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Arguments<'py>> {
    let mut found = Arguments::new();
    let mut add = |py: Python<'py>, name: &str, value: Bound<'py, PyAny>| {
        let index = compiled.index(name).map_err(|error| compiled.raised(py, &error))?;
        found.push((index, value));
        Ok::<(), PyErr>(())
    };
    for pair in inputs.map(|inputs| inputs.items()).transpose()?.iter().flatten() {
        let (name, value) = pair.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>()?;
        add(name.py(), name.extract::<Cow<'_, str>>()?.as_ref(), value)?;
    }
    for (name, value) in keywords.into_iter().flatten() {
        add(name.py(), name.extract::<Cow<'_, str>>()?.as_ref(), value)?;
    }
    found.sort_by_key(|(index, _)| *index);
    let pair = found.windows(2).find(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
    if let Some([(index, value), ..]) = pair {
        let name = &compiled.cells[*index].name;
        let cause = format!("`{name}` is given twice");
        return Err(unfit(value.py(), &cause, "give it by the mapping or by its keyword"));
    }
    Ok(found)
}

/// Takes a workspace, and gives it the arguments.
pub fn call_with(
    py: Python<'_>,
    compiled: &Compiled,
    travel: Travel,
    arguments: &Arguments<'_>,
) -> PyResult<Call> {
    let given: Vec<usize> = arguments.iter().map(|(index, _)| *index).collect();
    let mut call = compiled.call(travel, &given).map_err(|error| compiled.raised(py, &error))?;
    for (index, value) in arguments {
        let cells = &compiled.cells[*index];
        let numbers = numbers(cells, value)?;
        give(&mut call, travel, cells, &numbers).map_err(|error| compiled.raised(py, &error))?;
    }
    Ok(call)
}

fn give(call: &mut Call, travel: Travel, cells: &NamedCells, numbers: &Numbers<'_>) -> Result<(), Error> {
    let workspace = &mut call.workspace;
    match (cells.cells, travel) {
        (Cells::Ints(cells), Travel::Forward) => workspace.give_ints(cells, numbers.ints()),
        (Cells::Ints(cells), Travel::Backward) => workspace.give_result_ints(cells, numbers.ints()),
        (Cells::Reals(cells), Travel::Forward) => workspace.give_reals(cells, numbers.reals()),
        (Cells::Reals(cells), Travel::Backward) => workspace.give_result_reals(cells, numbers.reals()),
    }
}

/// Converts a Python object to the numbers of cells.
pub fn numbers<'py>(cells: &NamedCells, value: &Bound<'py, PyAny>) -> PyResult<Numbers<'py>> {
    let is_scalar = cells.dimensions().is_empty();
    match cells.cells {
        Cells::Reals(_) if is_scalar && let Ok(value) = value.cast_exact::<PyFloat>() => {
            return Ok(Numbers::Real(value.value()));
        }
        Cells::Reals(_) if is_scalar && let Ok(value) = value.cast_exact::<PyInt>() => {
            let whole = value.extract::<i64>().ok().filter(|whole| (-EXACT..=EXACT).contains(whole));
            return whole.map(|whole| Numbers::Real(whole as f64)).ok_or_else(|| inexact(cells, value));
        }
        Cells::Ints(_) if is_scalar && let Ok(value) = value.cast_exact::<PyInt>() => {
            return value.extract::<i64>().map(Numbers::Int).map_err(|_| too_large(cells, value));
        }
        Cells::Ints(_) | Cells::Reals(_) => {}
    }
    let array = array_of(cells, value)?;
    let dimensions = cells.dimensions();
    if array.shape() != dimensions {
        let cause = format!(
            "`{}` has the shape {}, and an array of the shape {} is given",
            cells.name,
            shape_text(&dimensions),
            shape_text(array.shape())
        );
        return Err(unfit(value.py(), &cause, "give a number for each cell"));
    }
    match cells.cells {
        Cells::Ints(_) => Ok(Numbers::Ints(contiguous(&int_array(&cells.name, &array)?)?)),
        Cells::Reals(_) => Ok(Numbers::Reals(contiguous(&real_array(&cells.name, &array)?)?)),
    }
}

/// Returns a shape as Python writes it: `()`, `(3,)`, `(2, 3)`.
pub fn shape_text(shape: &[usize]) -> String {
    match shape {
        [length] => format!("({length},)"),
        shape => {
            let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("({})", lengths.join(", "))
        }
    }
}

/// Converts an object to a NumPy array, whatever the type of its elements: by the protocols of NumPy, or by DLPack.
fn array_of<'py>(cells: &NamedCells, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let by_dlpack = value.hasattr("__dlpack__")? && !value.hasattr("__array__")?;
    let function = numpy(value.py())?.getattr(if by_dlpack { "from_dlpack" } else { "asarray" })?;
    let found = function.call1((value,));
    let found = found.map_err(|error| with_name(value.py(), &cells.name, error))?;
    Ok(found.cast_into::<PyUntypedArray>()?)
}

/// Adds the name of the cells to an error of NumPy.
fn with_name(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    let cause =
        PyTypeError::new_err(format!("`{name}` can't be converted to a NumPy array: {}", error.value(py)));
    cause.set_cause(py, Some(error));
    cause
}

pub fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    NUMPY.get_or_try_init(py, || py.import("numpy").map(Bound::unbind)).map(|module| module.bind(py))
}

/// Converts an array to `float64`, without rounding.
pub fn real_array<'py>(
    name: &str,
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    if let Ok(reals) = array.cast::<PyArrayDyn<f64>>() {
        return Ok(reals.clone());
    }
    let (kind, size) = kind(array)?;
    match kind {
        'f' if size <= 8 => {}
        'i' | 'u' if largest(array)? <= EXACT as f64 => {}
        'i' | 'u' => {
            let cause = format!("`{name}` has reals, and an integer in the array has no exact float64");
            return Err(unfit(array.py(), &cause, "give integers up to 2**53"));
        }
        _ => return Err(of_type(name, "reals", array)),
    }
    let found = array.call_method1("astype", ("float64",))?;
    Ok(found.cast_into::<PyArrayDyn<f64>>()?)
}

/// Converts an array to `int64`, without changing a number.
pub fn int_array<'py>(
    name: &str,
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<Bound<'py, PyArrayDyn<i64>>> {
    if let Ok(ints) = array.cast::<PyArrayDyn<i64>>() {
        return Ok(ints.clone());
    }
    let (kind, size) = kind(array)?;
    match kind {
        'i' => {}
        // A `float64` just above the largest `int64` is 2**63, which isn't less.
        'u' if size < 8 || largest(array)? < i64::MAX as f64 => {}
        'u' => {
            let cause = format!("`{name}` has integers up to 2**63 - 1, and the array has a larger one");
            return Err(unfit(array.py(), &cause, "give smaller numbers, or int64 with the same bits"));
        }
        _ => return Err(of_type(name, "integers", array)),
    }
    let found = array.call_method1("astype", ("int64",))?;
    Ok(found.cast_into::<PyArrayDyn<i64>>()?)
}

/// Returns the kind and the size in bytes of an array's elements.
fn kind(array: &Bound<'_, PyUntypedArray>) -> PyResult<(char, usize)> {
    let dtype = array.dtype();
    Ok((dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?))
}

/// Returns the largest magnitude in an array of integers, rounded to a float.
fn largest(array: &Bound<'_, PyUntypedArray>) -> PyResult<f64> {
    if array.len() == 0 {
        return Ok(0.0);
    }
    let magnitude = |method| array.call_method0(method)?.call_method0("__float__")?.extract::<f64>();
    Ok(magnitude("max")?.abs().max(magnitude("min")?.abs()))
}

fn of_type(name: &str, what: &str, array: &Bound<'_, PyUntypedArray>) -> PyErr {
    let dtype = array.dtype().to_string();
    PyTypeError::new_err(format!("`{name}` has {what}, and an array of {dtype} is given; convert it first"))
}

fn inexact(cells: &NamedCells, value: &Bound<'_, PyInt>) -> PyErr {
    let cause = format!("`{}` is a real, and the integer has no exact float64", cells.name);
    unfit(value.py(), &cause, "give a float, or an integer up to 2**53")
}

fn too_large(cells: &NamedCells, value: &Bound<'_, PyInt>) -> PyErr {
    let cause = format!("`{}` is an integer of at most 64 bits, and the number is larger", cells.name);
    unfit(value.py(), &cause, "give a number from -2**63 to 2**63 - 1")
}

/// Returns an array for reading. A copy is made if its elements aren't aligned in memory, or if a distance between them
/// isn't a multiple of their size, as in fields of packed structures.
pub fn readable<'py, T: numpy::Element>(
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let size = isize::try_from(array.dtype().itemsize()).unwrap_or(1);
    let is_even = array.strides().iter().all(|stride| stride % size == 0);
    if is_even && is_aligned(array)? {
        return Ok(array.try_readonly()?);
    }
    Ok(array.call_method1("copy", ("K",))?.cast_into::<PyArrayDyn<T>>()?.try_readonly()?)
}

fn is_aligned<T: numpy::Element>(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<bool> {
    array.getattr("flags")?.getattr("aligned")?.extract()
}

/// Returns an array for reading as a slice. A copy is made unless the array is contiguous and aligned.
fn contiguous<'py, T: numpy::Element>(
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    if array.is_c_contiguous() && is_aligned(array)? {
        return Ok(array.try_readonly()?);
    }
    let copy = array.call_method1("copy", ("C",))?.cast_into::<PyArrayDyn<T>>()?;
    Ok(copy.try_readonly()?)
}
