//! Results: numbers of cells as Python objects, in a mapping by names.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyTuple};
use reviver::{Error, Garbage, Shown, ShownNumber, Travel, Workspace};

use crate::compiled::{Cells, Compiled, NamedCells};

/// The results of a call: a mapping from names to numbers and arrays.
///
/// Scalars are `float` or `int`; vectors and matrices are NumPy arrays of `float64` or `int64`.
#[pyclass(frozen, mapping, module = "reviver_vm")]
pub struct Results {
    values: Py<PyDict>,
    /// The number of steps of the run.
    #[pyo3(get)]
    steps: u64,
    garbage: FoundGarbage,
    /// The values of `show`, as pairs of a name and a number, in the order of the run.
    #[pyo3(get)]
    shown: Py<PyList>,
}

/// Garbage of a run. The caller requests the description in words, which takes longer to write than a short call.
enum FoundGarbage {
    Cells(Vec<Garbage>),
    /// Descriptions, of results that were pickled.
    Lines(Vec<String>),
}

impl FoundGarbage {
    fn lines(&self) -> Vec<String> {
        match self {
            FoundGarbage::Cells(garbage) => garbage.iter().flat_map(Garbage::lines).collect(),
            FoundGarbage::Lines(lines) => lines.clone(),
        }
    }
}

impl Results {
    /// Reads the results of the last run of a workspace.
    pub fn read(
        py: Python<'_>,
        compiled: &Compiled,
        workspace: &Workspace,
        travel: Travel,
        (steps, shown): (u64, Vec<Shown>),
    ) -> PyResult<Results> {
        let values = PyDict::new(py);
        for (cells, name) in compiled.cells.iter().zip(compiled.names(py)) {
            if cells.is_result(travel) {
                values.set_item(name, read(py, compiled, workspace, cells)?)?;
            }
        }
        let garbage = workspace.leftovers().map_err(|error| compiled.raised(py, &error))?;
        let shown = PyList::new(
            py,
            shown.into_iter().map(|Shown { name, value }| {
                let value = match value {
                    ShownNumber::Int(value) => value.into_pyobject(py).map(Bound::into_any),
                    ShownNumber::Real(value) => value.into_pyobject(py).map(Bound::into_any),
                };
                (name, value.ok())
            }),
        )?;
        let garbage = FoundGarbage::Cells(garbage);
        Ok(Results { values: values.unbind(), steps, garbage, shown: shown.unbind() })
    }
}

#[pymethods]
impl Results {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.values.bind(py).as_any().get_item(name)
    }

    /// Cells, stacks and tapes that the run left with another content than they should have, as sentences.
    #[getter]
    fn garbage(&self) -> Vec<String> {
        self.garbage.lines()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.values.bind(py).len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.values.bind(py).try_iter()
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.values.bind(py).contains(name)
    }

    /// Returns the names of the results.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.values.bind(py).call_method0("keys")
    }

    /// Returns the numbers and arrays.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.values.bind(py).call_method0("values")
    }

    /// Returns pairs of a name and a number or an array.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.values.bind(py).call_method0("items")
    }

    /// Returns the number or array of a name, or `default` if there is no such result.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.values.bind(py).get_item(name)?.or(default))
    }

    /// Returns results from what `__reduce__` returned.
    #[staticmethod]
    fn _restored(values: Py<PyDict>, steps: u64, garbage: Vec<String>, shown: Py<PyList>) -> Results {
        Results { values, steps, garbage: FoundGarbage::Lines(garbage), shown }
    }

    /// Pickles the results by their values.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, this) = (slf.py(), slf.get());
        let parts = (this.values.clone_ref(py), this.steps, this.garbage.lines(), this.shown.clone_ref(py));
        PyTuple::new(py, [slf.get_type().getattr("_restored")?, parts.into_pyobject(py)?.into_any()])
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let values = self.values.bind(py).repr()?;
        let garbage = if self.garbage.lines().is_empty() { "" } else { ", with garbage" };
        let steps = if self.steps == 1 { "step" } else { "steps" };
        Ok(format!("<Results {values}, {} {steps}{garbage}>", self.steps))
    }
}

/// Reads the cells of a name at the end of the last run.
fn read<'py>(
    py: Python<'py>,
    compiled: &Compiled,
    workspace: &Workspace,
    cells: &NamedCells,
) -> PyResult<Bound<'py, PyAny>> {
    let failed = |error: Error| compiled.raised(py, &error);
    match cells.cells {
        Cells::Ints(handle) => {
            let mut values = vec![0; handle.len()];
            workspace.ints(handle, &mut values).map_err(failed)?;
            ints(py, values, &cells.dimensions())
        }
        Cells::Reals(handle) => {
            let mut values = vec![0.0; handle.len()];
            workspace.reals(handle, &mut values).map_err(failed)?;
            reals(py, values, &cells.dimensions())
        }
    }
}

/// Returns integers as an `int`, or as an array if there are dimensions.
pub fn ints<'py>(py: Python<'py>, values: Vec<i64>, dimensions: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    match (&values[..], dimensions) {
        (&[value], []) => Ok(value.into_pyobject(py)?.into_any()),
        _ => shaped(py, values, dimensions),
    }
}

/// Returns reals as a `float`, or as an array if there are dimensions.
pub fn reals<'py>(py: Python<'py>, values: Vec<f64>, dimensions: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    match (&values[..], dimensions) {
        (&[value], []) => Ok(value.into_pyobject(py)?.into_any()),
        _ => shaped(py, values, dimensions),
    }
}

/// Returns numbers in row-major order as an array with the given lengths.
fn shaped<'py, T: numpy::Element>(
    py: Python<'py>,
    values: Vec<T>,
    dimensions: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let array = PyArray1::from_vec(py, values);
    match dimensions {
        [_] => Ok(array.into_any()),
        dimensions => Ok(array.reshape(dimensions.to_vec())?.into_any()),
    }
}
