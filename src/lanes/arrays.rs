//! Lanes out of arrays of NumPy: `.npz`, with an array for each name, and `.npy`, whose columns are the inputs of a program. They are in
//! memory as a whole, because a file has one array behind the other.

use std::io::{self, Cursor, Read};
use std::path::Path;

use npyz::{DType, Deserialize, NpyFile as Npy, Order, TypeChar};
use reviver::batch::plan::LaneCell;
use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_vm::Program;
use reviver_vm::values::{Value, element_name};
use zip::ZipArchive;
use zip::result::ZipError;

use super::LaneReader;
use crate::failure::{Failure, Fallible, counted};
use crate::read::{self, shown};

/// Columns of arrays, in memory.
pub struct ArrayInput {
    file: String,
    columns: Vec<ArrayColumn>,
    lanes: usize,
    /// How many lanes were read.
    read: usize,
}

struct ArrayColumn {
    name: String,
    /// The array that it is a part of, and which part: column `part` of `parts`.
    array: std::rc::Rc<ArrayNumbers>,
    part: usize,
    parts: usize,
    is_fortran: bool,
}

/// The numbers of an array as they lie in the file.
enum ArrayNumbers {
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
    Reals(Vec<f64>),
}

impl ArrayNumbers {
    fn len(&self) -> usize {
        match self {
            ArrayNumbers::Signed(values) => values.len(),
            ArrayNumbers::Unsigned(values) => values.len(),
            ArrayNumbers::Reals(values) => values.len(),
        }
    }
}

/// An array of a file.
struct ReadArray {
    lengths: Vec<u64>,
    is_fortran: bool,
    numbers: ArrayNumbers,
}

/// The longest text in front of an array that is read. Arrays of numbers have some hundred bytes.
const LONGEST_HEADER: usize = 1 << 16;

impl ArrayInput {
    /// Reads an archive of arrays.
    pub fn npz(path: &Path) -> Fallible<ArrayInput> {
        let file = shown(path);
        let broken = |error: &dyn std::fmt::Display| broken(&file, error);
        let mut archive = ZipArchive::new(read::open_file(path)?).map_err(|error| broken(&error))?;
        let mut input = ArrayInput { file: file.clone(), columns: Vec::new(), lanes: 0, read: 0 };
        for n in 0..archive.len() {
            let entry = archive.by_index(n).map_err(|error: ZipError| broken(&error))?;
            let entry_name = entry.name().map_err(|error| broken(&error))?.into_owned();
            let Some(name) = entry_name.strip_suffix(".npy") else {
                return Err(broken(&format_args!("`{entry_name}` in it is no array of NumPy")));
            };
            let array = array(entry).map_err(|why| broken(&format_args!("the array `{name}`: {why}")))?;
            input.add(name, array, n == 0)?;
        }
        if input.columns.is_empty() {
            return Err(Failure::usage(format_args!("{file}: there are no arrays in it")));
        }
        Ok(input)
    }

    /// Reads one array, whose columns are given to these cells.
    pub fn npy(path: &Path, cells: &[String]) -> Fallible<ArrayInput> {
        let file = shown(path);
        let array = array(read::open_file(path)?).map_err(|why| broken(&file, &why))?;
        let lanes = array.lengths.first().copied().unwrap_or(1);
        let parts = array.lengths.iter().skip(1).product::<u64>();
        if parts != cells.len() as u64 {
            return Err(Failure::usage(format_args!(
                "{file}: {} in each of {} lanes, and the lanes are given {}: {}",
                counted(usize::try_from(parts).unwrap_or(usize::MAX), "number"),
                lanes,
                counted(cells.len(), "cell"),
                listed(cells)
            ))
            .help("a `.npy` has the inputs in the order of their declarations; `--shared` gives some to all lanes, and a `.npz` has names"));
        }
        let mut input = ArrayInput { file, columns: Vec::new(), lanes: 0, read: 0 };
        input.lanes = lanes_of(&input.file, "the array", &array)?;
        input.columns = columns(array, cells.iter().cloned());
        Ok(input)
    }

    /// Adds an array of a name: a column for each cell of it.
    fn add(&mut self, name: &str, array: ReadArray, is_first: bool) -> Fallible {
        let lanes = lanes_of(&self.file, name, &array)?;
        if !is_first && lanes != self.lanes {
            let other = self.columns.first().map_or("", |column| column.name.as_str());
            return Err(Failure::usage(format_args!(
                "{}: the array `{name}` has {}, and `{other}` has {}",
                self.file,
                counted(lanes, "lane"),
                self.lanes
            ))
            .help("the first length of every array is the number of lanes"));
        }
        self.lanes = lanes;
        let length = |n: usize| array.lengths.get(n).map(|&length| u32::try_from(length).unwrap_or(u32::MAX));
        let (shape, parts) = match (length(1), length(2), array.lengths.len()) {
            (None, ..) => (Shape::Scalar, 1),
            (Some(length), None, _) => (Shape::Vector(length), length as usize),
            (Some(rows), Some(columns), 3) => {
                (Shape::Matrix(rows, columns.max(1)), rows as usize * columns as usize)
            }
            _ => {
                return Err(Failure::usage(format_args!(
                    "{}: the array `{name}` has {} lengths",
                    self.file,
                    array.lengths.len()
                ))
                .help("the lanes come first, then one length of a vector, or two of a matrix"));
            }
        };
        self.columns.extend(columns(array, (0..parts).map(|n| element_name(name, shape, n))));
        Ok(())
    }
}

