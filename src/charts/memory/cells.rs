//! Numbers for the cells of a procedure, and the effects of accesses on these cells. Each element of an array with
//! constant indices is a separate cell. An access with another index may access any element.

use std::collections::{BTreeSet, HashMap};

use reviver_isa::effects::Effects;
use reviver_isa::instruction::Base;
use reviver_isa::module::{Extent, Module, Procedure, Shape};

use super::access::{Access, ConstantElement, Part};
use super::arguments::PassedGlobals;
use super::pairs::{CellNumber, Effect};

/// A cell, or a property of several cells that changes with each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cell {
    /// The content of a part of memory. Every change of an element changes the content of the array.
    Content(Part),
    /// The changes of an array whose element is unknown.
    AnyElement(Part),
    Element(Part, ConstantElement),
    /// The changes of a group of globals by their names.
    ByName(u32),
    /// The changes of a group of globals through parameters.
    ThroughParameters(u32),
    /// All adjoints of parameters and globals.
    Adjoints,
}

/// Maximum number of globals with separate groups. If parameters may be more globals, all globals are one group.
const MOST_GROUPS: usize = 64;

/// The globals that a procedure names, and that its parameters may be, too.
pub struct SharedGlobals {
    /// The group of each global.
    groups: HashMap<u32, u32>,
    /// The groups of each parameter.
    parameters: Vec<BTreeSet<u32>>,
}

impl SharedGlobals {
    /// Finds the shared globals of the procedure with this number. Without `passed`, each parameter may be each global.
    pub fn new(
        procedure: (u32, &Procedure),
        effects: &Effects,
        passed: Option<&PassedGlobals>,
    ) -> SharedGlobals {
        let (number, Procedure { parameters, .. }) = procedure;
        let named: BTreeSet<u32> = effects.named_by(number).collect();
        let of_parameter = |n: u32| match passed {
            Some(passed) => passed.of_parameter(number, n).filter(|global| named.contains(global)).collect(),
            None => named.clone(),
        };
        let shared: Vec<BTreeSet<u32>> = (0..)
            .zip(parameters)
            .map(|(n, parameter)| match parameter.is_length() {
                true => BTreeSet::new(),
                false => of_parameter(n),
            })
            .collect();
        let all: BTreeSet<u32> = shared.iter().flatten().copied().collect();
        let has_own = all.len() <= MOST_GROUPS;
        let groups: HashMap<u32, u32> =
            (0..).zip(&all).map(|(n, global)| (*global, if has_own { n } else { 0 })).collect();
        let group = |global: &u32| groups.get(global).copied();
        let parameters = shared.iter().map(|globals| globals.iter().filter_map(group).collect()).collect();
        SharedGlobals { parameters, groups }
    }
}

/// The cells of a procedure.
pub struct Cells<'p> {
    module: &'p Module,
    procedure: &'p Procedure,
    shared: SharedGlobals,
    numbers: HashMap<Cell, CellNumber>,
    /// For each cell, whether it is 0 at the beginning of the procedure.
    pub vacant: Vec<bool>,
}

impl<'p> Cells<'p> {
    pub fn new(module: &'p Module, procedure: &'p Procedure, shared: SharedGlobals) -> Cells<'p> {
        Cells { module, procedure, shared, numbers: HashMap::new(), vacant: Vec::new() }
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
        if adjoint && !matches!(base, Base::Frame(_)) {
            let cell = self.number(Cell::Adjoints);
            effect.needs.push(cell);
            effect.changes.extend(access.changes.then_some(cell));
            return;
        }
        let (groups, is_global): (Vec<u32>, bool) = match base {
            Base::Frame(_) => return,
            Base::Global(n) => (self.shared.groups.get(&n).copied().into_iter().collect(), true),
            Base::Parameter(n) => {
                (self.shared.parameters.get(n as usize).into_iter().flatten().copied().collect(), false)
            }
        };
        for group in groups {
            let mut cells = [Cell::ByName(group), Cell::ThroughParameters(group)];
            if is_global {
                cells.reverse();
            }
            let [others, own] = cells.map(|cell| self.number(cell));
            effect.needs.push(others);
            effect.changes.extend(access.changes.then_some(own));
        }
    }

    fn number(&mut self, cell: Cell) -> CellNumber {
        let next = self.vacant.len() as CellNumber;
        let number = *self.numbers.entry(cell).or_insert(next);
        if number == next {
            let is_of_frame = |part| matches!(part, Part::Declared { base: Base::Frame(_), .. });
            self.vacant.push(match cell {
                Cell::Content(part) | Cell::AnyElement(part) | Cell::Element(part, _) => is_of_frame(part),
                Cell::ByName(_) | Cell::ThroughParameters(_) | Cell::Adjoints => false,
            });
        }
        number
    }
}
