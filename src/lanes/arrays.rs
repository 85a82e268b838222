//! Lanes from NumPy arrays. A `.npz` has an array for each name; the columns of a `.npy` are the program's inputs in
//! order. Names and lengths are compared with the program before any number is read. Then all arrays are loaded,
//! because the file stores them one after the other.

use std::path::Path;

use reviver::batch::plan::LaneCell;
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Shape};
use reviver_vm::Program;
use reviver_vm::values::{Value, element_name};

use super::LaneReader;
use crate::failure::{Failure, Fallible, counted};
use crate::table::arrays::{ArrayHead, ArrayNumber, NumberArray, StoredArrays};

/// Reader of lanes from arrays.
pub struct ArrayInput {
    file: String,
    /// Open file of which only headers were read; `None` after its numbers have been loaded.
    source: Option<StoredArrays>,
    arrays: Vec<NumberArray>,
    columns: Vec<ArrayColumn>,
    lanes: usize,
    /// Number of lanes that earlier calls of [`LaneReader::read`] have returned.
    read: usize,
}

/// Location of a cell's numbers: in each lane, the number at index `part` of array `array`.
struct ArrayColumn {
    name: String,
    array: usize,
    part: usize,
}

impl ArrayInput {
    /// Opens an archive of arrays.
    pub fn npz(path: &Path, program: &Program) -> Fallible<ArrayInput> {
        let source = StoredArrays::npz(path)?;
        let file = source.file.clone();
        let (mut columns, mut lanes) = (Vec::new(), None);
        for (n, head) in source.heads().iter().enumerate() {
            let own = lanes_of(&file, &head.name, head)?;
            match lanes {
                Some((lanes, first)) if lanes != own => {
                    return Err(Failure::usage(format_args!(
                        "{file}: the array `{}` has {}, and `{first}` has {lanes}",
                        head.name,
                        counted(own, "lane"),
                    ))
                    .help("give every array the same first length, which is the number of lanes"));
                }
                _ => lanes = Some((own, head.name.as_str())),
            }
            let shape = shape(&file, head, program)?;
            let names = (0..shape.cells() as usize).map(|part| element_name(&head.name, shape, part));
            columns.extend(names.enumerate().map(|(part, name)| ArrayColumn { name, array: n, part }));
        }
        let lanes = lanes.map_or(0, |(lanes, _)| lanes);
        Ok(ArrayInput { file, source: Some(source), arrays: Vec::new(), columns, lanes, read: 0 })
    }

    /// Opens one array; its columns are the numbers of `cells`, in this order.
    pub fn npy(path: &Path, cells: &[String]) -> Fallible<ArrayInput> {
        let source = StoredArrays::npy(path)?;
        let file = source.file.clone();
        let head = source.heads().first();
        let lanes = head.map_or(Ok(0), |head| lanes_of(&file, "the array", head))?;
        let parts: usize = head.map_or(0, |head| head.lengths.iter().skip(1).product());
        if parts != cells.len() {
            return Err(Failure::usage(format_args!(
                "{file}: {} in each of {lanes} lanes, but a lane needs the numbers of {}: {}",
                counted(parts, "number"),
                counted(cells.len(), "cell"),
                listed(cells)
            ))
            .help("store the inputs in the order of their declarations, set some for all lanes with `--shared`, or write a `.npz`, which has names"));
        }
        let columns = cells.iter().cloned().enumerate();
        let columns = columns.map(|(part, name)| ArrayColumn { name, array: 0, part }).collect();
        Ok(ArrayInput { file, source: Some(source), arrays: Vec::new(), columns, lanes, read: 0 })
    }
}

