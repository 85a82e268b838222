//! Conversion of record-batch columns to the numbers of cells. This module depends on the column types and the
//! program's number system. The lane plan checks that the program has the cells.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Shape, Word};
use reviver_isa::number::whole;
use reviver_vm::Program;
use reviver_vm::values::element_name;

use super::refused::ArrowRefused;
use crate::numbers::put_reals;

/// Columns of an Arrow schema. Each column has the numbers of one cell, or of all cells of an array.
#[derive(Clone, Debug)]
pub struct ArrowColumns(Vec<ShapedColumn>);

/// One column of the schema, with the shape of its value in each lane.
#[derive(Clone, Debug)]
struct ShapedColumn {
    name: String,
    shape: Shape,
    /// Number of values that the column has in each lane.
    parts: usize,
}

impl ArrowColumns {
    /// Reads the columns of a schema.
    ///
    /// # Errors
    /// [`ArrowRefused`] if a column's type isn't numeric.
    pub fn of(schema: &Schema) -> Result<ArrowColumns, ArrowRefused> {
        let columns = schema.fields().iter().map(|field| ShapedColumn::of(field));
        columns.collect::<Result<_, _>>().map(ArrowColumns)
    }

    /// Returns the cell names in column order; a list column has one name for each element.
    pub fn cells(&self) -> Vec<String> {
        self.0.iter().flat_map(|column| (0..column.parts).map(|part| column.cell(part))).collect()
    }

    /// Returns the numbers of each cell, in the order of [`ArrowColumns::cells`]. The numbers share the record
    /// batch's memory.
    ///
    /// # Errors
    /// [`ArrowRefused::Null`] if a number is null.
    pub fn numbers(&self, batch: &RecordBatch) -> Result<Vec<ArrowNumbers>, ArrowRefused> {
        let mut numbers = Vec::new();
        for (column, array) in self.0.iter().zip(batch.columns()) {
            let values = column.values(array)?;
            let of = |part| ArrowNumbers {
                values: values.clone(),
                part,
                parts: column.parts,
                lanes: batch.num_rows(),
            };
            numbers.extend((0..column.parts).map(of));
        }
        Ok(numbers)
    }
}

impl ShapedColumn {
    fn of(field: &Field) -> Result<ShapedColumn, ArrowRefused> {
        let name = field.name().clone();
        let (mut lengths, mut inner) = (Vec::new(), field.data_type());
        while let DataType::FixedSizeList(element, length) = inner {
            let length = u32::try_from(*length).ok().filter(|length| *length > 0);
            let found = || Box::new(field.data_type().clone());
            lengths.push(length.ok_or_else(|| ArrowRefused::Type { name: name.clone(), found: found() })?);
            inner = element.data_type();
        }
        if !is_number(inner) {
            return Err(ArrowRefused::Type { name, found: Box::new(inner.clone()) });
        }
        let shape = match lengths[..] {
            [] => Shape::Scalar,
            [length] => Shape::Vector(length),
            [rows, columns] => Shape::Matrix(rows, columns),
            _ => return Err(ArrowRefused::Deep { name }),
        };
        let parts = lengths.iter().map(|length| *length as usize).product();
        Ok(ShapedColumn { name, shape, parts })
    }

    fn cell(&self, part: usize) -> String {
        element_name(&self.name, self.shape, part)
    }

    /// Returns the numbers of all lanes without the nesting of lists, lane by lane. Returns an error if a number is
    /// null.
    fn values(&self, column: &ArrayRef) -> Result<ArrayRef, ArrowRefused> {
        // Number of elements of `array` that belong to one lane.
        let (mut array, mut in_lane) = (column.clone(), 1);
        // The first lane with a null, and the index of the null among the numbers of this lane.
        let mut null: Option<(usize, usize)> = None;
        loop {
            if let Some(at) = first_null(&array) {
                let found = (at / in_lane, at % in_lane * (self.parts / in_lane));
                null = Some(null.map_or(found, |null| null.min(found)));
            }
            let Some(lists) = array.as_fixed_size_list_opt() else { break };
            in_lane *= usize::try_from(lists.value_length()).unwrap_or(0).max(1);
            array = lists.values().clone();
        }
        match null {
            Some((lane, part)) => Err(ArrowRefused::Null { name: self.cell(part), lane }),
            None => Ok(array),
        }
    }
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_integer() || data_type.is_floating() || *data_type == DataType::Boolean
}

fn first_null(array: &ArrayRef) -> Option<usize> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
    nulls.iter().position(|is_there| !is_there)
}

/// Numbers of one cell in the lanes of a record batch.
#[derive(Clone, Debug)]
pub struct ArrowNumbers {
    /// Numbers of the whole column, lane by lane. In each lane, this cell's number is at index `part` of `parts`
    /// numbers.
    values: ArrayRef,
    part: usize,
    parts: usize,
    lanes: usize,
}

/// Numbers of one cell in a range of lanes, widened to 64 bits.
enum ArrowValues {
    Signed(Vec<i64>),
    /// Unsigned columns are bit patterns, like hexadecimal literals in a program text.
    Unsigned(Vec<u64>),
    Reals(Vec<f64>),
}

