//! Which globals an instruction may change, through all the calls that it leads to, and whether any of those has a
//! rule, which does to adjoints what only its author knows. Knows no value.

use std::collections::BTreeSet;

use reviver_isa::Module;
use reviver_isa::instruction::{Argument, Base, Call, Instruction, Link, Operand, Place};
use reviver_isa::module::Passing;
use reviver_isa::update::Action;

/// What a procedure may do that its callers see.
#[derive(Clone, Debug, Default)]
struct ProcedureEffect {
    /// The globals that it may change; what it changes through its parameters is seen at the call.
    globals: BTreeSet<u32>,
    /// Whether it, or a procedure that it leads to, has a rule.
    is_ruled: bool,
}

/// What each procedure of a module may do.
#[derive(Clone, Debug)]
pub struct Effects {
    procedures: Vec<ProcedureEffect>,
}

impl Effects {
    /// None if it can't be known, or takes more than so much work.
    pub fn of(module: &Module, work: &mut usize) -> Option<Effects> {
        let mut procedures = vec![ProcedureEffect::default(); module.procedures.len()];
        let mut callers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); module.procedures.len()];
        for (number, procedure) in module.procedures.iter().enumerate() {
            let body = module.code.get(procedure.entry as usize..procedure.exit as usize)?;
            *work = work.checked_sub(body.len())?;
            let own = procedures.get_mut(number)?;
            own.is_ruled = procedure.rule.is_some();
            for instruction in body {
                if matches!(instruction.update.action(), Action::CallVia(_)) {
                    return None;
                }
                own.globals.extend(changed_here(module, instruction));
                for call in calls(instruction) {
                    callers.get_mut(call.procedure as usize)?.insert(number);
                }
            }
        }
        spread(&mut procedures, &callers, work)?;
        Some(Effects { procedures })
    }

    /// The globals that a call of a procedure may change, but for what it is passed.
    pub fn of_call(&self, procedure: u32) -> impl Iterator<Item = u32> {
        let effect = self.procedures.get(procedure as usize);
        effect.into_iter().flat_map(|effect| effect.globals.iter().copied())
    }

    /// The globals that an instruction may change.
    pub fn of_instruction(&self, module: &Module, instruction: &Instruction) -> impl Iterator<Item = u32> {
        let called = calls(instruction).iter().flat_map(|call| self.of_call(call.procedure));
        changed_here(module, instruction).into_iter().chain(called)
    }

    /// Whether an instruction leads to a procedure with a rule.
    pub fn leads_to_rule(&self, instruction: &Instruction) -> bool {
        let is_ruled = |call: &Call| self.procedures.get(call.procedure as usize).is_none_or(|p| p.is_ruled);
        calls(instruction).iter().any(is_ruled)
    }
}

/// The cells that an instruction changes itself; adjoints are none.
pub fn targets(instruction: &Instruction) -> impl Iterator<Item = &Place> {
    let targets = instruction.operands.iter().take(instruction.update.shape().targets());
    targets.filter_map(|operand| match operand {
        Operand::Place(place) if !place.adjoint => Some(place),
        Operand::Place(_) | Operand::Int(_) | Operand::Real(_) | Operand::Mode => None,
    })
}

fn calls(instruction: &Instruction) -> &[Call] {
    match &instruction.link {
        Link::Calls(calls) => calls,
        Link::None | Link::Partner(_) => &[],
    }
}

/// The globals that an instruction changes itself, or passes to be changed.
fn changed_here(module: &Module, instruction: &Instruction) -> Vec<u32> {
    let mut bases: Vec<Base> = targets(instruction).map(|place| place.base).collect();
    for call in calls(instruction) {
        let Some(callee) = module.procedures.get(call.procedure as usize) else { continue };
        let passed = call.arguments.iter().zip(&callee.parameters);
        let changed = passed.filter(|(_, parameter)| parameter.passing == Passing::InOut);
        bases.extend(changed.filter_map(|(argument, _)| match argument {
            Argument::Scalar(Operand::Place(place)) => Some(place.base),
            Argument::Slice(slice) => Some(slice.base),
            Argument::Scalar(_) => None,
        }));
    }
    let globals = bases.into_iter().filter_map(|base| match base {
        Base::Global(number) => Some(number),
        Base::Frame(_) | Base::Parameter(_) => None,
    });
    globals.collect()
}

/// What a procedure may do, its callers may do too.
fn spread(procedures: &mut [ProcedureEffect], callers: &[BTreeSet<usize>], work: &mut usize) -> Option<()> {
    let mut open: Vec<usize> = (0..procedures.len()).collect();
    while let Some(number) = open.pop() {
        let own = procedures.get(number)?.clone();
        for &caller in callers.get(number)? {
            *work = work.checked_sub(own.globals.len() + 1)?;
            let effect = procedures.get_mut(caller)?;
            let before = (effect.globals.len(), effect.is_ruled);
            effect.globals.extend(&own.globals);
            effect.is_ruled |= own.is_ruled;
            if (effect.globals.len(), effect.is_ruled) != before {
                open.push(caller);
            }
        }
    }
    Some(())
}
