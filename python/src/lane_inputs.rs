//! Inputs of a batch: NumPy arrays whose first dimension has an entry for each lane, and values that all lanes share.

use numpy::ndarray::{ArrayViewD, Axis};
use numpy::{PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use reviver::LaneInputs;

use crate::compiled::{Cells, Compiled, all_indices};
use crate::errors::unfit;
use crate::given::{Numbers, int_array, numbers, numpy, readable, real_array, shape_text};

/// Values that all lanes share.
pub type SharedNumbers<'py> = Vec<(String, Numbers<'py>)>;

pub fn shared<'py>(
    compiled: &Compiled,
    given: Option<&Bound<'py, PyMapping>>,
) -> PyResult<SharedNumbers<'py>> {
    let Some(given) = given else { return Ok(SharedNumbers::new()) };
    let pairs = given.items()?;
    let shared = pairs.iter().map(|pair| {
        let (name, value) = pair.extract::<(String, Bound<'py, PyAny>)>()?;
        let cells = compiled.selected(&name).map_err(|error| compiled.raised(value.py(), &error))?;
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

/// NumPy arrays with a first dimension for the lanes, and the columns that they have.
pub struct LaneArrays<'py> {
    pub lanes: usize,
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
    /// Converts a mapping from names to arrays. All arrays must have the same number of lanes.
    pub fn of(compiled: &Compiled, given: &Bound<'py, PyMapping>) -> PyResult<LaneArrays<'py>> {
        let (py, mut found) = (given.py(), LaneArrays { lanes: 0, arrays: Vec::new(), columns: Vec::new() });
        for (n, pair) in given.items()?.iter().enumerate() {
            let (name, value) = pair.extract::<(String, Bound<'py, PyAny>)>()?;
            let cells = compiled.selected(&name).map_err(|error| compiled.raised(py, &error))?;
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

    /// Returns true if no array is given.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// Returns the names of the columns, in the order of the inputs.
    pub fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// Returns the columns as inputs. A column is copied unless its numbers are adjacent in memory.
    pub fn inputs(&self) -> LaneInputs<'_> {
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
