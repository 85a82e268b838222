//! The rules for tangent rules: such a procedure has the parameters of the procedure that names it, and changes only its own
//! variables and the tangents of `inout` parameters.

use std::collections::HashSet;

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;
use reviver_isa::module::Passing;

use super::report::Reporter;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{
    Body, Directive, Expression, ExpressionKind, InstructionNode, Operands, ParameterNode, ProcedureNode,
    Statement,
};

/// Reports a tangent rule that doesn't fit its procedure.
pub(super) fn check(procedure: &ProcedureNode, rule: &ProcedureNode, report: &mut Reporter) {
    let facts = |it: &ParameterNode| (it.class.unwrap_or(Class::Int), it.passing, it.rank);
    if !procedure.parameters.iter().map(facts).eq(rule.parameters.iter().map(facts)) {
        let message = format!(
            "the tangent rule `{}` must have the same parameters as `{}`",
            rule.name.text, procedure.name.text
        );
        let problem = Diagnostic::error(ProblemCode::NoRule, message, rule.name.span, "other parameters");
        report.add(problem.with(procedure.name.span, "the procedure"));
        return;
    }
    let mut own = HashSet::new();
    let mut wrong = Vec::new();
    changes(&rule.body, rule, &mut own, &mut wrong);
    for place in wrong {
        let message = format!(
            "`{}` is a tangent rule: it may change only its own variables and the tangents of `inout` parameters",
            rule.name.text
        );
        let problem = Diagnostic::error(ProblemCode::NoRule, message, place, "changes something else");
        report
            .add(problem.help(
                "write `x'` for the tangent of x, or copy the cell into a `local` and change the copy",
            ));
    }
}

/// Finds the operands by which statements change something else. `own` has the rule's own variables.
fn changes(body: &Body, rule: &ProcedureNode, own: &mut HashSet<CompactString>, wrong: &mut Vec<Span>) {
    for node in body {
        match &node.statement {
            Statement::Directive(Directive::Ancillas(declarations)) => {
                own.extend(declarations.iter().map(|it| it.name.text.clone()));
            }
            Statement::Local(local) => {
                own.insert(local.name.text.clone());
            }
            Statement::Instruction(InstructionNode { update, operands: Operands::Cells(cells), .. }) => {
                let targets = cells.iter().take(update.shape().targets());
                let targets =
                    targets.filter(|target| update.moves_values() || !may_change(target, rule, own));
                wrong.extend(targets.map(|target| target.span));
            }
            Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => {
                let others = call.arguments.iter().filter(|argument| !may_pass(argument, rule, own));
                wrong.extend(others.map(|argument| argument.span));
            }
            _ => {}
        }
        node.statement.bodies().into_iter().for_each(|body| changes(body, rule, own, wrong));
    }
}

fn may_change(target: &Expression, rule: &ProcedureNode, own: &HashSet<CompactString>) -> bool {
    let (name, is_tangent) = match &target.kind {
        ExpressionKind::Name { name, adjoint } => (&**name, *adjoint),
        ExpressionKind::Element(element) => (&*element.name, element.adjoint),
        _ => return true,
    };
    let is_inout = || {
        let parameter = rule.parameters.iter().find(|it| it.name.text == *name);
        parameter.is_some_and(|it| it.passing == Passing::InOut)
    };
    own.contains(name) || is_tangent && is_inout()
}

/// Returns true for an argument that a called procedure can't change, or may change.
fn may_pass(argument: &Expression, rule: &ProcedureNode, own: &HashSet<CompactString>) -> bool {
    let is_in = |name: &CompactString| {
        let parameter = rule.parameters.iter().find(|it| it.name.text == *name);
        parameter.is_some_and(|it| it.passing == Passing::In)
    };
    match &argument.kind {
        ExpressionKind::Name { name, adjoint: false } if is_in(name) => true,
        ExpressionKind::Element(element) if !element.adjoint && is_in(&element.name) => true,
        _ => may_change(argument, rule, own),
    }
}
