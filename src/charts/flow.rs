//! Flow charts of procedures: boxes of instructions, tests, and assertions. Each test is paired with the assertion at
//! the destination of its jump. Nothing is executed.

use std::collections::BTreeSet;

use reviver_isa::instruction::{Instruction, Link};
use reviver_isa::module::{Module, Procedure};
use reviver_isa::structure::{Block, BlockKind, Side};
use reviver_isa::text::TextRenderer;
use reviver_isa::update::{OperandShape, Update};
use reviver_pictures::flow_chart::{FlowChart, FlowNode, FlowShape};
use reviver_vm::Program;

/// Maximum number of lines in a box. A box with more lines ends with the number of omitted lines.
const LINES: usize = 14;

/// Builds the charts of main and of all procedures reachable by calls, in the order of the code.
pub fn charts(program: &Program) -> Vec<FlowChart> {
    let module = program.module();
    let called = reached(module);
    let procedures = module.procedures.iter().enumerate().filter(|(n, _)| called.contains(n));
    procedures.map(|(_, procedure)| chart(program, procedure)).collect()
}

/// Returns the indices of main and of the procedures that main may call, directly or through other procedures. The
/// derivative rule of a called procedure counts as called.
pub fn reached(module: &Module) -> BTreeSet<usize> {
    let (mut reached, mut open) = (BTreeSet::from([0]), vec![0]);
    while let Some(procedure) = open.pop().and_then(|n: usize| module.procedures.get(n)) {
        let range = procedure.entry as usize..procedure.exit as usize;
        let code = module.code.get(range).unwrap_or_default();
        let calls = code.iter().filter_map(|instruction| match &instruction.link {
            Link::Calls(calls) => Some(calls.iter().map(|call| call.procedure as usize)),
            _ => None,
        });
        let rule = procedure.rule.map(|rule| rule as usize);
        for callee in calls.flatten().chain(rule) {
            if reached.insert(callee) {
                open.push(callee);
            }
        }
    }
    reached
}

fn chart(program: &Program, procedure: &Procedure) -> FlowChart {
    let module = program.module();
    let mut chart = FlowChart { name: procedure.name.clone(), nodes: Vec::new() };
    let mut nodes_of = Vec::new();
    let end = |text: &str| FlowNode {
        shape: FlowShape::End,
        lines: vec![text.to_owned()],
        jump: None,
        jumps_if: true,
        falls: true,
    };
    for at in procedure.entry..=procedure.exit {
        let Some(instruction) = module.code.get(at as usize) else { break };
        let renderer = TextRenderer { module, procedure };
        match instruction.update.shape() {
            OperandShape::Boundary => {
                let text = if at == procedure.entry { "begin" } else { "end" };
                chart.nodes.push(end(text));
            }
            _ if is_part_of_condition(program, at, instruction) => {}
            OperandShape::Branch => chart.nodes.push(branch(program, renderer, (at, instruction))),
            _ => step(program, renderer, (at, instruction), &mut chart.nodes),
        }
        nodes_of.push(chart.nodes.len().saturating_sub(1));
    }
    for (at, node) in (procedure.entry..).zip(&nodes_of) {
        let Some(Instruction { update: Update::Br, link: Link::Partner(partner), .. }) =
            module.code.get(at as usize)
        else {
            continue;
        };
        let to = partner.checked_sub(procedure.entry).and_then(|n| nodes_of.get(n as usize)).copied();
        chart.nodes.get_mut(*node).into_iter().for_each(|node| node.jump = to);
    }
    chart.nodes.iter_mut().for_each(fold);
    chart
}

/// Returns true if an instruction computes or uncomputes a condition of an `if`, a loop or an `assert`. The chart shows
/// the condition as written.
fn is_part_of_condition(program: &Program, at: u32, instruction: &Instruction) -> bool {
    let Some((block, seam)) = program.seam(at) else { return false };
    let is_guarded = matches!(block.kind, BlockKind::If { .. } | BlockKind::Loop { .. });
    match (&instruction.link, instruction.update.shape()) {
        // A pair of branches within one seam computes the condition. A pair that connects two seams belongs to the
        // statement itself.
        (Link::Partner(partner), _) => {
            let is_assert = matches!(block.kind, BlockKind::Assert { .. });
            (is_guarded || is_assert) && block.seam_of(*partner) == Some(seam)
        }
        _ => is_guarded,
    }
}

