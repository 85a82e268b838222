//! Names and cells: which cell a name means in a frame, and what a frame holds. Reads states;
//! knows no instruction and no time.

use std::ops::Range;
use std::sync::Arc;

use reviver_isa::instruction::{Base, Class, Index, Operand, Place, Term};
use reviver_isa::module::{Extent, Procedure, Shape};
use reviver_vm::state::{ADJOINT, CallRecord, Frame, MODE, Part, State};
use reviver_vm::values::Value;
use reviver_vm::{Machine, Program, explain, lookup};

/// The address of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    pub class: Class,
    pub offset: u32,
    /// The adjoint of the real cell at the offset instead of the cell itself.
    pub adjoint: bool,
}

/// The gradient mode bit: 1 while the mode is on, else 0.
pub const MODE_BIT: Cell = Cell { class: Class::Int, offset: MODE as u32, adjoint: false };

impl Cell {
    pub fn new(class: Class, offset: u32) -> Cell {
        Cell { class, offset, adjoint: false }
    }

    /// The adjoint of a real cell; integers and adjoints have none.
    pub fn adjoint(self) -> Option<Cell> {
        (self.class == Class::Real && !self.adjoint).then_some(Cell { adjoint: true, ..self })
    }

    /// As the machine addresses it.
    pub fn address(self) -> u32 {
        if self.adjoint { self.offset | ADJOINT } else { self.offset }
    }

    /// What it holds; `None` where the state has no such cell (any more).
    pub fn value(self, state: &State) -> Option<Value> {
        let offset = self.offset as usize;
        match self.class {
            Class::Int => state.ints.get(offset).map(|&v| Value::Int(v)),
            Class::Real => state.real_at(self.address()).map(Value::Real),
        }
    }

    /// Puts a value of the cell's class in; a value of the other class, or a missing cell, is ignored.
    pub fn put(self, state: &mut State, value: Value) {
        let offset = self.offset as usize;
        match (self.class, value) {
            (Class::Int, Value::Int(v)) if self == MODE_BIT => state.set_mode(v != 0),
            (Class::Real, Value::Real(v)) if self.adjoint => {
                state.adjoints_mut().cells.get_mut(offset).into_iter().for_each(|c| *c = v);
            }
            (Class::Int, Value::Int(v)) => state.ints.get_mut(offset).into_iter().for_each(|c| *c = v),
            (Class::Real, Value::Real(v)) => {
                state.reals.get_mut(offset).into_iter().for_each(|c| *c = v);
            }
            _ => {}
        }
    }
}

/// The cells that a name stands for in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    pub class: Class,
    /// Offset of the first cell, and the distance of neighbours.
    pub first: u32,
    pub stride: u32,
    pub shape: Shape,
}

impl Storage {
    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.shape.cells()
    }

    /// The cell of a number below [`Storage::cells`], row after row.
    pub fn cell(&self, n: u64) -> Option<Cell> {
        let offset = u64::from(self.first) + n * u64::from(self.stride);
        (n < self.cells()).then_some(Cell::new(self.class, offset as u32))
    }

    /// The cell of as many indices as the shape has; the error says what is wrong with them.
    pub fn element(&self, indices: &[i64]) -> Result<Cell, IndexError> {
        let within = |index: i64, length: u32| {
            u64::try_from(index)
                .ok()
                .filter(|&i| i < u64::from(length))
                .ok_or(IndexError::Outside { index, length })
        };
        let n = match (self.shape, indices) {
            (Shape::Scalar, []) => 0,
            (Shape::Vector(length), &[i]) => within(i, length)?,
            (Shape::Matrix(rows, columns), &[i, j]) => {
                within(i, rows)? * u64::from(columns) + within(j, columns)?
            }
            (Shape::Scalar, _) => return Err(IndexError::Count { wanted: 0 }),
            (Shape::Vector(_), _) => return Err(IndexError::Count { wanted: 1 }),
            (Shape::Matrix(..), _) => return Err(IndexError::Count { wanted: 2 }),
        };
        self.cell(n).ok_or(IndexError::Count { wanted: 0 })
    }
}

