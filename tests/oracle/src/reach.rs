//! Finds the cells that names refer to. A reference is a list of its cells, so it is easy to compare references and
//! to find shared cells.

use std::collections::HashSet;
use std::ops::Deref;
use std::rc::Rc;

use num_bigint::BigInt;
use reviver_isa::module::Passing;

use crate::outcome::{Step, Trap, trap, unsupported};
use crate::plan::{Argument, Home, Part, Place, Shape, Source, Term, Variable};
use crate::signature::evaluate;
use crate::store::{Cell, Store, adjoint_of};
use crate::value::Value;

/// Cells of the names that are visible in an open call.
pub(crate) struct Frame {
    /// First cell of each variable.
    pub(crate) variables: Vec<Cell>,
    pub(crate) references: Vec<Reference>,
}

/// Cells that an argument refers to, in order. A constant gets a separate cell without a name.
#[derive(Clone, PartialEq)]
pub(crate) struct Reference {
    cells: Rc<[Cell]>,
    /// Number of columns if the argument is a matrix.
    columns: Option<usize>,
}

impl Reference {
    pub(crate) fn of(cells: &[Cell]) -> Reference {
        Reference::from(Rc::from(cells))
    }

    /// Returns the numbers of rows and columns.
    fn size(&self) -> Step<(usize, usize)> {
        match self.columns {
            Some(columns) if columns > 0 => Ok((self.len() / columns, columns)),
            _ => unsupported("this as a matrix"),
        }
    }
}

impl From<Rc<[Cell]>> for Reference {
    fn from(cells: Rc<[Cell]>) -> Reference {
        Reference { cells, columns: None }
    }
}

impl FromIterator<Cell> for Reference {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> Reference {
        Reference::from(cells.into_iter().collect::<Rc<[Cell]>>())
    }
}

impl Deref for Reference {
    type Target = [Cell];

    fn deref(&self) -> &[Cell] {
        &self.cells
    }
}

/// Cell of an operand, with the cells that were read to compute its index.
pub(crate) struct Reached {
    pub(crate) cell: Cell,
    pub(crate) indices: Vec<Cell>,
}

/// Finds the cells of operands, for one statement.
pub(crate) struct Reach<'a> {
    pub(crate) store: &'a Store,
    pub(crate) globals: &'a [Cell],
    pub(crate) frame: &'a Frame,
}

