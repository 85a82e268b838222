//! A whole program, whose gradients become statements: its declarations, main, and the procedures and macros.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;

use super::involved::{Involved, named};
use super::mode::OwnMode;
use crate::adjoint::declarations::{declaration, globals, tolerance};
use crate::adjoint::emitter::Emitter;
use crate::adjoint::request::Mode;
use crate::adjoint::stacks::{self, DropPlace, UsedStores};
use crate::build;
use crate::definitions::ProgramNames;
use crate::diagnostic::{Diagnostic, in_order};
use crate::format::print_with;
use crate::fresh::FreshNames;
use crate::history;
use crate::invert::program::is_record;
use crate::source::Sources;
use crate::tree::{
    Body, DeclarationNode, Directive, ExpressionKind, ProcedureNode, ShapeNode, Statement, StatementNode,
};
use crate::visit;

/// Returns a program without gradient mode of depth 1. Greater depths become smaller by 1.
pub(super) fn lowered(sources: &mut Sources, body: &Body) -> Result<Body, Vec<Diagnostic>> {
    let body = &without_records(body);
    let text = print_with(sources, body);
    let mut fresh = FreshNames::of([text.as_str()].into_iter(), Mode::Adjoint.suffix());
    let program = ProgramNames::of([body].into_iter());
    let stores = UsedStores::of(&program.names, std::slice::from_ref(body));
    let dropped = fresh.fresh("dropped");
    let own = OwnMode {
        is_on: false,
        involved: Involved::of(&program.procedures, &program.macros),
        blocks: vec![true],
        branches: HashMap::new(),
        zero: stores.stack.then(|| fresh.fresh("zero")),
        computes: 0,
        dropped: [dropped.clone(), fresh.fresh("dropped_count")],
        is_unbalanced: false,
    };
    let drops = if stores.stack { DropPlace::Array } else { DropPlace::Stack };
    let sources_of_program = std::mem::take(sources);
    let mut emitter =
        Emitter { own: Some(own), ..Emitter::new(sources_of_program, Mode::Adjoint, fresh, program, drops) };
    let mut made = emitter.without_mode(body, &dropped);
    if stores.stack {
        stacks::double_limits(&mut made);
    }
    let Emitter { sources: given_back, mut diagnostics, .. } = emitter;
    *sources = given_back;
    if diagnostics.is_empty() {
        return Ok(made);
    }
    in_order(&mut diagnostics);
    Err(diagnostics)
}

impl Emitter {
    /// Begins statements in a mode.
    pub(in crate::adjoint) fn begin_mode(&mut self, is_on: bool) {
        if let Some(own) = &mut self.own {
            (own.is_on, own.blocks, own.computes) = (is_on, vec![true], 0);
            own.branches.clear();
        }
    }

    /// Completes the body of main, of a procedure or of a macro.
    pub(in crate::adjoint) fn complete(&mut self, body: &mut Body) {
        if self.own.is_some() {
            self.lower_depths(body);
        }
    }

    fn without_mode(&mut self, body: &Body, dropped: &str) -> Body {
        self.refuse_mode_bit(body);
        let rules = self.rule_names();
        let (mut main, mut declared) = (Body::new(), Vec::new());
        self.begin_body(&[]);
        for node in body {
            match &node.statement {
                Statement::Procedure(tree) if self.is_replaced(tree, &rules) => {}
                Statement::Macro(tree) if self.is_involved(&tree.name.text) => {}
                // A rule belongs to every depth, so its adjoints stay.
                Statement::Procedure(tree) if rules.contains(&tree.name.text) => main.push(node.clone()),
                Statement::Procedure(_) | Statement::Macro(_) => {
                    let mut kept = vec![node.clone()];
                    if let Some(zero) = self.own.as_ref().and_then(|own| own.zero.as_ref()) {
                        stacks::pair(&self.names, &mut kept, zero);
                    }
                    self.complete(&mut kept);
                    main.append(&mut kept);
                }
                Statement::Empty if node.label.is_none() => main.push(node.clone()),
                Statement::Directive(directive) => {
                    if let Directive::Globals { role, declarations } = directive {
                        self.refuse_result_stack(*role, declarations);
                    }
                    if let Directive::Globals { declarations, .. } | Directive::Ancillas(declarations) =
                        directive
                    {
                        declared.extend(declarations.iter().cloned());
                    }
                    main.push(node.clone());
                }
                _ => {
                    let mut made = self.statements(std::slice::from_ref(node));
                    self.complete(&mut made);
                    main.append(&mut made);
                }
            }
        }
        let end = body.last().map_or_else(Default::default, |node| node.span);
        self.check_mode(false, end, "the program");
        let variants = self.write_variants();
        main.extend(variants);
        self.remove_unused(&mut main);
        let mut helpers = self.own_cells(&declared, dropped, body, &main);
        let is_declaration = |node: &StatementNode| matches!(node.statement, Statement::Directive(_));
        let place = main.iter().rposition(is_declaration).map_or(0, |last| last + 1);
        self.place(&mut helpers, end);
        main.splice(place..place, helpers);
        main
    }

