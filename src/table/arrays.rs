//! NumPy files: a `.npy` has one array, a `.npz` one for each name. Claimed types, lengths and sizes are checked before
//! any number is decompressed, or memory is allocated.

use std::io::{self, BufReader, Cursor, Read, Seek as _, SeekFrom};
use std::path::Path;

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};
use reviver_files::OpenInput;
use reviver_isa::instruction::Class;
use reviver_isa::number::whole;
use reviver_memory::ask;
use zip::ZipArchive;
use zip::result::ZipError;

use super::lines::shown_field;
use crate::failure::{Failure, Fallible};
use crate::read::{self, shown};

/// Maximum length of an array header in bytes. The header of a number array has a few hundred bytes.
const LONGEST_HEADER: usize = 1 << 16;
/// Upper bound on the decompressed bytes for each byte of deflate data.
const LARGEST_RATIO: u64 = 1032;

/// Header of an array.
#[derive(Clone, Debug)]
pub struct ArrayHead {
    /// Name of the array in the archive; empty in a `.npy`, which has only one array.
    pub name: String,
    pub lengths: Vec<usize>,
    is_fortran: bool,
    is_big_endian: bool,
    kind: NumberKind,
    /// Length of the header in bytes.
    offset: usize,
}

/// Supported number types, each with its width in bytes.
#[derive(Clone, Copy, Debug)]
enum NumberKind {
    Bool,
    Signed(u8),
    Unsigned(u8),
    Float(u8),
}

impl NumberKind {
    fn width(self) -> u64 {
        match self {
            NumberKind::Bool => 1,
            NumberKind::Signed(width) | NumberKind::Unsigned(width) | NumberKind::Float(width) => {
                width.into()
            }
        }
    }
}

/// Element of an array, as read from a NumPy file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrayNumber {
    Signed(i64),
    /// Bit pattern of an integer cell, like a hexadecimal literal in a program.
    Unsigned(u64),
    Real(f64),
}

impl ArrayNumber {
    /// Converts the number for a cell of a class. For an integer cell, a float without a fraction becomes an integer.
    ///
    /// # Errors
    /// The number is a float that isn't an integer of 64 bits.
    pub fn of_class(self, class: Class) -> Result<ArrayNumber, String> {
        match (self, class) {
            (ArrayNumber::Real(value), Class::Int) => {
                let refusal = || format!("{value:?} is not an integer, and the cell is an integer");
                whole(value).map(ArrayNumber::Signed).ok_or_else(refusal)
            }
            (number, _) => Ok(number),
        }
    }

    /// Formats the number so that it reads back exactly.
    fn text(self) -> String {
        match self {
            ArrayNumber::Signed(value) => value.to_string(),
            ArrayNumber::Unsigned(value) => value.to_string(),
            ArrayNumber::Real(value) => format!("{value:?}"),
        }
    }
}

/// Loaded array of numbers.
#[derive(Debug)]
pub struct NumberArray {
    pub lengths: Vec<usize>,
    is_fortran: bool,
    numbers: Numbers,
}

/// Numbers in file order.
#[derive(Debug)]
enum Numbers {
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
    Reals(Vec<f64>),
}

impl NumberArray {
    /// Returns the count of numbers.
    pub fn count(&self) -> usize {
        match &self.numbers {
            Numbers::Signed(values) => values.len(),
            Numbers::Unsigned(values) => values.len(),
            Numbers::Reals(values) => values.len(),
        }
    }

    /// Returns the indices of the element with the row-major index `n`, one for each dimension.
    pub fn index(&self, n: usize) -> Vec<usize> {
        let mut rest = n;
        let mut index: Vec<usize> = self
            .lengths
            .iter()
            .rev()
            .map(|&length| {
                let own = rest.checked_rem(length).unwrap_or(0);
                rest = rest.checked_div(length).unwrap_or(0);
                own
            })
            .collect();
        index.reverse();
        index
    }

    /// Returns the position, in the order of the file, of the element with the row-major index `n`.
    fn stored(&self, n: usize) -> usize {
        if !self.is_fortran {
            return n;
        }
        let (mut at, mut stride) = (0, 1);
        for (index, length) in self.index(n).into_iter().zip(&self.lengths) {
            at += index * stride;
            stride *= length;
        }
        at
    }

    /// Returns two numbers that locate the number at index `part` of each lane: its position in the file for lane 0,
    /// and the distance between the positions of consecutive lanes. Lanes are the first dimension.
    pub fn column(&self, part: usize) -> (usize, usize) {
        let parts = self.lengths.iter().skip(1).product();
        if self.is_fortran { (self.stored(part), 1) } else { (part, parts) }
    }

