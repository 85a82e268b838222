//! Names and cells: finds the cell to which a name refers in a frame, and the address of the same cell in another
//! state. The machine determines the layout of cells ([`lookup`]). This module depends on neither instructions nor
//! time.

use std::sync::Arc;

use reviver_flow::Slot;
use reviver_isa::instruction::{Base, Class, Operand, Place};
use reviver_isa::module::{Procedure, Shape};
use reviver_vm::lookup::{self, IndexError, OpenFrame};
use reviver_vm::state::{ADJOINT, CallRecord, MODE, State};
use reviver_vm::stops::Node;
use reviver_vm::values::Value;
use reviver_vm::{Program, Travel, explain};

/// The address of a cell of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The class of the cell: integer or real.
    pub class: Class,
    /// Index among the cells of the class in a state.
    pub offset: u32,
    /// True for the adjoint of the real cell at `offset`, false for the cell itself.
    pub adjoint: bool,
}

/// The gradient mode bit: 1 while gradient mode is on, 0 otherwise.
pub const MODE_BIT: Cell = Cell { class: Class::Int, offset: MODE as u32, adjoint: false };

impl Cell {
    /// Creates the address of a cell itself, not of its adjoint.
    pub fn new(class: Class, offset: u32) -> Cell {
        Cell { class, offset, adjoint: false }
    }

    /// Decodes an address in the machine's encoding, in which one bit marks an adjoint.
    fn at(class: Class, address: u32) -> Cell {
        Cell { class, offset: address & !ADJOINT, adjoint: address & ADJOINT != 0 }
    }

    /// Returns the adjoint of a real cell. Integer cells and adjoints have none.
    pub fn adjoint(self) -> Option<Cell> {
        (self.class == Class::Real && !self.adjoint).then_some(Cell { adjoint: true, ..self })
    }

    /// Returns the address in the machine's encoding, in which one bit marks an adjoint.
    pub fn address(self) -> u32 {
        if self.adjoint { self.offset | ADJOINT } else { self.offset }
    }

    /// Returns the value of the cell. Returns `None` if the state has no such cell, for example because its
    /// frame is closed.
    pub fn value(self, state: &State) -> Option<Value> {
        let offset = self.offset as usize;
        match self.class {
            Class::Int => state.ints.get(offset).map(|&v| Value::Int(v)),
            Class::Real => state.real_at(self.address()).map(Value::Real),
        }
    }

    /// Stores a value in the cell. Does nothing if the value is of the other class, or if the state has no
    /// such cell.
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

/// The cells to which a name refers in one frame, or the adjoints of these cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    cells: lookup::DeclaredCells,
    adjoint: bool,
}

impl Storage {
    /// Returns the class that all cells have.
    pub fn class(&self) -> Class {
        self.cells.class
    }

    /// Returns the declared shape: scalar, vector, matrix or stack.
    pub fn shape(&self) -> Shape {
        self.cells.shape
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> u64 {
        self.cells.cells()
    }

    /// Returns the cell with number `n`, in row-major order, or `None` if `n` isn't below [`Storage::cells`].
    pub fn cell(&self, n: u64) -> Option<Cell> {
        self.cells.cell(n).map(|offset| self.at(offset))
    }

    /// Returns the cell at the given indices, one index for each dimension of the shape.
    ///
    /// # Errors
    /// The number of indices differs from the number of dimensions, or an index is out of bounds.
    pub fn element(&self, indices: &[i64]) -> Result<Cell, IndexError> {
        self.cells.element(indices).map(|offset| self.at(offset))
    }

    /// Returns the adjoints of these cells. Returns `None` for integers, and if the cells are adjoints
    /// themselves.
    pub fn adjoint(self) -> Option<Storage> {
        (self.class() == Class::Real && !self.adjoint).then_some(Storage { adjoint: true, ..self })
    }

    /// Returns the row-major number of a cell, or `None` if the cell isn't part of this storage.
    pub fn number(&self, cell: Cell) -> Option<u64> {
        let distance = u64::from(cell.offset.checked_sub(self.cells.first)?);
        let number = distance / u64::from(self.cells.stride).max(1);
        (self.cell(number) == Some(cell)).then_some(number)
    }

    /// Returns the storage with `first` as its first cell. Callers use it for a state in which the frame has another
    /// address.
    #[must_use]
    pub fn moved(self, first: Cell) -> Storage {
        Storage { cells: lookup::DeclaredCells { first: first.offset, ..self.cells }, ..self }
    }

    fn at(&self, offset: u32) -> Cell {
        Cell { class: self.class(), offset, adjoint: self.adjoint }
    }
}

/// A cell identified without a state. A cell of a frame has no fixed address, so it is identified by its frame and its
/// position in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A cell of a global or of the frame of main.
    Static(Cell),
    /// A cell in the frame of a procedure. The cell exists while that procedure is open at that call depth.
    Frame {
        /// Number of the procedure in the module.
        procedure: usize,
        /// Call depth of the frame; 0 is main.
        depth: usize,
        /// The class of the cell.
        class: Class,
        /// Distance from the start of the frame, in cells.
        relative: u32,
        /// True for the adjoint of the cell, false for the cell itself.
        adjoint: bool,
    },
}

