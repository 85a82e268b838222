//! Results that are written after the last lane: as NumPy arrays, with lanes as the first dimension, or as columns of
//! the JSON report.

use std::io::{self, Write};

use npyz::{AutoSerialize, Serialize, WriterBuilder as _};
use reviver::batch::fixed::is_exact_in_f64;
use reviver::batch::grouping::{ArrayColumns, grouped};
use reviver::batch::plan::{LanePlan, ResultColumn};
use reviver::{LaneFailure, SumOverLanes};
use reviver_files::{GrowingOutput, reason};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};
use reviver_memory::{OutOfMemory, ask};
use reviver_vm::Program;
use reviver_vm::values::Value;
use serde_json::{Value as Json, json};
use zip::write::{FullFileOptions, SimpleFileOptions};
use zip::{CompressionMethod, ZipWriter};

use super::{DoneBlock, LaneWriter};
use crate::failure::{Exit, Failure, Fallible};
use crate::kinds;
use crate::output::json_values::{self, JsonValue, Object};
use crate::read::shown;

/// Result columns, buffered until all lanes are done.
pub struct ColumnsKept {
    columns: Vec<(usize, ResultColumn, Vec<u64>)>,
    /// Exit code of each lane, the same as that of a single run; `None` unless lanes continue after failures.
    status: Option<Vec<u8>>,
}

impl ColumnsKept {
    pub fn new(plan: &LanePlan) -> ColumnsKept {
        let columns = plan.shown().map(|(n, column)| (n, column.clone(), Vec::new())).collect();
        ColumnsKept { columns, status: plan.options.keeps_going.then(Vec::new) }
    }

    fn keep(&mut self, block: &DoneBlock<'_>) -> Fallible {
        for (n, _, kept) in &mut self.columns {
            let own = block.columns.get(*n).copied().unwrap_or_default();
            ask::more(kept, own.len()).map_err(|_| no_memory())?;
            kept.extend_from_slice(own);
        }
        if let Some(status) = &mut self.status {
            ask::more(status, block.lanes).map_err(|_| no_memory())?;
            let code = |row| block.failure(row).map_or(0, LaneFailure::status);
            status.extend((0..block.lanes).map(code));
        }
        Ok(())
    }
}

fn no_memory() -> Failure {
    Failure::new(Exit::Trap, format_args!("{OutOfMemory} for the results of all lanes"))
        .help("write a `.csv` with `-o`: its lanes are written one after the other")
}

/// Output of the result columns in the JSON report: a list for each column name.
impl LaneWriter for ColumnsKept {
    fn write(&mut self, _: &Program, block: &DoneBlock<'_>) -> Fallible {
        self.keep(block)
    }

    fn finish(self: Box<Self>, program: &Program, _: &[SumOverLanes]) -> Fallible<Object<'static>> {
        let program = program.clone();
        let ColumnsKept { columns, status } = *self;
        let status = std::rc::Rc::new(status);
        let mut object = Object::default();
        for (_, column, bits) in columns {
            let (program, failed) = (program.clone(), status.clone());
            let reported = JsonValue::list(bits.len(), move |lane| {
                let has_failed = failed.as_ref().as_ref().is_some_and(|status| status.get(lane) != Some(&0));
                let value =
                    bits.get(lane).filter(|_| !has_failed).map(|&bits| Value::of_bits(column.class, bits));
                value.map_or(JsonValue::Json(Json::Null), |value| json_values::value(&program, value))
            });
            object.insert(&column.name, reported);
        }
        if let Some(status) = status.as_ref() {
            object.insert("status", json!(status));
        }
        Ok(object)
    }
}

/// Writer of a `.npz` file.
pub struct NpzOutput {
    kept: ColumnsKept,
    file: GrowingOutput,
}

impl NpzOutput {
    pub fn begin(file: GrowingOutput, plan: &LanePlan) -> NpzOutput {
        NpzOutput { kept: ColumnsKept::new(plan), file }
    }
}

impl LaneWriter for NpzOutput {
    fn write(&mut self, _: &Program, block: &DoneBlock<'_>) -> Fallible {
        self.kept.keep(block)
    }

    fn finish(self: Box<Self>, program: &Program, sums: &[SumOverLanes]) -> Fallible<Object<'static>> {
        let NpzOutput { kept, file } = *self;
        let path = shown(file.path());
        let mut archive = ZipWriter::new(file);
        let written = archived(&mut archive, program, &kept, sums);
        match written.and_then(|()| Ok(archive.finish()?)) {
            Ok(file) => {
                let finished = file.finish().map(|()| Object::default());
                finished.map_err(|error| Failure::load(&error).caused_by(&error))
            }
            Err(error) => {
                let failure = Failure::load(format_args!("can't write {path}: {}", reason(&error)));
                Err(failure.caused_by(&error))
            }
        }
    }
}