    /// Returns the number at a position in file order.
    pub fn number(&self, at: usize) -> Option<ArrayNumber> {
        match &self.numbers {
            Numbers::Signed(values) => values.get(at).copied().map(ArrayNumber::Signed),
            Numbers::Unsigned(values) => values.get(at).copied().map(ArrayNumber::Unsigned),
            Numbers::Reals(values) => values.get(at).copied().map(ArrayNumber::Real),
        }
    }

    /// Formats the element with the row-major index `n` as text that a cell of the class accepts.
    ///
    /// # Errors
    /// The element is a float that an integer cell can't hold.
    pub fn text(&self, n: usize, class: Option<Class>) -> Result<String, String> {
        let number = self.number(self.stored(n)).unwrap_or(ArrayNumber::Signed(0));
        match (class.map_or(Ok(number), |class| number.of_class(class))?, class) {
            (ArrayNumber::Unsigned(value), None | Some(Class::Int)) => Ok(format!("{value:#x}")),
            (number, _) => Ok(number.text()),
        }
    }
}

/// File of arrays of which only the headers were read.
pub struct StoredArrays {
    pub file: String,
    heads: Vec<ArrayHead>,
    source: ArraySource,
}

enum ArraySource {
    Npy { source: BufReader<OpenInput>, has_length: bool },
    Npz(ZipArchive<BufReader<OpenInput>>),
}

impl StoredArrays {
    /// Opens a file with one array.
    ///
    /// # Errors
    /// The file can't be read, isn't a number array, or has fewer or more bytes than its header claims.
    pub fn npy(path: &Path) -> Fallible<StoredArrays> {
        let file = shown(path);
        let mut source = read::open_file(path)?;
        let length = source.seek(SeekFrom::End(0)).and_then(|length| source.rewind().map(|()| length)).ok();
        let length = length.filter(|length| *length > 0);
        let mut source = BufReader::with_capacity(1 << 16, source);
        let head = head(&mut source, String::new()).map_err(|why| why.of(&file))?;
        if let Some(length) = length {
            check_size(&head, length).map_err(|why| why.of(&file))?;
        }
        Ok(StoredArrays {
            file,
            heads: vec![head],
            source: ArraySource::Npy { source, has_length: length.is_some() },
        })
    }

    /// Opens an archive of arrays.
    ///
    /// # Errors
    /// An array has an error that [`StoredArrays::npy`] reports, two arrays have the same name, parts overlap, or the
    /// headers claim more bytes than the file has.
    pub fn npz(path: &Path) -> Fallible<StoredArrays> {
        let file = shown(path);
        let mut source = BufReader::with_capacity(1 << 16, read::open_file(path)?);
        let (archive, heads) = archive(&mut source)
            .and_then(|()| Ok(ZipArchive::new(source)?))
            .and_then(|mut archive| heads(&mut archive).map(|heads| (archive, heads)))
            .map_err(|why| why.of(&file))?;
        if heads.is_empty() {
            return Err(Failure::usage(format_args!("{file}: the archive has no arrays")));
        }
        Ok(StoredArrays { file, heads, source: ArraySource::Npz(archive) })
    }

    /// Returns the headers of the arrays.
    pub fn heads(&self) -> &[ArrayHead] {
        &self.heads
    }

    /// Reads all arrays, and checks for trailing bytes and wrong checksums.
    ///
    /// # Errors
    /// A part is damaged or truncated, or memory is exhausted.
    pub fn arrays(self) -> Fallible<Vec<NumberArray>> {
        let StoredArrays { file, heads, source } = self;
        let arrays = match source {
            ArraySource::Npy { mut source, has_length } => {
                heads.iter().map(|head| body(&mut source, head, has_length)).collect()
            }
            ArraySource::Npz(mut archive) => heads
                .iter()
                .enumerate()
                .map(|(n, head)| {
                    let mut entry = archive.by_index(n)?;
                    let offset = head.offset as u64;
                    let skipped = io::copy(&mut entry.by_ref().take(offset), &mut io::sink())?;
                    let read = if skipped == offset { body(&mut entry, head, true) } else { Err(CUT.into()) };
                    read.map_err(|why| why.in_array(&head.name))
                })
                .collect::<Result<Vec<_>, BrokenArray>>(),
        };
        arrays.map_err(|why| why.of(&file))
    }
}