impl Target {
    /// Returns true if the target is an adjoint.
    pub fn is_adjoint(self) -> bool {
        match self {
            Target::Static(cell) => cell.adjoint,
            Target::Frame { adjoint, .. } => adjoint,
        }
    }

    /// Returns the adjoint of a real cell. Integer cells and adjoints have none.
    pub fn adjoint(self) -> Option<Target> {
        match self {
            Target::Static(cell) => cell.adjoint().map(Target::Static),
            Target::Frame { class: Class::Real, procedure, depth, relative, adjoint: false } => {
                Some(Target::Frame { class: Class::Real, procedure, depth, relative, adjoint: true })
            }
            Target::Frame { .. } => None,
        }
    }
}

/// A frame identified without a state, by its procedure and its call depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Number of the procedure in the module.
    pub procedure: usize,
    /// Call depth of the frame; 0 is main.
    pub depth: usize,
}

/// The names of a program and the locations of their cells.
#[derive(Clone, Debug)]
pub struct Memory {
    program: Arc<Program>,
}

impl Memory {
    /// Creates the table of a program's names.
    pub fn new(program: Arc<Program>) -> Memory {
        Memory { program }
    }

    /// Returns the program whose names are looked up.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns the procedure and the frame at a call depth. Depth 0 is main.
    pub fn frame(&self, state: &State, depth: usize) -> Option<OpenFrame> {
        lookup::frame_at(&self.program, state, depth)
    }

    /// Returns the frame at a call depth, identified independently of the state.
    pub fn scope(&self, state: &State, depth: usize) -> Option<Scope> {
        self.frame(state, depth).map(|open| Scope { procedure: open.procedure, depth })
    }

    /// Returns true if a call of a procedure with a derivative rule is open. Gradient mode can't be switched during
    /// such a call, because the steps that enter and leave the call depend on the mode.
    pub fn is_in_ruled_call(&self, state: &State) -> bool {
        let has_rule = |record: &CallRecord| {
            self.program.callee(record.site).and_then(|callee| self.program.rule(callee)).is_some()
        };
        state.calls.iter().any(has_rule)
    }

    /// Returns true if a cell holds a constant of the program.
    pub fn is_constant(&self, cell: Cell) -> bool {
        self.program.constants(cell.class).contains(&(cell.offset as usize))
    }

    /// Returns the cells of a declaration. A parameter refers to the cells that were passed to the frame at
    /// this call depth.
    pub fn storage(&self, state: &State, depth: usize, base: Base) -> Option<Storage> {
        let cells = lookup::storage(&self.program, state, self.frame(state, depth)?, base)?;
        Some(Storage { cells, adjoint: false })
    }

    /// Resolves a name in the frame at a call depth: first variables of the frame, then parameters, then
    /// globals.
    pub fn base(&self, state: &State, depth: usize, name: &str) -> Option<Base> {
        let globals = &self.program.module().globals;
        let global = || globals.iter().position(|g| g.name == name).map(|n| Base::Global(n as u32));
        self.own(state, depth, name).or_else(global)
    }

    /// Resolves a name to a variable or a parameter of the frame at a call depth.
    pub fn own(&self, state: &State, depth: usize, name: &str) -> Option<Base> {
        let number = self.frame(state, depth)?.procedure;
        let owner = self.program.module().procedures.get(number)?;
        let structure = &self.program.module().structure;
        let scoped = structure.variable(number as u32, name, self.instruction(state, depth));
        let variable = || owner.frame.iter().position(|v| v.name == name).map(|n| n as u32);
        let parameter = || owner.parameters.iter().position(|p| p.name == name);
        scoped.or_else(variable).map(Base::Frame).or_else(|| parameter().map(|n| Base::Parameter(n as u32)))
    }

