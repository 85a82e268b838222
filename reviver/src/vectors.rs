//! Vectors from the caller, such as seeds and directions. A vector has a number for each of some reals. This module
//! differentiates nothing.

use reviver_memory::ask;
use reviver_vm::Program;
use reviver_vm::differentiate::Variable;
use reviver_vm::values::Value;

use super::cells::{RealCells, repeated, variables};
use super::error::Error;
use super::numbers::{check_bits, put_reals};

/// Returns the cells of a vector, each with the bits of its number. `executable` is the number of the executable to
/// which the cells must belong.
///
/// # Errors
/// Cells of another program, a slice of another length, a number that the number system can't represent, or a cell
/// named twice.
pub(super) fn components(
    program: &Program,
    executable: u64,
    parts: &[(RealCells, &[f64])],
) -> Result<Vec<(Variable, u64)>, Error> {
    joined(program, executable, parts, |cells, values| rounded(program, values, |_| cells.0.name(program)))
}

/// Returns the cells of a vector that is given as bits.
///
/// # Errors
/// The errors of [`components`].
pub(super) fn bit_components(
    program: &Program,
    executable: u64,
    parts: &[(RealCells, &[u64])],
) -> Result<Vec<(Variable, u64)>, Error> {
    let system = program.module().real;
    joined(program, executable, parts, |cells, values| {
        check_bits(system, values).map_err(|index| {
            let bits = values.get(index).copied().unwrap_or_default();
            let (name, value) = (cells.0.name(program), program.approximate(Value::Real(bits)));
            Error::NotAReal { name, index, value, system }
        })?;
        Ok(ask::collected(values.iter().copied())?)
    })
}

/// Concatenates the cells of all parts. `read` converts the numbers of a part to bits.
fn joined<T>(
    program: &Program,
    executable: u64,
    parts: &[(RealCells, &[T])],
    read: impl Fn(RealCells, &[T]) -> Result<Vec<u64>, Error>,
) -> Result<Vec<(Variable, u64)>, Error> {
    let mut all = ask::list(parts.iter().map(|(cells, _)| cells.len()).sum())?;
    for &(cells, values) in parts {
        if cells.0.executable != executable {
            return Err(Error::Foreign);
        }
        if cells.len() != values.len() {
            let name = cells.0.name(program);
            return Err(Error::Length { name, cells: cells.len(), given: values.len() });
        }
        let bits = read(cells, values)?;
        all.extend(variables(&[cells]).zip(bits));
    }
    if let Some(twice) = repeated(all.iter().map(|(variable, _)| variable))? {
        return Err(Error::TwiceGiven { name: program.cell_name(twice.global, twice.element) });
    }
    Ok(all)
}

/// Rounds numbers to the program's number system, and returns their bits. `name` returns the cell's name for the
/// index of a number, for the error.
///
/// # Errors
/// [`Error::NotAReal`] if the number system can't represent a number.
pub(super) fn rounded(
    program: &Program,
    values: &[f64],
    name: impl Fn(usize) -> String,
) -> Result<Vec<u64>, Error> {
    let system = program.module().real;
    let mut bits = ask::filled(0, values.len())?;
    put_reals(system, values, &mut bits).map_err(|index| {
        let value = values.get(index).copied().unwrap_or_default();
        Error::NotAReal { name: name(index), index, value, system }
    })?;
    Ok(bits)
}
