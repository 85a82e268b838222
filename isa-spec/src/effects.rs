//! Which globals an instruction may change or look at, through all the calls that it leads to, and whether these do what a task mustn't, or
//! have a rule, which does to adjoints what only its author knows. Knows no value.

use std::collections::BTreeSet;

use crate::Module;
use crate::instruction::{Argument, Base, Call, Instruction, Link, Operand, Place};
use crate::module::Passing;
use crate::update::Action;

/// What a procedure may do that its callers see.
#[derive(Clone, Debug, Default)]
struct ProcedureEffect {
    /// The globals that it may change; what it changes through its parameters is seen at the call.
    globals: BTreeSet<u32>,
    /// The globals that it names, or that are passed by it: among them are those that it may change.
    named: BTreeSet<u32>,
    /// The first instruction that it leads to and that no task may make: of a stack, a tape, or a switch of the mode.
    unfit_for_tasks: Option<u32>,
    /// Whether it may print.
    shows: bool,
    /// Whether it, or a procedure that it leads to, has a rule.
    is_ruled: bool,
}

impl ProcedureEffect {
    /// Does what another one may do, too. Whether that is more than it did.
    fn absorb(&mut self, other: &ProcedureEffect) -> bool {
        let size = |effect: &ProcedureEffect| {
            let ProcedureEffect { globals, named, unfit_for_tasks, shows, is_ruled } = effect;
            (globals.len(), named.len(), unfit_for_tasks.is_some(), *shows, *is_ruled)
        };
        let before = size(self);
        self.globals.extend(&other.globals);
        self.named.extend(&other.named);
        self.unfit_for_tasks = self.unfit_for_tasks.or(other.unfit_for_tasks);
        self.shows |= other.shows;
        self.is_ruled |= other.is_ruled;
        size(self) != before
    }
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
            for (at, instruction) in (procedure.entry..).zip(body) {
                own.globals.extend(changed_here(module, instruction));
                instruction.visit_bases(|base| own.named.extend(global(base)));
                match instruction.update.action() {
                    Action::Put(_) | Action::Take(_) | Action::Switch(_) => {
                        own.unfit_for_tasks.get_or_insert(at);
                    }
                    Action::Show => own.shows = true,
                    _ => {}
                }
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

    /// The globals that a procedure names itself, or that it leads to: it may look at them, or change them.
    pub fn named_by(&self, procedure: u32) -> impl Iterator<Item = u32> {
        let effect = self.procedures.get(procedure as usize);
        effect.into_iter().flat_map(|effect| effect.named.iter().copied())
    }

    /// An instruction that a procedure leads to and that no task may make, if there is one.
    pub fn unfit_for_tasks(&self, procedure: u32) -> Option<u32> {
        self.procedures.get(procedure as usize)?.unfit_for_tasks
    }

    /// Whether a procedure may print.
    pub fn shows(&self, procedure: u32) -> bool {
        self.procedures.get(procedure as usize).is_none_or(|effect| effect.shows)
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
    bases.into_iter().filter_map(global).collect()
}

/// The number of a global; none of what is a procedure's own.
fn global(base: Base) -> Option<u32> {
    match base {
        Base::Global(number) => Some(number),
        Base::Frame(_) | Base::Parameter(_) => None,
    }
}

/// What a procedure may do, its callers may do too.
fn spread(procedures: &mut [ProcedureEffect], callers: &[BTreeSet<usize>], work: &mut usize) -> Option<()> {
    let mut open: Vec<usize> = (0..procedures.len()).collect();
    while let Some(number) = open.pop() {
        let own = procedures.get(number)?.clone();
        for &caller in callers.get(number)? {
            *work = work.checked_sub(own.named.len() + 1)?;
            let effect = procedures.get_mut(caller)?;
            if effect.absorb(&own) {
                open.push(caller);
            }
        }
    }
    Some(())
}
