//! Results as CSV: a header line, then a line for each lane. The lines of a block are written when the block is
//! computed.

use std::io;

use csv::{ByteRecord, Writer, WriterBuilder};
use reviver::SumOverLanes;
use reviver::batch::plan::{LanePlan, ResultColumn};
use reviver_escape::csv_cell;
use reviver_files::reason;
use reviver_vm::Program;
use reviver_vm::values::Value;

use super::{DoneBlock, LaneTarget, LaneWriter};
use crate::failure::{Failure, Fallible};
use crate::output::batch::reported;
use crate::output::json_values::Object;

/// Writer of results as lines.
pub struct CsvOutput {
    writer: Writer<LaneTarget>,
    columns: Vec<(usize, ResultColumn)>,
    has_status: bool,
    record: ByteRecord,
}

impl CsvOutput {
    /// Writes the header line.
    pub fn begin(lines: LaneTarget, plan: &LanePlan) -> Fallible<CsvOutput> {
        let columns = plan.shown().map(|(n, column)| (n, column.clone())).collect();
        let has_status = plan.options.keeps_going;
        let writer = WriterBuilder::new().from_writer(lines);
        let mut output = CsvOutput { writer, columns, has_status, record: names(plan) };
        output.line()?;
        Ok(output)
    }

    /// Returns the header line. A file that begins with the same line is earlier output, which may be overwritten.
    pub fn header(plan: &LanePlan) -> Vec<u8> {
        let mut writer = WriterBuilder::new().from_writer(Vec::new());
        // Writing to memory can't fail.
        writer.write_byte_record(&names(plan)).ok();
        writer.into_inner().unwrap_or_default()
    }

    fn line(&mut self) -> Fallible {
        // The writer quotes a single empty field, because readers skip empty lines.
        let written = self.writer.write_byte_record(&self.record);
        written.map_err(|error| self.unwritten(error))
    }

    fn unwritten(&self, error: csv::Error) -> Failure {
        let error = match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            other => io::Error::other(format!("{other:?}")),
        };
        self.writer.get_ref().failed(error)
    }
}

fn names(plan: &LanePlan) -> ByteRecord {
    let mut names = ByteRecord::new();
    plan.shown().for_each(|(_, column)| names.push_field(csv_cell(&column.name).as_bytes()));
    if plan.options.keeps_going {
        names.push_field(b"status");
    }
    names
}

impl LaneWriter for CsvOutput {
    fn write(&mut self, program: &Program, block: &DoneBlock<'_>) -> Fallible {
        for row in 0..block.lanes {
            self.record.clear();
            let failure = block.failure(row);
            for (n, column) in &self.columns {
                let bits = block.columns.get(*n).and_then(|column| column.get(row)).copied();
                match bits.filter(|_| failure.is_none()) {
                    Some(bits) => {
                        self.record.push_field(program.text(Value::of_bits(column.class, bits)).as_bytes());
                    }
                    None => self.record.push_field(b""),
                }
            }
            if self.has_status {
                let status = failure.map_or("ok".to_owned(), |failure| reported(&failure.error));
                self.record.push_field(csv_cell(&status).as_bytes());
            }
            self.line()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &Program, _: &[SumOverLanes]) -> Fallible<Object<'static>> {
        self.writer.flush().map_err(|error| self.unwritten(error.into()))?;
        match self.writer.into_inner() {
            Ok(target) => target.finish().map(|()| Object::default()),
            Err(error) => {
                let failure =
                    Failure::load(format_args!("can't write the results: {}", reason(error.error())));
                Err(failure.caused_by(error.error()))
            }
        }
    }
}
