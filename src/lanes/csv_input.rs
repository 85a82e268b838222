//! Lanes from CSV: a header line, then a line for each lane. Lines are read on demand, for files of any length.

use std::cell::Cell;
use std::rc::Rc;

use reviver::batch::plan::LaneCell;
use reviver_vm::Program;

use super::counted::CountedReader;
use super::{LaneReader, OpenLanes};
use crate::failure::{Failure, Fallible};
use crate::table::lines::TableLines;
use crate::table::named::{names, number_count};
use crate::table::no_number;

/// Reader of a CSV file, or standard input.
pub struct CsvInput {
    file: String,
    lines: TableLines<'static>,
    names: Vec<String>,
    /// Line numbers of the last block's lanes.
    numbers: Vec<u64>,
    seen: Rc<Cell<u64>>,
    length: Option<u64>,
}

impl CsvInput {
    /// Reads the header line.
    pub fn begin(open: OpenLanes) -> Fallible<CsvInput> {
        let (file, length, inner) = (open.file.clone(), open.length, open.reader());
        let seen = Rc::new(Cell::new(0));
        let mut lines = TableLines::new(file.clone(), CountedReader { inner, seen: seen.clone() });
        if !lines.first()? {
            return Err(Failure::usage(format_args!("{file}: the file has no lines")).help(
                "write the names of the cells in the first line, separated by commas, and a lane in each line below",
            ));
        }
        let names = names(&mut lines)?;
        Ok(CsvInput { file, lines, names, numbers: Vec::new(), seen, length })
    }
}

impl LaneReader for CsvInput {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn read(
        &mut self,
        program: &Program,
        cells: &[LaneCell],
        most: usize,
        columns: &mut [Vec<u64>],
    ) -> Fallible<usize> {
        self.numbers.clear();
        while self.numbers.len() < most && self.lines.next()? {
            number_count(&mut self.lines, self.names.len())?;
            for (n, ((field, cell), numbers)) in
                self.lines.fields().zip(cells).zip(columns.iter_mut()).enumerate()
            {
                let value = program.parse(cell.class, field).map_err(|error| {
                    no_number(program, &cell.name, error, |what| self.lines.fault(Some(n), what))
                })?;
                numbers.push(value.bits());
            }
            self.numbers.push(self.lines.number());
        }
        Ok(self.numbers.len())
    }

    fn take_lines(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.numbers)
    }

    fn share_read(&self) -> Option<f64> {
        let length = self.length.filter(|length| *length > 0)?;
        Some((self.seen.get() as f64 / length as f64).min(1.0))
    }

    fn doubt(&self) -> Option<String> {
        (!self.lines.has_line_end()).then(|| {
            format!("note: the last line of {} has no line end: if the file was cut short, its last number may be incomplete\n", self.file)
        })
    }
}
