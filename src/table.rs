//! Numbers in files: lines of fields, and the place of each. Understands commas, semicolons, tabs and
//! blanks, quotes, a header, comments (`#`); what has another shape than was asked for is an error. Knows
//! no program: whether a text is a number it asks.
//!
//! A number needs no escapes, so a line is simply split where the delimiter stands.

use std::path::Path;

use reviver_isa::module::Shape;
use reviver_vm::values::ValueError;
use serde_json::json;

use crate::failure::{Failure, Fallible, counted};
use crate::read;

/// Reads a text as a number.
pub type ReadNumber<'p, T> = &'p dyn Fn(&str) -> Result<T, ValueError>;

/// The numbers of a file that has a shape, row after row: of a matrix the rows are lines, of a vector
/// there is one row or one column. `name` says what they are for.
///
/// # Errors
/// Another shape, lines of different lengths, something that is no number, with their places.
pub fn cells<T>(path: &Path, name: &str, shape: Shape, parse: ReadNumber<'_, T>) -> Fallible<Vec<T>> {
    let text = text(path)?;
    let table = Table::new(path, &text);
    table.check_shape(name, shape)?;
    table.parsed(parse)
}

/// All numbers of a file, line after line.
///
/// # Errors
/// Something that is no number, a header too, with its place.
pub fn list<T>(path: &Path, parse: ReadNumber<'_, T>) -> Fallible<Vec<T>> {
    let text = text(path)?;
    let table = Table::new(path, &text);
    match &table.header {
        Some(header) => {
            let what = "no number stands on this line, and a tape has no header";
            Err(table.fault(header.line, header.fields.first(), what))
        }
        None => table.parsed(parse),
    }
}

fn text(path: &Path) -> Fallible<String> {
    let mut text = String::from_utf8(read::data(path)?)
        .map_err(|_| Failure::usage(format_args!("{}: this is not UTF-8 text", read::name(path))))?;
    // Spreadsheets write a byte order mark.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// What stands between two numbers of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Character(char),
    /// Any number of blanks and tabs.
    Blanks,
}

struct Field<'t> {
    /// In characters, from 1.
    column: usize,
    text: &'t str,
}

struct TableRow<'t> {
    /// From 1.
    line: usize,
    fields: Vec<Field<'t>>,
}

struct Table<'t> {
    file: String,
    /// The first line, if nothing in it looks like a number.
    header: Option<TableRow<'t>>,
    rows: Vec<TableRow<'t>>,
}