/// Builds the node of a branch instruction. A `br` is a test. A `from` is the assertion at the place to which the `br`
/// jumps.
fn branch(program: &Program, renderer: TextRenderer<'_>, (at, instruction): (u32, &Instruction)) -> FlowNode {
    let is_test = instruction.update == Update::Br;
    if instruction.operands.is_empty() {
        let (shape, lines) = (FlowShape::Always, Vec::new());
        return FlowNode { shape, lines, jump: None, jumps_if: true, falls: !is_test };
    }
    let shape = if is_test { FlowShape::Test } else { FlowShape::Assertion };
    let (text, jumps_if) = program
        .seam(at)
        .and_then(|(block, seam)| written(renderer, block, seam, instruction))
        .unwrap_or_else(|| (renderer.condition(instruction), true));
    FlowNode { shape, lines: vec![text], jump: None, jumps_if, falls: true }
}

/// Returns the condition of an `if` or a loop as written, and the value that the condition has when the jump is taken.
fn written(
    renderer: TextRenderer<'_>,
    block: &Block,
    seam: usize,
    instruction: &Instruction,
) -> Option<(String, bool)> {
    let is_first = seam == 0;
    let (predicate, _) = block.guard(if is_first { Side::Entry } else { Side::Exit })?;
    let has_two_bodies = block.seams.len() > 2;
    let jumps_if = match &block.kind {
        // Without `else`, the entry test jumps over the body if the entry condition is false, and the exit condition is
        // false after this jump. With `else`, the first body ends with a jump over the second, so the exit condition is
        // true after this jump.
        BlockKind::If { .. } => has_two_bodies && !is_first,
        // A loop jumps back to its entry while the exit condition is false, and the entry asserts that its own
        // condition is false after this jump. In a loop with two bodies, the jump back is at the end of the second
        // body. If the condition between the bodies is true, a jump leads over the second body.
        _ => has_two_bodies && instruction.update == Update::Br,
    };
    Some((renderer.predicate(predicate), jumps_if))
}

/// Adds an instruction, as written, to the open box.
fn step(
    program: &Program,
    renderer: TextRenderer<'_>,
    (at, instruction): (u32, &Instruction),
    nodes: &mut Vec<FlowNode>,
) {
    let text = match program.seam(at) {
        Some((block, seam)) => match block.kind {
            // The instruction that uses a temporary shows the expression of the temporary.
            BlockKind::Temporaries => None,
            _ => Some(renderer.words_at(block, seam, instruction)),
        },
        None => {
            let plain = || renderer.instruction(instruction, |n| n.to_string());
            Some(renderer.with_expressions(instruction).unwrap_or_else(plain))
        }
    };
    if !matches!(nodes.last(), Some(node) if node.shape == FlowShape::Steps) {
        nodes.push(FlowNode {
            shape: FlowShape::Steps,
            lines: Vec::new(),
            jump: None,
            jumps_if: true,
            falls: true,
        });
    }
    let lines = nodes.last_mut().map(|node| &mut node.lines);
    if let Some((lines, text)) = lines.zip(text)
        // A statement that assembles to several instructions is shown once.
        && lines.last() != Some(&text)
    {
        lines.push(text);
    }
}

/// Shortens a box with too many lines. A box without lines gets a placeholder: its instructions only compute
/// temporaries.
fn fold(node: &mut FlowNode) {
    if node.shape == FlowShape::Steps && node.lines.is_empty() {
        node.lines.push("(an expression)".to_owned());
    }
    if node.lines.len() > LINES {
        let left = node.lines.len() - (LINES - 1);
        node.lines.truncate(LINES - 1);
        node.lines.push(format!("and {left} more"));
    }
}
