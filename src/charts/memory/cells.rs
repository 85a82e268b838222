//! Numbers for the cells of a procedure, and the effects of accesses on these cells. Elements of an array with constant
//! indices are cells of their own. An access with another index may access any element.

use std::collections::HashMap;

use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Extent, Module, Procedure, Shape};

use super::access::{Access, ConstantElement, Part};
use super::pairs::{CellNumber, Effect};

/// A cell, or a property of several cells that changes with each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cell {
    /// The content of a part of memory. Every change of an element changes the content of the array.
    Content(Part),
    /// The changes of an array whose element is unknown.
    AnyElement(Part),
    Element(Part, ConstantElement),
    /// The contents of all parameters or globals (`is_global`) of a class. An argument may be a global.
    All {
        is_global: bool,
        class: Class,
        adjoint: bool,
    },
}

/// The cells of a procedure.
pub struct Cells<'p> {
    module: &'p Module,
    procedure: &'p Procedure,
    numbers: HashMap<Cell, CellNumber>,
    /// For each cell, whether it is 0 at the beginning of the procedure.
    pub vacant: Vec<bool>,
}

impl<'p> Cells<'p> {
    pub fn new(module: &'p Module, procedure: &'p Procedure) -> Cells<'p> {
        Cells { module, procedure, numbers: HashMap::new(), vacant: Vec::new() }
    }

    /// Returns the number of a scalar variable of the frame.
    pub fn variable(&mut self, variable: u32) -> CellNumber {
        self.number(Cell::Content(Part::Declared { base: Base::Frame(variable), adjoint: false }))
    }

    /// Returns true if a part is a cell, and not an array.
    pub fn is_scalar(&self, part: Part) -> bool {
        let Part::Declared { base, .. } = part else { return true };
        let declared = self.module.declaration(self.procedure, base);
        declared.is_some_and(|declared| declared.extent == Extent::Cells(Shape::Scalar))
    }

    /// Returns the effect of a statement, given its accesses.
    pub fn effect(&mut self, accesses: &[Access]) -> Effect {
        let mut effect = Effect::default();
        for access in accesses {
            self.access(access, &mut effect);
            self.alias(access, &mut effect);
        }
        for cells in [&mut effect.needs, &mut effect.changes] {
            cells.sort_unstable();
            cells.dedup();
        }
        effect
    }

    fn access(&mut self, access: &Access, effect: &mut Effect) {
        let Access { part, element, changes } = *access;
        let is_scalar = self.is_scalar(part);
        let content = self.number(Cell::Content(part));
        let mut changed = vec![content];
        match element.filter(|_| !is_scalar) {
            Some(element) => {
                let element = self.number(Cell::Element(part, element));
                effect.needs.extend([element, self.number(Cell::AnyElement(part))]);
                changed.push(element);
            }
            None => {
                effect.needs.push(content);
                if !is_scalar {
                    changed.push(self.number(Cell::AnyElement(part)));
                }
            }
        }
        if changes {
            effect.changes.extend(changed);
        }
    }

    /// Adds the effect of an access on cells that may be the same: a parameter may be a global.
    fn alias(&mut self, access: &Access, effect: &mut Effect) {
        let Part::Declared { base, adjoint } = access.part else { return };
        let is_global = match base {
            Base::Frame(_) => return,
            Base::Global(_) => true,
            Base::Parameter(_) => false,
        };
        if self.procedure.parameters.iter().all(|parameter| parameter.is_length()) {
            return;
        }
        let declared = self.module.declaration(self.procedure, base);
        let Some(class) = declared.map(|declared| declared.class) else { return };
        let others = Cell::All { is_global: !is_global, class, adjoint };
        effect.needs.push(self.number(others));
        if access.changes {
            effect.changes.push(self.number(Cell::All { is_global, class, adjoint }));
        }
    }

    fn number(&mut self, cell: Cell) -> CellNumber {
        let next = self.vacant.len() as CellNumber;
        let number = *self.numbers.entry(cell).or_insert(next);
        if number == next {
            let is_of_frame = |part| matches!(part, Part::Declared { base: Base::Frame(_), .. });
            self.vacant.push(match cell {
                Cell::Content(part) | Cell::AnyElement(part) | Cell::Element(part, _) => is_of_frame(part),
                Cell::All { .. } => false,
            });
        }
        number
    }
}