/// Identifier of the zip extra field that marks an archive as output of this command. It isn't registered.
const MARK_FIELD: u16 = 0x5652;

fn archived(
    archive: &mut ZipWriter<GrowingOutput>,
    program: &Program,
    kept: &ColumnsKept,
    sums: &[SumOverLanes],
) -> io::Result<()> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    // Readers skip unknown extra fields.
    let mut marked =
        FullFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    marked.add_extra_field(MARK_FIELD, kinds::BATCH_MARK, false)?;
    let mut next = Some(marked);
    let mut begin = |archive: &mut ZipWriter<GrowingOutput>, name: &str| {
        let name = format!("{name}.npy");
        match next.take() {
            Some(marked) => archive.start_file(name, marked),
            None => archive.start_file(name, options),
        }
    };
    let names: Vec<&str> = kept.columns.iter().map(|(_, column, _)| column.name.as_str()).collect();
    for array in grouped(&names) {
        begin(archive, &array.name)?;
        columns(archive, program, kept, &array)?;
    }
    let shared: Vec<&SumOverLanes> = sums.iter().filter(|sum| sum.is_derivative).collect();
    let names: Vec<&str> = shared.iter().map(|sum| sum.name.as_str()).collect();
    for array in grouped(&names) {
        begin(archive, &array.name)?;
        let bits = array.columns.iter().filter_map(|&n| shared.get(n)).map(|sum| sum.bits);
        numbers(archive, program, (&array.name, Class::Real, &array.lengths), bits)?;
    }
    if let Some(status) = &kept.status {
        begin(archive, "status")?;
        written(archive, &[status.len() as u64], status.iter().copied())?;
    }
    Ok(())
}

/// Writes the given columns as one array, with the numbers of all lanes.
fn columns(
    out: &mut impl Write,
    program: &Program,
    kept: &ColumnsKept,
    array: &ArrayColumns,
) -> io::Result<()> {
    let own: Vec<&(usize, ResultColumn, Vec<u64>)> =
        array.columns.iter().filter_map(|&n| kept.columns.get(n)).collect();
    let lanes = own.first().map_or(0, |(_, _, bits)| bits.len());
    let shape: Vec<u64> = std::iter::once(lanes as u64).chain(array.lengths.iter().copied()).collect();
    let class = own.first().map_or(Class::Int, |(_, column, _)| column.class);
    let bits = (0..lanes)
        .flat_map(|lane| own.iter().map(move |(_, _, bits)| bits.get(lane).copied().unwrap_or_default()));
    numbers(out, program, (&array.name, class, &shape), bits)
}

/// Writes an array in the type of its numbers.
fn numbers(
    out: &mut impl Write,
    program: &Program,
    (name, class, shape): (&str, Class, &[u64]),
    bits: impl Iterator<Item = u64> + Clone,
) -> io::Result<()> {
    match (class, program.module().word, program.module().real) {
        (Class::Int, Word::W8, _) => written(out, shape, bits.map(|bits| bits as i8)),
        (Class::Int, Word::W16, _) => written(out, shape, bits.map(|bits| bits as i16)),
        (Class::Int, Word::W32, _) => written(out, shape, bits.map(|bits| bits as i32)),
        (Class::Int, Word::W64, _) => written(out, shape, bits.map(|bits| bits as i64)),
        (Class::Real, _, RealSystem::F64) => written(out, shape, bits.map(f64::from_bits)),
        (Class::Real, _, RealSystem::F32) => {
            written(out, shape, bits.map(|bits| f32::from_bits(bits as u32)))
        }
        (Class::Real, _, RealSystem::Fixed(_)) => {
            if let Some(bits) = bits.clone().find(|&bits| !is_exact_in_f64(bits as i64)) {
                let value = program.text(Value::Real(bits));
                return Err(io::Error::other(format!(
                    "`{}` has {value}, which no f64 represents exactly: write a `.csv`, which has all digits",
                    name
                )));
            }
            written(out, shape, bits.map(|bits| program.approximate(Value::Real(bits))))
        }
    }
}

fn written<T: Serialize + AutoSerialize>(
    out: &mut impl Write,
    shape: &[u64],
    numbers: impl Iterator<Item = T>,
) -> io::Result<()> {
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(shape).writer(out).begin_nd()?;
    writer.extend(numbers)?;
    writer.finish()
}
