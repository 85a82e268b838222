//! Cells of a group in memory. A cell has a number for each lane, stored side by side. Each row of adjoints has
//! separate cells.

use std::collections::HashSet;

use cranelift_codegen::ir::{self, InstBuilder, types};
use reviver_compile::function::{SsaEnd, SsaFunction};
use reviver_compile::group::divergence::{GroupFunction, Uniformity};
use reviver_compile::op::{OpKind, Space, SsaOp, SsaValue};
use reviver_vm::differentiate::group::GROUP;

use super::vectors::SharedVector;
use super::{GroupTranslation, IN_VECTOR, VECTOR_BYTES, unaligned, vector_type};
use crate::translate::memory::CELL;

impl GroupTranslation<'_> {
    /// Returns vector `n` of a steady load (see [`steady`]). The load is emitted at its first use in the current block.
    pub(super) fn loaded(&mut self, value: SsaValue, n: usize) -> Option<ir::Value> {
        if let Some(&known) = self.known.get(&SharedVector::Load(value, n)) {
            return Some(known);
        }
        let op = self.group.function().op(value).filter(|_| self.steady.contains(&value))?;
        let (OpKind::Load(space), &[address]) = (op.kind, op.operands.as_slice()) else { return None };
        let Places::Vector(place, offset) = self.places(space, address, n)? else { return None };
        let type_ = vector_type(space.class());
        let made = self.lane.builder.ins().load(type_, unaligned(), place, offset);
        self.known.insert(SharedVector::Load(value, n), made);
        Some(made)
    }

    /// Loads vector `n` of each steady load of a space that `ops` use. Must be called before a store to the space,
    /// because a load after the store could read the new content.
    pub(super) fn load_before_store(&mut self, space: Space, ops: &[SsaValue], n: usize) -> Option<()> {
        for op in ops.iter().filter_map(|&value| self.group.function().op(value)) {
            for &value in op.operands.iter().chain(&op.guard) {
                let load = self.group.function().op(value).filter(|_| self.steady.contains(&value));
                if let Some(load) = load.filter(|op| op.kind == OpKind::Load(space))
                    && n < self.count(self.group.uniformity_of(load))?
                {
                    self.loaded(value, n)?;
                }
            }
        }
        Some(())
    }

    /// Returns the number of bytes from a cell to the next one. All lanes share the words of call records, so such a
    /// word is stored only once.
    fn distance(&self, space: Space) -> i64 {
        if space == Space::References { CELL } else { CELL * GROUP as i64 }
    }

    /// Returns the machine address of a cell's first number.
    fn place(&mut self, space: Space, address: ir::Value) -> Option<ir::Value> {
        self.lane.place(space, address, self.distance(space))
    }

    pub(super) fn load(&mut self, value: SsaValue, op: &SsaOp, space: Space) -> Option<()> {
        let address = *op.operands.first()?;
        let Some(count) = self.count(self.group.uniformity_of(op)) else {
            let Places::Vector(place, offset) = self.places(space, address, 0)? else { return None };
            let made = self.lane.builder.ins().load(types::I64, unaligned(), place, offset);
            self.lane.define(value, made);
            return Some(());
        };
        let type_ = vector_type(space.class());
        for n in 0..count {
            let made = match self.places(space, address, n)? {
                Places::Vector(place, offset) => {
                    self.lane.builder.ins().load(type_, unaligned(), place, offset)
                }
                Places::Lanes([first, second]) => {
                    let [first, second] = [first, second].map(|(place, offset)| {
                        self.lane.builder.ins().load(type_.lane_type(), unaligned(), place, offset)
                    });
                    let first = self.lane.builder.ins().splat(type_, first);
                    self.lane.builder.ins().insertlane(first, second, 1)
                }
            };
            self.define(value, n, made);
        }
        Some(())
    }

    pub(super) fn store(&mut self, op: &SsaOp, space: Space, n: usize) -> Option<()> {
        let &[address, value] = op.operands.as_slice() else { return None };
        let vector = self.vector(value, n)?;
        match self.places(space, address, n)? {
            Places::Vector(place, offset) => {
                self.lane.builder.ins().store(unaligned(), vector, place, offset);
            }
            Places::Lanes(places) => {
                for (lane, (place, offset)) in (0..).zip(places) {
                    let number = self.lane.builder.ins().extractlane(vector, lane);
                    self.lane.builder.ins().store(unaligned(), number, place, offset);
                }
            }
        }
        Some(())
    }

    /// Returns the machine address of the cell at a literal address, as a base and an offset in bytes. Returns `None`
    /// if the address isn't a literal or the offset is too large.
    fn known_place(&mut self, space: Space, address: SsaValue) -> Option<(ir::Value, i32)> {
        let first = literal(self.group.function(), address)?.checked_mul(self.distance(space))?;
        Some((self.lane.memory(space), i32::try_from(first).ok()?))
    }

    /// Returns the machine addresses of vector `n` of a cell. The cell's address may differ between lanes.
    fn places(&mut self, space: Space, address: SsaValue, n: usize) -> Option<Places> {
        let offset = (n * VECTOR_BYTES) as i32;
        if let Some((memory, first)) = self.known_place(space, address)
            && let Some(offset) = first.checked_add(offset)
        {
            return Some(Places::Vector(memory, offset));
        }
        if self.group.uniformity(address) == Uniformity::Uniform {
            let address = self.lane.value(address)?;
            return Some(Places::Vector(self.place(space, address)?, offset));
        }
        let addresses = self.vector(address, n)?;
        let mut found = [(addresses, 0); IN_VECTOR];
        for (lane, found) in (0..).zip(&mut found) {
            let address = self.lane.builder.ins().extractlane(addresses, lane);
            *found = (self.place(space, address)?, offset + i32::from(lane) * CELL as i32);
        }
        Some(Places::Lanes(found))
    }
}

