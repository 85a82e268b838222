//! Lanes out of CSV: a line of names, then a line for each lane. Reads as it goes, whatever the length of the file.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use csv::{ByteRecord, Reader, ReaderBuilder};
use reviver::batch::plan::LaneCell;
use reviver_vm::Program;
use reviver_vm::values::Value;

use super::header::{at, no_number};
use super::{LaneReader, OpenLanes};
use crate::failure::{Failure, Fallible, counted};

/// A CSV file, or standard input.
pub struct CsvInput {
    file: String,
    reader: Reader<Box<dyn Read>>,
    header: ByteRecord,
    names: Vec<String>,
    record: ByteRecord,
    /// The lines of the lanes of the last block.
    lines: Vec<u64>,
    seen: Rc<SeenBytes>,
    length: Option<u64>,
}

/// What has gone by.
#[derive(Default)]
struct SeenBytes {
    bytes: Cell<u64>,
    last: Cell<u8>,
}

/// Looks at what goes by.
struct WatchedReader<R> {
    inner: R,
    seen: Rc<SeenBytes>,
}

impl<R: Read> Read for WatchedReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        if let Some(&last) = bytes.get(..count).and_then(<[u8]>::last) {
            self.seen.last.set(last);
        }
        self.seen.bytes.set(self.seen.bytes.get() + count as u64);
        Ok(count)
    }
}

impl CsvInput {
    /// Reads the names.
    pub fn begin(open: OpenLanes) -> Fallible<CsvInput> {
        let (file, length, inner) = (open.file.clone(), open.length, open.reader());
        let seen = Rc::new(SeenBytes::default());
        let mut buffered = BufReader::with_capacity(1 << 16, WatchedReader { inner, seen: seen.clone() });
        let unreadable = |error: io::Error| Failure::load(format_args!("can't read {file}: {error}"));
        let delimiter = delimiter(buffered.fill_buf().map_err(unreadable)?);
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .comment(Some(b'#'))
            .from_reader(Box::new(buffered) as Box<dyn Read>);
        let mut header = ByteRecord::new();
        let is_there = reader.read_byte_record(&mut header).map_err(|error| broken(&file, &error))?;
        if !is_there {
            return Err(Failure::usage(format_args!("{file}: there is nothing in it")).help(
                "the first line names the cells, with commas in between; each line that follows is a lane",
            ));
        }
        let mut input = CsvInput {
            file,
            reader,
            header,
            names: Vec::new(),
            record: ByteRecord::new(),
            lines: Vec::new(),
            seen,
            length,
        };
        input.names = input.named()?;
        Ok(input)
    }

    /// The names of the first line.
    fn named(&self) -> Fallible<Vec<String>> {
        let line = self.header.position().map_or(1, csv::Position::line);
        let mut names: Vec<String> = Vec::new();
        for (n, field) in self.header.iter().enumerate() {
            let place = (self.file.as_str(), line, column(&self.header, n));
            let Ok(name) = std::str::from_utf8(field) else {
                return Err(at(place, "this is not UTF-8 text"));
            };
            let name: String = name.chars().filter(|sign| !sign.is_whitespace()).collect();
            if name.is_empty() {
                return Err(
                    at(place, "a column without a name").help("each column is named by a cell: `x`, `A[3]`")
                );
            }
            if name.trim_start_matches(['+', '-', '.']).starts_with(|sign: char| sign.is_ascii_digit()) {
                return Err(at(
                    place,
                    &format!("`{name}` is a number, and the first line is to name the columns"),
                )
                .help("put a line with the names of the cells in front: `x,A[0],A[1]`"));
            }
            if name.contains('[') && !name.contains(']') {
                return Err(at(place, &format!("`{name}` lacks its bracket"))
                    .help("a name with a comma in it needs quotes: \"M[1,2]\""));
            }
            if names.contains(&name) {
                return Err(
                    at(place, &format!("the column `{name}` is there twice")).help("leave one of them out")
                );
            }
            names.push(name);
        }
        Ok(names)
    }

    /// A line with another number of fields than there are columns.
    fn ragged(&self, line: u64) -> Failure {
        let (found, wanted) = (self.record.len(), self.names.len());
        let behind = usize::from(found < wanted);
        let place = (self.file.as_str(), line, column(&self.record, found.min(wanted)) - behind);
        let what =
            format!("{}, and the first line names {}", counted(found, "field"), counted(wanted, "column"));
        let failure = at(place, &what);
        match found < wanted {
            true => failure.help("is the file cut short? each lane has a number in every column"),
            false => failure.help("each lane has one number in every column"),
        }
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
        self.lines.clear();
        while self.lines.len() < most {
            let is_there =
                self.reader.read_byte_record(&mut self.record).map_err(|error| broken(&self.file, &error))?;
            if !is_there {
                break;
            }
            let line = self.record.position().map_or(0, csv::Position::line);
            if self.record.len() != self.names.len() {
                return Err(self.ragged(line));
            }
            for (n, ((field, cell), numbers)) in
                self.record.iter().zip(cells).zip(columns.iter_mut()).enumerate()
            {
                let place = || (self.file.as_str(), line, column(&self.record, n));
                // The reader would make each record anew to trim it.
                let Ok(text) = std::str::from_utf8(field.trim_ascii()) else {
                    return Err(at(place(), "this is not UTF-8 text"));
                };
                let value = program.parse(cell.class, text);
                let value = value.map_err(|error| no_number(program, place(), &cell.name, &error))?;
                numbers.push(match value {
                    Value::Int(value) => value as u64,
                    Value::Real(bits) => bits,
                });
            }
            self.lines.push(line);
        }
        Ok(self.lines.len())
    }

    fn take_lines(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.lines)
    }

    fn share_read(&self) -> Option<f64> {
        let length = self.length.filter(|length| *length > 0)?;
        Some((self.seen.bytes.get() as f64 / length as f64).min(1.0))
    }

    fn doubt(&self) -> Option<String> {
        let is_whole = self.seen.bytes.get() == 0 || matches!(self.seen.last.get(), b'\n' | b'\r');
        (!is_whole).then(|| {
            format!("note: the last line of {} has no end: if the file was cut short, its last number is another\n", self.file)
        })
    }
}

/// What stands between fields: tabs, semicolons, or commas, whichever comes first on the line of names.
pub fn delimiter(beginning: &[u8]) -> u8 {
    let lines = beginning.split(|byte| *byte == b'\n');
    let is_said = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
    let header = lines.into_iter().find(is_said).unwrap_or_default();
    [b'\t', b';'].into_iter().find(|delimiter| header.contains(delimiter)).unwrap_or(b',')
}

/// The column in characters, from 1, where a field begins behind the blanks before it, as far as nothing on the line is written in quotes.
fn column(record: &ByteRecord, field: usize) -> usize {
    let before = record.iter().take(field).map(|text| String::from_utf8_lossy(text).chars().count() + 1);
    let own = record.get(field).unwrap_or_default();
    before.sum::<usize>() + (own.len() - own.trim_ascii_start().len()) + 1
}

fn broken(file: &str, error: &csv::Error) -> Failure {
    let what = match error.kind() {
        csv::ErrorKind::Io(error) => error.to_string(),
        _ => error.to_string(),
    };
    Failure::load(format_args!("can't read {file}: {what}"))
}