impl Reach<'_> {
    /// Returns all cells of a variable.
    pub(crate) fn cells(&self, variable: Variable) -> Step<Reference> {
        let (list, n) = match variable.home {
            Home::Global(n) => (self.globals, n),
            Home::Frame(n) => (&self.frame.variables[..], n),
            Home::Parameter(n) => {
                let reference = self.frame.references.get(n).cloned();
                return reference.map_or_else(|| unsupported("a parameter without argument"), Ok);
            }
        };
        match list.get(n) {
            Some(&first) => {
                let all: Reference = (first..first + variable.shape.cells()).collect();
                let columns = match variable.shape {
                    Shape::Matrix(_, columns) => Some(columns),
                    _ => None,
                };
                Ok(Reference { columns, ..all })
            }
            None => unsupported("a variable without cells"),
        }
    }

    fn scalar(&self, variable: Variable) -> Step<Cell> {
        match *self.cells(variable)?.cells {
            [cell] => Ok(cell),
            _ => unsupported("an array as one cell"),
        }
    }

    /// Returns the value of an index or bound, and the cell of the scalar in it, if there is one.
    fn term(&self, term: &Term) -> Step<(BigInt, Option<Cell>)> {
        if let Some(expression) = &term.expression {
            return Ok((self.value(expression)?.int()? + &term.offset, None));
        }
        let Some(scalar) = term.scalar else { return Ok((term.offset.clone(), None)) };
        let cell = self.scalar(scalar)?;
        Ok((self.store.get(cell)?.int()? + &term.offset, Some(cell)))
    }

    /// Returns an index and the cell that was read for it. Traps unless the index is less than `length`.
    fn index(&self, term: &Term, length: usize) -> Step<(usize, Option<Cell>)> {
        let (value, cell) = self.term(term)?;
        match usize::try_from(value).ok().filter(|n| *n < length) {
            Some(n) => Ok((n, cell)),
            None => trap(Trap::Index),
        }
    }

    /// Returns the cell that a place refers to.
    pub(crate) fn place(&self, place: &Place) -> Step<Reached> {
        let variable = place.variable;
        let cells = self.cells(variable)?;
        let (n, indices) = match place.index.as_slice() {
            [] => (0, vec![]),
            [row, column] => {
                let (rows, columns) = cells.size()?;
                let (i, row_cell) = self.index(row, rows)?;
                let (j, column_cell) = self.index(column, columns)?;
                (i * columns + j, vec![row_cell, column_cell])
            }
            [term] => {
                let (n, cell) = self.index(term, cells.len())?;
                (n, vec![cell])
            }
            _ => return unsupported("these indices"),
        };
        match cells.get(n).map(|&cell| if place.adjoint { adjoint_of(cell) } else { cell }) {
            Some(cell) => Ok(Reached { cell, indices: indices.into_iter().flatten().collect() }),
            None => unsupported("an element of an empty array"),
        }
    }

    /// Returns the cell of a source. Returns `None` for a constant.
    pub(crate) fn source(&self, source: &Source) -> Step<Option<Reached>> {
        match source {
            Source::Constant(_) | Source::Mode | Source::Length(_) => Ok(None),
            Source::Place(place) => self.place(place).map(Some),
            Source::Held(cell) => Ok(Some(Reached { cell: *cell, indices: Vec::new() })),
            Source::Computed(_) => unsupported("the cell of an expression"),
        }
    }

    /// Returns the value of a source.
    pub(crate) fn value(&self, source: &Source) -> Step<Value> {
        match source {
            Source::Constant(value) => Ok(value.clone()),
            Source::Mode => Ok(Value::Int(u8::from(self.store.mode).into())),
            Source::Place(place) => self.store.get(self.place(place)?.cell).cloned(),
            Source::Held(cell) => self.store.get(*cell).cloned(),
            Source::Length(measured) => {
                let cells = self.cells(measured.array)?;
                let length = match (measured.array.shape, measured.dimension) {
                    (Shape::PassedMatrix, 0) => cells.size()?.0,
                    (Shape::PassedMatrix, _) => cells.size()?.1,
                    _ => cells.len(),
                };
                Ok(Value::Int(length.into()))
            }
            Source::Computed(computed) => {
                let sources = computed.sources.iter().map(|source| self.value(source));
                let sources = sources.collect::<Step<Vec<Value>>>()?;
                let sources: Vec<&Value> = sources.iter().collect();
                evaluate(computed.function, computed.class, &sources, self.store.numbers())
            }
        }
    }

    /// Returns the cells that an argument refers to. Returns `None` for a constant, whose cell is created later.
    pub(crate) fn argument(&self, argument: &Argument) -> Step<Option<Reference>> {
        match argument {
            Argument::One(source) => Ok(self.source(source)?.map(|reached| Reference::of(&[reached.cell]))),
            Argument::Many { array, part } => {
                let cells = self.cells(*array)?;
                self.part(cells, part).map(Some)
            }
        }
    }

    fn part(&self, cells: Reference, part: &Part) -> Step<Reference> {
        match part {
            Part::Whole => Ok(cells),
            Part::Span { from, to, step } => {
                let (from, to) = (self.term(from)?.0, self.term(to)?.0);
                let bounds = usize::try_from(from).ok().zip(usize::try_from(to).ok());
                let span = bounds.filter(|(from, to)| from <= to).and_then(|(from, to)| cells.get(from..to));
                span.map_or_else(
                    || trap(Trap::Index),
                    |span| Ok(span.iter().copied().step_by(*step).collect()),
                )
            }
            Part::Row(row) => {
                let (rows, columns) = cells.size()?;
                let (i, _) = self.index(row, rows)?;
                Ok(cells.iter().copied().skip(i * columns).take(columns).collect())
            }
            Part::Column(column) => {
                let (_, columns) = cells.size()?;
                let (j, _) = self.index(column, columns)?;
                Ok(cells.iter().copied().skip(j).step_by(columns).collect())
            }
        }
    }
}

/// Traps if two arguments share a cell, unless both are passed as `in`.
pub(crate) fn demand_disjoint(references: &[Reference], passed: &[Passing]) -> Step<()> {
    let all: Vec<_> = references.iter().zip(passed).collect();
    for (n, (first, how)) in all.iter().enumerate() {
        let own: HashSet<&Cell> = first.iter().collect();
        for (second, other) in all.iter().skip(n + 1) {
            let both_read = **how == Passing::In && **other == Passing::In;
            if !both_read && second.iter().any(|cell| own.contains(cell)) {
                return trap(Trap::Overlap);
            }
        }
    }
    Ok(())
}