fn broken(file: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::load(format_args!("can't read {file}: {why}"))
        .help("is the file whole? `numpy.load` would say the same")
}

fn listed(cells: &[String]) -> String {
    const NAMED: usize = 8;
    let named: Vec<String> = cells.iter().take(NAMED).map(|cell| format!("`{cell}`")).collect();
    let rest = if cells.len() > NAMED { ", …" } else { "" };
    named.join(", ") + rest
}

fn lanes_of(file: &str, name: &str, array: &ReadArray) -> Fallible<usize> {
    let lanes = array.lengths.first().ok_or_else(|| {
        Failure::usage(format_args!("{file}: `{name}` is one number, and lanes are given one each"))
            .help("`--shared` gives all lanes the same number")
    })?;
    usize::try_from(*lanes).map_err(|_| broken(file, &"it has more lanes than memory has room for"))
}

/// Columns that are parts of an array, in its order.
fn columns(array: ReadArray, names: impl ExactSizeIterator<Item = String>) -> Vec<ArrayColumn> {
    let (parts, is_fortran, array) = (names.len(), array.is_fortran, std::rc::Rc::new(array.numbers));
    let column = |(part, name)| ArrayColumn { name, array: array.clone(), part, parts, is_fortran };
    names.enumerate().map(column).collect()
}

/// One array out of a file.
fn array(mut source: impl Read) -> Result<ReadArray, String> {
    let head = header(&mut source)?;
    let file = Npy::new(Cursor::new(head).chain(source)).map_err(|error| error.to_string())?;
    let (lengths, is_fortran) = (file.shape().to_vec(), file.order() == Order::Fortran);
    let count = lengths.iter().try_fold(1u64, |count, length| count.checked_mul(*length));
    let count = count
        .and_then(|count| usize::try_from(count).ok())
        .ok_or("it claims more numbers than memory holds")?;
    let DType::Plain(kind) = file.dtype() else {
        return Err("its numbers have names of their own: save each as an array of a `.npz`".into());
    };
    let numbers = match (kind.type_char(), kind.size_field()) {
        (TypeChar::Int, 1) => ArrayNumbers::Signed(values::<i8, _, _>(file, count, i64::from)?),
        (TypeChar::Int, 2) => ArrayNumbers::Signed(values::<i16, _, _>(file, count, i64::from)?),
        (TypeChar::Int, 4) => ArrayNumbers::Signed(values::<i32, _, _>(file, count, i64::from)?),
        (TypeChar::Int, 8) => ArrayNumbers::Signed(values::<i64, _, _>(file, count, |value| value)?),
        (TypeChar::Uint, 1) => ArrayNumbers::Unsigned(values::<u8, _, _>(file, count, u64::from)?),
        (TypeChar::Uint, 2) => ArrayNumbers::Unsigned(values::<u16, _, _>(file, count, u64::from)?),
        (TypeChar::Uint, 4) => ArrayNumbers::Unsigned(values::<u32, _, _>(file, count, u64::from)?),
        (TypeChar::Uint, 8) => ArrayNumbers::Unsigned(values::<u64, _, _>(file, count, |value| value)?),
        (TypeChar::Float, 4) => ArrayNumbers::Reals(values::<f32, _, _>(file, count, f64::from)?),
        (TypeChar::Float, 8) => ArrayNumbers::Reals(values::<f64, _, _>(file, count, |value| value)?),
        _ => {
            return Err(format!("its numbers are `{kind}`: integers, and floats of 32 and 64 bits are read"));
        }
    };
    match numbers.len() == count {
        true => Ok(ReadArray { lengths, is_fortran, numbers }),
        false => Err(format!("it has {} of its {count} numbers: it is cut short", numbers.len())),
    }
}

