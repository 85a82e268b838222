//! Where a pass turns round. Where main ends with `uncompute`, that is behind `apply` already: nothing changes the
//! loss any more, and what lies behind would be run, and be gone back over with adjoints that are 0, for
//! nothing. The way back carries something only from cells that have an adjoint; there that is the loss alone,
//! and it is no target. Knows instructions; makes no step.

use std::collections::HashSet;

use reviver_flow::StepLink;
use reviver_isa::effects::Effects;
use reviver_isa::instruction::{Class, Instruction};
use reviver_isa::structure::{Block, BlockKind};

use crate::program::Program;
use crate::stops::{Node, Stops};

use super::Subject;

/// Where the way there ends.
#[derive(Debug)]
pub(super) struct Turning {
    /// None at the end of the program.
    stops: Option<Stops>,
}

impl Turning {
    /// For some losses, unless the whole way is asked for.
    pub fn of(subject: &Subject, losses: &[usize]) -> Turning {
        let program = &subject.program;
        Turning { stops: if subject.whole { None } else { early_turn(program, losses) } }
    }

    /// To stop there.
    pub fn stops(&self) -> Option<&Stops> {
        self.stops.as_ref()
    }
}

/// Where a run forward may stop because some losses, offsets among the reals, are final there. None if that is
/// at the end.
pub fn early_turn(program: &Program, losses: &[usize]) -> Option<Stops> {
    let position = last_uncompute(program, losses);
    let node = Node { position, backward: false };
    (position < program.end()).then(|| Stops::new(program, [node]))
}

/// How much work it may take to find what calls may change.
const MOST_WORK: usize = 1 << 24;

/// The first `uncompute` that main ends with, if nothing from there on changes a loss and no branch leads past it;
/// else the end. So too where adjoints are operands: what is behind may change them then.
fn last_uncompute(program: &Program, losses: &[usize]) -> u32 {
    let (module, end) = (program.module(), program.end());
    let Some(main) = module.procedures.first().filter(|_| !program.names_adjoints()) else { return end };
    let Some(losses) = globals_of(program, losses) else { return end };
    let Some(effects) = Effects::of(module, &mut { MOST_WORK }) else { return end };
    let own = || main.entry + 1..main.exit;
    let is_last = |block: &&Block| block.kind == BlockKind::Compute && !block.undone && block.end() == end;
    let uncomputes = module.structure.blocks.iter().filter(is_last).filter_map(|block| block.seams.get(2));
    let matters = |instruction: &Instruction| {
        let mut changed = effects.of_instruction(module, instruction);
        changed.any(|global| losses.contains(&global)) || effects.leads_to_rule(instruction)
    };
    let is_final = |position: &u32| {
        // A way that leads back over the place, or past it, would not come there just once.
        let crosses = |at: u32| match program.flow().step(at).map(|step| step.link) {
            Some(StepLink::Partner(partner)) => (at < *position) != (partner < *position),
            Some(StepLink::None | StepLink::Call(_)) | None => false,
        };
        let behind = module.code.get(*position as usize..main.exit as usize).unwrap_or_default();
        !own().any(crosses) && !behind.iter().any(matters)
    };
    uncomputes.map(|seam| seam.start).filter(is_final).min().unwrap_or(end)
}

/// The globals that the losses belong to.
fn globals_of(program: &Program, losses: &[usize]) -> Option<HashSet<u32>> {
    let reals = || (0..).zip(&program.module().globals).filter(|(_, global)| global.class == Class::Real);
    let holds = |n: u32, loss: usize| program.cells(n as usize).contains(&loss);
    losses.iter().map(|&loss| reals().map(|(n, _)| n).find(|&n| holds(n, loss))).collect()
}
