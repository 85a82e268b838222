//! The reverse sweep of several losses at once. Operations on adjoints are copied for each loss. All losses share the
//! operations that don't depend on adjoints.

use std::collections::{BTreeMap, BTreeSet};

use crate::function::{Definition, SsaFunction};
use crate::op::{OpKind, Space, SsaOp, SsaValue};
use crate::order::reached;
use crate::passes::range_at_uses;
use crate::range::IntRange;

/// Layout of the adjoints of several losses in one space. Each loss has its own *row* of adjoints, which becomes a row
/// of the Jacobian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdjointRows {
    /// The number of rows, one for each loss.
    pub count: u32,
    /// Number of cells from a real's adjoint in one row to the adjoint of the same real in the next row.
    pub stride: u32,
}

/// The seeds of a row: addresses of reals, with the bits of their adjoints at the turning point.
pub type RowSeeds = Vec<(u32, u64)>;

impl AdjointRows {
    /// The number of adjoints in all rows.
    pub fn adjoints(self) -> usize {
        self.count as usize * self.stride as usize
    }

    /// Returns the address of a real's adjoint in a row.
    pub fn adjoint(self, row: u32, real: u32) -> u32 {
        row.saturating_mul(self.stride).saturating_add(real)
    }

    /// Iterates over the seeds of all rows, as addresses of adjoints with bits.
    pub fn seeded(self, seeds: &[RowSeeds]) -> impl Iterator<Item = (u32, u64)> {
        let rows = (0..).zip(seeds);
        rows.flat_map(move |(row, seeds)| {
            seeds.iter().map(move |&(real, seed)| (self.adjoint(row, real), seed))
        })
    }
}

/// Builds the reverse sweep of several losses from the reverse sweep of one loss. All losses share the jumps, and all
/// cells other than adjoints. Returns `None` if a jump or a shared cell depends on an adjoint.
pub fn with_rows(function: SsaFunction, rows: AdjointRows) -> Option<SsaFunction> {
    if rows.count <= 1 {
        return Some(function);
    }
    let mut order = reached(&function);
    order.reverse();
    let by_row = by_row(&function, &order);
    if !order.iter().all(|&block| is_common(&function, block, &by_row)) {
        return None;
    }
    let mut copies =
        RowCopies { function, rows, by_row, copies: BTreeMap::new(), addresses: BTreeMap::new() };
    for row in 1..rows.count {
        copies.define(row, &order);
    }
    for &block in &order {
        copies.place(block)?;
    }
    Some(copies.function)
}

/// Returns true if an operation depends on an adjoint or changes an adjoint. Also returns true for [`OpKind::Freed`],
/// because each row reports freed reals.
fn is_of_adjoints(op: &SsaOp, by_row: &BTreeSet<SsaValue>) -> bool {
    is_access(op)
        || matches!(op.kind, OpKind::Freed { .. })
        || op.operands.iter().chain(&op.guard).any(|value| by_row.contains(value))
}

/// Returns the values that depend on an adjoint.
pub(crate) fn of_adjoints(function: &SsaFunction) -> BTreeSet<SsaValue> {
    let mut order = reached(function);
    order.reverse();
    by_row(function, &order)
}

/// Returns the values that differ by row: a fixed point over the blocks.
fn by_row(function: &SsaFunction, order: &[u32]) -> BTreeSet<SsaValue> {
    let mut by_row = BTreeSet::new();
    loop {
        let before = by_row.len();
        for block in order.iter().filter_map(|&block| function.blocks.get(block as usize)) {
            for &value in &block.ops {
                if function.op(value).is_some_and(|op| is_of_adjoints(op, &by_row)) {
                    by_row.insert(value);
                }
            }
            for jump in block.end.jumps() {
                let parameters = function.blocks.get(jump.to as usize).map_or(&[][..], |to| &to.parameters);
                let passed = parameters.iter().zip(&jump.arguments);
                let differ = passed.filter(|(_, argument)| by_row.contains(argument));
                let differ: Vec<SsaValue> = differ.map(|(&parameter, _)| parameter).collect();
                by_row.extend(differ);
            }
        }
        if by_row.len() == before {
            return by_row;
        }
    }
}

/// Returns true if a block's jumps, and its cells other than adjoints, are the same for each row.
fn is_common(function: &SsaFunction, block: u32, by_row: &BTreeSet<SsaValue>) -> bool {
    let Some(block) = function.blocks.get(block as usize) else { return true };
    let differs = |value: &SsaValue| by_row.contains(value);
    let is_common = |op: &SsaOp| match op.kind {
        OpKind::Load(_) | OpKind::Store(Space::Adjoints) | OpKind::Freed { .. } => {
            !op.operands.first().is_some_and(differs)
        }
        OpKind::Store(_) | OpKind::Index { .. } | OpKind::Place => !op.operands.iter().any(differs),
        _ => true,
    };
    !block.end.value().iter().any(differs)
        && block.ops.iter().filter_map(|&op| function.op(op)).all(is_common)
}

struct RowCopies {
    function: SsaFunction,
    rows: AdjointRows,
    by_row: BTreeSet<SsaValue>,
    /// The copy of a value in each row other than the first. The key is the value and the row.
    copies: BTreeMap<(SsaValue, u32), SsaValue>,
    /// Operations that compute an address in a row other than the first, to be placed before the access. The key is the
    /// address's value.
    addresses: BTreeMap<SsaValue, Vec<SsaValue>>,
}