impl ArrowNumbers {
    /// Returns the number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Converts the numbers of `lanes` to the bits that a state stores in a cell of class `class`.
    pub fn bits(&self, program: &Program, class: Class, lanes: Range<usize>) -> Result<Vec<u64>, usize> {
        let (module, first) = (program.module(), lanes.start);
        let values = self.values(lanes);
        let mut bits = vec![0; values.len()];
        let put = match (&values, class) {
            (ArrowValues::Reals(values), Class::Real) => put_reals(module.real, values, &mut bits),
            (ArrowValues::Signed(values), Class::Real) => put_as_reals(program, values, &mut bits),
            (ArrowValues::Unsigned(values), Class::Real) => put_as_reals(program, values, &mut bits),
            (ArrowValues::Signed(values), Class::Int) => {
                put_words(module.word, values.iter().copied().map(Some), &mut bits)
            }
            (ArrowValues::Unsigned(values), Class::Int) => {
                bits.iter_mut()
                    .zip(values)
                    .for_each(|(bits, value)| *bits = module.word.signed(*value) as u64);
                let is_wide = |value: &u64| module.word.pattern(*value as i64) != *value;
                values.iter().position(is_wide).map_or(Ok(()), Err)
            }
            (ArrowValues::Reals(values), Class::Int) => {
                put_words(module.word, values.iter().map(|value| whole(*value)), &mut bits)
            }
        };
        put.map(|()| bits).map_err(|at| first + at)
    }

    /// Formats the number of one lane, for error messages.
    pub fn text(&self, lane: usize) -> String {
        match self.values(lane..lane.saturating_add(1)) {
            ArrowValues::Signed(values) => values.first().map(i64::to_string),
            ArrowValues::Unsigned(values) => values.first().map(u64::to_string),
            ArrowValues::Reals(values) => values.first().map(|value| format!("{value:?}")),
        }
        .unwrap_or_default()
    }

    fn values(&self, lanes: Range<usize>) -> ArrowValues {
        use ArrowValues::{Reals, Signed, Unsigned};
        match self.values.data_type() {
            DataType::Int8 => Signed(self.wide::<Int8Type, _>(lanes, i64::from)),
            DataType::Int16 => Signed(self.wide::<Int16Type, _>(lanes, i64::from)),
            DataType::Int32 => Signed(self.wide::<Int32Type, _>(lanes, i64::from)),
            DataType::Int64 => Signed(self.wide::<Int64Type, _>(lanes, |value| value)),
            DataType::UInt8 => Unsigned(self.wide::<UInt8Type, _>(lanes, u64::from)),
            DataType::UInt16 => Unsigned(self.wide::<UInt16Type, _>(lanes, u64::from)),
            DataType::UInt32 => Unsigned(self.wide::<UInt32Type, _>(lanes, u64::from)),
            DataType::UInt64 => Unsigned(self.wide::<UInt64Type, _>(lanes, |value| value)),
            // `true` becomes 1, as in NumPy.
            DataType::Boolean => Signed(self.booleans(lanes)),
            DataType::Float16 => Reals(self.wide::<Float16Type, _>(lanes, f64::from)),
            DataType::Float32 => Reals(self.wide::<Float32Type, _>(lanes, f64::from)),
            DataType::Float64 => Reals(self.wide::<Float64Type, _>(lanes, |value| value)),
            // [`ArrowColumns::of`] refuses all other types.
            _ => Reals(Vec::new()),
        }
    }

    fn booleans(&self, lanes: Range<usize>) -> Vec<i64> {
        let Some(values) = self.values.as_boolean_opt() else { return Vec::new() };
        let from = lanes.start.saturating_mul(self.parts).saturating_add(self.part);
        let own = values.values().iter().skip(from).step_by(self.parts);
        own.take(lanes.len()).map(i64::from).collect()
    }

    fn wide<T: ArrowPrimitiveType, V>(&self, lanes: Range<usize>, wide: impl Fn(T::Native) -> V) -> Vec<V> {
        let values = self.values.as_primitive_opt::<T>().map_or(&[][..], |values| &values.values()[..]);
        let from = lanes.start.saturating_mul(self.parts).saturating_add(self.part);
        let own = values.get(from..).unwrap_or_default().iter().step_by(self.parts);
        own.take(lanes.len()).map(|value| wide(*value)).collect()
    }
}

impl ArrowValues {
    fn len(&self) -> usize {
        match self {
            ArrowValues::Signed(values) => values.len(),
            ArrowValues::Unsigned(values) => values.len(),
            ArrowValues::Reals(values) => values.len(),
        }
    }
}

/// Converts integers to reals with exactly the same value, as the conversion of NumPy arrays does.
fn put_as_reals<I: Copy + Into<i128>>(
    program: &Program,
    values: &[I],
    bits: &mut [u64],
) -> Result<(), usize> {
    let system = program.module().real;
    let exact = match system {
        RealSystem::F64 => 1 << f64::MANTISSA_DIGITS,
        RealSystem::F32 => 1 << f32::MANTISSA_DIGITS,
        RealSystem::Fixed(_) => 0,
    };
    let is_small = |value: &I| (-exact..=exact).contains(&(*value).into());
    if values.iter().all(is_small) {
        let reals: Vec<f64> = values.iter().map(|value| (*value).into() as f64).collect();
        return put_reals(system, &reals, bits);
    }
    for (at, (&value, bits)) in values.iter().zip(bits).enumerate() {
        *bits = program.exact_real(value.into()).ok_or(at)?;
    }
    Ok(())
}

/// Converts integers to cells of a word type.
///
/// # Errors
/// The index of the first value that isn't an integer, or doesn't fit into the word.
fn put_words(word: Word, values: impl Iterator<Item = Option<i64>>, bits: &mut [u64]) -> Result<(), usize> {
    let range = word.range();
    for (at, (value, bits)) in values.zip(bits).enumerate() {
        *bits = value.filter(|value| range.contains(value)).ok_or(at)? as u64;
    }
    Ok(())
}