/// Machine addresses of a cell's numbers in two lanes, each as a base and an offset in bytes.
enum Places {
    /// Both lanes access the same cell: their numbers are side by side, beginning at this base and offset.
    Vector(ir::Value, i32),
    /// The lanes may access different cells, so each lane has its own base and offset.
    Lanes([(ir::Value, i32); IN_VECTOR]),
}

/// Returns the spaces to which only the blocks at the function's end store.
pub(super) fn unchanged(group: &GroupFunction) -> Vec<Space> {
    let function = group.function();
    let blocks = (0..).zip(&function.blocks).filter(|&(number, _)| group.is_followed(number));
    let before = blocks.filter(|(_, block)| !matches!(block.end, SsaEnd::Exit { .. }));
    let ops: Vec<OpKind> = before
        .flat_map(|(_, block)| block.ops.iter().filter_map(|&value| function.op(value)))
        .map(|op| op.kind)
        .collect();
    let spaces = [Space::Ints, Space::Reals, Space::Adjoints, Space::StartInts, Space::StartReals];
    spaces.into_iter().filter(|&space| !ops.contains(&OpKind::Store(space))).collect()
}

/// Returns the steady loads, which may be emitted in any block that uses their values. A steady load has a literal
/// address in an `unchanged` space, and no store to the space precedes the load in its block.
pub(super) fn steady(group: &GroupFunction, unchanged: &[Space]) -> HashSet<SsaValue> {
    let function = group.function();
    let mut steady = HashSet::new();
    for (_, block) in (0..).zip(&function.blocks).filter(|&(number, _)| group.is_followed(number)) {
        let mut left = unchanged.to_vec();
        for (value, op) in block.ops.iter().filter_map(|&value| Some((value, function.op(value)?))) {
            match op.kind {
                OpKind::Store(space) => left.retain(|&own| own != space),
                OpKind::Load(space) if left.contains(&space) => {
                    let is_literal =
                        op.operands.first().is_some_and(|&cell| literal(function, cell).is_some());
                    if is_literal && group.uniformity(value) > Uniformity::Uniform {
                        steady.insert(value);
                    }
                }
                _ => {}
            }
        }
    }
    steady
}

/// Returns the integer of a literal value.
fn literal(function: &SsaFunction, value: SsaValue) -> Option<i64> {
    match function.op(value)?.kind {
        OpKind::Int(value) => Some(value),
        _ => None,
    }
}