/// Why indices name no element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    #[error("the index {index} is outside of 0..{length}")]
    Outside { index: i64, length: u32 },
    #[error("{}", match wanted { 0 => "a scalar takes no index", 1 => "a vector takes one index", _ => "a matrix takes two indices" })]
    Count { wanted: u8 },
}

/// A cell that is found again in another state: frames come and go, and their cells with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A cell of a global or of main's frame.
    Static(Cell),
    /// A cell of the frame of `procedure` while that is open at this call depth.
    Frame { procedure: usize, depth: usize, class: Class, relative: u32, adjoint: bool },
}

impl Target {
    /// Whether it is the adjoint of a cell.
    pub fn is_adjoint(self) -> bool {
        match self {
            Target::Static(cell) => cell.adjoint,
            Target::Frame { adjoint, .. } => adjoint,
        }
    }
}

/// The program's names and the places of their cells.
#[derive(Clone, Debug)]
pub struct Memory {
    program: Arc<Program>,
    /// Of each procedure the place of each frame variable; relative to the frame except in main.
    variables: Vec<Vec<u32>>,
    /// Where immediates lie among the reals: constants, which have no adjoint.
    constants: Range<u32>,
}

impl Memory {
    pub fn new(program: Arc<Program>) -> Memory {
        let procedures = &program.module().procedures;
        let mut variables: Vec<Vec<u32>> = procedures.iter().map(consecutive).collect();
        let state = Machine::at_end(program.clone()).into_state();
        if let Some(main) = variables.first_mut() {
            *main = places_in_main(&program, &state);
        }
        let constants = variables_end(&program, &variables)..state.reals.len() as u32;
        Memory { program, variables, constants }
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The procedure and the frame at a call depth; 0 is main.
    pub fn frame(&self, state: &State, depth: usize) -> Option<(usize, Frame)> {
        let Some(above) = depth.checked_sub(1) else { return Some((0, Frame::default())) };
        let record = state.calls.get(above)?;
        let procedure = self.executed(record)?;
        let frame = state.calls.get(depth).map_or(state.frame, |callee| callee.frame);
        Some((procedure, frame))
    }

    /// The procedure that the instruction at `site` calls.
    pub fn callee(&self, site: u32) -> Option<usize> {
        let instruction = self.program.module().code.get(site as usize)?;
        match &instruction.link {
            reviver_isa::instruction::Link::Calls(calls) => calls.first().map(|c| c.procedure as usize),
            _ => None,
        }
    }

    /// The procedure that an open call executes now: in gradient mode one with a rule takes turns with it.
    pub fn executed(&self, record: &CallRecord) -> Option<usize> {
        let callee = self.callee(record.site)?;
        match record.part {
            Part::Whole | Part::Body => Some(callee),
            Part::Rule => self.rule(callee),
        }
    }

    /// The procedure that stands in for the adjoint of another.
    pub fn rule(&self, procedure: usize) -> Option<usize> {
        self.program.module().procedures.get(procedure)?.rule.map(|rule| rule as usize)
    }

    /// Whether a call of a procedure with a rule is open: the mode can't be switched in there, because
    /// it decides how the call is left and entered.
    pub fn is_in_ruled_call(&self, state: &State) -> bool {
        let has_rule = |record: &CallRecord| self.callee(record.site).and_then(|p| self.rule(p)).is_some();
        state.calls.iter().any(has_rule)
    }

    /// Whether a cell is an immediate.
    pub fn is_constant(&self, cell: Cell) -> bool {
        cell.class == Class::Real && self.constants.contains(&cell.offset)
    }

    /// The cells of a declaration, seen from the frame at a call depth.
    pub fn storage(&self, state: &State, depth: usize, base: Base) -> Option<Storage> {
        let module = self.program.module();
        let (procedure, frame) = self.frame(state, depth)?;
        match base {
            Base::Global(n) => {
                let global = module.globals.get(n as usize)?;
                let first = self.program.cells(n as usize).start as u32;
                Some(Storage { class: global.class, first, stride: 1, shape: global.shape })
            }
            Base::Frame(n) => {
                let variable = module.procedures.get(procedure)?.frame.get(n as usize)?;
                let relative = *self.variables.get(procedure)?.get(n as usize)?;
                let first = start_of(frame, variable.class) + relative;
                Some(Storage { class: variable.class, first, stride: 1, shape: variable.shape })
            }
            Base::Parameter(n) => {
                let parameter = module.procedures.get(procedure)?.parameters.get(n as usize)?;
                let reference = state.references.get((frame.references + n) as usize)?;
                let shape = if parameter.slice { Shape::Vector(reference.length) } else { Shape::Scalar };
                Some(Storage {
                    class: parameter.class,
                    first: reference.base,
                    stride: reference.stride,
                    shape,
                })
            }
        }
    }

    /// Whether a declaration, seen from a procedure, can name the cell of a target, as far as is known
    /// without a state.
    pub fn may_name(&self, procedure: usize, base: Base, target: Target) -> bool {
        let module = self.program.module();
        let declared = module.procedures.get(procedure).and_then(|owner| module.declaration(owner, base));
        let (class, offset) = match target {
            Target::Static(cell) => (cell.class, cell.offset),
            Target::Frame { class, relative, .. } => (class, relative),
        };
        let Some(declared) = declared.filter(|declared| declared.class == class) else { return false };
        let first = match (base, target) {
            (Base::Global(n), Target::Static(_)) => self.program.cells(n as usize).start as u32,
            (Base::Frame(n), _) if procedure == frame_of(target) => {
                let places = self.variables.get(procedure);
                places.and_then(|places| places.get(n as usize)).copied().unwrap_or(u32::MAX)
            }
            (Base::Global(_) | Base::Frame(_), _) => return false,
            // A parameter can stand for any cell of its class.
            (Base::Parameter(_), _) => return true,
        };
        let cells = match declared.extent {
            Extent::Cells(shape) => shape.cells(),
            Extent::Slice => u64::MAX,
        };
        offset.checked_sub(first).is_some_and(|n| u64::from(n) < cells)
    }

    /// What a name means in the frame at a call depth: a variable of the frame, else a parameter,
    /// else a global.
    pub fn base(&self, state: &State, depth: usize, name: &str) -> Option<Base> {
        let module = self.program.module();
        let (procedure, _) = self.frame(state, depth)?;
        let owner = module.procedures.get(procedure)?;
        let number = |position: Option<usize>| position.map(|n| n as u32);
        number(owner.frame.iter().position(|v| v.name == name))
            .map(Base::Frame)
            .or_else(|| number(owner.parameters.iter().position(|p| p.name == name)).map(Base::Parameter))
            .or_else(|| number(module.globals.iter().position(|g| g.name == name)).map(Base::Global))
    }

    /// Every name that the current frame knows.
    pub fn names(&self, state: &State) -> impl Iterator<Item = &str> {
        let module = self.program.module();
        let procedure = self.frame(state, state.calls.len()).map_or(0, |(procedure, _)| procedure);
        let owner = module.procedures.get(procedure);
        let own = owner.into_iter().flat_map(|p| {
            p.frame.iter().map(|v| v.name.as_str()).chain(p.parameters.iter().map(|p| p.name.as_str()))
        });
        own.chain(module.globals.iter().map(|g| g.name.as_str()))
    }

    /// The cell that an operand of the current procedure names; `None` for constants and for indices
    /// out of bounds.
    pub fn operand(&self, state: &State, operand: &Operand) -> Option<Cell> {
        match operand {
            Operand::Place(place) => self.place(state, place),
            _ => None,
        }
    }

    pub fn place(&self, state: &State, place: &Place) -> Option<Cell> {
        let storage = self.storage(state, state.calls.len(), place.base)?;
        let cell = match place.index.as_deref() {
            None => storage.cell(0),
            Some(Index::One(term)) => storage.element(&[self.term(state, term)?]).ok(),
            Some(Index::Two(row, column)) => {
                storage.element(&[self.term(state, row)?, self.term(state, column)?]).ok()
            }
        };
        if place.adjoint { cell?.adjoint() } else { cell }
    }

    /// The integer cell that an index reads, if any.
    pub fn index_cell(&self, state: &State, term: &Term) -> Option<Cell> {
        self.storage(state, state.calls.len(), term.cell?)?.cell(0)
    }

    fn term(&self, state: &State, term: &Term) -> Option<i64> {
        let value = match term.cell {
            None => 0,
            Some(_) => match self.index_cell(state, term)?.value(state)? {
                Value::Int(value) => value,
                Value::Real(_) => return None,
            },
        };
        value.checked_add(term.offset)
    }

    /// How a cell of this state is to be found again in others.
    pub fn target(&self, state: &State, cell: Cell) -> Target {
        for depth in (1..=state.calls.len()).rev() {
            let Some((procedure, frame)) = self.frame(state, depth) else { continue };
            let start = start_of(frame, cell.class);
            if cell.offset >= start {
                let relative = cell.offset - start;
                let Cell { class, adjoint, .. } = cell;
                return Target::Frame { procedure, depth, class, relative, adjoint };
            }
        }
        Target::Static(cell)
    }

    /// The cell of a target in a state; `None` while its frame isn't open.
    pub fn resolve(&self, state: &State, target: Target) -> Option<Cell> {
        match target {
            Target::Static(cell) => Some(cell),
            Target::Frame { procedure, depth, class, relative, adjoint } => {
                let (open, frame) = self.frame(state, depth)?;
                let offset = start_of(frame, class) + relative;
                (open == procedure).then_some(Cell { class, offset, adjoint })
            }
        }
    }

    /// The name of a cell in a state: `x`, `A[3]`, `M[1,2]`, `x'`.
    pub fn name(&self, state: &State, cell: Cell) -> String {
        match cell {
            MODE_BIT => "mode".to_owned(),
            _ => explain::cell_name(&self.program, state, cell.class, cell.address()),
        }
    }

    /// A cell's content as text.
    pub fn text(&self, state: &State, cell: Cell) -> String {
        cell.value(state).map_or_else(|| "?".into(), |value| self.program.text(value))
    }
}

/// The procedure whose frame a target may be in.
fn frame_of(target: Target) -> usize {
    match target {
        Target::Static(_) => 0,
        Target::Frame { procedure, .. } => procedure,
    }
}

/// Where the cells of a class begin in a frame.
fn start_of(frame: Frame, class: Class) -> u32 {
    match class {
        Class::Int => frame.ints,
        Class::Real => frame.reals,
    }
}

/// Frame variables lie one after the other, each class by itself.
fn consecutive(procedure: &Procedure) -> Vec<u32> {
    let (mut ints, mut reals) = (0u32, 0u32);
    let place = |variable: &reviver_isa::module::FrameVariable| {
        let next = match variable.class {
            Class::Int => &mut ints,
            Class::Real => &mut reals,
        };
        let start = *next;
        *next = next.saturating_add(variable.shape.cells() as u32);
        start
    };
    procedure.frame.iter().map(place).collect()
}

/// Main's frame is laid out once and for all; the machine says where.
fn places_in_main(program: &Program, state: &State) -> Vec<u32> {
    let Some(main) = program.module().procedures.first() else { return Vec::new() };
    let zero = Term { cell: None, offset: 0 };
    let first = |(n, shape): (u32, Shape)| {
        let index = match shape {
            Shape::Scalar => None,
            Shape::Vector(_) => Some(Box::new(Index::One(zero))),
            Shape::Matrix(..) => Some(Box::new(Index::Two(zero, zero))),
        };
        let operand = Operand::Place(Place { base: Base::Frame(n), adjoint: false, index });
        lookup::cell_of(program, state, program.begin(), &operand).map_or(0, |(_, offset)| offset)
    };
    (0..).zip(main.frame.iter().map(|v| v.shape)).map(first).collect()
}

/// The end of the real globals and of main's variables, behind which the constants lie.
fn variables_end(program: &Program, variables: &[Vec<u32>]) -> u32 {
    let module = program.module();
    let is_real = |(_, class): &(u32, Class)| *class == Class::Real;
    let globals =
        module.globals.iter().enumerate().map(|(n, global)| (program.cells(n).end as u32, global.class));
    let main = module.procedures.first().map_or(&[][..], |main| &main.frame);
    let places = variables.first().into_iter().flatten();
    let main = places.zip(main).map(|(place, v)| (place + v.shape.cells() as u32, v.class));
    globals.chain(main).filter(is_real).map(|(end, _)| end).max().unwrap_or(0)
}
