//! The parts of a tangent program: its declarations, its statements, and its tangent procedures and macros.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_isa::module::Role;

use super::declarations::globals;
use super::emitter::Emitter;
use super::program::insert_helpers;
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
        let mut made = self.placed(made, variants);
        let registers = self.register_cells(&made, Role::Private);
        insert_helpers(registers, &mut made);
        made
    }

    /// Adds the variants of procedures and macros to a program. The variants of a definition that no statement uses any
    /// more replace the definition, under its comment; the others are added at the end.
    fn placed(&self, made: Body, variants: Body) -> Body {
        let mut variants_of: HashMap<&CompactString, Vec<&CompactString>> = HashMap::new();
        let procedures = self.variants.iter().map(|(variant, name)| (&variant.name, name));
        let macros = self.macro_variants.iter().map(|(variant, name)| (&variant.name, name));
        for (original, name) in procedures.chain(macros) {
            variants_of.entry(original).or_default().push(name);
        }
        let has_variants = |name: &CompactString| variants_of.contains_key(name);
        let used = used(&made, &variants, has_variants);
        let mut rest = variants;
        let mut all = Body::with_capacity(made.len());
        for node in made {
            let original = defined(&node).filter(|name| !used.contains(*name));
            let Some(names) = original.and_then(|name| variants_of.get(name)) else {
                all.push(node);
                continue;
            };
            let is_variant = |node: &StatementNode| defined(node).is_some_and(|name| names.contains(&name));
            let mut is_first = true;
            while let Some(place) = rest.iter().position(is_variant) {
                // A variant follows an empty line and a heading. The comment of the definition replaces the first heading.
                let lines: Body = rest.drain(place.saturating_sub(2)..=place).collect();
                all.extend(lines.into_iter().skip(if is_first { 2 } else { 0 }));
                is_first = false;
            }
        }
        all.extend(rest);
        all
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
    /// an input, whose components are 1 by default. Other inputs begin with the tangent 0.
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
            component.default = Some(Initial::Every(build::int(1)));
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

/// Returns the names of the procedures and macros that the statements of main, the variants, and the definitions without
/// variants use, and those that these procedures and macros use.
fn used(
    made: &Body,
    variants: &Body,
    has_variants: impl Fn(&CompactString) -> bool,
) -> HashSet<CompactString> {
    let mut used = HashSet::new();
    visit::statements(variants, &mut |statement| used.extend(names_of_used(statement)));
    loop {
        let before = used.len();
        for node in made {
            if defined(node).is_none_or(|name| used.contains(name) || !has_variants(name)) {
                let node = std::slice::from_ref(node);
                visit::statements(node, &mut |statement| used.extend(names_of_used(statement)));
            }
        }
        if used.len() == before {
            return used;
        }
    }
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
