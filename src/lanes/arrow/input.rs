//! Lanes from record batches, read batch by batch, for files and streams of any length.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::Read;
use std::rc::Rc;
use std::sync::Arc;

use arrow_ipc::reader::read_record_batch;
use arrow_ipc::{MessageHeader, MetadataVersion};
use arrow_schema::SchemaRef;
use reviver::Error;
use reviver::batch::arrow::columns::{ArrowColumns, ArrowNumbers};
use reviver::batch::arrow::refused::ArrowRefused;
use reviver::batch::plan::LaneCell;
use reviver_files::OpenInput;
use reviver_vm::Program;

use super::claims;
use super::contents::ArrowTable;
use super::messages::{ArrowMessage, ArrowStream, BrokenArrow};
use crate::failure::{Failure, Fallible};
use crate::lanes::counted::CountedReader;
use crate::lanes::{LaneReader, OpenLanes};

/// Reader of a file or stream of record batches.
pub struct ArrowInput {
    file: String,
    length: Option<u64>,
    messages: ArrowMessages,
    seen: Rc<Cell<u64>>,
    schema: SchemaRef,
    columns: ArrowColumns,
    /// Numbers of each cell in the current batch.
    numbers: Vec<ArrowNumbers>,
    /// Number of lanes in the current batch.
    lanes: usize,
    /// Number of lanes of the current batch that have been returned.
    used: usize,
    /// Number of lanes in all batches before the current one.
    before: u64,
    /// Number of batches so far, including the current one.
    batches: usize,
    /// True if everything has been read.
    is_over: bool,
    /// True if there was an end marker.
    has_end: bool,
}

/// Source of record batches.
enum ArrowMessages {
    Stream(ArrowStream<CountedReader<Box<dyn Read>>>),
    File(ArrowTable<CountedReader<OpenInput>>),
}

impl ArrowInput {
    /// Reads everything before the first batch.
    pub fn begin(open: OpenLanes) -> Fallible<ArrowInput> {
        let (file, length, seen) = (open.file.clone(), open.length, Rc::new(Cell::new(0)));
        let counted = seen.clone();
        let begun = match open.into_arrow_file() {
            Ok(inner) => ArrowTable::open(CountedReader { inner, seen: counted })
                .map(|(messages, schema)| (ArrowMessages::File(messages), schema)),
            Err(open) => ArrowStream::begin(CountedReader { inner: open.reader(), seen: counted })
                .map(|(messages, schema)| (ArrowMessages::Stream(messages), schema)),
        };
        let (messages, schema) = begun.map_err(|error| broken(&file, &error))?;
        let columns = ArrowColumns::of(&schema).map_err(|error| refused(&file, 0, error))?;
        Ok(ArrowInput {
            file,
            length,
            messages,
            seen,
            schema: Arc::new(schema),
            columns,
            numbers: Vec::new(),
            lanes: 0,
            used: 0,
            before: 0,
            batches: 0,
            is_over: false,
            has_end: false,
        })
    }

    /// Loads the next batch that isn't empty. Returns false if there is none.
    fn turn(&mut self) -> Fallible<bool> {
        if self.is_over {
            return Ok(false);
        }
        self.before += self.lanes as u64;
        (self.lanes, self.used) = (0, 0);
        let message = match &mut self.messages {
            ArrowMessages::Stream(messages) => messages.next(),
            ArrowMessages::File(messages) => messages.next(),
        };
        let Some(message) = message.map_err(|error| broken(&self.file, &error))? else {
            self.is_over = true;
            self.has_end = self.end().map_err(|error| broken(&self.file, &error))?;
            return Ok(false);
        };
        let batch = batch(&message, &self.schema).map_err(|error| broken(&self.file, &error))?;
        self.batches += 1;
        self.lanes = batch.num_rows();
        self.numbers =
            self.columns.numbers(&batch).map_err(|error| refused(&self.file, self.before, error))?;
        Ok(true)
    }

