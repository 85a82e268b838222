//! Effect analysis: the globals, stacks and tapes that an instruction may read or change, including all
//! transitive calls. The analysis also records the operations that a task must not execute, the updates that
//! lose information, and the procedures with a custom adjoint rule, because a rule's effect on adjoints is
//! unknown. The analysis doesn't track values.

use std::collections::BTreeSet;

use crate::Module;
use crate::instruction::{Argument, Base, Call, Class, Instruction, Link, Operand, Place};
use crate::module::{Passing, Procedure};
use crate::update::{Action, Store};

/// The effects of a procedure that are visible to its callers.
#[derive(Clone, Debug, Default)]
struct ProcedureEffect {
    /// The globals that the procedure may change by name or pass as `inout` arguments, directly or through the
    /// procedures that it calls. Changes through the procedure's own parameters aren't included: they are
    /// effects of its callers, which pass the arguments.
    globals: BTreeSet<u32>,
    /// The globals that occur as operands or arguments in the instructions of the procedure, and of the
    /// procedures that it calls. A superset of `globals`.
    named: BTreeSet<u32>,
    /// The stacks and tapes to which values are moved, or from which they are taken, each once.
    stores: Vec<(Store, Class)>,
    /// True if a reachable update loses information, or switches gradient mode.
    has_no_inverse: bool,
    /// A reachable instruction that a task must not execute, by its index in the code: one that accesses a
    /// stack or a tape, or switches gradient mode.
    unfit_for_tasks: Option<u32>,
    /// True if the procedure, or a procedure that it calls directly or indirectly, may print by `show`.
    shows: bool,
    /// True if the procedure, or a procedure that it calls directly or indirectly, has a custom adjoint rule.
    is_ruled: bool,
}

impl ProcedureEffect {
    /// Adds the effects of another procedure. Returns true if that changed anything.
    fn absorb(&mut self, other: &ProcedureEffect) -> bool {
        let size = |effect: &ProcedureEffect| {
            let ProcedureEffect { globals, named, stores, has_no_inverse, unfit_for_tasks, shows, is_ruled } =
                effect;
            let sizes = (globals.len(), named.len(), stores.len());
            (sizes, *has_no_inverse, unfit_for_tasks.is_some(), *shows, *is_ruled)
        };
        let before = size(self);
        self.globals.extend(&other.globals);
        self.named.extend(&other.named);
        other.stores.iter().for_each(|store| self.access(*store));
        self.has_no_inverse |= other.has_no_inverse;
        self.unfit_for_tasks = self.unfit_for_tasks.or(other.unfit_for_tasks);
        self.shows |= other.shows;
        self.is_ruled |= other.is_ruled;
        size(self) != before
    }

    /// Records that the procedure accesses a stack or a tape.
    fn access(&mut self, store: (Store, Class)) {
        if !self.stores.contains(&store) {
            self.stores.push(store);
        }
    }
}

/// The effects of each procedure of a module.
#[derive(Clone, Debug)]
pub struct Effects {
    procedures: Vec<ProcedureEffect>,
}

/// Upper bound on the globals and instructions that one analysis visits.
const MOST_WORK: usize = 1 << 24;

impl Effects {
    /// Analyses a module. Returns `None` if the module is malformed, or if the analysis visits more globals and
    /// instructions than its limit allows. The verifier rejects a module with tasks if its analysis exceeds this limit.
    pub fn of(module: &Module) -> Option<Effects> {
        Effects::within(module, &mut { MOST_WORK })
    }

