//! Emits the verification of a reverse sweep: code that compares the cells after the sweep with the start. The code
//! records differences of floats in [`SweepEvidence`](reviver_vm::differentiate::evidence::SweepEvidence). The caller
//! of the code decides from this evidence whether the sweep is verified.

use std::collections::HashMap;
use std::ops::Range;

use reviver_flow::layout::MODE;
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use super::join::{CallBuilder, start_space};
use super::memory::{CellHome, SpacedCell};
use crate::op::{OpKind, Space, SsaValue};

/// Emits, after `block`, a comparison with the start for each cell that any sweep changes. `cells` has the cells that
/// are SSA values, with their values after the reverse sweep. Returns the last emitted block.
pub(super) fn put(builder: &mut CallBuilder, block: u32, cells: &HashMap<SpacedCell, SsaValue>) -> u32 {
    let mut values: Vec<(SpacedCell, SsaValue)> = cells.iter().map(|(&cell, &value)| (cell, value)).collect();
    values.sort_unstable();
    for (cell @ (space, address), value) in values {
        let is_own = address < builder.place.memory.own(space.class());
        let is_mode = space == Space::Ints && address as usize == MODE;
        if !is_own || is_mode || !matches!(space, Space::Ints | Space::Reals) {
            continue;
        }
        let from = at_start(builder, block, cell);
        let adjoint = |builder: &mut CallBuilder, row: u32| {
            let address = builder.place.rows.adjoint(row, address);
            match cells.get(&(Space::Adjoints, address)) {
                Some(&adjoint) => adjoint,
                None => adjoint_in_memory(builder, block, address),
            }
        };
        compare(builder, block, space.class(), [from, value], adjoint);
    }
    let runs: Vec<(Class, Range<u32>)> = builder.place.memory.working().collect();
    runs.into_iter().fold(block, |block, (class, run)| {
        let own = builder.place.memory.own(class);
        let cells = run.start..run.end.min(own);
        if cells.is_empty() {
            return block;
        }
        builder.each_in_memory(block, (space_of(class), cells), |builder, block, address| {
            compare_at(builder, block, class, address);
        })
    })
}

/// Returns the value of a cell at the start. Emits the load next to the comparison, so that the value's live range is
/// short.
fn at_start(builder: &mut CallBuilder, block: u32, cell: SpacedCell) -> SsaValue {
    match builder.known_at_start(cell) {
        Some(_) => builder.at_start(cell),
        None => {
            let address = builder.literal(OpKind::Int(cell.1.into()));
            builder.put(block, OpKind::Load(start_space(cell.0)), &[address])
        }
    }
}

/// Returns the adjoint of a real, for adjoints that aren't SSA values: a load from memory, or 0.
fn adjoint_in_memory(builder: &mut CallBuilder, block: u32, cell: u32) -> SsaValue {
    match builder.place.memory.home((Space::Adjoints, cell)) {
        CellHome::Value => builder.literal(OpKind::Real(0)),
        CellHome::Working | CellHome::Start => {
            let address = builder.literal(OpKind::Int(cell.into()));
            builder.put(block, OpKind::Load(Space::Adjoints), &[address])
        }
    }
}

/// Emits a comparison of `from`, a cell's number at the start, with `to`, the cell's number after the reverse sweep. A
/// difference of floats becomes evidence. A difference of integers or fixed-point reals makes the call fail.
fn compare(
    builder: &mut CallBuilder,
    block: u32,
    class: Class,
    [from, to]: [SsaValue; 2],
    adjoint: impl Fn(&mut CallBuilder, u32) -> SsaValue,
) {
    match (class, builder.function.numbers.system) {
        (Class::Real, RealSystem::F64 | RealSystem::F32) => {
            for row in 0..builder.place.rows.count {
                let adjoint = adjoint(builder, row);
                builder.put(block, OpKind::Missed { row }, &[from, to, adjoint]);
            }
        }
        (Class::Real, RealSystem::Fixed(_)) => {
            let is_same = builder.put(block, OpKind::Test(Order::Eq), &[from, to]);
            builder.put(block, OpKind::RequireTrue, &[is_same]);
        }
        (Class::Int, _) => {
            let is_same = builder.put(block, OpKind::IntTest(Order::Eq), &[from, to]);
            builder.put(block, OpKind::RequireTrue, &[is_same]);
        }
    }
}

/// Emits a comparison of the cell at an address with the same cell of the start state.
fn compare_at(builder: &mut CallBuilder, block: u32, class: Class, address: SsaValue) {
    let space = space_of(class);
    let from = builder.put(block, OpKind::Load(start_space(space)), &[address]);
    let to = builder.put(block, OpKind::Load(space), &[address]);
    compare(builder, block, class, [from, to], |builder, row| {
        let address = builder.moved(block, address, builder.place.rows.adjoint(row, 0).into());
        builder.put(block, OpKind::Load(Space::Adjoints), &[address])
    });
}

/// Returns the space of a class's cells.
fn space_of(class: Class) -> Space {
    match class {
        Class::Int => Space::Ints,
        Class::Real => Space::Reals,
    }
}
