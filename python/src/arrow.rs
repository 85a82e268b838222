//! Arrow tables, through the Arrow PyCapsule interface: objects with `__arrow_c_stream__` or `__arrow_c_array__`, such as
//! tables of pyarrow, polars, DuckDB and pandas. Results are such an object, too. Columns aren't copied.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::ffi::{FFI_ArrowArray, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, StructArray};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use reviver::batch::plan::LaneTask;
use reviver::{Batch, LaneInputs};

use crate::compiled::Compiled;
use crate::errors::unfit;
use crate::lane_inputs::{SharedNumbers, with_shared};
use crate::lane_results::report;
use crate::patient::patiently;

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// The results of a batch as an Arrow table: an object with `__arrow_c_stream__`.
///
/// `pyarrow.table(results)`, `polars.from_arrow(results)` and others take it without copying.
#[pyclass(frozen, module = "reviver_vm")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    report: Py<PyDict>,
}

/// Returns true if an object has an Arrow table.
pub fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")?)
}

/// Runs a batch whose lanes are the rows of an Arrow table.
pub fn run<'py>(
    py: Python<'py>,
    compiled: &Compiled,
    (batch, task): (&Batch, LaneTask),
    shared: &SharedNumbers<'_>,
    (lanes, stop): (&Bound<'py, PyAny>, &Arc<AtomicBool>),
) -> PyResult<Bound<'py, PyAny>> {
    let (schema, given) = batches(lanes)?;
    let first = given.first().cloned().unwrap_or_else(|| RecordBatch::new_empty(schema));
    let inputs = LaneInputs::try_from(&first).map_err(|error| compiled.raised(py, &error))?;
    let inputs = with_shared(inputs, shared);
    let work = || {
        let columns: Vec<&str> = inputs.columns().collect();
        let prepared = batch.prepare(task, &columns, &inputs)?;
        let mut running = prepared.begin();
        let mut all = vec![running.lanes_of(&inputs)?];
        for batch in given.iter().skip(1) {
            all.push(running.lanes_of(&LaneInputs::try_from(batch)?)?);
        }
        let tables = all.iter().map(|results| results.to_record_batch()).collect::<Result<Vec<_>, _>>()?;
        Ok((tables, all))
    };
    let (batches, all) = patiently(py, stop, work)?.map_err(|error| compiled.raised(py, &error))?;
    let report = report(py, compiled, &all)?;
    let schema = batches.first().map_or_else(|| first.schema(), RecordBatch::schema);
    Ok(Bound::new(py, Table { schema, batches, report: report.unbind() })?.into_any())
}

/// Takes the record batches of an object.
fn batches(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?;
        // SAFETY: the interface says that a capsule of this name has a pointer to such a struct. The struct is moved out
        // of it, which marks it as released.
        #[allow(unsafe_code)]
        let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr().cast()) };
        let reader = reader.map_err(refused)?;
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        return Ok((schema, reader.collect::<Result<_, ArrowError>>().map_err(refused)?));
    }
    let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let (schema, array) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?;
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?;
    // SAFETY: as above. The schema is only read.
    #[allow(unsafe_code)]
    let data = unsafe {
        let array = FFI_ArrowArray::from_raw(array.as_ptr().cast());
        if array.is_released() {
            return Err(PyValueError::new_err("the Arrow array was already taken; ask for a new capsule"));
        }
        from_ffi(array, schema.cast::<FFI_ArrowSchema>().as_ref())
    };
    let data = data.map_err(refused)?;
    if !matches!(data.data_type(), arrow_schema::DataType::Struct(_)) {
        return Err(PyTypeError::new_err(
            "the Arrow array isn't a table; give a record batch or a struct array",
        ));
    }
    let table = StructArray::from(data);
    if table.null_count() > 0 {
        let cause = format!("{} rows of the table are null", table.null_count());
        return Err(unfit(object.py(), &cause, "fill in numbers, or leave these rows out"));
    }
    let batch = RecordBatch::from(table);
    Ok((batch.schema(), vec![batch]))
}

fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow table can't be read: {error}"))
}

#[pymethods]
impl Table {
    /// Returns the table as a capsule of the Arrow C interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts by itself if it needs other types: the interface allows to ignore the request.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }

    /// Returns the schema as a capsule of the Arrow C interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(refused)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Sums over all lanes of the loss, and of derivatives by shared inputs.
    #[getter]
    fn sums<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.report.bind(py).get_item("sums")
    }

    /// The failed lanes, as pairs of a number and an exception.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.report.bind(py).get_item("failures")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        let names = self.column_names();
        format!("<Table of {} lanes: {}>", self.__len__(), names.join(", "))
    }
}
