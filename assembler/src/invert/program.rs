//! The inverse of a whole program: its declarations, tapes and headers, and the texts that are the same in
//! the inverse.

use std::collections::HashSet;

use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_isa::update::Update;

use super::arrange::turned;
use super::body::{Inverter, irreversible};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Body, Directive, Statement, StatementNode};

/// Returns the inverse of a whole program.
///
/// Declarations, procedures and macros keep their places, and the statements of main are inverted. Inputs and
/// outputs exchange roles; garbage stays garbage. Includes are preserved: their texts must be the
/// same in the inverse.
///
/// Everything that concerns only the original is dropped:
///
/// - the `default` of an input; that of an `.inout` stays, because it may apply at both ends;
/// - `shared`, because values that lanes share at the start of the original may differ at its end;
/// - expectations in a header;
/// - records of a disassembler, because they number the instructions of the original.
pub fn invert(body: &Body) -> Result<Body, Vec<Diagnostic>> {
    let mut inverter = Inverter::default();
    inverter.refuse_irreversible([body]);
    let inverse = inverter.program(body);
    inverter.finish(inverse)
}

impl Inverter {
    pub(super) fn program(&mut self, body: &Body) -> Body {
        let (header, program) = split_header(body);
        let mut inverse = header_of_inverse(header);
        let marked_at = inverse.len() + program.iter().take_while(|node| node.is_blank()).count();
        inverse.extend(turned(program, |node, class| self.program_node(node, class)));
        if body.iter().any(is_mark) {
            inverse.retain(|node| !is_mark(node));
        } else {
            inverse.insert(marked_at.min(inverse.len()), mark());
        }
        inverse.retain(|node| !is_record(node));
        exchange_tapes(&mut inverse);
        inverse
    }

    fn program_node(&mut self, node: &StatementNode, class: Option<Class>) -> StatementNode {
        let statement = match &node.statement {
            Statement::Directive(directive) => Statement::Directive(inverse_directive(directive)),
            Statement::Procedure(procedure) => {
                let mut procedure = procedure.clone();
                procedure.body.retain(|node| !is_record(node));
                Statement::Procedure(procedure)
            }
            Statement::Macro(_) => node.statement.clone(),
            _ => return self.node(node, class),
        };
        StatementNode { statement, ..node.clone() }
    }

    /// Reports the irreversible instructions in the procedures and macros of the given bodies.
    pub(super) fn refuse_irreversible<'b>(&mut self, texts: impl IntoIterator<Item = &'b Body>) {
        let nodes: Vec<&StatementNode> = texts.into_iter().flatten().collect();
        let rules = rules(&nodes);
        for node in nodes {
            let body = match &node.statement {
                Statement::Procedure(procedure) if !rules.contains(procedure.name.text.as_str()) => {
                    &procedure.body
                }
                Statement::Macro(definition) => &definition.body,
                _ => continue,
            };
            visit(body, &mut |node| {
                if let Statement::Instruction(instruction) = &node.statement
                    && !instruction.update.is_reversible()
                {
                    self.diagnostics.push(irreversible(instruction.update, instruction.mnemonic));
                }
            });
        }
    }
}

/// Splits off the comment at the beginning of a file, which describes the whole program.
pub(crate) fn split_header(body: &Body) -> (&[StatementNode], &[StatementNode]) {
    let is_comment = |node: &&StatementNode| {
        matches!(node.statement, Statement::Empty) && node.comment.is_some() && node.label.is_none()
    };
    let lines = body.iter().take_while(is_comment).count();
    body.split_at_checked(lines).unwrap_or((&[], body))
}

/// Returns the header without its expectations (`;! run … -> …`), which concern the original, and without the
/// empty line that separated them.
pub(crate) fn header_of_inverse(header: &[StatementNode]) -> Body {
    let says = |node: &StatementNode, what: fn(&str) -> bool| node.comment.as_deref().is_some_and(what);
    let mut kept: Body =
        header.iter().filter(|node| !says(node, |text| text.starts_with('!'))).cloned().collect();
    if kept.len() < header.len() {
        while kept.last().is_some_and(|node| says(node, |text| text.trim().is_empty())) {
            kept.pop();
        }
    }
    kept
}

