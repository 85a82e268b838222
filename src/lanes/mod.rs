//! Files of lane inputs and lane results, read and written in blocks if the format allows it. The module handles cell
//! names and number formats; it executes nothing.

pub mod arrays;
#[cfg(feature = "arrow")]
mod arrow;
mod counted;
mod csv_input;
mod csv_output;
mod npz_output;
mod opened;
mod sample;
mod target;
#[cfg(not(feature = "arrow"))]
mod without_arrow;

use std::path::Path;

use reviver::SumOverLanes;
use reviver::batch::device::LaneFailure;
use reviver::batch::plan::LaneCell;
#[cfg(feature = "arrow")]
use reviver::batch::plan::LanePlan;
use reviver_vm::Program;

use crate::failure::{Failure, Fallible};
use crate::output::json_values::Object;
use crate::read::shown;

pub use csv_input::CsvInput;
pub use csv_output::CsvOutput;
pub use npz_output::{ColumnsKept, NpzOutput};
pub use opened::OpenLanes;
pub use sample::{LaneSample, PickedInputs, picked};
pub use target::LaneTarget;
#[cfg(not(feature = "arrow"))]
pub use without_arrow::{arrow_reader, arrow_writer};

/// Number of lanes in a block, unless blocks are timed or the file ends.
pub const BLOCK: usize = 1 << 16;

/// Source of lane inputs.
pub trait LaneReader {
    /// Returns the column names; each names one cell.
    fn names(&self) -> Vec<String>;

    /// Reads at most `most` lanes. Appends the bits of each cell to its column in `columns`. The caller passes empty
    /// columns. Returns the number of lanes; 0 at the end of the file.
    fn read(
        &mut self,
        program: &Program,
        cells: &[LaneCell],
        most: usize,
        columns: &mut [Vec<u64>],
    ) -> Fallible<usize>;

    /// Takes the line numbers of the lanes that the last [`LaneReader::read`] returned; empty if the format has no
    /// lines.
    fn take_lines(&mut self) -> Vec<u64> {
        Vec::new()
    }

    /// Returns the fraction of the file that has been read, from 0 to 1; `None` if the file's length is unknown.
    fn share_read(&self) -> Option<f64>;

    /// Returns a warning about the file after it has been read, if there is one.
    fn doubt(&self) -> Option<String>;
}

/// Block of executed lanes: result columns, and the failed lanes in ascending order.
pub struct DoneBlock<'b> {
    /// Number of the first lane.
    pub first: u64,
    pub lanes: usize,
    pub columns: &'b [&'b [u64]],
    pub failures: &'b [LaneFailure],
}

impl DoneBlock<'_> {
    /// Returns the failure of a lane, if it failed.
    pub fn failure(&self, row: usize) -> Option<&LaneFailure> {
        let lane = self.first + row as u64;
        let found = self.failures.binary_search_by_key(&lane, |failure| failure.lane).ok()?;
        self.failures.get(found)
    }
}

/// Sink that receives results.
pub trait LaneWriter {
    /// Writes the next lanes.
    fn write(&mut self, program: &Program, block: &DoneBlock<'_>) -> Fallible;

    /// Completes the output after the last lane. Returns the results that the JSON report must contain because they
    /// aren't in a file.
    fn finish(self: Box<Self>, program: &Program, sums: &[SumOverLanes]) -> Fallible<Object<'static>>;
}

/// Encoding of record batches: a sequential stream, or a file with a footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowForm {
    File,
    Stream,
}

/// Opens a reader of record batches; the first bytes distinguish file and stream.
#[cfg(feature = "arrow")]
pub fn arrow_reader(open: OpenLanes) -> Fallible<Box<dyn LaneReader>> {
    Ok(Box::new(arrow::ArrowInput::begin(open)?))
}

/// Opens a writer of record batches.
#[cfg(feature = "arrow")]
pub fn arrow_writer(target: LaneTarget, form: ArrowForm, plan: &LanePlan) -> Fallible<Box<dyn LaneWriter>> {
    Ok(Box::new(arrow::ArrowOutput::begin(target, form, plan)?))
}

/// File format of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneFormat {
    Csv,
    Npy,
    Npz,
    Arrow(ArrowForm),
}

impl LaneFormat {
    /// Returns the format for a file extension; an error for `-`, which has none.
    pub fn of(path: &Path) -> Fallible<LaneFormat> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("csv" | "tsv") => Ok(LaneFormat::Csv),
            Some("npy") => Ok(LaneFormat::Npy),
            Some("npz") => Ok(LaneFormat::Npz),
            Some("arrow" | "feather") => Ok(LaneFormat::Arrow(ArrowForm::File)),
            Some("arrows") => Ok(LaneFormat::Arrow(ArrowForm::Stream)),
            _ => Err(Failure::usage(format_args!(
                "{}: no lane format has this extension",
                shown(path)
            ))
            .help("use the extension `.csv`, `.tsv`, `.npy`, `.npz`, `.arrow` or `.arrows`; for `-` the first bytes show the format")),
        }
    }
}
