//! Results as record batches: one for each block of lanes, written when the block is computed.

use std::io;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::ArrowError;
use reviver::SumOverLanes;
use reviver::batch::arrow::refused::ArrowRefused;
use reviver::batch::arrow::results::ArrowResults;
use reviver::batch::plan::LanePlan;
use reviver_vm::Program;

use crate::failure::{Failure, Fallible};
use crate::kinds::BATCH_MARK;
use crate::lanes::{ArrowForm, DoneBlock, LaneTarget, LaneWriter};
use crate::output::json_values::Object;

/// Writer of a file or stream of record batches.
pub struct ArrowOutput {
    results: ArrowResults,
    writer: BatchWriter,
}

enum BatchWriter {
    File(Box<FileWriter<LaneTarget>>),
    Stream(Box<StreamWriter<LaneTarget>>),
}

impl BatchWriter {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            BatchWriter::File(writer) => writer.write(batch),
            BatchWriter::Stream(writer) => writer.write(batch),
        }
    }

    fn target(&self) -> &LaneTarget {
        match self {
            BatchWriter::File(writer) => writer.get_ref(),
            BatchWriter::Stream(writer) => writer.get_ref(),
        }
    }

    /// Writes the end marker or footer.
    fn end(&mut self) -> Result<(), ArrowError> {
        match self {
            BatchWriter::File(writer) => writer.finish(),
            BatchWriter::Stream(writer) => writer.finish(),
        }
    }

    fn into_target(self) -> Result<LaneTarget, ArrowError> {
        match self {
            BatchWriter::File(writer) => writer.into_inner(),
            BatchWriter::Stream(writer) => writer.into_inner(),
        }
    }
}

impl ArrowOutput {
    /// Writes the schema of the results.
    pub fn begin(target: LaneTarget, form: ArrowForm, plan: &LanePlan) -> Fallible<ArrowOutput> {
        let results = ArrowResults::of(plan);
        // By this metadata a later command recognizes the file as its own output, which it may overwrite.
        let mut metadata = results.schema().metadata().clone();
        metadata.insert("writer".to_owned(), BATCH_MARK.to_owned());
        let schema = &results.schema().as_ref().clone().with_metadata(metadata);
        let writer = match form {
            ArrowForm::File => {
                FileWriter::try_new(target, schema).map(|writer| BatchWriter::File(Box::new(writer)))
            }
            ArrowForm::Stream => {
                StreamWriter::try_new(target, schema).map(|writer| BatchWriter::Stream(Box::new(writer)))
            }
        };
        Ok(ArrowOutput { writer: writer.map_err(|error| Failure::load(unwritten(error)))?, results })
    }
}

/// Converts an Arrow error: returns the system's error if the Arrow error contains one, otherwise wraps the Arrow
/// error.
fn unwritten(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}

impl LaneWriter for ArrowOutput {
    fn write(&mut self, _: &Program, block: &DoneBlock<'_>) -> Fallible {
        let batch = self.results.batch(block.lanes, block.first, block.columns, block.failures);
        let batch = batch.map_err(|error| match error {
            ArrowRefused::Inexact { .. } => Failure::load(format_args!("can't write the results: {error}"))
                .help("write a `.csv` with `-o`: it has all digits"),
            error => Failure::load(format_args!("can't write the results: {error}")),
        })?;
        self.writer.write(&batch).map_err(|error| self.writer.target().failed(unwritten(error)))
    }

    fn finish(mut self: Box<Self>, _: &Program, _: &[SumOverLanes]) -> Fallible<Object<'static>> {
        let ended = self.writer.end();
        ended.map_err(|error| self.writer.target().failed(unwritten(error)))?;
        let target = self.writer.into_target().map_err(|error| Failure::load(unwritten(error)))?;
        target.finish().map(|()| Object::default())
    }
}
