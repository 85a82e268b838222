//! Source locations of a program's calls. This module is independent of SSA functions.

use std::collections::HashSet;

use reviver_compile::foreign::place;
use reviver_isa::Module;
use reviver_isa::instruction::Link;

/// Returns the source location of the first call at call depth `limit`, which exceeds the limit on nested calls.
pub(crate) fn deep_call(module: &Module, limit: u32) -> String {
    // The procedures that are still to be visited, each with its call depth.
    let (mut open, mut known) = (vec![(0, 0)], HashSet::new());
    while let Some((procedure, depth)) = open.pop() {
        let Some(own) = module.procedures.get(procedure as usize) else { continue };
        for at in own.entry..own.exit {
            let Some(Link::Calls(calls)) = module.code.get(at as usize).map(|instruction| &instruction.link)
            else {
                continue;
            };
            if depth >= limit {
                return place(module, at);
            }
            let inside = calls.iter().map(|call| (call.procedure, depth + 1));
            open.extend(inside.filter(|inside| known.insert(*inside)));
        }
    }
    "somewhere".to_owned()
}
