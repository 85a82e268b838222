//! Memory of a run: numbered cells with their adjoints, stacks, tapes, and the mode. Statements are executed elsewhere.

use std::collections::HashSet;

use num_bigint::BigInt;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use crate::outcome::{Bits, Snapshot, Step, Trap, trap, unsupported};
use crate::plan::{Numbers, Plan, Shape};
use crate::value::Value;

/// Number of a cell. The cells of frames follow those of globals. Aliases of a cell have the same number.
pub(crate) type Cell = usize;

/// Number of a cell's adjoint minus the number of the cell.
const ADJOINTS: Cell = 1 << 40;

pub(crate) fn adjoint_of(cell: Cell) -> Cell {
    cell + ADJOINTS
}

/// Returns true if a number is that of a cell's adjoint.
pub(crate) fn is_adjoint(cell: Cell) -> bool {
    cell >= ADJOINTS
}

/// Entry of a stack or tape: a value and its adjoint, which is 0 for an integer.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    pub(crate) adjoint: Value,
}

pub(crate) struct Store {
    numbers: Numbers,
    /// Maximum number of entries on each stack.
    stack_limit: usize,
    /// Maximum number of entries on each tape.
    tape_limit: usize,
    cells: Vec<Value>,
    /// Adjoint of each cell; 0 for integers.
    adjoints: Vec<Value>,
    /// Cells that hold constants. Their adjoints are always 0.
    constants: HashSet<Cell>,
    int_stack: Vec<Entry>,
    real_stack: Vec<Entry>,
    pub(crate) input: Vec<Entry>,
    pub(crate) output: Vec<Entry>,
    /// True if gradient mode is on.
    pub(crate) mode: bool,
}

impl Store {
    pub(crate) fn new(plan: &Plan) -> Store {
        Store {
            numbers: plan.numbers,
            stack_limit: plan.stack,
            tape_limit: plan.tape,
            cells: Vec::new(),
            adjoints: Vec::new(),
            constants: HashSet::new(),
            int_stack: Vec::new(),
            real_stack: Vec::new(),
            input: Vec::new(),
            output: Vec::new(),
            mode: false,
        }
    }

    pub(crate) fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// Adds a cell with an adjoint of 0.
    pub(crate) fn add(&mut self, value: Value) -> Cell {
        self.cells.push(value);
        self.adjoints.push(self.zero());
        self.cells.len() - 1
    }

    /// Adds a cell for a constant.
    pub(crate) fn add_constant(&mut self, value: Value) -> Cell {
        let cell = self.add(value);
        self.constants.insert(cell);
        cell
    }

    pub(crate) fn is_constant(&self, cell: Cell) -> bool {
        self.constants.contains(&cell)
    }

    /// Returns the initial adjoint of a cell, which is 0.
    fn zero(&self) -> Value {
        Value::zero(Class::Real, self.numbers.system)
    }

    /// Returns an entry with an adjoint of 0.
    pub(crate) fn entry(&self, value: Value) -> Entry {
        Entry { value, adjoint: self.zero() }
    }

    pub(crate) fn count(&self) -> usize {
        self.cells.len()
    }

