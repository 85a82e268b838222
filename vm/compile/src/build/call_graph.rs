//! Call graph of a module, and detection of recursion. This module is independent of SSA functions.

use reviver_flow::{Flow, StepLink};
use reviver_isa::Module;

/// Callees of each procedure.
#[derive(Debug)]
pub(super) struct CallGraph(Vec<Vec<u32>>);

impl CallGraph {
    pub fn of(module: &Module, flow: &Flow) -> CallGraph {
        let called = module.procedures.iter().map(|procedure| {
            let steps = flow.steps().get(procedure.entry as usize..procedure.exit as usize);
            let links = steps.into_iter().flatten().map(|step| step.link);
            let mut called: Vec<u32> = links
                .filter_map(|link| match link {
                    StepLink::Call(call) => Some(flow.call(call)?.procedure),
                    StepLink::None | StepLink::Partner(_) => None,
                })
                .collect();
            called.sort_unstable();
            called.dedup();
            called
        });
        CallGraph(called.collect())
    }

    /// Returns true if a procedure calls itself, directly or through procedures other than `without`.
    pub fn reaches_itself(&self, procedure: u32, without: u32) -> bool {
        let called = |procedure: u32| self.0.get(procedure as usize).into_iter().flatten().copied();
        let mut is_seen = vec![false; self.0.len()];
        let mut open: Vec<u32> = called(procedure).collect();
        while let Some(next) = open.pop() {
            if next == procedure {
                return true;
            }
            match is_seen.get_mut(next as usize) {
                Some(seen @ false) if next != without => *seen = true,
                _ => continue,
            }
            open.extend(called(next));
        }
        false
    }
}
