//! Turning point of a gradient. If main ends with an `uncompute` that changes no loss, the primal sweep turns before
//! that `uncompute`. The steps of the `uncompute` can be omitted: the reverse sweep would only undo them, and they
//! propagate no adjoint. The reason is that a step propagates the adjoint of its target. At the end of main only losses
//! have adjoints, and no step of the `uncompute` changes a loss. This module reads instructions, and executes no step.

use std::collections::HashSet;

use reviver_flow::StepLink;
use reviver_isa::effects::Effects;
use reviver_isa::instruction::{Class, Instruction};
use reviver_isa::structure::{Block, BlockKind};

use crate::program::Program;
use crate::stops::{Node, Stops};

use super::Subject;

/// Turning point: the place where the primal sweep ends.
#[derive(Debug)]
pub(super) struct TurningPoint {
    /// Breakpoints at which the primal sweep ends; `None` if it runs to the end of the program.
    stops: Option<Stops>,
}

impl TurningPoint {
    /// Finds the turning point for some losses. If [`Subject::whole`] is true, the turning point is the end of the
    /// program.
    pub fn of(subject: &Subject, losses: &[usize]) -> TurningPoint {
        let program = &subject.program;
        TurningPoint { stops: if subject.whole { None } else { early_turn(program, losses) } }
    }

    /// Returns the breakpoints at which the primal sweep ends; `None` if it runs to the end of the program.
    pub fn stops(&self) -> Option<&Stops> {
        self.stops.as_ref()
    }
}

/// Returns the place after which no step changes the losses, so that a forward run may stop there. Returns `None` if
/// that place is the end of the program. Losses are offsets among the reals.
pub fn early_turn(program: &Program, losses: &[usize]) -> Option<Stops> {
    let position = last_uncompute(program, losses);
    let node = Node { position, backward: false };
    (position < program.end()).then(|| Stops::new(program, [node]))
}

/// Returns the number of `compute` blocks at the end of main whose `uncompute` a forward run may leave out, because it
/// stops at the turning point ([`early_turn`]).
pub fn early_uncomputes(program: &Program, losses: &[usize]) -> usize {
    let position = last_uncompute(program, losses);
    let blocks = program.module().structure.blocks.iter();
    let is_left_out = |block: &&Block| {
        let is_last = block.kind == BlockKind::Compute && !block.undone && block.end() == program.end();
        is_last && block.seams.get(2).is_some_and(|seam| seam.start >= position)
    };
    blocks.filter(is_left_out).count()
}

/// Returns the position of the first `uncompute` at the end of main after which no step changes a loss, and over which
/// no branch jumps. Returns the end if there is none. Also returns the end if an instruction names adjoints, because
/// later steps may change these.
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
        // If a branch jumps across the place, a run may pass the place several times or not at all.
        let crosses = |at: u32| match program.flow().step(at).map(|step| step.link) {
            Some(StepLink::Partner(partner)) => (at < *position) != (partner < *position),
            Some(StepLink::None | StepLink::Call(_)) | None => false,
        };
        let behind = module.code.get(*position as usize..main.exit as usize).unwrap_or_default();
        !own().any(crosses) && !behind.iter().any(matters)
    };
    uncomputes.map(|seam| seam.start).filter(is_final).min().unwrap_or(end)
}

/// Returns the globals that contain the losses; `None` if a loss belongs to no global.
fn globals_of(program: &Program, losses: &[usize]) -> Option<HashSet<u32>> {
    let reals = || (0..).zip(&program.module().globals).filter(|(_, global)| global.class == Class::Real);
    let holds = |n: u32, loss: usize| program.cells(n as usize).contains(&loss);
    losses.iter().map(|&loss| reals().map(|(n, _)| n).find(|&n| holds(n, loss))).collect()
}