    /// Returns the current instruction of the frame at a call depth: its open call, or the next instruction
    /// to execute.
    fn instruction(&self, state: &State, depth: usize) -> u32 {
        match state.calls.get(depth) {
            Some(call) => call.site,
            None => Node::of(state, Travel::Forward).instruction(),
        }
    }

    /// Returns the call depth of another open frame that declares a name. If frames on both sides declare the name,
    /// returns the nearest outer frame, not the nearest inner one.
    pub fn other_frame_with(&self, state: &State, depth: usize, name: &str) -> Option<usize> {
        let inside = depth.saturating_add(1)..=state.calls.len();
        (0..depth).rev().chain(inside).find(|&other| self.own(state, other, name).is_some())
    }

    /// Returns the open procedure at a call depth.
    pub fn procedure(&self, state: &State, depth: usize) -> Option<&Procedure> {
        self.program.module().procedures.get(self.frame(state, depth)?.procedure)
    }

    /// Returns every name that is visible in the frame at a call depth.
    pub fn names(&self, state: &State, depth: usize) -> impl Iterator<Item = &str> {
        let number = self.frame(state, depth).map_or(0, |open| open.procedure);
        let own = self.procedure(state, depth).into_iter().flat_map(move |p| {
            let written = self.program.written_names(number).map(|(_, name)| name);
            let given = p.parameters.iter().filter(|parameter| !parameter.is_length());
            written.chain(given.map(|parameter| parameter.name.as_str()))
        });
        own.chain(self.program.module().globals.iter().map(|g| g.name.as_str()))
    }

    /// Returns the cell to which an operand of the innermost procedure refers. Returns `None` for constants
    /// and for indices out of bounds.
    pub fn operand(&self, state: &State, operand: &Operand) -> Option<Cell> {
        match operand {
            Operand::Place(place) => self.place(state, place),
            _ => None,
        }
    }

    fn place(&self, state: &State, place: &Place) -> Option<Cell> {
        let found = lookup::place(&self.program, state, self.innermost(state)?, place);
        found.map(|(class, address)| Cell::at(class, address))
    }

    /// Returns the cell to which a slot refers in the procedure at a call depth.
    pub fn slot(&self, state: &State, depth: usize, slot: &Slot) -> Option<Cell> {
        let found = lookup::slot(&self.program, state, self.frame(state, depth)?, slot);
        found.map(|(class, address)| Cell::at(class, address))
    }

    fn innermost(&self, state: &State) -> Option<OpenFrame> {
        self.frame(state, state.calls.len())
    }

    /// Returns the target that identifies a cell of this state in other states, too.
    pub fn target(&self, state: &State, cell: Cell) -> Target {
        for depth in (1..=state.calls.len()).rev() {
            let Some(OpenFrame { procedure, frame }) = self.frame(state, depth) else { continue };
            let start = frame.start(cell.class);
            if cell.offset >= start {
                let relative = cell.offset - start;
                let Cell { class, adjoint, .. } = cell;
                return Target::Frame { procedure, depth, class, relative, adjoint };
            }
        }
        Target::Static(cell)
    }

    /// Returns the cell that a target identifies, at its address in this state. Returns `None` if the
    /// target's frame isn't open.
    pub fn resolve(&self, state: &State, target: Target) -> Option<Cell> {
        match target {
            Target::Static(cell) => Some(cell),
            Target::Frame { procedure, depth, class, relative, adjoint } => {
                let open = self.frame(state, depth)?;
                let offset = open.frame.start(class) + relative;
                (open.procedure == procedure).then_some(Cell { class, offset, adjoint })
            }
        }
    }

    /// Returns the name of a cell in a state: `x`, `A[3]`, `M[1,2]`, `x'`.
    pub fn name(&self, state: &State, cell: Cell) -> String {
        match cell {
            MODE_BIT => "mode".to_owned(),
            _ => explain::cell_name(&self.program, state, cell.class, cell.address()),
        }
    }

    /// Returns the value of a cell as text, or `?` if the state has no such cell.
    pub fn text(&self, state: &State, cell: Cell) -> String {
        cell.value(state).map_or_else(|| "?".into(), |value| self.program.text(value))
    }
}