/// The numbers that are there, at most so many.
fn values<T: Deserialize, V, R: Read>(
    file: Npy<R>,
    count: usize,
    wide: impl Fn(T) -> V,
) -> Result<Vec<V>, String> {
    let mut values = Vec::new();
    for value in file.data::<T>().map_err(|error| error.to_string())?.take(count) {
        match value {
            Ok(value) => {
                values.try_reserve(1).map_err(|_| "there is no memory for its numbers")?;
                values.push(wide(value));
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(values)
}

/// The bytes in front of an array, which are looked at before anybody believes them: they say how long they are, and the product of the
/// lengths has to be a number.
fn header(source: &mut impl Read) -> Result<Vec<u8>, String> {
    let cut = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => "it is cut short".to_owned(),
        _ => error.to_string(),
    };
    let mut start = [0u8; 10];
    source.read_exact(&mut start).map_err(cut)?;
    let [.., major, _, low, high] = start;
    if !start.starts_with(b"\x93NUMPY") {
        return Err("it doesn't begin as an array of NumPy does".into());
    }
    let (mut head, mut length) = (start.to_vec(), usize::from(u16::from_le_bytes([low, high])));
    if major >= 2 {
        let mut rest = [0u8; 2];
        source.read_exact(&mut rest).map_err(cut)?;
        head.extend(rest);
        length = u32::from_le_bytes([low, high, rest[0], rest[1]]) as usize;
    }
    if length > LONGEST_HEADER {
        return Err("what it says of itself is too long".into());
    }
    let mut text = vec![0; length];
    source.read_exact(&mut text).map_err(cut)?;
    head.extend(&text);
    let text = String::from_utf8_lossy(&text);
    if text.matches(['(', '[', '{']).count() > 256 || !has_product(&text) {
        return Err("what it says of its lengths makes no array".into());
    }
    Ok(head)
}

/// Whether the lengths behind `shape` have a product.
fn has_product(text: &str) -> bool {
    let behind = text.split_once("shape").map_or("", |(_, behind)| behind);
    let inside = behind
        .split_once('(')
        .and_then(|(_, behind)| behind.split_once(')'))
        .map_or("", |(inside, _)| inside);
    let lengths = inside.split(',').map(str::trim).filter(|length| !length.is_empty());
    lengths
        .map(|length| length.trim_end_matches('L').parse::<u64>().ok())
        .try_fold(1u64, |product, length| product.checked_mul(length?.max(1)))
        .is_some()
}

impl LaneReader for ArrayInput {
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    fn read(
        &mut self,
        program: &Program,
        cells: &[LaneCell],
        most: usize,
        columns: &mut [Vec<u64>],
    ) -> Fallible<usize> {
        let count = most.min(self.lanes - self.read);
        for ((column, cell), numbers) in self.columns.iter().zip(cells).zip(columns) {
            for lane in self.read..self.read + count {
                numbers.push(column.bits(program, cell, lane, self.lanes).map_err(|what| {
                    Failure::usage(format_args!("{}: `{}` in lane {lane}: {what}", self.file, cell.name))
                        .help("leave such lanes out, or declare the cell so that it holds such numbers")
                })?);
            }
        }
        self.read += count;
        Ok(count)
    }

    fn share_read(&self) -> Option<f64> {
        Some(if self.lanes == 0 { 1.0 } else { self.read as f64 / self.lanes as f64 })
    }

    fn doubt(&self) -> Option<String> {
        None
    }
}

impl ArrayColumn {
    fn bits(&self, program: &Program, cell: &LaneCell, lane: usize, lanes: usize) -> Result<u64, String> {
        let at = if self.is_fortran { self.part * lanes + lane } else { lane * self.parts + self.part };
        let module = program.module();
        match (&*self.array, cell.class) {
            (ArrayNumbers::Signed(values), Class::Int) => {
                let value = values.get(at).copied().unwrap_or_default();
                let fits = module.word.range().contains(&value);
                fits.then_some(value as u64).ok_or_else(|| no_word(module.word.bits(), &value))
            }
            // What has no sign is a pattern of bits, as base 16 is in a text.
            (ArrayNumbers::Unsigned(values), Class::Int) => {
                let value = values.get(at).copied().unwrap_or_default();
                let fits = module.word.pattern(value as i64) == value;
                fits.then(|| module.word.signed(value) as u64)
                    .ok_or_else(|| no_word(module.word.bits(), &value))
            }
            (ArrayNumbers::Reals(values), Class::Int) => {
                let value = values.get(at).copied().unwrap_or_default();
                Err(format!("{value:?} is a real, and the cell is an integer"))
            }
            (ArrayNumbers::Reals(values), Class::Real) => {
                real(program, &format!("{:?}", values.get(at).copied().unwrap_or_default()))
            }
            (ArrayNumbers::Signed(values), Class::Real) => {
                real(program, &values.get(at).copied().unwrap_or_default().to_string())
            }
            (ArrayNumbers::Unsigned(values), Class::Real) => {
                real(program, &values.get(at).copied().unwrap_or_default().to_string())
            }
        }
    }
}

fn no_word(bits: u32, value: &dyn std::fmt::Display) -> String {
    format!("{value} is not an integer of {bits} bits")
}

fn real(program: &Program, text: &str) -> Result<u64, String> {
    match program.parse(Class::Real, text).map_err(|error| error.to_string())? {
        Value::Real(bits) => Ok(bits),
        Value::Int(value) => Ok(value as u64),
    }
}
