//! Lane results as record batches. This module reads the lane plan, and executes nothing.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{
    ArrayRef, FixedSizeListArray, PrimitiveArray, RecordBatch, RecordBatchOptions, UInt8Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};
use reviver_vm::values::Value;

use super::refused::ArrowRefused;
use crate::batch::device::LaneFailure;
use crate::batch::fixed::is_exact_in_f64;
use crate::batch::grouping::{ArrayColumns, grouped};
use crate::batch::plan::LanePlan;
use crate::executable::Executable;

/// Columns of the Arrow batches that hold the results of a plan.
#[derive(Clone, Debug)]
pub struct ArrowResults {
    executable: Executable,
    arrays: Vec<ResultArray>,
    schema: SchemaRef,
    /// True if lanes may fail without ending the batch. Failed lanes are null, and a `status` column has their codes.
    keeps_going: bool,
}

/// One Arrow column: the indices of the plan's columns that it combines, and their class.
#[derive(Clone, Debug)]
struct ResultArray {
    columns: Vec<usize>,
    class: Class,
    field: Arc<Field>,
}

impl ArrowResults {
    /// Builds the Arrow columns of a plan's results.
    pub fn of(plan: &LanePlan) -> ArrowResults {
        let module = plan.executable.program().module();
        let shown: Vec<(usize, Class)> = plan.shown().map(|(n, column)| (n, column.class)).collect();
        let names: Vec<&str> = plan.shown().map(|(_, column)| column.name.as_str()).collect();
        let keeps_going = plan.options.keeps_going;
        let array = |array: ArrayColumns| {
            let own: Vec<(usize, Class)> =
                array.columns.iter().filter_map(|&n| shown.get(n)).copied().collect();
            let class = own.first().map_or(Class::Int, |(_, class)| *class);
            let data_type =
                array.lengths.iter().rev().fold(number_type(class, module.word, module.real), list_of);
            let field = Arc::new(Field::new(array.name, data_type, keeps_going));
            ResultArray { columns: own.into_iter().map(|(n, _)| n).collect(), class, field }
        };
        let arrays: Vec<ResultArray> = grouped(&names).into_iter().map(array).collect();
        let mut fields: Vec<Arc<Field>> = arrays.iter().map(|array| array.field.clone()).collect();
        if keeps_going {
            fields.push(Arc::new(Field::new("status", DataType::UInt8, false)));
        }
        let schema = Arc::new(Schema::new(fields));
        ArrowResults { executable: plan.executable.clone(), arrays, schema, keeps_going }
    }

