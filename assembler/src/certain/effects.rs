//! Which globals a call may change, through all the calls that it leads to. What it changes through
//! its parameters is seen at the call.

use std::collections::BTreeSet;

use reviver_isa::Module;
use reviver_isa::instruction::{Argument, Base, Instruction, Link, Operand};
use reviver_isa::module::Passing;
use reviver_isa::update::Update;

use super::targets;

/// The globals that each procedure may change.
pub(super) struct Effects {
    changed: Vec<BTreeSet<u32>>,
}

impl Effects {
    /// None if it can't be known, or is too much work.
    pub(super) fn of(module: &Module, work: &mut usize) -> Option<Effects> {
        let mut changed = vec![BTreeSet::new(); module.procedures.len()];
        let mut callers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); module.procedures.len()];
        for (number, procedure) in module.procedures.iter().enumerate() {
            let body = module.code.get(procedure.entry as usize..procedure.exit as usize)?;
            *work = work.checked_sub(body.len())?;
            for instruction in body {
                if matches!(instruction.update, Update::CallVia | Update::UncallVia) {
                    return None;
                }
                changed.get_mut(number)?.extend(own(module, instruction));
                if let Link::Calls(calls) = &instruction.link {
                    for call in calls.iter() {
                        callers.get_mut(call.procedure as usize)?.insert(number);
                    }
                }
            }
        }
        spread(&mut changed, &callers, work)?;
        Some(Effects { changed })
    }

    pub(super) fn of_call(&self, procedure: u32) -> impl Iterator<Item = &u32> {
        self.changed.get(procedure as usize).into_iter().flatten()
    }
}

/// The globals that an instruction changes itself, or passes to be changed.
fn own(module: &Module, instruction: &Instruction) -> Vec<u32> {
    let mut bases: Vec<Base> = targets(instruction).map(|place| place.base).collect();
    if let Link::Calls(calls) = &instruction.link {
        for call in calls.iter() {
            let Some(callee) = module.procedures.get(call.procedure as usize) else { continue };
            let passed = call.arguments.iter().zip(&callee.parameters);
            let changed = passed.filter(|(_, parameter)| parameter.passing == Passing::InOut);
            bases.extend(changed.filter_map(|(argument, _)| match argument {
                Argument::Scalar(Operand::Place(place)) => Some(place.base),
                Argument::Slice(slice) => Some(slice.base),
                Argument::Scalar(_) => None,
            }));
        }
    }
    let globals = bases.into_iter().filter_map(|base| match base {
        Base::Global(number) => Some(number),
        Base::Frame(_) | Base::Parameter(_) => None,
    });
    globals.collect()
}

/// What a procedure changes, its callers change too.
fn spread(changed: &mut [BTreeSet<u32>], callers: &[BTreeSet<usize>], work: &mut usize) -> Option<()> {
    let mut open: Vec<usize> = (0..changed.len()).collect();
    while let Some(number) = open.pop() {
        let own = changed.get(number)?.clone();
        for &caller in callers.get(number)? {
            *work = work.checked_sub(own.len() + 1)?;
            let set = changed.get_mut(caller)?;
            let before = set.len();
            set.extend(&own);
            if set.len() > before {
                open.push(caller);
            }
        }
    }
    Some(())
}