/// Reads the array of a `.npy` file.
///
/// # Errors
/// The errors of [`StoredArrays::npy`] and [`StoredArrays::arrays`].
pub fn npy(path: &Path) -> Fallible<NumberArray> {
    let file = StoredArrays::npy(path)?;
    let name = file.file.clone();
    file.arrays()?
        .pop()
        .ok_or_else(|| Failure::load(format_args!("can't read {name}: the file has no array")))
}

/// Reason why an array can't be read.
#[derive(Debug)]
enum BrokenArray {
    /// Bytes that aren't a valid array, because the file is damaged.
    Damaged(String),
    /// An array whose elements aren't numbers of a supported type.
    Foreign(String),
    /// A compression method that isn't supported.
    Method(String),
}

const CUT: &str = "it is cut short";

impl From<&str> for BrokenArray {
    fn from(what: &str) -> BrokenArray {
        BrokenArray::Damaged(what.to_owned())
    }
}

impl From<io::Error> for BrokenArray {
    fn from(error: io::Error) -> BrokenArray {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => CUT.into(),
            _ => BrokenArray::Damaged(error.to_string()),
        }
    }
}

impl From<ZipError> for BrokenArray {
    fn from(error: ZipError) -> BrokenArray {
        match error {
            ZipError::UnsupportedArchive(what) => BrokenArray::Method(what.to_string()),
            ZipError::CompressionMethodNotSupported(method) => {
                BrokenArray::Method(format!("compression method {method} is not supported"))
            }
            error => BrokenArray::Damaged(error.to_string()),
        }
    }
}

impl BrokenArray {
    fn in_array(self, name: &str) -> BrokenArray {
        let reported = |what: String| format!("the array `{}`: {what}", shown_field(name));
        match self {
            BrokenArray::Damaged(what) => BrokenArray::Damaged(reported(what)),
            BrokenArray::Foreign(what) => BrokenArray::Foreign(reported(what)),
            BrokenArray::Method(what) => BrokenArray::Method(reported(what)),
        }
    }

    fn of(self, file: &str) -> Failure {
        let (what, help) = match self {
            BrokenArray::Damaged(what) => (what, "check that the file is whole: write or copy it again"),
            BrokenArray::Foreign(what) => (
                what,
                "convert the array with `array.astype('f8')`: only integers, floats of 16, 32 and 64 bits and `bool` are read",
            ),
            BrokenArray::Method(what) => {
                (what, "write the file with `numpy.savez` or `numpy.savez_compressed`")
            }
        };
        Failure::load(format_args!("can't read {file}: {what}")).help(help)
    }
}

/// Checks that the first bytes are those of an archive.
fn archive(source: &mut BufReader<OpenInput>) -> Result<(), BrokenArray> {
    let mut mark = [0; 4];
    source.read_exact(&mut mark)?;
    source.rewind()?;
    match &mark {
        b"PK\x03\x04" | b"PK\x05\x06" => Ok(()),
        _ => Err("it doesn't begin like an archive".into()),
    }
}

/// Reads the headers of an archive's arrays.
fn heads(archive: &mut ZipArchive<BufReader<OpenInput>>) -> Result<Vec<ArrayHead>, BrokenArray> {
    if archive.has_duplicate_names() {
        return Err("two of its arrays have the same name".into());
    }
    archive.validate_header_consistency()?;
    let mut heads = Vec::new();
    for n in 0..archive.len() {
        let mut entry = archive.by_index(n)?;
        let entry_name = entry.name()?.into_owned();
        let Some(name) = entry_name.strip_suffix(".npy") else {
            return Err(BrokenArray::Damaged(format!(
                "its part `{}` isn't a NumPy array",
                shown_field(&entry_name)
            )));
        };
        let (size, compressed) = (entry.size(), entry.compressed_size());
        let head = head(&mut entry, name.to_owned())
            .and_then(|head| {
                check_size(&head, size)?;
                match size <= compressed.saturating_mul(LARGEST_RATIO).saturating_add(LARGEST_RATIO) {
                    true => Ok(head),
                    false => Err("it claims more numbers than its bytes can hold".into()),
                }
            })
            .map_err(|why: BrokenArray| why.in_array(name))?;
        heads.push(head);
    }
    Ok(heads)
}

/// Compares the claimed size of an array with the available bytes.
fn check_size(head: &ArrayHead, size: u64) -> Result<(), BrokenArray> {
    let (count, width) = (head.count() as u64, head.kind.width());
    let claimed = count.checked_mul(width).and_then(|bytes| bytes.checked_add(head.offset as u64));
    let claimed = claimed.ok_or("it claims more numbers than memory holds")?;
    if size > claimed {
        let more = size - claimed;
        return Err(BrokenArray::Damaged(format!("{more} bytes follow its {count} numbers")));
    }
    if size < claimed {
        let there = size.saturating_sub(head.offset as u64) / width;
        return Err(BrokenArray::Damaged(format!("it has {there} of its {count} numbers: {CUT}")));
    }
    Ok(())
}

