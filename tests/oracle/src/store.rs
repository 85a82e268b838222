//! All cells of a run under plain numbers, the stacks and the tapes. Knows no statement.

use num_bigint::BigInt;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use crate::outcome::{Bits, Snapshot, Step, Trap, trap, unsupported};
use crate::plan::{Numbers, Plan};
use crate::value::Value;

/// The number of a cell. Frames come after the globals; two names of one cell have one number.
pub(crate) type Cell = usize;

pub(crate) struct Store {
    numbers: Numbers,
    /// The capacity of each stack.
    limit: usize,
    cells: Vec<Value>,
    int_stack: Vec<Value>,
    real_stack: Vec<Value>,
    pub(crate) input: Vec<Value>,
    pub(crate) output: Vec<Value>,
}

impl Store {
    pub(crate) fn new(plan: &Plan) -> Store {
        Store {
            numbers: plan.numbers,
            limit: plan.stack,
            cells: Vec::new(),
            int_stack: Vec::new(),
            real_stack: Vec::new(),
            input: Vec::new(),
            output: Vec::new(),
        }
    }

    /// Adds a cell.
    pub(crate) fn add(&mut self, value: Value) -> Cell {
        self.cells.push(value);
        self.cells.len() - 1
    }

    pub(crate) fn count(&self) -> usize {
        self.cells.len()
    }

    /// Takes away the cells from a number on.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.cells.truncate(count);
    }

    pub(crate) fn get(&self, cell: Cell) -> Step<&Value> {
        self.cells.get(cell).map_or_else(|| unsupported("a cell that is gone"), Ok)
    }

    pub(crate) fn set(&mut self, cell: Cell, value: Value) {
        if let Some(place) = self.cells.get_mut(cell) {
            *place = value;
        }
    }

    pub(crate) fn swap(&mut self, x: Cell, y: Cell) -> Step<()> {
        let (old_x, old_y) = (self.get(x)?.clone(), self.get(y)?.clone());
        self.set(x, old_y);
        self.set(y, old_x);
        Ok(())
    }

    /// Traps unless the cell is vacant, and leaves it 0.
    pub(crate) fn vacate(&mut self, cell: Cell) -> Step<()> {
        self.demand_vacant(cell)?;
        self.clear(cell)
    }

    pub(crate) fn demand_vacant(&self, cell: Cell) -> Step<()> {
        if self.get(cell)?.is_vacant(self.numbers.tolerance) { Ok(()) } else { trap(Trap::Vacant) }
    }

    fn clear(&mut self, cell: Cell) -> Step<()> {
        self.take(cell).map(|_| ())
    }

    /// The cell's value; the cell is 0 afterwards.
    fn take(&mut self, cell: Cell) -> Step<Value> {
        let value = self.get(cell)?.clone();
        self.set(cell, Value::zero(value.class(), self.numbers.system));
        Ok(value)
    }

    fn stack(&mut self, class: Class) -> &mut Vec<Value> {
        match class {
            Class::Int => &mut self.int_stack,
            Class::Real => &mut self.real_stack,
        }
    }

    /// An update of one cell that takes no source.
    pub(crate) fn single(&mut self, update: Update, cell: Cell) -> Step<()> {
        let class = self.get(cell)?.class();
        match update {
            Update::Neg | Update::Not => self.involution(update, cell),
            Update::Vacate => self.vacate(cell),
            Update::Erase => self.clear(cell),
            Update::Push => {
                if self.stack(class).len() >= self.limit {
                    return trap(Trap::Stack);
                }
                let value = self.take(cell)?;
                self.stack(class).push(value);
                Ok(())
            }
            Update::Pop => {
                let top = self.stack(class).last().cloned();
                self.fill(cell, top, Trap::Stack)?;
                self.stack(class).pop();
                Ok(())
            }
            Update::Read => {
                self.fill(cell, self.input.last().cloned(), Trap::Tape)?;
                self.input.pop();
                Ok(())
            }
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
        self.set(cell, value);
        Ok(())
    }

    /// Moves a value into a vacant cell of its class; the trap is for a source that has none.
    fn fill(&mut self, cell: Cell, value: Option<Value>, missing: Trap) -> Step<()> {
        let class = self.get(cell)?.class();
        let Some(value) = value.filter(|value| value.class() == class) else { return trap(missing) };
        self.demand_vacant(cell)?;
        self.set(cell, value);
        Ok(())
    }

    /// What the run has left; the globals are the first cells.
    pub(crate) fn snapshot(&self, plan: &Plan) -> Snapshot {
        let bits = |values: &[Value]| -> Vec<Bits> { values.iter().map(Value::bits).collect() };
        let mut snapshot = Snapshot {
            globals: Default::default(),
            int_stack: bits(&self.int_stack),
            real_stack: bits(&self.real_stack),
            input: bits(&self.input),
            output: bits(&self.output),
            garbage: Vec::new(),
        };
        let mut cells = self.cells.iter();
        for global in &plan.globals {
            let values: Vec<Bits> = cells.by_ref().take(global.shape.cells()).map(Value::bits).collect();
            snapshot.globals.insert(global.name.clone(), values);
        }
        snapshot
    }
}
