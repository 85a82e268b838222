//! Numbers in files, as text (`lines`) or NumPy arrays (`arrays`), for `--set A=@FILE`, `--tape` and `--times`. Lanes
//! (`crate::lanes`) and input distributions (`crate::entropy`) read the same formats column by column. A wrong shape is
//! an error. Callers parse the numbers.

pub mod arrays;
mod fields;
pub mod lines;
pub mod named;

use std::io::Cursor;
use std::path::Path;

use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_memory::ask::{self, OutOfMemory};
use reviver_vm::Program;
use reviver_vm::values::ValueError;

use self::arrays::NumberArray;
use self::fields::looks_like_number;
use self::lines::{TableLines, shown_field};
use crate::failure::{Exit, Failure, Fallible, counted};
use crate::read::{self, shown};

/// Function that parses a text as a number.
pub type ReadNumber<'p, T> = &'p dyn Fn(&str) -> Result<T, ValueError>;

/// Reads numbers of a given shape from a file, in row-major order. A vector is one row or one column. A matrix has a
/// line for each row, or all cells in one line or one column. `name` is the cell's name, for messages.
///
/// # Errors
/// The file has another shape or lines of different lengths, or a field isn't a number. The failure has the place.
pub fn cells<T>(
    path: &Path,
    (name, shape, class): (&str, Shape, Class),
    parse: ReadNumber<'_, T>,
) -> Fallible<Vec<T>> {
    let purpose = Purpose::Cells { name, shape };
    let table = match array(path)? {
        Some(array) => NumberTable::of_array(path, &array, Some(class), parse)?,
        None => NumberTable::of_text(path, &purpose, parse)?,
    };
    table.check_shape(name, shape)?;
    Ok(table.numbers)
}

/// Reads all numbers of a file, line by line.
///
/// # Errors
/// A field isn't a number, for example because it is in a header line. The failure has the place of the field.
pub fn list<T>(path: &Path, parse: ReadNumber<'_, T>) -> Fallible<Vec<T>> {
    let table = match array(path)? {
        Some(array) => NumberTable::of_array(path, &array, None, parse)?,
        None => NumberTable::of_text(path, &Purpose::Tape, parse)?,
    };
    Ok(table.numbers)
}

/// Failure for a field that isn't a valid number of the cell, with advice. `fault` creates the failure, with the
/// field's place.
pub fn no_number(
    program: &Program,
    cell: &str,
    error: ValueError,
    fault: impl FnOnce(&str) -> Failure,
) -> Failure {
    let text = match &error {
        ValueError::NotAnInteger { text, .. } | ValueError::NotAReal { text, .. } => text.clone(),
        _ => String::new(),
    };
    let is_infinite = || text.trim().parse::<f64>().is_ok_and(|value| !value.is_finite());
    let is_integer = matches!(error, ValueError::NotAnInteger { .. });
    let failure = fault(&format!("`{cell}`: {}", reported(error)));
    if let Some(hint) = TableLines::hint(&text) {
        return failure.help(hint);
    }
    match is_integer {
        true if program.is_unsigned(&text) => {
            failure.help("add `--unsigned` to read integers without a sign")
        }
        true if program.parse(Class::Real, &text).is_ok() => {
            failure.help(format_args!("write an integer, or declare `{cell}` as a real: `.in {cell}: real`"))
        }
        false if is_infinite() => {
            failure.help("cells hold finite numbers only: leave such lanes out of the file")
        }
        _ => failure,
    }
}

/// Formats an error of parsing a number; a long text in it is shortened and escaped.
fn reported(error: ValueError) -> String {
    match error {
        ValueError::NotAnInteger { text, bits } => {
            ValueError::NotAnInteger { text: shown_field(&text), bits }.to_string()
        }
        ValueError::NotAReal { text, system } => {
            ValueError::NotAReal { text: shown_field(&text), system }.to_string()
        }
        error => error.to_string(),
    }
}

/// Purpose of the numbers in a file: cells of a name, or a tape.
enum Purpose<'n> {
    Cells { name: &'n str, shape: Shape },
    Tape,
}

/// Numbers of a file, with the number of lines, and how many numbers each line has.
struct NumberTable<T> {
    file: String,
    /// Line number of the header, if the file has one.
    header: Option<u64>,
    lines: usize,
    width: usize,
    numbers: Vec<T>,
}

/// Reads the file as an array if its name ends in `.npy` or `.npz`; otherwise returns `None`.
fn array(path: &Path) -> Fallible<Option<NumberArray>> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_deref().and_then(|ending| ending.to_str()) {
        Some("npy") => arrays::npy(path).map(Some),
        Some("npz") => Err(Failure::usage(format_args!(
            "{}: this is an archive of named arrays, and a single array is expected",
            shown(path)
        ))
        .help("write the array as a `.npy` with `numpy.save`; only `batch --lanes` reads archives")),
        _ => Ok(None),
    }
}

impl<T> NumberTable<T> {
    fn of_text(path: &Path, purpose: &Purpose<'_>, parse: ReadNumber<'_, T>) -> Fallible<NumberTable<T>> {
        let file = shown(path);
        let mut table =
            NumberTable { file: file.clone(), header: None, lines: 0, width: 0, numbers: Vec::new() };
        let mut lines = TableLines::new(file, Cursor::new(read::data(path)?));
        let mut is_there = lines.first()?;
        if is_there && is_header(&lines) {
            if matches!(purpose, Purpose::Tape) {
                return Err(lines.fault(Some(0), "this line has no number, and a tape has no header"));
            }
            table.header = Some(lines.number());
            lines.reconsider_delimiter();
            is_there = lines.next()?;
        }
        while is_there {
            lines.drop_trailing(if table.lines == 0 || matches!(purpose, Purpose::Tape) {
                1
            } else {
                table.width
            });
            if let Purpose::Cells { name, shape } = *purpose
                && table.lines > 0
                && lines.count() != table.width
            {
                return Err(table.ragged(&lines, name, shape));
            }
            table.line(&lines, parse)?;
            is_there = lines.next()?;
        }
        Ok(table)
    }