impl ArrayHead {
    /// Returns the claimed count of numbers.
    fn count(&self) -> usize {
        self.lengths.iter().product()
    }

    /// Formats the shape as NumPy does.
    pub fn shape(&self) -> String {
        let lengths: Vec<String> = self.lengths.iter().map(usize::to_string).collect();
        format!("({}{})", lengths.join(", "), if lengths.len() == 1 { "," } else { "" })
    }
}

/// Reads the header of an array.
fn head(source: &mut impl Read, name: String) -> Result<ArrayHead, BrokenArray> {
    let bytes = header(source)?;
    let offset = bytes.len();
    let header = NpyHeader::from_reader(Cursor::new(bytes))
        .map_err(|error| BrokenArray::Damaged(error.to_string()))?;
    let DType::Plain(kind) = header.dtype() else {
        return Err(BrokenArray::Foreign("its elements are records with named fields".into()));
    };
    let number_kind = match (kind.type_char(), kind.size_field()) {
        (TypeChar::Bool, 1) => NumberKind::Bool,
        (TypeChar::Int, width @ (1 | 2 | 4 | 8)) => NumberKind::Signed(width as u8),
        (TypeChar::Uint, width @ (1 | 2 | 4 | 8)) => NumberKind::Unsigned(width as u8),
        (TypeChar::Float, width @ (2 | 4 | 8)) => NumberKind::Float(width as u8),
        _ => return Err(BrokenArray::Foreign(format!("its elements have the type `{kind}`"))),
    };
    let lengths: Option<Vec<usize>> =
        header.shape().iter().map(|&length| usize::try_from(length).ok()).collect();
    let lengths = lengths.ok_or("it claims more numbers than memory holds")?;
    if lengths.iter().try_fold(1usize, |count, length| count.checked_mul((*length).max(1))).is_none() {
        return Err("it claims more numbers than memory holds".into());
    }
    Ok(ArrayHead {
        name,
        lengths,
        is_fortran: header.order() == Order::Fortran,
        is_big_endian: kind.endianness() == Endianness::Big,
        kind: number_kind,
        offset,
    })
}

/// Reads the bytes of a header. Validates its length, and that the product of the dimensions doesn't overflow,
/// because the header's parser assumes both.
fn header(source: &mut impl Read) -> Result<Vec<u8>, BrokenArray> {
    let mut start = [0u8; 10];
    source.read_exact(&mut start)?;
    let [.., major, _, low, high] = start;
    if !start.starts_with(b"\x93NUMPY") {
        return Err("it doesn't begin like a NumPy array".into());
    }
    let (mut head, mut length) = (start.to_vec(), usize::from(u16::from_le_bytes([low, high])));
    if major >= 2 {
        let mut rest = [0u8; 2];
        source.read_exact(&mut rest)?;
        head.extend(rest);
        length = u32::from_le_bytes([low, high, rest[0], rest[1]]) as usize;
    }
    if length > LONGEST_HEADER {
        return Err("its header is too long".into());
    }
    let mut text = vec![0; length];
    source.read_exact(&mut text)?;
    head.extend(&text);
    let text = String::from_utf8_lossy(&text);
    if text.matches(['(', '[', '{']).count() > 256 || !has_product(&text) {
        return Err("the shape in its header is malformed, or has more elements than memory holds".into());
    }
    Ok(head)
}

/// Returns true if the product of the dimensions after the key `shape` doesn't overflow.
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