impl RowCopies {
    /// Defines, for one row, the copies of all values that differ by row.
    fn define(&mut self, row: u32, order: &[u32]) {
        let values = order.iter().filter_map(|&block| self.function.blocks.get(block as usize));
        let values = values.flat_map(|block| block.parameters.iter().chain(&block.ops)).copied();
        let values: Vec<SsaValue> = values.filter(|value| self.by_row.contains(value)).collect();
        let first = self.function.definitions.len() as u32;
        self.copies.extend((first..).zip(&values).map(|(copy, &value)| ((value, row), SsaValue(copy))));
        for value in &values {
            let Some(definition) = self.function.definition(*value) else { continue };
            let copy = match definition {
                Definition::Op(op) => Definition::Op(SsaOp {
                    kind: of_row(op.kind, row),
                    operands: op.operands.iter().map(|&operand| self.copy(operand, row)).collect(),
                    guard: op.guard.map(|guard| self.copy(guard, row)),
                }),
                parameter @ Definition::Parameter(_) => parameter.clone(),
            };
            self.function.definitions.push(copy);
        }
        // Copied loads and stores access the row's adjoints.
        for value in values {
            let copy = self.copy(value, row);
            let address =
                self.function.op(copy).filter(|op| is_access(op)).and_then(|op| op.operands.first());
            if let Some(&address) = address {
                let moved = self.moved(address, row);
                if let Some(Definition::Op(op)) = self.function.definitions.get_mut(copy.0 as usize) {
                    op.operands.iter_mut().take(1).for_each(|operand| *operand = moved);
                }
            }
        }
    }

    /// Returns the copy of a value for a row, or the value itself if all rows share it.
    fn copy(&self, value: SsaValue, row: u32) -> SsaValue {
        self.copies.get(&(value, row)).copied().unwrap_or(value)
    }

    /// Returns the address of an adjoint in a row, given the adjoint's address in the first row.
    fn moved(&mut self, address: SsaValue, row: u32) -> SsaValue {
        let by = i64::from(self.rows.adjoint(row, 0));
        if let Some(OpKind::Int(literal)) = self.function.op(address).map(|op| op.kind) {
            let moved = self.function.define(OpKind::Int(literal.saturating_add(by)), &[]);
            self.addresses.insert(moved, vec![moved]);
            return moved;
        }
        let range = range_at_uses(&self.function, address);
        let [base, one] = [by, 1].map(|literal| self.function.define(OpKind::Int(literal), &[]));
        let moved = self.function.define(OpKind::Place, &[base, address, one]);
        let range = IntRange { low: range.low.saturating_add(by), high: range.high.saturating_add(by) };
        self.function.ranges.insert(moved, range);
        self.addresses.insert(moved, vec![base, one, moved]);
        moved
    }

    /// Inserts the copies of a block's operations, each after the copied operation. Adds the parameters of the other
    /// rows to the block, and the arguments of the other rows to its jumps.
    fn place(&mut self, number: u32) -> Option<()> {
        let block = self.function.blocks.get_mut(number as usize)?;
        let (parameters, ops, mut end) =
            (block.parameters.clone(), std::mem::take(&mut block.ops), block.end.clone());
        let rows = 1..self.rows.count;
        let mut placed = Vec::with_capacity(ops.len());
        for value in ops {
            placed.push(value);
            for row in rows.clone().filter(|_| self.by_row.contains(&value)) {
                let copy = self.copy(value, row);
                let address = self.function.op(copy).and_then(|op| op.operands.first());
                placed.extend(address.and_then(|address| self.addresses.get(address)).into_iter().flatten());
                placed.push(copy);
            }
        }
        for jump in end.jumps_mut() {
            let to = self.function.blocks.get(jump.to as usize)?;
            // The arguments of other rows follow those of the first.
            let passed: Vec<(SsaValue, SsaValue)> =
                to.parameters.iter().copied().zip(jump.arguments.iter().copied()).collect();
            jump.arguments.extend(self.of_other_rows(passed));
        }
        let copied: Vec<SsaValue> =
            self.of_other_rows(parameters.into_iter().map(|parameter| (parameter, parameter))).collect();
        let block = self.function.blocks.get_mut(number as usize)?;
        block.parameters.extend(copied);
        (block.ops, block.end) = (placed, end);
        Some(())
    }

    /// Returns the arguments for the other rows, given parameters with their arguments in the first row. Parameters
    /// that all rows share are left out.
    fn of_other_rows(
        &self,
        passed: impl IntoIterator<Item = (SsaValue, SsaValue)>,
    ) -> impl Iterator<Item = SsaValue> {
        let rows = self.rows.count;
        let differing = passed.into_iter().filter(|(parameter, _)| self.by_row.contains(parameter));
        differing.flat_map(move |(_, argument)| (1..rows).map(move |row| self.copy(argument, row)))
    }
}

fn is_access(op: &SsaOp) -> bool {
    matches!(op.kind, OpKind::Load(Space::Adjoints) | OpKind::Store(Space::Adjoints))
}

/// Returns the kind of an operation's copy in a row.
fn of_row(kind: OpKind, row: u32) -> OpKind {
    match kind {
        OpKind::Freed { at, .. } => OpKind::Freed { at, row },
        kind => kind,
    }
}
