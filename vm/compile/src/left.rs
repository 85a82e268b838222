//! Inference of the constants that an SSA function leaves in cells on arrival, for any state at entry. This module knows no
//! machine.

use std::collections::BTreeMap;

use crate::form::{SsaEnd, SsaForm};
use crate::known::{CellPlace, KnownCells};
use crate::op::{OpKind, Space, SsaValue};
use crate::order::reached;

/// Returns the cells with the same constant at each arrival at a position without open calls. Constants that are stored
/// before the block of the arrival are not found.
pub fn left_by(form: &SsaForm, position: u32) -> KnownCells {
    let leads_there = |number: &u32| {
        let Some(SsaEnd::Exit { exit }) = form.blocks.get(*number as usize).map(|block| &block.end) else {
            return false;
        };
        let exit = form.exits.get(*exit as usize);
        exit.is_some_and(|exit| exit.position == position && exit.calls.is_empty())
    };
    let arrivals = form.arrivals();
    let reached = reached(form).into_iter().filter(|number| arrivals.contains(number));
    let left = reached.filter(leads_there).map(|block| constants(form, block));
    let common = left.reduce(|mut common, other| {
        common.retain(|place, bits| other.get(place) == Some(bits));
        common
    });
    common.into_iter().flatten().collect()
}

/// Returns the constants that a block leaves in cells.
fn constants(form: &SsaForm, block: u32) -> BTreeMap<CellPlace, u64> {
    let mut left = BTreeMap::new();
    let ops = form.blocks.get(block as usize).map_or(&[][..], |block| &block.ops);
    for op in ops.iter().filter_map(|&value| form.op(value)) {
        let (OpKind::Store(space @ (Space::Ints | Space::Reals)), &[address, value]) =
            (op.kind, op.operands.as_slice())
        else {
            continue;
        };
        match (constant(form, address), constant(form, value).filter(|_| op.guard.is_none())) {
            (Some(cell), Some(bits)) => _ = left.insert((space.class(), cell as u32), bits),
            (Some(cell), None) => _ = left.remove(&(space.class(), cell as u32)),
            // A store to a computed address may change any cell of the class.
            (None, _) => left.retain(|(class, _), _| *class != space.class()),
        }
    }
    left
}

fn constant(form: &SsaForm, value: SsaValue) -> Option<u64> {
    match form.op(value)?.kind {
        OpKind::Int(value) => Some(value as u64),
        OpKind::Real(bits) => Some(bits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use reviver_assembler::{assemble::assemble, files::FilesInMemory};
    use reviver_flow::Activity;
    use reviver_flow::graph::Way;
    use reviver_vm::{CheckLevel, Program};

    use reviver_isa::instruction::Class;

    use super::*;
    use crate::build::build;
    use crate::form::{FrameZeros, Observed, StopPlaces, Version};
    use crate::passes::{PASSES, improved};

    /// Returns the known integers of three globals at the end of a program, for any inputs.
    fn left(text: &str, names: [&str; 3]) -> [Option<u64>; 3] {
        let module = assemble("left.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
        let program = Program::new(module, 0).unwrap();
        let version = Version {
            position: program.begin(),
            way: Way::Along,
            gradient: false,
            activity: Activity::default(),
            level: CheckLevel::Checked,
            is_watched: false,
            stops: StopPlaces::default(),
            zeros: FrameZeros { cells: true, ..FrameZeros::default() },
            known: KnownCells::default(),
            observed: Observed::Arrival,
        };
        let form = improved(build(program.module(), program.flow(), version).unwrap(), &PASSES);
        let known = left_by(&form, program.end());
        names.map(|name| {
            let (global, _) = program.global(name).unwrap();
            known.bits(Class::Int, program.cells(global).start as u32)
        })
    }

    #[test]
    fn what_is_the_same_at_every_arrival_is_known() {
        let text = ".in n\n.out same, other, given\noverwrite same, 7\nadd given, n\n\
                    if n > 0\n overwrite other, 1\nfi n > 0\n";
        assert_eq!(left(text, ["same", "other", "given"]), [Some(7), None, None]);
    }
}
