//! Views: `-x` in the place of a cell that changes. The statement changes the negative of x.
//!
//! ```text
//! add -x, y         →    sub x, y
//! overwrite -x, y   →    overwrite x, -y
//! swap -x, y        →    neg x;  swap x, y;  neg x
//! call p(-x)        →    neg x;  call p(x);  neg x      if the parameter is `inout`
//! ```
//!
//! Views are replaced when a program is loaded, so later parts know only cells. Liu and Zhao ("Differentiate everything
//! with a reversible embedded domain-specific language", 2020, section 3.1) name them *dataviews*.

use std::collections::HashMap;

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::module::{Passing, Rank};
use reviver_isa::update::{Action, Update};

use crate::build;
use crate::tree::{
    Body, Expression, ExpressionKind, InstructionNode, Operands, Statement, StatementNode, Subscript,
    UnaryOperator,
};
use crate::visit;

/// For each procedure, which of its parameters are scalars that it changes.
type Changed = HashMap<CompactString, Vec<bool>>;

/// Replaces the views in the trees of a program.
pub(crate) fn expand(trees: &mut [Body]) {
    let mut changed = Changed::new();
    for node in trees.iter().flatten() {
        if let Statement::Procedure(tree) = &node.statement {
            let is_changed = tree.parameters.iter().map(|it| (it.passing, it.rank));
            let is_changed = is_changed.map(|it| it == (Passing::InOut, Rank::Scalar)).collect();
            changed.insert(tree.name.text.clone(), is_changed);
        }
    }
    trees.iter_mut().for_each(|body| expand_body(body, &changed));
}

fn expand_body(body: &mut Body, changed: &Changed) {
    for node in body.iter_mut() {
        node.statement.bodies_mut().into_iter().for_each(|inner| expand_body(inner, changed));
    }
    if !body.iter_mut().any(|node| has_view(node, changed)) {
        return;
    }
    for mut node in std::mem::take(body) {
        let made = if has_view(&mut node, changed) { expanded(&mut node, changed) } else { Body::new() };
        match made.is_empty() {
            true => body.push(node),
            false => body.extend(made),
        }
    }
}

fn has_view(node: &mut StatementNode, changed: &Changed) -> bool {
    let Statement::Instruction(instruction) = &mut node.statement else { return false };
    targets(instruction, changed).into_iter().any(|target| viewed(target).is_some())
}

/// Returns the statements that replace one with views; none if it has no views.
fn expanded(node: &mut StatementNode, changed: &Changed) -> Body {
    let Statement::Instruction(instruction) = &mut node.statement else { return Body::new() };
    let is_call = matches!(instruction.operands, Operands::Call(_));
    let operands: Vec<Expression> = targets(instruction, changed).into_iter().map(|it| it.clone()).collect();
    let mut viewed: Vec<Expression> = operands.iter().filter_map(viewed).cloned().collect();
    // After the statement, the indices must denote the same element.
    let changes = |name: &CompactString| is_call || operands.iter().any(|it| base(it) == Some(name));
    if viewed.is_empty() || viewed.iter().any(|cell| index_names(cell).into_iter().any(changes)) {
        return Body::new();
    }
    targets(instruction, changed).into_iter().for_each(remove_view);
    if negate_directly(instruction) {
        viewed.clear();
    }
    let span = node.span;
    let negation = |cell: &Expression| StatementNode {
        span,
        ..build::update(Update::Neg, Function::Copy, vec![cell.clone()])
    };
    let mut statement = node.clone();
    let (label, comment) = (statement.label.take(), statement.comment.take());
    let mut made: Body = viewed.iter().map(negation).collect();
    made.push(statement);
    made.extend(viewed.iter().rev().map(negation));
    if let Some(first) = made.first_mut() {
        (first.label, first.comment) = (label, comment);
    }
    made
}

/// Changes an instruction so that it changes the negative of its target. Returns false if one instruction can't.
fn negate_directly(instruction: &mut InstructionNode) -> bool {
    match (instruction.update, &mut instruction.operands) {
        (Update::Add, _) => instruction.update = Update::Sub,
        (Update::Sub, _) => instruction.update = Update::Add,
        (Update::Overwrite, Operands::Cells(cells)) => {
            let Some((target, sources)) = cells.split_first() else { return false };
            let value = build::negated(build::applied(instruction.function, sources.to_vec()));
            *cells = [target.clone(), value].into();
            instruction.function = Function::Copy;
        }
        _ => return false,
    }
    true
}

/// Returns the operands that an instruction changes.
fn targets<'t>(instruction: &'t mut InstructionNode, changed: &Changed) -> Vec<&'t mut Expression> {
    match &mut instruction.operands {
        // The output of `show` has the name of the operand.
        Operands::Cells(cells) if instruction.update.action() != Action::Show => {
            cells.iter_mut().take(instruction.update.action().shape().targets()).collect()
        }
        Operands::Call(call) => {
            let changed = changed.get(&call.procedure.text).map_or(&[][..], |it| it);
            let arguments = call.arguments.iter_mut().zip(changed);
            arguments.filter(|(_, is_changed)| **is_changed).map(|(argument, _)| argument).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the cell of a view.
fn viewed(target: &Expression) -> Option<&Expression> {
    let ExpressionKind::Unary(UnaryOperator::Negate, cell) = &target.kind else { return None };
    match &cell.kind {
        ExpressionKind::Name { .. } => Some(cell),
        ExpressionKind::Element(_) => Some(cell),
        _ => None,
    }
}

fn remove_view(target: &mut Expression) {
    if let Some(cell) = viewed(target).cloned() {
        *target = cell;
    }
}

/// Returns the array or the variable to which a target belongs.
fn base(target: &Expression) -> Option<&CompactString> {
    match &viewed(target).unwrap_or(target).kind {
        ExpressionKind::Name { name, .. } => Some(name),
        ExpressionKind::Element(element) => Some(&element.name),
        _ => None,
    }
}

/// Returns the names that the indices of an element mention.
fn index_names(cell: &Expression) -> Vec<&CompactString> {
    let mut found = Vec::new();
    if let ExpressionKind::Element(element) = &cell.kind {
        for subscript in &element.subscripts {
            let indices = match subscript {
                Subscript::At(index) => vec![index],
                Subscript::All => Vec::new(),
                Subscript::Span { from, to, step } => [from, to].into_iter().chain(step).collect(),
            };
            for index in indices {
                visit::in_expression(index, &mut |part| found.extend(base(part)));
            }
        }
    }
    found
}