    /// Removes the procedures and macros that only their variants replace.
    fn remove_unused(&self, body: &mut Body) {
        let mut used = HashSet::new();
        visit::statements(body, &mut |statement| {
            used.extend(named(statement).map(CompactString::from));
        });
        let variants = self.variants.keys().map(|variant| &variant.name);
        let replaced: HashSet<&CompactString> =
            variants.chain(self.macro_variants.keys().map(|variant| &variant.name)).collect();
        let is_unused = |name: &CompactString| replaced.contains(name) && !used.contains(name);
        body.retain(|node| match &node.statement {
            Statement::Procedure(tree) => tree.rule.is_some() || !is_unused(&tree.name.text),
            Statement::Macro(tree) => !is_unused(&tree.name.text),
            _ => true,
        });
    }

    /// Reports a stack of reals that is an input or a result: its adjoints would be among its values.
    fn refuse_result_stack(&mut self, role: Role, declarations: &[DeclarationNode]) {
        self.refuse_given_stack(role, declarations);
        let is_stack =
            |it: &&DeclarationNode| it.class == Some(Class::Real) && matches!(it.shape, ShapeNode::Stack);
        if let Some(stack) = declarations.iter().find(is_stack).filter(|_| role == Role::Out) {
            self.refuse(
                stack.name.span,
                "a program that is differentiated again can't have a stack of reals as its result",
                "a stack of results",
                "declare an array instead of the stack",
            );
        }
    }

    fn rule_names(&self) -> HashSet<CompactString> {
        self.procedures.values().flat_map(|it| it.rules()).map(|rule| rule.text.clone()).collect()
    }

    /// Returns true for a procedure of which all uses become uses of its variants.
    fn is_replaced(&self, tree: &ProcedureNode, rules: &HashSet<CompactString>) -> bool {
        self.is_involved(&tree.name.text) && !rules.contains(&tree.name.text)
    }

    /// Reports statements that read the mode.
    fn refuse_mode_bit(&mut self, body: &Body) {
        let mut places = Vec::new();
        visit::statements(body, &mut |statement| {
            visit::expressions(statement, &mut |expression| {
                if matches!(&expression.kind, ExpressionKind::Name { name, .. } if name.as_str() == "mode") {
                    places.push(expression.span);
                }
            });
        });
        for place in places {
            self.refuse(
                place,
                "a program that is differentiated again can't read the mode",
                "reads whether gradient mode is on",
                "write 1 where gradient mode is on, and 0 elsewhere",
            );
        }
    }

    /// Returns the declarations of the adjoints that statements name, of the dropped adjoints, and of the tolerance.
    fn own_cells(&mut self, declared: &[DeclarationNode], dropped: &str, body: &Body, made: &Body) -> Body {
        let used = names_of(made);
        let mut helpers: Body = tolerance(body).into_iter().collect();
        let is_real = |it: &&DeclarationNode| {
            it.class == Some(Class::Real) && matches!(it.shape, ShapeNode::Lengths(_))
        };
        let mut adjoints: Vec<DeclarationNode> =
            declared.iter().filter(is_real).map(|it| self.adjoint_declaration(it)).collect();
        let mut registers = self.real_registers(made);
        registers.extend(self.real_registers(body));
        let lengths = || ShapeNode::Lengths(Vec::new());
        adjoints.extend(registers.iter().map(|name| declaration(&self.fresh.adjoint(name), lengths())));
        adjoints.retain(|it| used.contains(it.name.text.as_str()));
        if let Some(zero) = self.own.as_ref().and_then(|own| own.zero.clone()) {
            helpers.push(globals(Role::Private, vec![declaration(&zero, lengths())], ""));
        }
        if self.has_dropped {
            match self.drops {
                DropPlace::Stack => {
                    let remains = self.own.as_ref().is_some_and(|own| own.is_unbalanced);
                    let role = if remains { Role::Garbage } else { Role::Private };
                    helpers.push(globals(role, vec![declaration(dropped, ShapeNode::Stack)], ""));
                }
                DropPlace::Array => {
                    let [array, count] =
                        self.own.as_ref().map_or_else(Default::default, |own| own.dropped.clone());
                    let lengths = ShapeNode::Lengths(vec![build::int(history::capacity([body]))]);
                    let number = DeclarationNode {
                        class: None,
                        ..declaration(&count, ShapeNode::Lengths(Vec::new()))
                    };
                    helpers.push(globals(Role::Private, vec![declaration(&array, lengths), number], ""));
                }
                DropPlace::Output | DropPlace::Erased | DropPlace::None => {}
            }
        }
        if !adjoints.is_empty() {
            helpers.push(globals(Role::Private, adjoints, ""));
        }
        helpers
    }
}

/// Returns the names of cells in statements.
fn names_of(body: &Body) -> HashSet<CompactString> {
    let mut used = HashSet::new();
    visit::statements(body, &mut |statement| {
        visit::expressions(statement, &mut |expression| match &expression.kind {
            ExpressionKind::Name { name, .. } => {
                used.insert((**name).clone());
            }
            ExpressionKind::Element(element) => {
                used.insert((*element.name).clone());
            }
            _ => {}
        });
    });
    used
}

/// Returns a body without the records of a disassembly, which describe other code.
fn without_records(body: &Body) -> Body {
    let kept = body.iter().filter(|node| !is_record(node)).cloned();
    kept.map(|mut node| {
        node.statement.bodies_mut().into_iter().for_each(|inner| *inner = without_records(inner));
        node
    })
    .collect()
}
