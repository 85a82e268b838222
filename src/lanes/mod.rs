//! Files of lanes: what lanes are given, and what they came to. A file is read and written in blocks as far as its format permits.
//! Knows cells by their names, and numbers by what the program says of them; carries out nothing.

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
use crate::output::told::Object;
use crate::read::shown;

pub use csv_input::CsvInput;
pub use csv_output::CsvOutput;
pub use npz_output::{ColumnsKept, NpzOutput};
pub use opened::OpenLanes;
pub use sample::{LaneSample, PickedInputs, picked};
pub use target::LaneTarget;
#[cfg(not(feature = "arrow"))]
pub use without_arrow::{arrow_reader, arrow_writer};

/// So many lanes are read, carried out and written at a time.
pub const BLOCK: usize = 1 << 16;

/// What lanes are given, as it is read.
pub trait LaneReader {
    /// The names of the columns: each is one cell's.
    fn names(&self) -> Vec<String>;

    /// Reads the lanes that follow into columns, which are empty, as the bits of the cells' numbers; at most so many. There are none left
    /// where none come.
    fn read(
        &mut self,
        program: &Program,
        cells: &[LaneCell],
        most: usize,
        columns: &mut [Vec<u64>],
    ) -> Fallible<usize>;

    /// The lines of the file that the lanes of the last block stand on, where there are lines. They are given away.
    fn take_lines(&mut self) -> Vec<u64> {
        Vec::new()
    }

    /// How much of the file has been read, between 0 and 1; nothing where nobody knows how long it is.
    fn share_read(&self) -> Option<f64>;

    /// What is to be said about the file once it is read.
    fn doubt(&self) -> Option<String>;
}

/// The columns of a block that was carried out, and its lanes that failed.
pub struct DoneBlock<'b> {
    /// The number of its first lane.
    pub first: u64,
    pub lanes: usize,
    pub columns: &'b [&'b [u64]],
    pub failures: &'b [LaneFailure],
}

impl DoneBlock<'_> {
    /// How a lane failed, if it did.
    pub fn failure(&self, row: usize) -> Option<&LaneFailure> {
        let lane = self.first + row as u64;
        let found = self.failures.binary_search_by_key(&lane, |failure| failure.lane).ok()?;
        self.failures.get(found)
    }
}

/// Where results go.
pub trait LaneWriter {
    /// Takes the lanes that follow.
    fn write(&mut self, program: &Program, block: &DoneBlock<'_>) -> Fallible;

    /// All lanes are there, and their sums. What is told to programs instead of being written comes back.
    fn finish(self: Box<Self>, program: &Program, sums: &[SumOverLanes]) -> Fallible<Object<'static>>;
}

/// Record batches of Arrow that follow each other, or that are a file with a table of contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowForm {
    File,
    Stream,
}

/// Lanes out of record batches: what their first bytes are says whether they are a file or a stream.
#[cfg(feature = "arrow")]
pub fn arrow_reader(open: OpenLanes) -> Fallible<Box<dyn LaneReader>> {
    Ok(Box::new(arrow::ArrowInput::begin(open)?))
}

/// Results as record batches.
#[cfg(feature = "arrow")]
pub fn arrow_writer(target: LaneTarget, form: ArrowForm, plan: &LanePlan) -> Fallible<Box<dyn LaneWriter>> {
    Ok(Box::new(arrow::ArrowOutput::begin(target, form, plan)?))
}

/// How a file holds lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneFormat {
    Csv,
    Npy,
    Npz,
    Arrow(ArrowForm),
}

impl LaneFormat {
    /// The format that the name of a file says; `-` says none.
    pub fn of(path: &Path) -> Fallible<LaneFormat> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("csv" | "tsv") => Ok(LaneFormat::Csv),
            Some("npy") => Ok(LaneFormat::Npy),
            Some("npz") => Ok(LaneFormat::Npz),
            Some("arrow" | "feather") => Ok(LaneFormat::Arrow(ArrowForm::File)),
            Some("arrows") => Ok(LaneFormat::Arrow(ArrowForm::Stream)),
            _ => Err(Failure::usage(format_args!(
                "{}: the end of its name doesn't say how it holds lanes",
                shown(path)
            ))
            .help("`.csv`, `.tsv`, `.npy`, `.npz`, `.arrow` and `.arrows` are known; `-` is read by its first bytes")),
        }
    }
}
