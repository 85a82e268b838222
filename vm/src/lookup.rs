//! Which cell an operand of the source names in a given state. The interpreter resolves operands
//! at load; this is the slow way, for explanations and debuggers.

use reviver_isa::instruction::{Base, Class, Index, Operand, Place, Term};
use reviver_isa::module::{Extent, Shape as Cells};

use crate::program::Program;
use crate::state::{ADJOINT, Frame, State};

/// The open frames with their procedures, main's first.
pub fn open_frames(program: &Program, state: &State) -> Vec<(usize, Frame)> {
    let main = Frame { ints: program.layout.main_ints, reals: program.layout.main_reals, references: 0 };
    let mut frames = vec![(0, main)];
    let callers = state.calls.iter().skip(1).map(|record| record.frame);
    let callees = callers.chain(std::iter::once(state.frame));
    for (record, frame) in state.calls.iter().zip(callees) {
        frames.push((program.callee(record).unwrap_or_default(), frame));
    }
    frames
}

/// The class and the address of the cell that an operand of instruction `at` names now (its offset; an
/// adjoint's has [`ADJOINT`] set); `None` for constants, for the mode bit, for indices out of bounds, and where `at` isn't in the current procedure.
pub fn cell_of(program: &Program, state: &State, at: u32, operand: &Operand) -> Option<(Class, u32)> {
    let Operand::Place(place) = operand else { return None };
    let (procedure, frame) = *open_frames(program, state).last()?;
    if program.procedure_of(at) != procedure {
        return None;
    }
    let (class, cell) = Finder { program, state, procedure, frame }.place(place)?;
    Some((class, if place.adjoint { cell | ADJOINT } else { cell }))
}

struct Finder<'a> {
    program: &'a Program,
    state: &'a State,
    procedure: usize,
    frame: Frame,
}

impl Finder<'_> {
    fn place(&self, place: &Place) -> Option<(Class, u32)> {
        let (class, base, stride) = self.base(place.base)?;
        let extent = self.extent(place.base)?;
        let offset = match (place.index.as_deref(), extent) {
            (None, _) => 0,
            (Some(Index::One(term)), Extent::Cells(shape)) => self.index(term, shape.cells())?,
            (Some(Index::One(term)), Extent::Slice) => {
                self.index(term, u64::from(self.slice(place.base)?))?
            }
            (Some(Index::Two(row, column)), Extent::Cells(Cells::Matrix(rows, columns))) => {
                self.index(row, u64::from(rows))? * u64::from(columns)
                    + self.index(column, u64::from(columns))?
            }
            _ => return None,
        };
        Some((class, base + (offset * u64::from(stride)) as u32))
    }

    fn extent(&self, base: Base) -> Option<Extent> {
        let module = self.program.module();
        module.declaration(&module.procedures[self.procedure], base).map(|d| d.extent)
    }

    /// Class, first cell and stride of a declaration.
    fn base(&self, base: Base) -> Option<(Class, u32, u32)> {
        let module = self.program.module();
        let class = module.declaration(&module.procedures[self.procedure], base)?.class;
        Some(match base {
            Base::Global(n) => (class, *self.program.layout.globals.get(n as usize)?, 1),
            Base::Frame(n) => {
                let start = match class {
                    Class::Int => self.frame.ints,
                    Class::Real => self.frame.reals,
                };
                (class, start + self.program.layout.frames[self.procedure].get(n as usize)?, 1)
            }
            Base::Parameter(n) => {
                let reference = self.state.references.get((self.frame.references + n) as usize)?;
                (class, reference.base, reference.stride)
            }
        })
    }

    fn slice(&self, base: Base) -> Option<u32> {
        match base {
            Base::Parameter(n) => {
                self.state.references.get((self.frame.references + n) as usize).map(|r| r.length)
            }
            _ => None,
        }
    }

    fn index(&self, term: &Term, length: u64) -> Option<u64> {
        let cell = match term.cell {
            Some(base) => *self.state.ints.get(self.base(base)?.1 as usize)?,
            None => 0,
        };
        u64::try_from(cell.checked_add(term.offset)?).ok().filter(|&index| index < length)
    }
}
