//! Wires of a circuit and the gates on them: one wire per cell, in the order of their first use. The caller unrolls
//! loops and draws calls.

use std::collections::HashMap;

use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Extent, Module, Procedure, Role, Shape, Values};
use reviver_isa::text::TextRenderer;
use reviver_pictures::circuit::{Circuit, Gate, Placement, Wire};
use reviver_pictures::document::Words;
use reviver_vm::values::element_name;

/// Maximum number of columns in a picture; a picture with more columns isn't readable.
pub const MOST_COLUMNS: usize = 1_000;
/// Maximum number of wires in a picture.
pub const MOST_WIRES: usize = 1_000;

/// A bound that a circuit exceeds.
pub enum CircuitBound {
    Columns,
    Wires,
}

/// A cell: its declaration, and its row-major index in that declaration.
pub type CellKey = (Base, u64);

/// The wires and the gates of a part of main.
pub struct Wiring<'p> {
    module: &'p Module,
    main: &'p Procedure,
    wires: Vec<CellKey>,
    numbers: HashMap<CellKey, usize>,
    gates: Vec<Gate>,
    placement: Placement,
}

impl<'p> Wiring<'p> {
    pub fn new(module: &'p Module, main: &'p Procedure) -> Wiring<'p> {
        let (wires, numbers) = (Vec::new(), HashMap::new());
        Wiring { module, main, wires, numbers, gates: Vec::new(), placement: Placement::default() }
    }

    /// Adds a wire for each scalar input and result, even if no gate uses it.
    ///
    /// # Errors
    /// There are too many wires.
    pub fn add_interface(&mut self) -> Result<(), CircuitBound> {
        let numbered = (0..).zip(&self.module.globals);
        let mut scalars =
            numbered.filter(|(_, global)| global.shape == Shape::Scalar && global.role != Role::Private);
        scalars.try_for_each(|(n, _)| self.wire((Base::Global(n), 0)).map(drop))
    }

    /// Returns the class and the shape of a declaration; main has no parameters.
    pub fn declared(&self, base: Base) -> Option<(Class, Shape)> {
        let declared = self.module.declaration(self.main, base)?;
        match declared.extent {
            Extent::Cells(shape) => Some((declared.class, shape)),
            _ => None,
        }
    }

    /// Returns the wire of a cell. If the cell has no wire yet, adds one.
    ///
    /// # Errors
    /// There are too many wires.
    pub fn wire(&mut self, cell: CellKey) -> Result<usize, CircuitBound> {
        if let Some(number) = self.numbers.get(&cell) {
            return Ok(*number);
        }
        if self.wires.len() == MOST_WIRES {
            return Err(CircuitBound::Wires);
        }
        let number = self.wires.len();
        self.wires.push(cell);
        self.numbers.insert(cell, number);
        Ok(number)
    }

    /// Returns the number of wires.
    pub fn wires(&self) -> usize {
        self.wires.len()
    }

    /// Adds a gate after the others.
    ///
    /// # Errors
    /// There are too many columns.
    pub fn add(&mut self, gate: Gate) -> Result<(), CircuitBound> {
        if self.placement.place(&gate) >= MOST_COLUMNS {
            return Err(CircuitBound::Columns);
        }
        self.gates.push(gate);
        Ok(())
    }

    /// Returns the finished circuit with its title and description.
    pub fn circuit(self, file: &str) -> Circuit {
        let wires: Vec<Wire> = self.wires.iter().map(|cell| self.ends(*cell)).collect();
        let title = format!("{file} as a circuit");
        let name = |wire: &usize| self.wires.get(*wire).map_or_else(String::new, |cell| self.name(*cell));
        let reported: Vec<String> = self.gates.iter().map(|gate| in_words(gate, &name)).collect();
        let description =
            format!("{} wires, {} gates: {}.", wires.len(), self.gates.len(), reported.join("; "));
        Circuit { words: Words { title, description }, wires, gates: self.gates }
    }

    fn name(&self, (base, n): CellKey) -> String {
        let name = TextRenderer { module: self.module, procedure: self.main }.name(base);
        match self.declared(base) {
            Some((_, shape)) if shape != Shape::Stack => {
                element_name(name, shape, usize::try_from(n).unwrap_or(0))
            }
            _ => name.to_owned(),
        }
    }

    /// Returns the labels at both ends of a wire. The start of an input and the end of a result are labelled only
    /// with the name, because the value at that end is known only in a run. Any other label also has the value.
    fn ends(&self, cell: CellKey) -> Wire {
        let (base, n) = cell;
        let name = self.name(cell);
        let global = match base {
            Base::Global(global) => self.module.globals.get(global as usize),
            Base::Frame(_) | Base::Parameter(_) => None,
        };
        let role = global.map_or(Role::Private, |global| global.role);
        let known = match self.declared(base) {
            Some((_, Shape::Stack)) => format!("{name}: empty"),
            Some((class, _)) => {
                format!("{name} = {}", initial(class, global.map(|global| &global.initial), n))
            }
            None => name.clone(),
        };
        let start = if role.is_given() { name.clone() } else { known.clone() };
        let end = if role.is_result() { name } else { known };
        Wire { start, end }
    }
}

/// Formats the value of a cell before the run. If a declaration has a single initial value, all of its cells have
/// that value.
fn initial(class: Class, values: Option<&Values>, n: u64) -> String {
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    let value = match values {
        Some(Values::Ints(ints)) => {
            ints.get(n).or(ints.first().filter(|_| ints.len() == 1)).map(i64::to_string)
        }
        Some(Values::Reals(reals)) => {
            reals.get(n).or(reals.first().filter(|_| reals.len() == 1)).map(|real| format!("{real:?}"))
        }
        None => None,
    };
    let zero = if class == Class::Int { "0" } else { "0.0" };
    value.unwrap_or_else(|| zero.to_owned())
}

fn in_words(gate: &Gate, name: &impl Fn(&usize) -> String) -> String {
    match gate {
        Gate::Flip { controls, target } if controls.is_empty() => format!("{} flips", name(target)),
        Gate::Flip { controls, target } => {
            let controls: Vec<String> = controls.iter().map(name).collect();
            format!("{} flips where {} is 1", name(target), controls.join(" and "))
        }
        Gate::Exchange { first, second } => format!("{} and {} change places", name(first), name(second)),
        Gate::Box { text, .. } => text.clone(),
    }
}