    /// Returns the schema that all batches of these results have.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Builds a record batch of `lanes` consecutive lanes, the first numbered `first`. `columns` are all result
    /// columns of the plan, as bits. `failures` are the failed lanes of this batch.
    ///
    /// # Errors
    /// [`ArrowRefused::Inexact`] if a fixed-point real has no exact `f64`.
    pub fn batch(
        &self,
        lanes: usize,
        first: u64,
        columns: &[&[u64]],
        failures: &[LaneFailure],
    ) -> Result<RecordBatch, ArrowRefused> {
        let mut status = vec![0; if self.keeps_going { lanes } else { 0 }];
        for failure in failures {
            let row = usize::try_from(failure.lane.wrapping_sub(first)).unwrap_or(usize::MAX);
            if let Some(status) = status.get_mut(row) {
                *status = failure.status();
            }
        }
        let has_failed = status.iter().any(|status| *status != 0);
        let nulls = has_failed.then(|| status.iter().map(|status| *status == 0).collect::<NullBuffer>());
        let arrays = self.arrays.iter().map(|array| self.array(array, lanes, columns, nulls.clone()));
        let mut arrays = arrays.collect::<Result<Vec<ArrayRef>, _>>()?;
        if self.keeps_going {
            arrays.push(Arc::new(UInt8Array::from(status)));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(lanes));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?)
    }

    fn array(
        &self,
        array: &ResultArray,
        lanes: usize,
        columns: &[&[u64]],
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, ArrowRefused> {
        let own = array.columns.iter().map(|&n| columns.get(n).copied().unwrap_or_default());
        let bits = one_after_the_other(lanes, &own.collect::<Vec<_>>());
        let program = self.executable.program();
        let module = program.module();
        let is_list = matches!(array.field.data_type(), DataType::FixedSizeList(..));
        let own_nulls = nulls.clone().filter(|_| !is_list);
        let numbers = match (array.class, module.word, module.real) {
            (Class::Int, Word::W8, _) => numbers::<Int8Type>(bits, own_nulls, |bits| bits as i8),
            (Class::Int, Word::W16, _) => numbers::<Int16Type>(bits, own_nulls, |bits| bits as i16),
            (Class::Int, Word::W32, _) => numbers::<Int32Type>(bits, own_nulls, |bits| bits as i32),
            (Class::Int, Word::W64, _) => numbers::<Int64Type>(bits, own_nulls, |bits| bits as i64),
            (Class::Real, _, RealSystem::F64) => numbers::<Float64Type>(bits, own_nulls, f64::from_bits),
            (Class::Real, _, RealSystem::F32) => {
                numbers::<Float32Type>(bits, own_nulls, |bits| f32::from_bits(bits as u32))
            }
            (Class::Real, _, RealSystem::Fixed(_)) => {
                if let Some(&bits) = bits.iter().find(|&&bits| !is_exact_in_f64(bits as i64)) {
                    let (name, value) = (array.field.name().clone(), program.text(Value::Real(bits)));
                    return Err(ArrowRefused::Inexact { name, value });
                }
                numbers::<Float64Type>(bits, own_nulls, |bits| program.approximate(Value::Real(bits)))
            }
        }?;
        listed(array.field.data_type(), numbers, nulls)
    }
}

/// Returns the Arrow type for numbers of a class.
fn number_type(class: Class, word: Word, real: RealSystem) -> DataType {
    match (class, word, real) {
        (Class::Int, Word::W8, _) => DataType::Int8,
        (Class::Int, Word::W16, _) => DataType::Int16,
        (Class::Int, Word::W32, _) => DataType::Int32,
        (Class::Int, Word::W64, _) => DataType::Int64,
        (Class::Real, _, RealSystem::F32) => DataType::Float32,
        (Class::Real, _, RealSystem::F64 | RealSystem::Fixed(_)) => DataType::Float64,
    }
}

fn list_of(element: DataType, length: &u64) -> DataType {
    // Arrays of a program are far shorter than 2³¹. If an array is longer, the construction of the list array reports a
    // wrong length.
    let length = i32::try_from(*length).unwrap_or(i32::MAX);
    DataType::FixedSizeList(Arc::new(Field::new("item", element, false)), length)
}

/// Interleaves columns: the result has the numbers of lane 0 in all columns, then the numbers of lane 1, and so on.
fn one_after_the_other(lanes: usize, columns: &[&[u64]]) -> Vec<u64> {
    if let [column] = columns {
        return column.to_vec();
    }
    let mut bits = vec![0; lanes * columns.len()];
    for (part, column) in columns.iter().enumerate() {
        let own = bits.iter_mut().skip(part).step_by(columns.len());
        own.zip(*column).for_each(|(there, bits)| *there = *bits);
    }
    bits
}

fn numbers<T: ArrowPrimitiveType>(
    bits: Vec<u64>,
    nulls: Option<NullBuffer>,
    number: impl Fn(u64) -> T::Native,
) -> Result<ArrayRef, ArrowRefused> {
    let values = bits.into_iter().map(number).collect::<Vec<_>>();
    Ok(Arc::new(PrimitiveArray::<T>::try_new(values.into(), nulls)?))
}

/// Nests numbers into lists of the type `data_type`. `nulls` marks the lanes whose outermost list is null.
fn listed(
    data_type: &DataType,
    numbers: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowRefused> {
    let DataType::FixedSizeList(element, length) = data_type else { return Ok(numbers) };
    let inner = listed(element.data_type(), numbers, None)?;
    Ok(Arc::new(FixedSizeListArray::try_new(element.clone(), *length, inner, nulls)?))
}