/// Reads the numbers of an array up to the end of the file. `is_checked` is true if the claimed size has already been
/// compared with the available bytes.
fn body(source: &mut impl Read, head: &ArrayHead, is_checked: bool) -> Result<NumberArray, BrokenArray> {
    let count = head.count();
    let numbers = Decoder { count, is_checked, is_big_endian: head.is_big_endian };
    let numbers = match head.kind {
        NumberKind::Bool => Numbers::Signed(truths(numbers.decoded(source, |[byte]| byte)?)?),
        NumberKind::Signed(1) => {
            Numbers::Signed(numbers.decoded(source, |bytes| i64::from(i8::from_be_bytes(bytes)))?)
        }
        NumberKind::Signed(2) => {
            Numbers::Signed(numbers.decoded(source, |bytes| i64::from(i16::from_be_bytes(bytes)))?)
        }
        NumberKind::Signed(4) => {
            Numbers::Signed(numbers.decoded(source, |bytes| i64::from(i32::from_be_bytes(bytes)))?)
        }
        NumberKind::Signed(_) => Numbers::Signed(numbers.decoded(source, i64::from_be_bytes)?),
        NumberKind::Unsigned(1) => Numbers::Unsigned(numbers.decoded(source, |[byte]| u64::from(byte))?),
        NumberKind::Unsigned(2) => {
            Numbers::Unsigned(numbers.decoded(source, |bytes| u64::from(u16::from_be_bytes(bytes)))?)
        }
        NumberKind::Unsigned(4) => {
            Numbers::Unsigned(numbers.decoded(source, |bytes| u64::from(u32::from_be_bytes(bytes)))?)
        }
        NumberKind::Unsigned(_) => Numbers::Unsigned(numbers.decoded(source, u64::from_be_bytes)?),
        NumberKind::Float(2) => {
            Numbers::Reals(numbers.decoded(source, |bytes| of_half(u16::from_be_bytes(bytes)))?)
        }
        NumberKind::Float(4) => {
            Numbers::Reals(numbers.decoded(source, |bytes| f64::from(f32::from_be_bytes(bytes)))?)
        }
        NumberKind::Float(_) => Numbers::Reals(numbers.decoded(source, f64::from_be_bytes)?),
    };
    // A read at the end makes the archive reader compare the checksum.
    match source.read(&mut [0]) {
        Ok(0) => Ok(NumberArray { lengths: head.lengths.clone(), is_fortran: head.is_fortran, numbers }),
        Ok(_) => Err(BrokenArray::Damaged(format!("other bytes follow its {count} numbers"))),
        Err(error) => Err(damaged(&error)),
    }
}

/// Converts an error of the read at the end: a wrong checksum means that the file is damaged.
fn damaged(error: &io::Error) -> BrokenArray {
    let text = error.to_string();
    match text.contains("checksum") {
        true => "its checksum doesn't match its bytes: it was damaged".into(),
        false => BrokenArray::Damaged(text),
    }
}

/// Converts booleans, which NumPy stores as 0 and 1.
fn truths(bytes: Vec<u8>) -> Result<Vec<i64>, BrokenArray> {
    match bytes.iter().find(|byte| **byte > 1) {
        Some(byte) => Err(BrokenArray::Damaged(format!("one of its `bool` elements has the byte {byte}"))),
        None => Ok(bytes.into_iter().map(i64::from).collect()),
    }
}

/// Reader of fixed-width numbers.
#[derive(Clone, Copy)]
struct Decoder {
    count: usize,
    is_checked: bool,
    is_big_endian: bool,
}

impl Decoder {
    /// Reads all numbers of `WIDTH` bytes each; `wide` converts the bytes of one number, in big-endian order.
    fn decoded<const WIDTH: usize, V>(
        self,
        source: &mut impl Read,
        wide: impl Fn([u8; WIDTH]) -> V,
    ) -> Result<Vec<V>, BrokenArray> {
        const AT_ONCE: usize = 8192;
        let memory = |_| "there is no memory for its numbers";
        let mut values = Vec::new();
        if self.is_checked {
            ask::exactly(&mut values, self.count).map_err(memory)?;
        }
        let mut bytes = vec![0; AT_ONCE * WIDTH];
        while values.len() < self.count {
            let wanted = (self.count - values.len()).min(AT_ONCE) * WIDTH;
            let chunk = bytes.get_mut(..wanted).unwrap_or_default();
            let there = filled(source, chunk)?;
            let (numbers, _) = chunk.get(..there).unwrap_or_default().as_chunks::<WIDTH>();
            ask::more(&mut values, numbers.len()).map_err(memory)?;
            values.extend(numbers.iter().map(|bytes| {
                let mut bytes = *bytes;
                if !self.is_big_endian {
                    bytes.reverse();
                }
                wide(bytes)
            }));
            if there < wanted {
                let (there, count) = (values.len(), self.count);
                return Err(BrokenArray::Damaged(format!("it has {there} of its {count} numbers: {CUT}")));
            }
        }
        Ok(values)
    }
}

/// Reads bytes into a buffer until the buffer is full or the source ends. Returns the number of bytes read.
fn filled(source: &mut impl Read, bytes: &mut [u8]) -> Result<usize, BrokenArray> {
    let mut there = 0;
    while there < bytes.len() {
        match source.read(bytes.get_mut(there..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(count) => there += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(damaged(&error)),
        }
    }
    Ok(there)
}

/// Converts a float of 16 bits: sign, 5 bits of exponent, 10 bits of fraction.
fn of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}