/// Returns the shape of an array without its first dimension, the lanes. If the program has a global of this name,
/// both shapes must be equal.
fn shape(file: &str, head: &ArrayHead, program: &Program) -> Fallible<Shape> {
    let name = &head.name;
    let own = head.lengths.get(1..).unwrap_or_default();
    let Some((_, global)) = program.global(name) else {
        // The array has the name of an element (`A[3]`), or an unknown name, which a later check refuses.
        return match own {
            [] => Ok(Shape::Scalar),
            _ => Ok(Shape::Vector(1)),
        };
    };
    let (wanted, lengths) = match global.shape {
        Shape::Scalar => (vec![], "(lanes,)".to_owned()),
        Shape::Vector(length) => (vec![length], format!("(lanes, {length})")),
        Shape::Matrix(rows, columns) => (vec![rows, columns], format!("(lanes, {rows}, {columns})")),
        // A lane can't have a stack. A later check, which is the same for all formats, reports the stack.
        Shape::Stack => return Ok(Shape::Scalar),
    };
    let fits =
        own.len() == wanted.len() && own.iter().zip(&wanted).all(|(own, wanted)| *own == *wanted as usize);
    match fits {
        true => Ok(global.shape),
        false => Err(Failure::usage(format_args!(
            "{file}: the array `{name}` has the shape {}, and {lengths} is expected",
            head.shape()
        ))
        .help("give the array the number of lanes as its first length; for a vector add its length, and for a matrix both of its lengths")),
    }
}

fn listed(cells: &[String]) -> String {
    const NAMED: usize = 8;
    let named: Vec<String> = cells.iter().take(NAMED).map(|cell| format!("`{cell}`")).collect();
    let rest = if cells.len() > NAMED { ", …" } else { "" };
    named.join(", ") + rest
}

fn lanes_of(file: &str, name: &str, head: &ArrayHead) -> Fallible<usize> {
    head.lengths.first().copied().ok_or_else(|| {
        Failure::usage(format_args!("{file}: `{name}` is a single number, but needs a number for each lane"))
            .help("set one number for all lanes with `--shared`")
    })
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
        if let Some(source) = self.source.take() {
            self.arrays = source.arrays()?;
        }
        let count = most.min(self.lanes - self.read);
        for ((column, cell), numbers) in self.columns.iter().zip(cells).zip(columns) {
            let Some(array) = self.arrays.get(column.array) else { continue };
            let (first, step) = array.column(column.part);
            for lane in self.read..self.read + count {
                let number = array.number(first + lane * step).unwrap_or(ArrayNumber::Signed(0));
                numbers.push(bits(program, cell.class, number).map_err(|what| {
                    Failure::usage(format_args!("{}: `{}` in lane {lane}: {what}", self.file, cell.name))
                        .help("leave such lanes out, or declare the cell with a class that has such numbers")
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

/// Converts an array number to the bits of a cell.
fn bits(program: &Program, class: Class, number: ArrayNumber) -> Result<u64, String> {
    let module = program.module();
    match (number.of_class(class)?, class) {
        (ArrayNumber::Signed(value), Class::Int) => {
            let fits = module.word.range().contains(&value);
            fits.then_some(value as u64).ok_or_else(|| no_word(module.word.bits(), &value))
        }
        (ArrayNumber::Unsigned(value), Class::Int) => {
            let fits = module.word.pattern(value as i64) == value;
            fits.then(|| module.word.signed(value) as u64).ok_or_else(|| no_word(module.word.bits(), &value))
        }
        (ArrayNumber::Real(value), _) if module.real == RealSystem::F64 && value.is_finite() => {
            Ok(value.to_bits())
        }
        (ArrayNumber::Real(value), _) => real(program, &format!("{value:?}")),
        (ArrayNumber::Signed(value), Class::Real) => whole(program, value.into()),
        (ArrayNumber::Unsigned(value), Class::Real) => whole(program, value.into()),
    }
}

fn no_word(bits: u32, value: &dyn std::fmt::Display) -> String {
    format!("{value} is not an integer of {bits} bits")
}

/// Converts an integer to the real that equals it; an error if the number system has no such real.
fn whole(program: &Program, value: i128) -> Result<u64, String> {
    let refusal = || format!("{value} is not exact in {}", program.module().real);
    program.exact_real(value).ok_or_else(refusal)
}

fn real(program: &Program, text: &str) -> Result<u64, String> {
    match program.parse(Class::Real, text).map_err(|error| error.to_string())? {
        Value::Real(bits) => Ok(bits),
        Value::Int(value) => Ok(value as u64),
    }
}