    /// Analyses a module, as [`Effects::of`]. `work` is the number of globals and instructions that the
    /// analysis may visit; several analyses may share one `work`.
    pub fn within(module: &Module, work: &mut usize) -> Option<Effects> {
        let mut procedures = vec![ProcedureEffect::default(); module.procedures.len()];
        let mut callers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); module.procedures.len()];
        for (number, procedure) in module.procedures.iter().enumerate() {
            let body = module.code.get(procedure.entry as usize..procedure.exit as usize)?;
            *work = work.checked_sub(body.len())?;
            let own = procedures.get_mut(number)?;
            own.is_ruled = procedure.rule.is_some();
            for (at, instruction) in (procedure.entry..).zip(body) {
                own.globals.extend(changed_here(module, instruction));
                accessed_store(module, procedure, instruction)
                    .into_iter()
                    .for_each(|store| own.access(store));
                let switches = matches!(instruction.update.action(), Action::Switch(_));
                own.has_no_inverse |= switches || !instruction.update.is_reversible();
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

    /// Returns the globals that a call of a procedure may change, except through its arguments.
    pub fn of_call(&self, procedure: u32) -> impl Iterator<Item = u32> {
        let effect = self.procedures.get(procedure as usize);
        effect.into_iter().flat_map(|effect| effect.globals.iter().copied())
    }

    /// Returns the globals that a procedure or its transitive callees name. A call of the procedure may read
    /// or change them.
    pub fn named_by(&self, procedure: u32) -> impl Iterator<Item = u32> {
        let effect = self.procedures.get(procedure as usize);
        effect.into_iter().flat_map(|effect| effect.named.iter().copied())
    }

    /// Returns the stacks and tapes that a procedure or its transitive callees access, each once.
    pub fn stores_of(&self, procedure: u32) -> &[(Store, Class)] {
        self.procedures.get(procedure as usize).map_or(&[], |effect| &effect.stores)
    }

    /// Returns true if an `uncall` of the procedure doesn't undo its `call` in every run: the procedure, or one of its
    /// transitive callees, loses information or switches gradient mode.
    pub fn has_no_inverse(&self, procedure: u32) -> bool {
        self.procedures.get(procedure as usize).is_none_or(|effect| effect.has_no_inverse)
    }

    /// Returns the index of a reachable instruction that a task must not execute, or `None` if there is none.
    pub fn unfit_for_tasks(&self, procedure: u32) -> Option<u32> {
        self.procedures.get(procedure as usize)?.unfit_for_tasks
    }

    /// Returns true if a procedure may print, itself or through its callees.
    pub fn shows(&self, procedure: u32) -> bool {
        self.procedures.get(procedure as usize).is_none_or(|effect| effect.shows)
    }

    /// Returns the globals that an instruction may change, directly or through the procedures that it calls.
    pub fn of_instruction(&self, module: &Module, instruction: &Instruction) -> impl Iterator<Item = u32> {
        let called = calls(instruction).iter().flat_map(|call| self.of_call(call.procedure));
        changed_here(module, instruction).into_iter().chain(called)
    }

    /// Returns true if an instruction calls a procedure with a custom adjoint rule, directly or through other
    /// procedures.
    pub fn leads_to_rule(&self, instruction: &Instruction) -> bool {
        let is_ruled = |call: &Call| self.procedures.get(call.procedure as usize).is_none_or(|p| p.is_ruled);
        calls(instruction).iter().any(is_ruled)
    }
}

/// Returns the cells whose values an instruction changes as its targets. Targets that are adjoints are
/// omitted.
pub fn targets(instruction: &Instruction) -> impl Iterator<Item = &Place> {
    let targets = instruction.operands.iter().take(instruction.update.shape().targets());
    targets.filter_map(|operand| match operand {
        Operand::Place(place) if !place.adjoint => Some(place),
        Operand::Place(_) | Operand::Int(_) | Operand::Real(_) | Operand::Mode => None,
    })
}

/// Returns the stack or tape that an instruction accesses, with the class of the value that is moved. A stack has
/// values of one class.
pub fn accessed_store(
    module: &Module,
    procedure: &Procedure,
    instruction: &Instruction,
) -> Option<(Store, Class)> {
    let (Action::Put(store) | Action::Take(store)) = instruction.update.action() else { return None };
    let Some(Operand::Place(place)) = instruction.operands.first() else { return None };
    module.declaration(procedure, place.base).map(|declaration| (store, declaration.class))
}

fn calls(instruction: &Instruction) -> &[Call] {
    match &instruction.link {
        Link::Calls(calls) => calls,
        Link::None | Link::Partner(_) => &[],
    }
}

/// Returns the globals that an instruction changes as its targets or passes as `inout` arguments.
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

/// Returns the number of a global, or `None` for a variable or parameter of a procedure.
fn global(base: Base) -> Option<u32> {
    match base {
        Base::Global(number) => Some(number),
        Base::Frame(_) | Base::Parameter(_) => None,
    }
}

/// Propagates effects from callees to callers until nothing changes. Returns `None` if that exceeds `work`.
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
