//! Names, looked up once: handles of cells that calls use. Knows declarations; knows no values.

use std::ops::Range;

use reviver_assembler::suggest::nearest;
use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Global, Shape};
use reviver_vm::differentiate::{Origin, Variable};
use reviver_vm::{Program, State, lookup};

use super::error::{Error, IndexErrorText};

/// Integers of a program: a scalar, an array row after row, or an element of one. A copy costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntCells(pub(super) NamedCells);

/// Reals of a program: a scalar, an array row after row, or an element of one. A copy costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealCells(pub(super) NamedCells);

/// Cells of one class that lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedCells {
    /// The number of the executable that they were looked up in.
    pub executable: u64,
    /// The number of the global, the first of its elements that is meant, and where that lies.
    pub global: usize,
    pub element: usize,
    first: usize,
    count: usize,
}

impl IntCells {
    /// How many there are: the length of the slices that they are given and read by.
    #[allow(clippy::len_without_is_empty, reason = "an array has at least one cell")]
    pub fn len(self) -> usize {
        self.0.count
    }
}

impl RealCells {
    /// How many there are: the length of the slices that they are given and read by.
    #[allow(clippy::len_without_is_empty, reason = "an array has at least one cell")]
    pub fn len(self) -> usize {
        self.0.count
    }
}

impl NamedCells {
    /// The cells of a name of a class: `x`, `A`, `A[3]`, `M[1,2]`.
    pub fn find(
        program: &Program,
        state: &State,
        executable: u64,
        name: &str,
        class: Class,
    ) -> Result<NamedCells, Error> {
        let compact: String = name.chars().filter(|sign| !sign.is_whitespace()).collect();
        let (base, indices) = compact.split_at(compact.find('[').unwrap_or(compact.len()));
        let Some((global, declared)) = program.global(base) else { return Err(unknown(program, base)) };
        check(declared, class)?;
        let cells = program.cells(global);
        if indices.is_empty() {
            return Ok(NamedCells { executable, global, element: 0, first: cells.start, count: cells.len() });
        }
        let wrong = |why| Error::Index { name: name.to_owned(), why };
        let indices = read_indices(indices).ok_or_else(|| wrong(IndexErrorText::Unreadable))?;
        let open = lookup::main_frame(program);
        let declared =
            u32::try_from(global).ok().and_then(|n| lookup::storage(program, state, open, Base::Global(n)));
        let Some(declared) = declared else { return Err(unknown(program, base)) };
        let cell = declared.element(&indices).map_err(|why| wrong(why.into()))? as usize;
        Ok(NamedCells { executable, global, element: cell - cells.start, first: cell, count: 1 })
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.count
    }

    /// Where they lie among the cells of their class.
    pub fn range(self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// Their name, for errors.
    pub fn name(self, program: &Program) -> String {
        match program.module().globals.get(self.global) {
            Some(declared) if declared.shape.cells() == self.count as u64 => declared.name.clone(),
            _ => program.cell_name(self.global, self.element),
        }
    }
}

/// The variables of some reals, in order.
pub(super) fn variables(cells: &[RealCells]) -> impl Iterator<Item = Variable> {
    cells.iter().flat_map(|RealCells(cells)| {
        let elements = (cells.element..).zip(cells.range());
        elements.map(|(element, cell)| Variable { global: cells.global, element, origin: Origin::Cell(cell) })
    })
}

fn check(declared: &Global, class: Class) -> Result<(), Error> {
    let name = || declared.name.clone();
    if declared.shape == Shape::Stack {
        return Err(Error::Stack { name: name() });
    }
    if declared.class != class {
        return Err(Error::Class { name: name(), class: declared.class });
    }
    Ok(())
}

/// The indices between brackets; none where there is something else.
fn read_indices(text: &str) -> Option<Vec<i64>> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    inside.split(',').map(|index| index.parse().ok()).collect()
}

fn unknown(program: &Program, name: &str) -> Error {
    let known: Vec<String> = program.module().globals.iter().map(|global| global.name.clone()).collect();
    let near = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    Error::Unknown { name: name.to_owned(), near, known }
}
