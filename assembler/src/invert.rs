//! Inversion on the tree: the program, or the body, that undoes another. Structure stays structure:
//! a `for` stays a `for`, a comment stays with its statement.
//!
//! Knows nothing of classes, names and code; what only lowering can see, lowering refuses.
//!
//! **Tapes.** The inverse of a program reads what the program wrote. Running main backward turns
//! `write` into `unwrite`, which takes the output tape's last value: as an instruction of the
//! inverse program that is a `read` of its own input, where the last value comes first. So every
//! tape instruction, of procedures and macros too, changes its tape (`read` ↔ `unwrite`, `write` ↔
//! `unread`), and then main is inverted: its `call p` becomes `uncall p`, and p's tape traffic has
//! the right direction. The tapes change places, and their order is the opposite.

mod arrange;
mod body;

use std::collections::HashSet;

use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use self::arrange::turned;
use self::body::Inverter;
pub use self::body::invert_body;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Body, Directive, Node, Statement};

/// The inverse of a whole program, whose includes are in place.
///
/// Declarations, procedures and macros keep their places; inputs and outputs change roles; the
/// statements of main are inverted. A `default` says what a program is given, which is another
/// thing for its inverse: it is dropped. So are records of a disassembler, which number the
/// instructions of the original.
pub fn invert(body: &Body) -> Result<Body, Vec<Diagnostic>> {
    let mut inverter = Inverter::default();
    let rules = rules(body);
    for node in body {
        refuse_irreversible(node, &rules, &mut inverter.diagnostics);
    }
    let (header, program) = split_header(body);
    let mut inverse = header.to_vec();
    inverse.extend(turned(program, |node, class| program_node(&mut inverter, node, class)));
    inverse.retain(|node| !is_record(node));
    exchange_tapes(&mut inverse);
    inverter.finish(inverse)
}

/// The comment that a file begins with: it is about the whole.
fn split_header(body: &Body) -> (&[Node], &[Node]) {
    let is_comment = |node: &&Node| {
        matches!(node.statement, Statement::Empty) && node.comment.is_some() && node.label.is_none()
    };
    let lines = body.iter().take_while(is_comment).count();
    body.split_at_checked(lines).unwrap_or((&[], body))
}

fn program_node(inverter: &mut Inverter, node: &Node, class: Option<Class>) -> Node {
    let statement = match &node.statement {
        Statement::Directive(directive) => Statement::Directive(inverse_directive(inverter, directive)),
        Statement::Procedure(_) | Statement::Macro(_) => node.statement.clone(),
        _ => return inverter.node(node, class),
    };
    Node { statement, ..node.clone() }
}

fn inverse_directive(inverter: &mut Inverter, directive: &Directive) -> Directive {
    match directive {
        Directive::Globals { role, declarations } => {
            let mut declarations = declarations.clone();
            declarations.iter_mut().for_each(|declaration| declaration.default = None);
            Directive::Globals { role: role.inverse(), declarations }
        }
        Directive::Include { path_span, .. } => {
            let message = "a program is inverted with its included files, and this one is missing";
            inverter.diagnostics.push(Diagnostic::error(message, *path_span, "not in place"));
            directive.clone()
        }
        _ => directive.clone(),
    }
}

fn is_record(node: &Node) -> bool {
    matches!(&node.statement, Statement::Directive(Directive::Lines(_) | Directive::Block { .. }))
}

/// Procedures that stand in for the adjoint of others. They run as they are, never backward.
fn rules(body: &Body) -> HashSet<&str> {
    let mut rules = HashSet::new();
    for node in body {
        if let Statement::Procedure(procedure) = &node.statement {
            rules.extend(procedure.rule.iter().map(|rule| rule.text.as_str()));
        }
    }
    rules
}

/// Reports what has no inverse in procedures and macros.
fn refuse_irreversible(node: &Node, rules: &HashSet<&str>, diagnostics: &mut Vec<Diagnostic>) {
    let body = match &node.statement {
        Statement::Procedure(procedure) if !rules.contains(procedure.name.text.as_str()) => &procedure.body,
        Statement::Macro(definition) => &definition.body,
        _ => return,
    };
    for node in body {
        visit(node, &mut |node| {
            if let Statement::Instruction(instruction) = &node.statement
                && !instruction.update.is_reversible()
            {
                diagnostics.push(irreversible(instruction.update, instruction.mnemonic));
            }
        });
    }
}

/// What is said about an instruction without an inverse.
fn irreversible(update: Update, place: Span) -> Diagnostic {
    let message = format!("`{}` has no inverse", update.name());
    Diagnostic::error(message, place, "irreversible: it erases what the target held")
        .help("undo what made the value, or keep it: `push` it, or declare it `.garbage`")
}

/// Visits a statement and those inside of it.
fn visit(node: &Node, look: &mut impl FnMut(&Node)) {
    look(node);
    for body in node.statement.bodies() {
        for node in body {
            visit(node, look);
        }
    }
}

/// Makes every instruction use the other tape.
fn exchange_tapes(body: &mut Body) {
    for node in body {
        if let Statement::Instruction(instruction) = &mut node.statement {
            instruction.update = match instruction.update {
                Update::Read => Update::Unwrite,
                Update::Unwrite => Update::Read,
                Update::Write => Update::Unread,
                Update::Unread => Update::Write,
                other => other,
            };
        }
        node.statement.bodies_mut().into_iter().for_each(exchange_tapes);
    }
}