    /// Validates the bytes after the last batch. Returns true if there was an end marker.
    fn end(&mut self) -> Result<bool, BrokenArrow> {
        let ArrowMessages::Stream(messages) = &mut self.messages else { return Ok(true) };
        let has_end = messages.finish(self.batches)?;
        // A pipe of unknown length is complete at the end marker; waiting for more bytes might block.
        match self.length.is_some_and(|length| self.seen.get() < length) {
            true => {
                let what = "something follows its end: write all batches into one stream";
                Err(BrokenArrow::wrong(what))
            }
            false => Ok(has_end),
        }
    }

    /// Failure for a number of the current batch that the cell can't hold.
    fn unfit(&self, program: &Program, cell: &LaneCell, numbers: &ArrowNumbers, row: usize) -> Failure {
        let module = program.module();
        let error = Error::NotANumber {
            name: cell.name.clone(),
            lane: usize::try_from(self.before).unwrap_or(usize::MAX).saturating_add(row),
            value: numbers.text(row),
            class: cell.class,
            word: module.word,
            system: module.real,
        };
        Failure::refused(&self.file, &error)
            .help("leave such lanes out, or declare the cell with a class that has such numbers")
    }
}

impl LaneReader for ArrowInput {
    fn names(&self) -> Vec<String> {
        self.columns.cells()
    }

    fn read(
        &mut self,
        program: &Program,
        cells: &[LaneCell],
        most: usize,
        columns: &mut [Vec<u64>],
    ) -> Fallible<usize> {
        let mut count = 0;
        while count < most {
            if self.used == self.lanes {
                if self.turn()? {
                    continue;
                }
                break;
            }
            let rows = self.used..self.lanes.min(self.used + most - count);
            for ((numbers, cell), column) in self.numbers.iter().zip(cells).zip(columns.iter_mut()) {
                let bits = numbers.bits(program, cell.class, rows.clone());
                column.extend(bits.map_err(|row| self.unfit(program, cell, numbers, row))?);
            }
            count += rows.len();
            self.used = rows.end;
        }
        Ok(count)
    }

    fn share_read(&self) -> Option<f64> {
        let length = self.length.filter(|length| *length > 0)?;
        Some((self.seen.get() as f64 / length as f64).min(1.0))
    }

    fn doubt(&self) -> Option<String> {
        (self.is_over && !self.has_end)
            .then(|| format!("note: {} has no end mark: if it was cut short, lanes are missing\n", self.file))
    }
}

fn broken(file: &str, error: &BrokenArrow) -> Failure {
    Failure::load(format_args!("can't read {file}: {error}"))
        .caused_by(error)
        .help("check that the file is whole, and is an IPC file or IPC stream of Arrow")
}

/// Failure for columns that can't be converted. `before` is the number of lanes in earlier batches, to name the lane.
fn refused(file: &str, before: u64, error: ArrowRefused) -> Failure {
    let error = match error {
        ArrowRefused::Null { name, lane } => {
            let before = usize::try_from(before).unwrap_or(usize::MAX);
            ArrowRefused::Null { name, lane: before.saturating_add(lane) }
        }
        error => error,
    };
    Failure::usage(format_args!("{file}: {error}"))
}

/// Decodes the record batch of a message.
fn batch(message: &ArrowMessage, schema: &SchemaRef) -> Result<arrow_array::RecordBatch, BrokenArrow> {
    let head = message.head()?;
    if !matches!(head.version(), MetadataVersion::V4 | MetadataVersion::V5) {
        return Err(BrokenArrow::wrong("its version of the Arrow format is obsolete"));
    }
    let Some(batch) = head.header_as_record_batch() else {
        let what = match head.header_type() {
            MessageHeader::DictionaryBatch => "a dictionary, and no column uses one",
            MessageHeader::Schema => "a second list of columns",
            _ => "something that isn't a record batch",
        };
        return Err(BrokenArrow::Wrong(format!("one of its messages has {what}")));
    };
    claims::check(batch, schema, &message.body)?;
    read_record_batch(&message.body, batch, schema.clone(), &HashMap::new(), None, &head.version())
        .map_err(|error| BrokenArrow::Wrong(error.to_string()))
}
