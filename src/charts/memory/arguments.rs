//! Globals that parameters may be: those that calls pass, directly or through parameters of the caller.

use std::collections::{BTreeSet, HashMap};

use reviver_isa::instruction::{Argument, Base, Call, Link, Operand};
use reviver_isa::module::Module;

/// A parameter: the number of its procedure, and its own.
type ParameterKey = (u32, u32);

/// Upper bound on the globals that the analysis visits.
const MOST_WORK: usize = 1 << 22;

/// For each parameter, the globals that it may be. A parameter that is never a global isn't in the map.
pub struct PassedGlobals(HashMap<ParameterKey, BTreeSet<u32>>);

impl PassedGlobals {
    /// Analyses the calls of a module. Returns `None` if the analysis exceeds its limit.
    pub fn of(module: &Module) -> Option<PassedGlobals> {
        let mut found: HashMap<ParameterKey, BTreeSet<u32>> = HashMap::new();
        let mut passed_on: HashMap<ParameterKey, Vec<ParameterKey>> = HashMap::new();
        for (caller, procedure) in (0..).zip(&module.procedures) {
            let code = module.code.get(procedure.entry as usize..procedure.exit as usize).unwrap_or_default();
            for call in code.iter().flat_map(|instruction| calls(&instruction.link)) {
                for (n, argument) in (0..).zip(&call.arguments) {
                    let parameter = (call.procedure, n);
                    match base(argument) {
                        Some(Base::Global(global)) => {
                            found.entry(parameter).or_default().insert(global);
                        }
                        Some(Base::Parameter(own)) => {
                            passed_on.entry((caller, own)).or_default().push(parameter);
                        }
                        Some(Base::Frame(_)) | None => {}
                    }
                }
            }
        }
        spread(&mut found, &passed_on)?;
        Some(PassedGlobals(found))
    }

    /// Returns the globals that a parameter may be.
    pub fn of_parameter(&self, procedure: u32, parameter: u32) -> impl Iterator<Item = u32> {
        self.0.get(&(procedure, parameter)).into_iter().flatten().copied()
    }
}

/// Adds the globals of each parameter to the parameters to which it is passed on, until nothing changes.
fn spread(
    found: &mut HashMap<ParameterKey, BTreeSet<u32>>,
    passed_on: &HashMap<ParameterKey, Vec<ParameterKey>>,
) -> Option<()> {
    let (mut work, mut open) = (MOST_WORK, found.keys().copied().collect::<Vec<_>>());
    while let Some(parameter) = open.pop() {
        let Some(callees) = passed_on.get(&parameter) else { continue };
        let globals = found.get(&parameter).cloned().unwrap_or_default();
        for callee in callees {
            work = work.checked_sub(globals.len() + 1)?;
            let known = found.entry(*callee).or_default();
            let before = known.len();
            known.extend(&globals);
            if known.len() != before {
                open.push(*callee);
            }
        }
    }
    Some(())
}

fn calls(link: &Link) -> &[Call] {
    match link {
        Link::Calls(calls) => calls,
        Link::None | Link::Partner(_) => &[],
    }
}

fn base(argument: &Argument) -> Option<Base> {
    match argument {
        Argument::Scalar(Operand::Place(place)) => Some(place.base),
        Argument::Slice(slice) => Some(slice.base),
        Argument::Scalar(_) => None,
    }
}