impl<'t> Table<'t> {
    fn new(path: &Path, text: &'t str) -> Table<'t> {
        let says = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let lines = text.lines().zip(1..).filter(|(line, _)| says(line));
        let delimiter = Delimiter::of(lines.clone().map(|(line, _)| line));
        let mut rows: Vec<TableRow<'t>> =
            lines.map(|(text, line)| TableRow { line, fields: delimiter.split(text) }).collect();
        let is_header =
            rows.first().is_some_and(|row| !row.fields.iter().any(|field| looks_like_number(field.text)));
        let header = is_header.then(|| rows.remove(0));
        Table { file: read::name(path), header, rows }
    }

    fn check_shape(&self, name: &str, shape: Shape) -> Fallible {
        let width = self.rows.first().map_or(0, |row| row.fields.len());
        let wanted = match shape {
            Shape::Scalar => (1, 1),
            Shape::Vector(length) if self.rows.len() == 1 => (1, length as usize),
            Shape::Vector(length) => (length as usize, 1),
            Shape::Matrix(rows, columns) => (rows as usize, columns as usize),
            // As many as there are, none too; but a file with nothing but a header was meant to have some.
            Shape::Stack if self.rows.is_empty() && self.header.is_some() => (1, 1),
            Shape::Stack if self.rows.len() == 1 => (1, width),
            Shape::Stack => (self.rows.len(), width.min(1)),
        };
        if let Some(pair) = self.rows.windows(2).find(|pair| is_ragged(pair)) {
            return Err(self.ragged(pair, name, shape));
        }
        if (self.rows.len(), width) == wanted {
            return Ok(());
        }
        let found = format!("{} of {}", counted(self.rows.len(), "line"), counted(width, "number"));
        let failure = Failure::usage(format_args!(
            "{}: {found}, and {} takes {}",
            self.file,
            declared(name, shape),
            shape_in_words(shape)
        ));
        Err(self.shape_help(failure, shape, width))
    }

    fn shape_help(&self, failure: Failure, shape: Shape, width: usize) -> Failure {
        let failure = match shape {
            Shape::Matrix(rows, columns) if (columns as usize, rows as usize) == (self.rows.len(), width) => {
                failure.help("the file has the rows as columns: exchange them")
            }
            Shape::Matrix(..) => failure.help("each line is one row"),
            Shape::Vector(_) => failure.help("a vector is one line of numbers, or one number a line"),
            Shape::Stack => failure.help("its bottom comes first"),
            Shape::Scalar => failure,
        };
        match &self.header {
            Some(header) => {
                let line = header.line;
                failure.help(format_args!("line {line} has no number and was taken for a header"))
            }
            None => failure,
        }
    }

    fn ragged(&self, pair: &[TableRow<'_>], name: &str, shape: Shape) -> Failure {
        let counts: Vec<usize> = pair.iter().map(|row| row.fields.len()).collect();
        let (above, here) = (counts.first().copied().unwrap_or(0), counts.last().copied().unwrap_or(0));
        let line = pair.last().map_or(0, |row| row.line);
        let what = format!(
            "{}, and the line before has {above}; {} takes {}",
            counted(here, "number"),
            declared(name, shape),
            shape_in_words(shape)
        );
        self.fault(line, None, &what)
    }

    /// Every number, in the order of reading.
    fn parsed<T>(&self, parse: ReadNumber<'_, T>) -> Fallible<Vec<T>> {
        let fields = self.rows.iter().flat_map(|row| row.fields.iter().map(|field| (row.line, field)));
        fields
            .map(|(line, field)| {
                parse(field.text).map_err(|error| {
                    let failure = self.fault(line, Some(field), &error.to_string());
                    if field.text.contains(',') {
                        failure.help("a decimal point is expected")
                    } else {
                        failure
                    }
                })
            })
            .collect()
    }

    /// An error with its place.
    fn fault(&self, line: usize, field: Option<&Field<'_>>, what: &str) -> Failure {
        let (file, column) = (&self.file, field.map(|field| field.column));
        let place = match column {
            Some(column) => format!("{file}:{line}:{column}"),
            None => format!("{file}:{line}"),
        };
        Failure::usage(format_args!("{place}: {what}"))
            .detail("place", json!({ "file": file, "line": line, "column": column }))
    }
}

fn is_ragged(pair: &[TableRow<'_>]) -> bool {
    pair.first().map(|row| row.fields.len()) != pair.last().map(|row| row.fields.len())
}

/// `A[6]`, as declarations say it.
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

/// A name of a column doesn't begin like a number.
fn looks_like_number(text: &str) -> bool {
    text.trim_start_matches(['+', '-', '.']).starts_with(|c: char| c.is_ascii_digit())
}

impl Delimiter {
    /// A semicolon where there is one, since then commas may be decimal ones; else a comma; else tabs,
    /// unless blanks separate too.
    fn of<'t>(mut lines: impl Iterator<Item = &'t str> + Clone) -> Delimiter {
        let contain = |character: &char| lines.clone().any(|line| line.trim().contains(*character));
        let character = [';', ',', '\t'].into_iter().find(contain);
        let mut has_blank_inside = |field: &str| field.trim().contains(' ');
        match character {
            Some('\t') if lines.any(|line| line.trim().split('\t').any(&mut has_blank_inside)) => {
                Delimiter::Blanks
            }
            Some(character) => Delimiter::Character(character),
            None => Delimiter::Blanks,
        }
    }

    /// The fields of a line without blanks and quotes around them. A delimiter at the end begins no field.
    fn split(self, line: &str) -> Vec<Field<'_>> {
        let mut fields = Vec::new();
        let mut column = 1 + line.chars().count() - line.trim_start().chars().count();
        for part in line.trim().split(|c: char| self.is(c)) {
            let before = part.chars().count() - part.trim_start().chars().count();
            let text = part.trim();
            let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            fields.push(Field { column: column + before, text: quoted.map_or(text, str::trim) });
            column += part.chars().count() + 1;
        }
        if self == Delimiter::Blanks {
            fields.retain(|field| !field.text.is_empty());
        } else if fields.len() > 1 && fields.last().is_some_and(|field| field.text.is_empty()) {
            fields.pop();
        }
        fields
    }

    fn is(self, c: char) -> bool {
        match self {
            Delimiter::Character(character) => c == character,
            Delimiter::Blanks => c == ' ' || c == '\t',
        }
    }
}
