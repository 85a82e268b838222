//! The parts of a tangent program: its declarations, its statements, and its tangent procedures and macros.

use std::collections::HashSet;

use compact_str::CompactString;
use reviver_isa::module::Role;

use super::emitter::Emitter;
use super::program::{globals, insert_helpers};
use super::request::TangentRequest;
use crate::build;
use crate::invert::program as inverse;
use crate::tree::{
    Body, DeclarationNode, Directive, Initial, InstructionNode, Operands, Statement, StatementNode,
};
use crate::visit;

impl Emitter {
    /// Returns the tangent program.
    pub(super) fn tangent_program(&mut self, body: &Body, request: &TangentRequest) -> Body {
        self.refuse_adjoints(body);
        let (header, body) = inverse::split_header(body);
        let mut made = self.header(header, &self.tangent_lines());
        let is_inverse = body.iter().any(inverse::is_mark);
        self.begin_body(&[]);
        for node in body.iter().filter(|node| !inverse::is_record(node) && !inverse::is_mark(node)) {
            match &node.statement {
                Statement::Directive(Directive::Globals { role, declarations }) => {
                    let role = if is_inverse && *role == Role::Garbage { Role::In } else { *role };
                    let directive = Directive::Globals { role, declarations: declarations.clone() };
                    made.push(StatementNode { statement: Statement::Directive(directive), ..node.clone() });
                    self.tangents(request, (role, declarations), &mut made);
                }
                Statement::Directive(Directive::Include { path_span, .. }) => {
                    made.push(node.clone());
                    for node in self.included.get(path_span).cloned().unwrap_or_default() {
                        self.included_tangents(request, &node.statement, &mut made);
                    }
                }
                Statement::Directive(Directive::Ancillas(_)) => {
                    made.extend(self.statements(std::slice::from_ref(node)));
                }
                Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_) => {
                    made.push(node.clone());
                }
                _ => made.extend(self.statements(std::slice::from_ref(node))),
            }
        }
        while made.last().is_some_and(StatementNode::is_blank) {
            made.pop();
        }
        let variants = self.write_variants();
        made.extend(variants);
        remove_unused(&mut made);
        let registers = self.register_cells(&made, Role::Private);
        insert_helpers(registers, &mut made);
        made
    }

    /// Returns the lines that describe a tangent program.
    fn tangent_lines(&self) -> [String; 2] {
        let [x, y] = ["x", "y"].map(|name| self.fresh.adjoint(name));
        let origin = self.origin();
        [
            format!(
                " The derivatives along a direction, by a forward run. Made from {origin} by `reviver jvp --emit`."
            ),
            format!(
                " The input `{x}` is the direction's component for `x`, and the result `{y}` is the derivative of `y`."
            ),
        ]
    }

    /// Appends the tangents of the globals that an included file declares.
    fn included_tangents(&mut self, request: &TangentRequest, statement: &Statement, made: &mut Body) {
        match statement {
            Statement::Directive(Directive::Globals { role, declarations }) => {
                self.tangents(request, (*role, declarations), made);
            }
            Statement::Directive(Directive::Ancillas(declarations)) => {
                self.tangents(request, (Role::Private, declarations), made);
            }
            _ => {}
        }
    }

    /// Appends the declarations of the tangents of globals. The tangent of an input that changes along the direction is
    /// an input, which is 1 by default if it is a scalar. Other inputs begin with the tangent 0.
    fn tangents(
        &mut self,
        request: &TangentRequest,
        (role, declarations): (Role, &[DeclarationNode]),
        made: &mut Body,
    ) {
        self.refuse_given_stack(role, declarations);
        let is_moved =
            |it: &DeclarationNode| request.inputs.iter().any(|input| input == it.name.text.as_str());
        let (moved, fixed): (Vec<_>, Vec<_>) = declarations.iter().cloned().partition(is_moved);
        let mut components = self.adjoint_declarations(&moved);
        for component in &mut components {
            let is_scalar = component.shape.lengths().is_empty();
            component.default = is_scalar.then(|| Initial::Every(build::int(1)));
        }
        let zero_role = match role {
            Role::In => Role::Private,
            Role::InOut => Role::Out,
            role => role,
        };
        for (role, tangents) in [(role, components), (zero_role, self.adjoint_declarations(&fixed))] {
            if !tangents.is_empty() {
                made.push(globals(role, tangents, ""));
            }
        }
    }
}

/// Removes the procedures and macros that no statement uses, because their variants replace them.
fn remove_unused(body: &mut Body) {
    let mut used: HashSet<CompactString> = HashSet::new();
    loop {
        let before = used.len();
        let mut found = HashSet::new();
        for node in body.iter() {
            if defined(node).is_none_or(|name| used.contains(name)) {
                visit::statements(std::slice::from_ref(node), &mut |statement| {
                    found.extend(names_of_used(statement));
                });
            }
        }
        used.extend(found);
        if used.len() == before {
            break;
        }
    }
    body.retain(|node| defined(node).is_none_or(|name| used.contains(name)));
}

/// Returns the name of the procedure or macro that a statement defines.
fn defined(node: &StatementNode) -> Option<&CompactString> {
    match &node.statement {
        Statement::Procedure(tree) => Some(&tree.name.text),
        Statement::Macro(tree) => Some(&tree.name.text),
        _ => None,
    }
}

/// Returns the names of the procedures and macros that a statement uses.
fn names_of_used(statement: &Statement) -> Vec<CompactString> {
    match statement {
        Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => {
            vec![call.procedure.text.clone()]
        }
        Statement::Tasks(tasks) => tasks.calls().map(|call| call.procedure.text.clone()).collect(),
        Statement::MacroUse { name, .. } => vec![name.text.clone()],
        _ => Vec::new(),
    }
}