    /// Removes all cells from number `count` on.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.cells.truncate(count);
        self.adjoints.truncate(count);
        self.constants.retain(|cell| *cell < count);
    }

    pub(crate) fn get(&self, cell: Cell) -> Step<&Value> {
        let found = match cell.checked_sub(ADJOINTS) {
            Some(cell) => self.adjoints.get(cell),
            None => self.cells.get(cell),
        };
        found.map_or_else(|| unsupported("a cell that is gone"), Ok)
    }

    pub(crate) fn set(&mut self, cell: Cell, value: Value) {
        let place = match cell.checked_sub(ADJOINTS) {
            Some(cell) => self.adjoints.get_mut(cell),
            None => self.cells.get_mut(cell),
        };
        if let Some(place) = place {
            *place = value;
        }
    }

    /// Returns true if an instruction on these cells also propagates their adjoints: in gradient mode, if none of the
    /// cells is an adjoint.
    pub(crate) fn carries(&self, cells: &[Cell]) -> bool {
        self.mode && !cells.iter().any(|&cell| is_adjoint(cell))
    }

    pub(crate) fn swap(&mut self, x: Cell, y: Cell) -> Step<()> {
        self.exchange(x, y)?;
        if self.carries(&[x, y]) { self.exchange(adjoint_of(x), adjoint_of(y)) } else { Ok(()) }
    }

    fn exchange(&mut self, x: Cell, y: Cell) -> Step<()> {
        let (old_x, old_y) = (self.get(x)?.clone(), self.get(y)?.clone());
        self.set(x, old_y);
        self.set(y, old_x);
        Ok(())
    }

    /// Traps unless the cell is vacant. Then sets the cell to 0, and in gradient mode also its adjoint.
    pub(crate) fn vacate(&mut self, cell: Cell) -> Step<()> {
        self.demand_vacant(cell)?;
        self.take(cell).map(|_| ())
    }

    pub(crate) fn demand_vacant(&self, cell: Cell) -> Step<()> {
        if self.get(cell)?.is_vacant(self.numbers.tolerance) { Ok(()) } else { trap(Trap::Vacant) }
    }

    /// Sets the cell to 0. Its adjoint doesn't change.
    fn clear(&mut self, cell: Cell) -> Step<()> {
        let class = self.get(cell)?.class();
        self.set(cell, Value::zero(class, self.numbers.system));
        Ok(())
    }

    /// Removes the cell's value, in gradient mode with its adjoint, and returns both. The cell and its adjoint are
    /// then 0.
    pub(crate) fn take(&mut self, cell: Cell) -> Step<Entry> {
        let mut entry = self.entry(self.get(cell)?.clone());
        self.clear(cell)?;
        if self.carries(&[cell]) {
            entry.adjoint = self.get(adjoint_of(cell))?.clone();
            self.clear(adjoint_of(cell))?;
        }
        Ok(entry)
    }

    pub(crate) fn stack(&self, class: Class) -> &[Entry] {
        match class {
            Class::Int => &self.int_stack,
            Class::Real => &self.real_stack,
        }
    }

    pub(crate) fn stack_mut(&mut self, class: Class) -> &mut Vec<Entry> {
        match class {
            Class::Int => &mut self.int_stack,
            Class::Real => &mut self.real_stack,
        }
    }

    /// Returns the tape on which an update works.
    fn tape(&self, update: Update) -> &[Entry] {
        if matches!(update, Update::Read | Update::Unread) { &self.input } else { &self.output }
    }

    /// Applies an update of one cell without sources.
    pub(crate) fn single(&mut self, update: Update, cell: Cell) -> Step<()> {
        let class = self.get(cell)?.class();
        match update {
            Update::Neg | Update::Not => self.involution(update, cell),
            Update::Vacate => self.vacate(cell),
            Update::Erase => self.clear(cell),
            Update::Forget => {
                // The update clears the lowest bit, which makes an odd number of either sign the even number below
                // it.
                let value = self.get(cell)?.int()?.clone();
                let even = if value.bit(0) { value - 1 } else { value };
                self.set(cell, Value::Int(even));
                Ok(())
            }
            Update::Push => {
                if self.stack(class).len() >= self.stack_limit {
                    return trap(Trap::Stack);
                }
                let value = self.take(cell)?;
                self.stack_mut(class).push(value);
                Ok(())
            }
            Update::Pop => {
                let top = self.stack(class).last().cloned();
                self.fill(cell, top, Trap::Stack)?;
                self.stack_mut(class).pop();
                Ok(())
            }
            Update::Read => {
                self.fill(cell, self.input.last().cloned(), Trap::Tape)?;
                self.input.pop();
                Ok(())
            }
            Update::Unread | Update::Write if self.tape(update).len() >= self.tape_limit => trap(Trap::Tape),
            Update::Unread => {
                let value = self.take(cell)?;
                self.input.push(value);
                Ok(())
            }
            Update::Write => {
                let value = self.take(cell)?;
                self.output.push(value);
                Ok(())
            }
            Update::Unwrite => {
                self.fill(cell, self.output.last().cloned(), Trap::Tape)?;
                self.output.pop();
                Ok(())
            }
            _ => unsupported(format!("`{update:?}`")),
        }
    }

    fn involution(&mut self, update: Update, cell: Cell) -> Step<()> {
        let value = match (update, self.get(cell)?) {
            (Update::Neg, Value::Int(value)) => Value::Int(crate::integer::wrap(-value, self.numbers.bits)),
            (Update::Neg, Value::Real(value)) => Value::Real(value.negated()?),
            (Update::Not, Value::Int(value)) => Value::Int(BigInt::NEG_ONE - value),
            _ => return unsupported(format!("`{update:?}` of a real")),
        };
        if self.carries(&[cell]) && value.class() == Class::Real {
            let changes = self.negated_adjoint(cell)?;
            self.carry(changes);
        }
        self.set(cell, value);
        Ok(())
    }

    /// Moves a stack or tape entry into a vacant cell, in gradient mode with its adjoint. Traps with `missing` if
    /// there is no entry of the cell's class.
    fn fill(&mut self, cell: Cell, entry: Option<Entry>, missing: Trap) -> Step<()> {
        let class = self.get(cell)?.class();
        let Some(entry) = entry.filter(|entry| entry.value.class() == class) else { return trap(missing) };
        self.demand_vacant(cell)?;
        self.restore(cell, entry);
        Ok(())
    }

    /// Sets a cell to an entry's value, in gradient mode also its adjoint.
    pub(crate) fn restore(&mut self, cell: Cell, entry: Entry) {
        self.set(cell, entry.value);
        if self.carries(&[cell]) {
            self.set(adjoint_of(cell), entry.adjoint);
        }
    }

    /// Returns the observable state. The first cells are those of the globals.
    pub(crate) fn snapshot(&self, plan: &Plan) -> Snapshot {
        let bits = |list: &[Entry]| -> Vec<Bits> { list.iter().map(|e| e.value.bits()).collect() };
        let adjoints = |list: &[Entry]| -> Vec<Bits> { list.iter().map(|e| e.adjoint.bits()).collect() };
        let mut snapshot = Snapshot {
            globals: Default::default(),
            int_stack: bits(&self.int_stack),
            real_stack: bits(&self.real_stack),
            input: bits(&self.input),
            output: bits(&self.output),
            garbage: Vec::new(),
            adjoints: Default::default(),
            entry_adjoints: [adjoints(&self.real_stack), adjoints(&self.input), adjoints(&self.output)],
            mode: self.mode,
        };
        let mut cells = self.cells.iter().zip(&self.adjoints);
        for global in &plan.globals {
            if global.shape == Shape::Stack {
                let entries = self.stack(global.class);
                snapshot.globals.insert(global.name.clone(), bits(entries));
                if global.class == Class::Real {
                    snapshot.adjoints.insert(global.name.clone(), adjoints(entries));
                }
                continue;
            }
            let cells = cells.by_ref().take(global.shape.cells());
            let (values, adjoints) = cells.map(|(value, adjoint)| (value.bits(), adjoint.bits())).unzip();
            snapshot.globals.insert(global.name.clone(), values);
            if global.class == Class::Real {
                snapshot.adjoints.insert(global.name.clone(), adjoints);
            }
        }
        snapshot
    }
}
