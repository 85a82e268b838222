//! Lanes as record batches of Arrow: a column for each cell, or one of fixed-size lists for an array of the program, and the results as
//! such. This is the one place where Arrow's columns become cells' numbers and the other way round; files and streams of them are the
//! business of who reads and writes these.
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
//! // What lanes share is given besides, as ever.
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
use crate::api::error::Error;

/// A lane for each row: columns named by cells (`x`, `A[3]`), or by arrays, whose rows are fixed-size lists then, of matrices lists of
/// their rows. Columns are integers of 8 to 64 bits (those without a sign are patterns of bits) or floats of 32 and 64 bits; nothing is
/// copied before the batch runs.
///
/// # Errors
/// A column of another type, or a number that is null ([`Error::Arrow`]). Whether the columns are those of a program is looked at when
/// its lanes run.
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
    /// The results as a record batch, a row for each lane: columns of integers by the program's word, of `f64` or `f32`, and fixed-size
    /// lists where all cells of an array are there. Where lanes go on although others fail, those that failed are null, and a column
    /// `status` has 0 for lanes that arrived, else [`LaneFailure::status`].
    ///
    /// # Errors
    /// A real of fixed point that no `f64` holds to the last digit.
    ///
    /// [`LaneFailure::status`]: crate::LaneFailure::status
    pub fn to_record_batch(&self) -> Result<RecordBatch, Error> {
        Ok(self.arrow.batch(self.len(), 0, &self.all_bits(), self.failures())?)
    }
}