fn inverse_directive(directive: &Directive) -> Directive {
    match directive {
        Directive::Globals { role, declarations } => {
            let mut declarations = declarations.clone();
            declarations.iter_mut().for_each(|declaration| declaration.is_shared = false);
            if *role != Role::InOut {
                declarations.iter_mut().for_each(|declaration| declaration.default = None);
            }
            Directive::Globals { role: inverse_role(*role), declarations }
        }
        _ => directive.clone(),
    }
}

/// Returns the directive's role in the text of the inverse. `.garbage` stays `.garbage`, so that inverting
/// twice restores the text. In a text marked with `.inverse`, `.garbage` declares an input.
fn inverse_role(role: Role) -> Role {
    match role {
        Role::Garbage => Role::Garbage,
        role => role.inverse(),
    }
}

/// Returns true if a text, apart from its includes, is the same in the inverse of every program that includes
/// it. Such a text declares no inputs and outputs, has no statements of main, and uses no tapes.
pub(super) fn stays(body: &Body) -> bool {
    let mut taped = false;
    visit(body, &mut |node| taped |= uses_tape(node));
    !taped && body.iter().all(node_stays)
}

fn node_stays(node: &StatementNode) -> bool {
    match &node.statement {
        Statement::Empty => node.label.is_none(),
        Statement::Directive(Directive::Globals { role, .. }) => *role == inverse_role(*role),
        Statement::Directive(Directive::Ancillas(_)) => true,
        Statement::Directive(_) => !is_record(node) && !is_mark(node),
        Statement::Procedure(_) | Statement::Macro(_) => true,
        _ => false,
    }
}

/// Returns the line `.inverse`, which marks a program as an inverse.
fn mark() -> StatementNode {
    let statement = Statement::Directive(Directive::Inverse);
    StatementNode { label: None, statement, comment: None, span: Span::default() }
}

pub(crate) fn is_mark(node: &StatementNode) -> bool {
    matches!(node.statement, Statement::Directive(Directive::Inverse))
}

pub(crate) fn is_record(node: &StatementNode) -> bool {
    use Directive::{Block, File, Lines, NoLabels, Path, Scope, Value};
    let Statement::Directive(directive) = &node.statement else { return false };
    matches!(directive, Lines(_) | NoLabels | Path(_) | File { .. } | Block(_) | Scope(_) | Value(_))
}

/// Returns the names of the procedures that are custom adjoint rules of other procedures. Rules run only
/// forward.
fn rules<'b>(nodes: &[&'b StatementNode]) -> HashSet<&'b str> {
    let mut rules = HashSet::new();
    for node in nodes {
        if let Statement::Procedure(procedure) = &node.statement {
            rules.extend(procedure.rules().map(|rule| rule.text.as_str()));
        }
    }
    rules
}

/// Visits all statements of a body, including nested ones.
fn visit(body: &Body, look: &mut impl FnMut(&StatementNode)) {
    for node in body {
        look(node);
        for inner in node.statement.bodies() {
            visit(inner, look);
        }
    }
}

/// Returns the update that has the same effect on a cell but uses the other tape: `unwrite` for `read`,
/// `unread` for `write`, and vice versa. Returns `None` for updates that use no tape.
fn other_tape(update: Update) -> Option<Update> {
    match update {
        Update::Read => Some(Update::Unwrite),
        Update::Unwrite => Some(Update::Read),
        Update::Write => Some(Update::Unread),
        Update::Unread => Some(Update::Write),
        _ => None,
    }
}

fn uses_tape(node: &StatementNode) -> bool {
    matches!(&node.statement, Statement::Instruction(it) if other_tape(it.update).is_some())
}

/// Replaces every tape instruction by the one on the other tape: see [`other_tape`].
fn exchange_tapes(body: &mut Body) {
    for node in body {
        if let Statement::Instruction(instruction) = &mut node.statement {
            instruction.update = other_tape(instruction.update).unwrap_or(instruction.update);
        }
        node.statement.bodies_mut().into_iter().for_each(exchange_tapes);
    }
}
