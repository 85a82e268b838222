//! Lanes as Arrow record batches: a column for each cell, or a column of fixed-size lists for each array of the
//! program. Results have the same form. Only this module converts between Arrow columns and the numbers of cells.
//! Callers read and write the files and streams.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::cast::AsArray;
//! use arrow_array::types::Float64Type;
//! use arrow_array::{Float64Array, RecordBatch};
//! use reviver::{Batch, Device, EngineChoice, LaneInputs, assemble};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = ".inout x: real\n.out y: real, z[2]: real\nadd y, x * x\nadd z[0], x\nadd z[1], 2 * x\n";
//! let program = assemble("squares.rasm", text)?.compile(EngineChoice::Auto)?;
//! let batch = Batch::new(&program, Device::default());
//!
//! let x = Float64Array::from(vec![1.0, 2.0, 3.0]);
//! let given = RecordBatch::try_from_iter([("x", Arc::new(x) as _)])?;
//! let lanes = LaneInputs::try_from(&given)?;
//!
//! let found = batch.run(&lanes)?.to_record_batch()?;
//! assert_eq!(found.schema().fields().len(), 3);
//! let y = found.column_by_name("y").unwrap().as_primitive::<Float64Type>();
//! assert_eq!(&y.values()[..], [1.0, 4.0, 9.0]);
//! // Cells of one array are one column of lists.
//! let z = found.column_by_name("z").unwrap().as_fixed_size_list();
//! assert_eq!(&z.value(2).as_primitive::<Float64Type>().values()[..], [3.0, 6.0]);
//!
//! // Values that all lanes share are given separately.
//! let slopes = batch.gradient(&program.loss("y")?, &[], &lanes)?.to_record_batch()?;
//! let slope = slopes.column_by_name("x'").unwrap().as_primitive::<Float64Type>();
//! assert_eq!(&slope.values()[..], [2.0, 4.0, 6.0]);
//! # Ok(())
//! # }
//! ```

pub mod columns;
pub mod refused;
pub mod results;

use arrow_array::RecordBatch;

use self::columns::ArrowColumns;
use super::given::GivenNumbers;
use super::lanes::{LaneInputs, LaneResults};
use crate::error::Error;

/// Converts a record batch to inputs. Each row is a lane. Columns are named after cells (`x`, `A[3]`) or arrays. The
/// column of a vector has fixed-size lists. The column of a matrix has a list of rows in each lane, and each row is a
/// list. Elements are integers of 8 to 64 bits, floats of 16 to 64 bits, or booleans; unsigned integers are bit
/// patterns. Nothing is copied before the batch runs.
///
/// # Errors
/// [`Error::Arrow`] if a column has another type, or a number is null. A mismatch between columns and the program's
/// cells is reported when the lanes run.
impl TryFrom<&RecordBatch> for LaneInputs<'_> {
    type Error = Error;

    fn try_from(batch: &RecordBatch) -> Result<Self, Error> {
        let columns = ArrowColumns::of(&batch.schema())?;
        let given = columns.cells().into_iter().zip(columns.numbers(batch)?);
        let inputs = LaneInputs::new(batch.num_rows());
        Ok(given.fold(inputs, |inputs, (cell, numbers)| inputs.column(&cell, GivenNumbers::Arrow(numbers))))
    }
}

impl LaneResults {
    /// Returns the results as a record batch with a row for each lane. Integer columns have the width of the program's
    /// word; real columns are `f64` or `f32`. If all cells of an array are results, the array is one column of
    /// fixed-size lists. If the batch continues after failures, failed lanes are null. In that case, a column `status`
    /// has 0 for each successful lane, and [`LaneFailure::status`] for each failed lane.
    ///
    /// # Errors
    /// [`Error::Arrow`] if a fixed-point real has no exact `f64`.
    ///
    /// [`LaneFailure::status`]: crate::LaneFailure::status
    pub fn to_record_batch(&self) -> Result<RecordBatch, Error> {
        Ok(self.arrow.batch(self.len(), self.first(), &self.all_bits(), self.failures())?)
    }
}
