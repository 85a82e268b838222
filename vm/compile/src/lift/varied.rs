//! Finds the varied values of a function: those that may have higher coefficients other than 0. The analysis is a fixed
//! point over the blocks and the memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use reviver_isa::instruction::Class;

use crate::function::SsaFunction;
use crate::op::{OpKind, Space, SsaOp, SsaValue};
use crate::passes::range_at_uses;

/// The varied values, and the cells that may hold varied values.
pub(super) struct Varied {
    values: BTreeSet<SsaValue>,
    cells: BTreeMap<Space, CellRanges>,
}

impl Varied {
    /// Finds the varied values of the blocks in `order`. `moved` lists the reals of the start that vary.
    pub fn of(function: &SsaFunction, order: &[u32], moved: &[Range<u32>]) -> Varied {
        let mut start = CellRanges::default();
        for cells in moved {
            start.insert(cells.start.into()..cells.end.into());
        }
        let cells = BTreeMap::from([(Space::StartReals, start.clone()), (Space::Reals, start)]);
        let mut varied = Varied { values: BTreeSet::new(), cells };
        while varied.visit(function, order) {}
        varied
    }

    /// Returns true if a value is varied.
    pub fn has(&self, value: SsaValue) -> bool {
        self.values.contains(&value)
    }

    /// Returns true if at least one of these cells may hold a varied value.
    pub fn may_vary(&self, space: Space, cells: Range<i64>) -> bool {
        self.cells.get(&space).is_some_and(|known| known.meets(&cells))
    }

    /// Visits all blocks once. Returns true if it found another varied value or cell.
    fn visit(&mut self, function: &SsaFunction, order: &[u32]) -> bool {
        let mut has_changed = false;
        for block in order.iter().filter_map(|&block| function.blocks.get(block as usize)) {
            for &value in &block.ops {
                if let Some(op) = function.op(value) {
                    has_changed |= self.visit_op(function, value, op);
                }
            }
            for jump in block.end.jumps() {
                let parameters = function.blocks.get(jump.to as usize).map_or(&[][..], |to| &to.parameters);
                for (&parameter, argument) in parameters.iter().zip(&jump.arguments) {
                    has_changed |= self.values.contains(argument) && self.values.insert(parameter);
                }
            }
        }
        has_changed
    }

    fn visit_op(&mut self, function: &SsaFunction, value: SsaValue, op: &SsaOp) -> bool {
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Load(space), &[address]) if space.class() == Class::Real => {
                !self.has(value)
                    && self.may_vary(space, accessed(function, address))
                    && self.values.insert(value)
            }
            (OpKind::Store(space), &[address, stored]) if self.has(stored) => {
                self.cells.entry(space).or_default().insert(accessed(function, address))
            }
            (kind, operands) if kind.facts().result == Some(Class::Real) => {
                operands.iter().any(|operand| self.has(*operand)) && self.values.insert(value)
            }
            _ => false,
        }
    }
}

/// Returns the cells that an access at an address may reach.
pub(super) fn accessed(function: &SsaFunction, address: SsaValue) -> Range<i64> {
    let range = range_at_uses(function, address);
    range.low..range.high.saturating_add(1)
}

/// A set of cells: ranges that neither overlap nor touch, in order.
#[derive(Clone, Debug, Default)]
struct CellRanges(Vec<Range<i64>>);

impl CellRanges {
    fn meets(&self, cells: &Range<i64>) -> bool {
        let next = self.0.partition_point(|known| known.end <= cells.start);
        self.0.get(next).is_some_and(|known| known.start < cells.end)
    }

    /// Adds cells to the set. Returns true if at least one of them is new.
    fn insert(&mut self, cells: Range<i64>) -> bool {
        let first = self.0.partition_point(|known| known.end < cells.start);
        let end = self.0.partition_point(|known| known.start <= cells.end);
        let touched = self.0.get(first..end.max(first)).unwrap_or_default();
        if cells.is_empty()
            || matches!(touched, [known] if known.start <= cells.start && cells.end <= known.end)
        {
            return false;
        }
        let low = touched.iter().map(|known| known.start).fold(cells.start, i64::min);
        let high = touched.iter().map(|known| known.end).fold(cells.end, i64::max);
        self.0.splice(first..end.max(first), std::iter::once(low..high));
        true
    }
}
