//! Where in a program something stands. Knows no form.

use std::collections::HashSet;

use reviver_isa::Module;
use reviver_isa::instruction::Link;

/// What people call the place of an instruction.
pub(crate) fn place(module: &Module, at: u32) -> String {
    match (module.structure.line(at), module.structure.file(at)) {
        (Some(line), Some(file)) => format!("{file}, line {line}"),
        (Some(line), None) => format!("line {line}"),
        (None, _) => format!("instruction {at}"),
    }
}

/// The first call that is made inside of as many calls as may be open.
pub(crate) fn deep_call(module: &Module, limit: u32) -> String {
    // Procedures, each with how many calls it is inside of.
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
