//! Where a pass turns round. Where main ends with `uncompute`, that is behind `apply` already: nothing changes the
//! loss any more, and what lies behind would be run, and be gone back over with adjoints that are 0, for
//! nothing. The way back carries something only from cells that have an adjoint; there that is the loss alone,
//! and it is no target. Knows instructions; makes no step.

use std::collections::HashSet;

use reviver_isa::instruction::{Argument, Base, Call, Class, Instruction, Link, Operand};
use reviver_isa::module::{Module, Passing};
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
        let position = if subject.whole { program.end() } else { last_uncompute(program, losses) };
        let node = Node { position, backward: false };
        let stops = (position < program.end()).then(|| Stops::new(program, [node]));
        Turning { stops }
    }

    /// To stop there.
    pub fn stops(&self) -> Option<&Stops> {
        self.stops.as_ref()
    }
}

/// The first `uncompute` that main ends with, if nothing from there on changes a loss and no branch leads past it;
/// else the end. So too where adjoints are operands: what is behind may change them then.
fn last_uncompute(program: &Program, losses: &[usize]) -> u32 {
    let (module, end) = (program.module(), program.end());
    let Some(main) = module.procedures.first().filter(|_| !program.names_adjoints()) else { return end };
    let Some(writers) = Writers::of(program, losses) else { return end };
    let code = module.code.get(..main.exit as usize).unwrap_or_default();
    let own = || (0_u32..).zip(code).skip(main.entry as usize + 1);
    let is_last = |block: &&Block| block.kind == BlockKind::Compute && !block.undone && block.end() == end;
    let uncomputes = module.structure.blocks.iter().filter(is_last).filter_map(|block| block.seams.get(2));
    let is_final = |position: &u32| {
        let (before, behind) = (|at: u32| at < *position, own().skip_while(|(at, _)| at < position));
        // A way that leads back over the place, or past it, would not come there just once.
        let crosses = |(at, instruction): (u32, &Instruction)| match instruction.link {
            Link::Partner(partner) => before(at) != before(partner),
            Link::None | Link::Calls(_) => false,
        };
        !own().any(crosses) && !behind.into_iter().any(|(_, instruction)| writers.by(instruction))
    };
    uncomputes.map(|seam| seam.start).filter(is_final).min().unwrap_or(end)
}

/// Which instructions may change a loss, or do to adjoints what only their author knows.
struct Writers<'m> {
    module: &'m Module,
    /// The globals that the losses belong to.
    losses: HashSet<u32>,
    /// Of each procedure, whether a call of it may.
    procedures: Vec<bool>,
}

impl<'m> Writers<'m> {
    fn of(program: &'m Program, losses: &[usize]) -> Option<Writers<'m>> {
        let module = program.module();
        let reals = || (0..).zip(&module.globals).filter(|(_, global)| global.class == Class::Real);
        let holds = |n: u32, loss: usize| program.cells(n as usize).contains(&loss);
        let global_of = |&loss: &usize| reals().map(|(n, _)| n).find(|&n| holds(n, loss));
        let losses = losses.iter().map(global_of).collect::<Option<HashSet<u32>>>()?;
        let mut writers = Writers { module, losses, procedures: vec![false; module.procedures.len()] };
        writers.find();
        Some(writers)
    }

    /// Finds the procedures: those that do it themselves, and then whoever calls them.
    fn find(&mut self) {
        let module = self.module;
        let mut callers = vec![Vec::new(); module.procedures.len()];
        let mut found = Vec::new();
        for (n, procedure) in module.procedures.iter().enumerate() {
            let body = module.code.get(procedure.entry as usize..procedure.exit as usize).unwrap_or_default();
            for call in body.iter().flat_map(calls) {
                callers.get_mut(call.procedure as usize).into_iter().for_each(|list| list.push(n));
            }
            if procedure.rule.is_some() || body.iter().any(|instruction| self.by(instruction)) {
                found.push(n);
            }
        }
        while let Some(n) = found.pop() {
            let known = self.procedures.get_mut(n).map(|known| std::mem::replace(known, true));
            if known == Some(false) {
                found.extend(callers.get(n).into_iter().flatten());
            }
        }
    }

    /// Whether an instruction may.
    fn by(&self, instruction: &Instruction) -> bool {
        let mut targets = instruction.operands.iter().take(instruction.update.shape().targets());
        targets.any(|operand| matches!(operand, Operand::Place(place) if self.is_loss(place.base)))
            || calls(instruction).any(|call| self.by_call(call))
    }

    fn by_call(&self, call: &Call) -> bool {
        let number = call.procedure as usize;
        let Some(callee) = self.module.procedures.get(number) else { return true };
        let mut passed = call.arguments.iter().zip(&callee.parameters).filter_map(|(argument, parameter)| {
            let base = match argument {
                Argument::Scalar(Operand::Place(place)) => place.base,
                Argument::Slice(slice) => slice.base,
                Argument::Scalar(_) => return None,
            };
            (parameter.passing == Passing::InOut).then_some(base)
        });
        passed.any(|base| self.is_loss(base)) || self.procedures.get(number).copied().unwrap_or(true)
    }

    fn is_loss(&self, base: Base) -> bool {
        matches!(base, Base::Global(n) if self.losses.contains(&n))
    }
}

fn calls(instruction: &Instruction) -> impl Iterator<Item = &Call> {
    let calls: &[Call] = match &instruction.link {
        Link::Calls(calls) => calls,
        Link::None | Link::Partner(_) => &[],
    };
    calls.iter()
}