    /// Parses and adds the numbers of a line.
    fn line(&mut self, lines: &TableLines<'_>, parse: ReadNumber<'_, T>) -> Fallible {
        self.reserve(lines.count())?;
        for (n, text) in lines.fields().enumerate() {
            let number = parse(text).map_err(|error| {
                let failure = lines.fault(Some(n), &reported(error));
                TableLines::hint(text).into_iter().fold(failure, Failure::help)
            })?;
            self.numbers.push(number);
        }
        (self.lines, self.width) = (self.lines + 1, lines.count());
        Ok(())
    }

    /// Converts an array to a table: an array with two dimensions becomes several lines, and an array with one
    /// dimension becomes a single line.
    fn of_array(
        path: &Path,
        array: &NumberArray,
        class: Option<Class>,
        parse: ReadNumber<'_, T>,
    ) -> Fallible<NumberTable<T>> {
        let file = shown(path);
        let (lines, width) = match array.lengths[..] {
            [] => (1, 1),
            [width] => (1, width),
            [lines, width] => (lines, width),
            _ => {
                let what = format!(
                    "{file}: the array has {} dimensions, and at most two are supported",
                    array.lengths.len()
                );
                return Err(Failure::usage(what));
            }
        };
        let mut table = NumberTable { file, header: None, lines, width, numbers: Vec::new() };
        table.reserve(array.count())?;
        for n in 0..array.count() {
            let refused = |what: String| {
                let index: Vec<String> = array.index(n).iter().map(usize::to_string).collect();
                Failure::usage(format_args!("{}: element [{}]: {what}", table.file, index.join(", ")))
            };
            let text = array.text(n, class).map_err(refused)?;
            table.numbers.push(parse(&text).map_err(|error| refused(reported(error)))?);
        }
        Ok(table)
    }

    fn reserve(&mut self, more: usize) -> Fallible {
        ask::more(&mut self.numbers, more).map_err(|_| {
            Failure::new(Exit::Trap, format_args!("{OutOfMemory} for the numbers of {}", self.file))
        })
    }

    fn check_shape(&self, name: &str, shape: Shape) -> Fallible {
        let is_flat = |cells: usize| (self.lines == 1 || self.width == 1) && self.numbers.len() == cells;
        let fits = match shape {
            Shape::Scalar => is_flat(1),
            Shape::Vector(length) => is_flat(length as usize),
            Shape::Matrix(rows, columns) => {
                (self.lines, self.width) == (rows as usize, columns as usize)
                    || is_flat(rows as usize * columns as usize)
            }
            // A stack takes any number of values, even none. But a file with nothing except a header is an error,
            // because values were intended.
            Shape::Stack if self.lines == 0 => self.header.is_none(),
            Shape::Stack => self.lines == 1 || self.width <= 1,
        };
        if fits {
            return Ok(());
        }
        let found = format!("{} of {}", counted(self.lines, "line"), counted(self.width, "number"));
        let failure = Failure::usage(format_args!(
            "{}: {found}, and {} takes {}",
            self.file,
            declared(name, shape),
            shape_in_words(shape)
        ));
        Err(self.shape_help(failure, shape))
    }

    fn shape_help(&self, failure: Failure, shape: Shape) -> Failure {
        let failure = match shape {
            Shape::Matrix(rows, columns) if (columns as usize, rows as usize) == (self.lines, self.width) => {
                failure.help("exchange rows and columns: each line must be one row")
            }
            Shape::Matrix(..) => {
                failure.help("write one row in each line, or all numbers in one line, row by row")
            }
            Shape::Vector(_) => {
                failure.help("write a vector as one line of numbers, or with one number in each line")
            }
            Shape::Stack => {
                failure.help("write the values in one line or one column, the bottom of the stack first")
            }
            Shape::Scalar => failure,
        };
        match self.header {
            Some(line) => failure.help(format_args!("line {line} has no number and was taken for a header")),
            None => failure,
        }
    }

    fn ragged(&self, lines: &TableLines<'_>, name: &str, shape: Shape) -> Failure {
        let what = format!(
            "this line has {}, and the line before has {}; {} takes {}",
            counted(lines.count(), "number"),
            self.width,
            declared(name, shape),
            shape_in_words(shape)
        );
        lines.fault(None, &what)
    }
}

/// Returns true if a line is a header: at least one field isn't empty, and no field resembles a number.
fn is_header(lines: &TableLines<'_>) -> bool {
    lines.fields().any(|text| !text.is_empty()) && !lines.fields().any(looks_like_number)
}

/// Formats a declaration, such as `A[6]`.
fn declared(name: &str, shape: Shape) -> String {
    match shape {
        Shape::Scalar => format!("`{name}`"),
        Shape::Vector(length) => format!("`{name}[{length}]`"),
        Shape::Matrix(rows, columns) => format!("`{name}[{rows}, {columns}]`"),
        Shape::Stack => format!("the stack `{name}[]`"),
    }
}

fn shape_in_words(shape: Shape) -> String {
    match shape {
        Shape::Scalar => "one number".into(),
        Shape::Vector(length) => counted(length as usize, "number"),
        Shape::Stack => "one line of numbers, or one number a line".into(),
        Shape::Matrix(rows, columns) => {
            format!("{} of {}", counted(rows as usize, "line"), counted(columns as usize, "number"))
        }
    }
}
