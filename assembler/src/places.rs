//! The places of operands. Lowering stores one place per instruction. For the few instructions with
//! violations, this module finds the places of their operands in the syntax tree.

use std::collections::{HashMap, HashSet};

use crate::source::Span;
use crate::tree::{Body, Condition, ConditionKind, Expression, InstructionNode, Operands, Statement};

/// Returns the places of the operands of each wanted instruction, which is identified by its place. For a
/// call they are the places of the arguments.
pub(crate) fn operands(body: &Body, wanted: &HashSet<Span>) -> HashMap<Span, Vec<Span>> {
    let mut found = HashMap::new();
    if !wanted.is_empty() {
        search(body, wanted, &mut found);
    }
    found
}

fn search(body: &Body, wanted: &HashSet<Span>, found: &mut HashMap<Span, Vec<Span>>) {
    for node in body {
        if let Statement::Instruction(instruction) = &node.statement {
            if wanted.contains(&node.span) {
                found.insert(node.span, of_instruction(instruction));
            }
            continue;
        }
        if let Statement::Tasks(tasks) = &node.statement {
            let calls = tasks.calls().filter(|call| wanted.contains(&call.span));
            found.extend(calls.map(|call| (call.span, spans(&call.arguments))));
        }
        for inner in node.statement.bodies() {
            search(inner, wanted, found);
        }
    }
}

fn of_instruction(instruction: &InstructionNode) -> Vec<Span> {
    match &instruction.operands {
        Operands::Cells(list) => spans(list),
        Operands::Condition(condition) | Operands::Branch { condition, .. } => sides(condition),
        Operands::Call(call) => spans(&call.arguments),
    }
}

fn spans(list: &[Expression]) -> Vec<Span> {
    list.iter().map(|expression| expression.span).collect()
}

fn sides(condition: &Condition) -> Vec<Span> {
    match &condition.kind {
        ConditionKind::Compare(_, a, b) => vec![a.span, b.span],
        ConditionKind::Not(inner) => sides(inner),
        _ => Vec::new(),
    }
}
