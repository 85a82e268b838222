//! Turning point of a gradient. If main ends with `uncompute`, the turning point is after `apply`: no later step
//! changes the loss. Running on would only be undone by the reverse sweep, with adjoints that are 0. Adjoints
//! propagate only from cells that have one. At the turning point that is the loss alone, and no later step has it as
//! its target. This module knows instructions, and executes no step.

use std::collections::HashSet;

use reviver_flow::StepLink;
use reviver_isa::effects::Effects;
use reviver_isa::instruction::{Class, Instruction};
use reviver_isa::structure::{Block, BlockKind};

use crate::program::Program;
use crate::stops::{Node, Stops};

use super::Subject;

/// End of the primal sweep.
#[derive(Debug)]
pub(super) struct TurningPoint {
    /// Stop places; `None` at the end of the program.
    stops: Option<Stops>,
}

impl TurningPoint {
    /// Finds the turning point for some losses, unless the subject asks for the whole run.
    pub fn of(subject: &Subject, losses: &[usize]) -> TurningPoint {
        let program = &subject.program;
        TurningPoint { stops: if subject.whole { None } else { early_turn(program, losses) } }
    }

    /// Returns the places where the primal sweep stops.
    pub fn stops(&self) -> Option<&Stops> {
        self.stops.as_ref()
    }
}

/// Returns where a forward run may stop because some losses are final there; `None` if that is the end. Losses are
/// offsets among the reals.
pub fn early_turn(program: &Program, losses: &[usize]) -> Option<Stops> {
    let position = last_uncompute(program, losses);
    let node = Node { position, backward: false };
    (position < program.end()).then(|| Stops::new(program, [node]))
}

/// Returns the start of the first trailing `uncompute` of main after which no step changes a loss and no branch
/// crosses it. Otherwise, and if adjoints are operands, which later steps may change, returns the end.
fn last_uncompute(program: &Program, losses: &[usize]) -> u32 {
    let (module, end) = (program.module(), program.end());
    let Some(main) = module.procedures.first().filter(|_| !program.names_adjoints()) else { return end };
    let Some(losses) = globals_of(program, losses) else { return end };
    let Some(effects) = Effects::of(module) else { return end };
    let own = || main.entry + 1..main.exit;
    let is_last = |block: &&Block| block.kind == BlockKind::Compute && !block.undone && block.end() == end;
    let uncomputes = module.structure.blocks.iter().filter(is_last).filter_map(|block| block.seams.get(2));
    let matters = |instruction: &Instruction| {
        let mut changed = effects.of_instruction(module, instruction);
        changed.any(|global| losses.contains(&global)) || effects.leads_to_rule(instruction)
    };
    let is_final = |position: &u32| {
        // A path with a branch across the place might not pass it exactly once.
        let crosses = |at: u32| match program.flow().step(at).map(|step| step.link) {
            Some(StepLink::Partner(partner)) => (at < *position) != (partner < *position),
            Some(StepLink::None | StepLink::Call(_)) | None => false,
        };
        let behind = module.code.get(*position as usize..main.exit as usize).unwrap_or_default();
        !own().any(crosses) && !behind.iter().any(matters)
    };
    uncomputes.map(|seam| seam.start).filter(is_final).min().unwrap_or(end)
}

/// Returns the globals that contain the losses.
fn globals_of(program: &Program, losses: &[usize]) -> Option<HashSet<u32>> {
    let reals = || (0..).zip(&program.module().globals).filter(|(_, global)| global.class == Class::Real);
    let holds = |n: u32, loss: usize| program.cells(n as usize).contains(&loss);
    losses.iter().map(|&loss| reals().map(|(n, _)| n).find(|&n| holds(n, loss))).collect()
}
