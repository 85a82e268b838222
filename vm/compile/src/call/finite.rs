//! Finiteness checks of unchecked code. The code checks results and adjoints once, at the end of the call. An earlier
//! check stays only if a jump depends on the checked value, because a NaN could keep a loop from ending.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use super::join::CallBuilder;
use crate::function::{Definition, SsaFunction};
use crate::op::{OpKind, Space, SsaValue};

/// Drops the finiteness checks of values that no jump depends on.
pub(super) fn drop_inner_checks(function: &mut SsaFunction) {
    if matches!(function.numbers.system, RealSystem::Fixed(_)) {
        return;
    }
    let deciding = deciding(function);
    let mut blocks = std::mem::take(&mut function.blocks);
    for block in &mut blocks {
        block.ops.retain(|&value| match function.op(value) {
            Some(op) if op.kind == OpKind::RequireAdmitted => {
                op.operands.first().is_some_and(|checked| deciding.contains(checked))
            }
            _ => true,
        });
    }
    function.blocks = blocks;
}

/// Returns the values on which jumps depend. This backward slice doesn't distinguish the cells of a space.
fn deciding(function: &SsaFunction) -> HashSet<SsaValue> {
    let mut stored: HashMap<Space, Vec<SsaValue>> = HashMap::new();
    let mut passed: HashMap<SsaValue, Vec<SsaValue>> = HashMap::new();
    let mut open: Vec<SsaValue> = Vec::new();
    for block in &function.blocks {
        for op in block.ops.iter().filter_map(|&value| function.op(value)) {
            if let (OpKind::Store(space), &[_, value]) = (op.kind, op.operands.as_slice()) {
                stored.entry(space).or_default().push(value);
            }
        }
        open.extend(block.end.value());
        for jump in block.end.jumps() {
            let parameters = function.blocks.get(jump.to as usize).map_or(&[][..], |to| &to.parameters);
            for (&parameter, &argument) in parameters.iter().zip(&jump.arguments) {
                passed.entry(parameter).or_default().push(argument);
            }
        }
    }
    let mut found = HashSet::new();
    while let Some(value) = open.pop() {
        if !found.insert(value) {
            continue;
        }
        match function.definition(value) {
            Some(Definition::Op(op)) => {
                open.extend(op.operands.iter().copied().chain(op.guard));
                if let OpKind::Load(space) = op.kind {
                    open.extend(stored.remove(&space).unwrap_or_default());
                }
            }
            Some(Definition::Parameter(_)) => open.extend(passed.remove(&value).unwrap_or_default()),
            None => {}
        }
    }
    found
}

/// Emits, after `block`, finiteness checks of the results and of the adjoints in memory. Returns the last block of the
/// emitted code.
pub(super) fn check_at_end(builder: &mut CallBuilder, block: u32) -> u32 {
    if matches!(builder.function.numbers.system, RealSystem::Fixed(_)) {
        return block;
    }
    let rows = builder.place.rows;
    let own = builder.place.memory.own(Class::Real);
    let runs: Vec<Range<u32>> = builder.place.memory.adjoints().collect();
    // In each row, adjoints of the program's own reals precede those of inlined calls.
    let of_row = |run: &Range<u32>, row: u32| {
        let first = rows.adjoint(row, 0);
        (Space::Adjoints, run.start.max(first)..run.end.min(first.saturating_add(own)))
    };
    let adjoints = runs.iter().flat_map(|run| (0..rows.count).map(|row| of_row(run, row)));
    let adjoints: Vec<(Space, Range<u32>)> = adjoints.filter(|(_, cells)| !cells.is_empty()).collect();
    let check = |builder: &mut CallBuilder, block, (space, address)| {
        let value = builder.put(block, OpKind::Load(space), &[address]);
        builder.put(block, OpKind::RequireAdmitted, &[value]);
    };
    let are_values = builder.results.len() == builder.seeded.len();
    let block = if are_values {
        for value in builder.results.clone() {
            builder.put(block, OpKind::RequireAdmitted, &[value]);
        }
        block
    } else {
        let results = 0..builder.seeded.len() as u32;
        builder.each_cell(block, results, |builder, block, address| {
            check(builder, block, (Space::Results, address));
        })
    };
    adjoints.into_iter().fold(block, |block, (space, cells)| {
        builder.each_in_memory(block, (space, cells), |builder, block, address| {
            check(builder, block, (space, address));
        })
    })
}
