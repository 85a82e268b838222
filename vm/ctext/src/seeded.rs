//! The seeded cells of a gradient: one loss, or the results whose seeds the caller passes. This module is independent
//! of SSA functions.

use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_vm::Program;

use crate::error::NoText;

/// The gradient that a text contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CGradient<'n> {
    /// The gradient of a real cell, such as `y`, `A[3]` or `M[1,2]`.
    Loss(&'n str),
    /// The gradient of a real cell, and the product of the cell's Hessian with a direction. The caller passes the
    /// direction.
    Product(&'n str),
    /// The gradient of Σ seed·value over all cells of these real variables (a vector–Jacobian product). The caller
    /// passes the seeds.
    Seeds(&'n [String]),
}

/// The seeded cells of a gradient.
#[derive(Clone, Debug)]
pub(crate) enum SeededResults {
    /// A loss: its name, and its address among the reals. Its seed is 1.
    Loss { name: String, cell: u32 },
    /// Variables for whose cells the C caller passes seeds.
    Seeds(Vec<SeededGlobal>),
}

/// A variable for whose cells the C caller passes seeds.
#[derive(Clone, Debug)]
pub(crate) struct SeededGlobal {
    pub name: String,
    /// The index of the variable among the globals.
    pub global: usize,
    /// The address of the variable's first cell among the reals.
    pub start: u32,
    /// The number of the variable's cells.
    pub cells: u32,
}

impl SeededResults {
    /// Finds the seeded cells. Fails if a name denotes no real cell or variable.
    pub fn of(program: &Program, gradient: CGradient) -> Result<SeededResults, NoText> {
        let names = match gradient {
            CGradient::Loss(name) | CGradient::Product(name) => return loss(program, name),
            CGradient::Seeds(names) => names,
        };
        let mut found: Vec<SeededGlobal> = Vec::new();
        for name in names {
            let unknown = || NoText::NoCell { name: name.clone() };
            let (number, global) = program.global(name).ok_or_else(unknown)?;
            if global.class != Class::Real {
                return Err(NoText::NotReal { name: name.clone() });
            }
            if found.iter().any(|known| known.global == number) {
                return Err(NoText::Twice { name: name.clone() });
            }
            let cells = program.cells(number);
            if cells.is_empty() {
                return Err(unknown());
            }
            let [start, cells] = [cells.start, cells.len()].map(u32::try_from);
            let (start, cells) = (start.map_err(|_| unknown())?, cells.map_err(|_| unknown())?);
            found.push(SeededGlobal { name: name.clone(), global: number, start, cells });
        }
        match found.is_empty() {
            true => Err(NoText::NoSeed),
            false => Ok(SeededResults::Seeds(found)),
        }
    }

    /// Returns the addresses of the cells with seeds, in the order of the gradient's results.
    pub fn cells(&self) -> Vec<u32> {
        match self {
            SeededResults::Loss { cell, .. } => vec![*cell],
            SeededResults::Seeds(globals) => {
                globals.iter().flat_map(|global| global.start..global.start + global.cells).collect()
            }
        }
    }

    /// Returns the variables for which the caller passes seeds, each with the index of its first cell among the
    /// results.
    pub fn globals(&self) -> impl Iterator<Item = (&SeededGlobal, u32)> {
        let globals = match self {
            SeededResults::Loss { .. } => &[][..],
            SeededResults::Seeds(globals) => globals,
        };
        globals.iter().scan(0, |next, global| {
            let first = *next;
            *next += global.cells;
            Some((global, first))
        })
    }

    /// Returns the quoted names of the loss or of the variables, for comments.
    pub fn names(&self) -> String {
        match self {
            SeededResults::Loss { name, .. } => format!("`{name}`"),
            SeededResults::Seeds(globals) => {
                let names: Vec<String> = globals.iter().map(|global| format!("`{}`", global.name)).collect();
                names.join(", ")
            }
        }
    }
}

/// Finds the real cell with a name such as `y`, `A[3]` or `M[1,2]`. Fails if there is no such cell.
fn loss(program: &Program, name: &str) -> Result<SeededResults, NoText> {
    let compact: String = name.chars().filter(|sign| !sign.is_whitespace()).collect();
    let base = compact.split('[').next().unwrap_or_default();
    let unknown = || NoText::NoCell { name: name.to_owned() };
    let (number, global) = program.global(base).ok_or_else(unknown)?;
    let cells = program.cells(number);
    if global.class != Class::Real {
        return Err(NoText::NotReal { name: base.to_owned() });
    }
    if compact == base && global.shape != Shape::Scalar {
        return Err(NoText::ManyCells { name: base.to_owned(), cells: cells.len() });
    }
    let n = (0..cells.len()).find(|&n| program.cell_name(number, n) == compact).ok_or_else(unknown)?;
    let cell = u32::try_from(cells.start + n).map_err(|_| unknown())?;
    Ok(SeededResults::Loss { name: compact, cell })
}
