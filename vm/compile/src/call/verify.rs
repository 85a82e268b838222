//! Emits the verification of a reverse sweep: it must restore the cells of the start. Differences of floats become evidence, on which
//! [`SweepEvidence`](reviver_vm::differentiate::evidence::SweepEvidence) gives the verdict.

use std::collections::HashMap;
use std::ops::Range;

use reviver_flow::layout::MODE;
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use super::join::{Joining, start_space};
use super::memory::{CellHome, SpacedCell};
use crate::op::{OpKind, Space, SsaValue};

/// Compares all cells that either sweep changes, after a block. `cells` has the cells that are values. Returns the last block.
pub(super) fn put(joining: &mut Joining, block: u32, cells: &HashMap<SpacedCell, SsaValue>) -> u32 {
    let mut values: Vec<(SpacedCell, SsaValue)> = cells.iter().map(|(&cell, &value)| (cell, value)).collect();
    values.sort_unstable();
    for (cell @ (space, address), value) in values {
        let is_own = address < joining.place.memory.own(space.class());
        let is_mode = space == Space::Ints && address as usize == MODE;
        if !is_own || is_mode || !matches!(space, Space::Ints | Space::Reals) {
            continue;
        }
        let from = at_start(joining, block, cell);
        let adjoint = |joining: &mut Joining, row: u32| {
            let address = joining.place.rows.adjoint(row, address);
            match cells.get(&(Space::Adjoints, address)) {
                Some(&adjoint) => adjoint,
                None => adjoint_in_memory(joining, block, address),
            }
        };
        compare(joining, block, space.class(), [from, value], adjoint);
    }
    let runs: Vec<(Class, Range<u32>)> = joining.place.memory.working().collect();
    runs.into_iter().fold(block, |block, (class, run)| {
        let own = joining.place.memory.own(class);
        let cells = run.start..run.end.min(own);
        if cells.is_empty() {
            return block;
        }
        joining.each_in_memory(block, (space_of(class), cells), |joining, block, address| {
            compare_at(joining, block, class, address);
        })
    })
}

/// Returns the value of a cell at the start. The load is next to the comparison, which keeps its live range short.
fn at_start(joining: &mut Joining, block: u32, cell: SpacedCell) -> SsaValue {
    match joining.known_at_start(cell) {
        Some(_) => joining.at_start(cell),
        None => {
            let address = joining.literal(OpKind::Int(cell.1.into()));
            joining.put(block, OpKind::Load(start_space(cell.0)), &[address])
        }
    }
}

/// Returns the adjoint of a real that isn't a value of either sweep: from memory, or 0.
fn adjoint_in_memory(joining: &mut Joining, block: u32, cell: u32) -> SsaValue {
    match joining.place.memory.home((Space::Adjoints, cell)) {
        CellHome::Value => joining.literal(OpKind::Real(0)),
        CellHome::Working | CellHome::Start => {
            let address = joining.literal(OpKind::Int(cell.into()));
            joining.put(block, OpKind::Load(Space::Adjoints), &[address])
        }
    }
}

/// Compares a cell with the start.
fn compare(
    joining: &mut Joining,
    block: u32,
    class: Class,
    [from, to]: [SsaValue; 2],
    adjoint: impl Fn(&mut Joining, u32) -> SsaValue,
) {
    match (class, joining.form.numbers.system) {
        (Class::Real, RealSystem::F64 | RealSystem::F32) => {
            for row in 0..joining.place.rows.count {
                let adjoint = adjoint(joining, row);
                joining.put(block, OpKind::Missed { row }, &[from, to, adjoint]);
            }
        }
        (Class::Real, RealSystem::Fixed(_)) => {
            let is_same = joining.put(block, OpKind::Test(Order::Eq), &[from, to]);
            joining.put(block, OpKind::RequireTrue, &[is_same]);
        }
        (Class::Int, _) => {
            let is_same = joining.put(block, OpKind::IntTest(Order::Eq), &[from, to]);
            joining.put(block, OpKind::RequireTrue, &[is_same]);
        }
    }
}

/// Compares the cell at an address with the start.
fn compare_at(joining: &mut Joining, block: u32, class: Class, address: SsaValue) {
    let space = space_of(class);
    let from = joining.put(block, OpKind::Load(start_space(space)), &[address]);
    let to = joining.put(block, OpKind::Load(space), &[address]);
    compare(joining, block, class, [from, to], |joining, row| {
        let address = joining.moved(block, address, joining.place.rows.adjoint(row, 0).into());
        joining.put(block, OpKind::Load(Space::Adjoints), &[address])
    });
}

/// Returns the space of a class's cells.
fn space_of(class: Class) -> Space {
    match class {
        Class::Int => Space::Ints,
        Class::Real => Space::Reals,
    }
}
