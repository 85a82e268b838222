//! Where in a program something stands that has no text. Forms don't know: the code is looked through once more.

use std::collections::HashSet;

use reviver_compile::build;
use reviver_compile::form::{FrameZeros, StopPlace, Version};
use reviver_flow::graph::Way;
use reviver_isa::Module;
use reviver_isa::instruction::{Instruction, Link};
use reviver_isa::update::Action;
use reviver_vm::{CheckLevel, Program};

use crate::body::operations::unwritten_in_fixed;

/// What people call the place of an instruction.
pub(crate) fn place(module: &Module, at: u32) -> String {
    match (module.structure.line(at), module.structure.file(at)) {
        (Some(line), Some(file)) => format!("{file}, line {line}"),
        (Some(line), None) => format!("line {line}"),
        (None, _) => format!("instruction {at}"),
    }
}

/// The first instruction that calls a function that has no text in fixed point.
pub(crate) fn function_place(program: &Program, function: &str) -> String {
    let module = program.module();
    // What a jump leads to belongs to its form, too.
    let is_one_step = |instruction: &Instruction| {
        !matches!(instruction.update.action(), Action::Jump | Action::Join | Action::Begin | Action::End)
            && matches!(instruction.link, Link::None)
    };
    let mut steps = (0..).zip(&module.code).filter(|(_, instruction)| is_one_step(instruction));
    let found = steps.find(|(at, _)| calls(program, *at, function));
    found.map_or_else(|| "somewhere".to_owned(), |(at, _)| place(module, at))
}

/// Whether the step of an instruction calls a function, with adjoints or without.
fn calls(program: &Program, at: u32, function: &str) -> bool {
    [(Way::Along, false), (Way::Against, true)].into_iter().any(|(way, gradient)| {
        let (position, stop) = if way == Way::Along { (at, at + 1) } else { (at + 1, at) };
        let stops = [StopPlace { position: stop, way }].into_iter().collect();
        let (zeros, level) = (FrameZeros::default(), CheckLevel::Checked);
        let version = Version { position, way, gradient, level, is_watched: false, stops, zeros };
        build(program.module(), program.flow(), version).is_ok_and(|form| {
            let ops = form.blocks.iter().flat_map(|block| &block.ops);
            ops.filter_map(|&value| form.op(value)).any(|op| unwritten_in_fixed(op.kind) == Some(function))
        })
    })
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
