//! Handles of named cells: a name is looked up once, and calls use its handle. This module reads declarations, and no
//! values.

use std::ops::Range;

use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Global, Shape};
use reviver_memory::{OutOfMemory, ask};
use reviver_vm::differentiate::{Origin, Variable};
use reviver_vm::{Program, State, lookup};

use super::error::{Error, IndexErrorText};

/// Handle of integer cells: a scalar, an array in row-major order, or one element. Copying is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntCells(pub(super) NamedCells);

/// Handle of real cells: a scalar, an array in row-major order, or one element. Copying is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealCells(pub(super) NamedCells);

/// Adjacent cells of one class, with the executable to which they belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedCells {
    /// Number of the executable in which the cells were looked up.
    pub executable: u64,
    /// Index of the global declaration.
    pub global: usize,
    /// Index of the first cell in the global, in row-major order.
    pub element: usize,
    /// Index of the first cell among all cells of the class.
    first: usize,
    count: usize,
}

impl IntCells {
    /// Returns the number of cells. A slice with which a caller gives or reads the cells must have this length.
    #[allow(clippy::len_without_is_empty, reason = "an array has at least one cell")]
    pub fn len(self) -> usize {
        self.0.count
    }
}

impl RealCells {
    /// Returns the number of cells. A slice with which a caller gives or reads the cells must have this length.
    #[allow(clippy::len_without_is_empty, reason = "an array has at least one cell")]
    pub fn len(self) -> usize {
        self.0.count
    }
}

impl NamedCells {
    /// Looks up the cells of a name and class: `x`, `A`, `A[3]`, `M[1,2]`.
    pub fn find(
        program: &Program,
        state: &State,
        executable: u64,
        name: &str,
        class: Class,
    ) -> Result<NamedCells, Error> {
        let compact = compact(name);
        let (base, indices) = compact.split_at(compact.find('[').unwrap_or(compact.len()));
        let Some((global, declared)) = program.global(base) else {
            return Err(Error::unknown(program, base, Some(class)));
        };
        check(program, declared, class)?;
        let cells = program.cells(global);
        if indices.is_empty() {
            return Ok(NamedCells { executable, global, element: 0, first: cells.start, count: cells.len() });
        }
        let shape = declared_as(declared);
        let wrong = |why, declared| Error::Index { name: name.to_owned(), why, declared };
        let indices = read_indices(indices).ok_or_else(|| wrong(IndexErrorText::Unreadable, None))?;
        let open = lookup::main_frame(program);
        let declared =
            u32::try_from(global).ok().and_then(|n| lookup::storage(program, state, open, Base::Global(n)));
        let Some(declared) = declared else { return Err(Error::unknown(program, base, Some(class))) };
        let cell = declared.element(&indices).map_err(|why| wrong(why.into(), shape))? as usize;
        Ok(NamedCells { executable, global, element: cell - cells.start, first: cell, count: 1 })
    }

    /// Returns the number of cells.
    pub fn count(self) -> usize {
        self.count
    }

    /// Returns the indices of the cells in their class.
    pub fn range(self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// Returns the error for several cells where one is expected.
    pub fn several(self, program: &Program) -> Error {
        let first = program.cell_name(self.global, self.element);
        Error::Several { name: self.name(program), first, cells: self.count }
    }

    /// Returns the name of the cells, for error messages.
    pub fn name(self, program: &Program) -> String {
        match program.module().globals.get(self.global) {
            Some(declared) if declared.shape.cells() == self.count as u64 => declared.name.clone(),
            _ => program.cell_name(self.global, self.element),
        }
    }
}

/// Returns the variables of some real cells, in order.
pub(super) fn variables(cells: &[RealCells]) -> impl Iterator<Item = Variable> {
    cells.iter().flat_map(|RealCells(cells)| {
        let elements = (cells.element..).zip(cells.range());
        elements.map(|(element, cell)| Variable { global: cells.global, element, origin: Origin::Cell(cell) })
    })
}

/// Returns the first variable that occurs twice.
///
/// # Errors
/// A memory request was refused.
pub(super) fn repeated<'v>(
    variables: impl Iterator<Item = &'v Variable>,
) -> Result<Option<&'v Variable>, OutOfMemory> {
    let mut sorted = ask::collected(variables)?;
    sorted.sort_unstable_by_key(|variable| variable.origin);
    let pair = sorted.windows(2).find(|pair| matches!(pair, [a, b] if a.origin == b.origin));
    Ok(pair.and_then(|pair| pair.first().copied()))
}

/// Refuses lists of cells in which a real occurs twice.
pub(super) fn check_distinct(program: &Program, cells: &[RealCells]) -> Result<(), Error> {
    let variables = ask::collected(variables(cells))?;
    match repeated(variables.iter())? {
        Some(twice) => Err(Error::NamedTwice { name: program.cell_name(twice.global, twice.element) }),
        None => Ok(()),
    }
}

fn check(program: &Program, declared: &Global, class: Class) -> Result<(), Error> {
    if declared.shape == Shape::Stack {
        return Err(Error::Stack { name: declared.name.clone() });
    }
    if declared.class != class {
        return Err(Error::class(program, declared));
    }
    Ok(())
}

/// Returns an array's name with its lengths: `A[3]`, `M[2, 2]`. Returns `None` for other declarations.
fn declared_as(declared: &Global) -> Option<String> {
    let name = &declared.name;
    match declared.shape {
        Shape::Vector(length) => Some(format!("{name}[{length}]")),
        Shape::Matrix(rows, columns) => Some(format!("{name}[{rows}, {columns}]")),
        Shape::Scalar | Shape::Stack => None,
    }
}

/// Parses the text of indices in brackets. Returns `None` for any other text.
pub(super) fn read_indices(text: &str) -> Option<Vec<i64>> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    inside.split(',').map(|index| index.parse().ok()).collect()
}

/// Returns a name without spaces.
pub(super) fn compact(name: &str) -> String {
    name.chars().filter(|sign| !sign.is_whitespace()).collect()
}
