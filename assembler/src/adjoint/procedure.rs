//! Adjoint procedures and adjoint macros. The adjoint procedure of `p` has an adjoint parameter after each real parameter
//! of `p`. It executes the inverse of `p` in gradient mode, or `p` itself (the *forward* variant).
//!
//! A variant is written once, when a statement needs it. It depends on the direction, and on the arguments: two `in`
//! parameters that get the same cell share the adjoint of this cell.
//!
//! The tangent procedure of `p` has a tangent parameter after each real parameter. It is the only variant: an `uncall` of
//! `p` is an `uncall` of the tangent procedure, and tangents of `in` parameters are only read.

use std::rc::Rc;

use compact_str::{CompactString, format_compact};
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, Rank};
use reviver_isa::update::Update;

use super::emitter::Emitter;
use super::overlap::may_overlap;
use super::request::Mode;
use super::variants::{AdjointPassing, Variant};
use crate::build;
use crate::format::spelled;
use crate::fresh::adjoint_of;
use crate::invert::invert_body;
use crate::scopes;
use crate::tree::{
    Body, CallNode, DeclarationNode, Expression, ParameterNode, ProcedureNode, ShapeNode, Statement,
    StatementNode,
};

impl Emitter {
    /// Returns the statements that execute a call in gradient mode. Returns `None` if the procedure has no real
    /// parameter and touches no real of the program, so that the call itself suffices.
    pub(super) fn called(&mut self, update: Update, call: &CallNode) -> Option<Body> {
        let is_forward = update == Update::Call || self.mode == Mode::Tangent;
        let procedure = Rc::clone(self.procedures.get(&call.procedure.text)?);
        if !self.has_reals(&call.procedure.text) {
            return None;
        }
        if self.mode == Mode::Tangent && procedure.rules().next().is_some() {
            return Some(self.by_tangent_rule(update, call, &procedure));
        }
        if self.mode == Mode::Adjoint
            && let Some(rule) = &procedure.rule
        {
            return Some(self.by_rule(update, call, &procedure, &rule.text));
        }
        if self.is_switching(&call.procedure.text) {
            self.refuse(
                call.procedure.span,
                &format!("`{}` switches gradient mode, and is called in gradient mode", call.procedure.text),
                "the mode is on already",
                "switch the mode off before the call, or call it at a greater depth: `grad.on 2`",
            );
            return Some(Body::new());
        }
        let passed = self.passed(&procedure.parameters, &call.arguments);
        let (name, adjoints) = (call.procedure.text.clone(), passed.adjoints.clone());
        let name = self.variant(Variant { name, is_forward, is_on: true, adjoints });
        let update = if self.mode == Mode::Tangent { update } else { Update::Call };
        let call = build::call(update, &name, passed.arguments.clone());
        Some(passed.around(call))
    }

    /// Returns the arguments of a call with their adjoints.
    pub(super) fn passed(
        &mut self,
        parameters: &[ParameterNode],
        arguments: &[Expression],
    ) -> PassedArguments {
        let mut passed = PassedArguments::default();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            self.pass(parameter, argument, &mut passed);
        }
        passed
    }

    /// Adds an argument and its adjoint to those of an adjoint procedure.
    fn pass(&mut self, parameter: &ParameterNode, argument: &Expression, passed: &mut PassedArguments) {
        if parameter.class != Some(Class::Real) {
            passed.arguments.push(argument.clone());
            passed.adjoints.push(AdjointPassing::None);
            passed.cells.push(None);
            return;
        }
        if self.names.is_real_cell(argument) && self.mode == Mode::Tangent {
            passed.arguments.extend([argument.clone(), adjoint_of(&self.fresh, argument)]);
            passed.adjoints.push(AdjointPassing::Own);
            passed.cells.push(None);
            return;
        }
        if self.names.is_real_cell(argument) {
            let text = spelled(argument);
            let is_same = |other: &Option<(Expression, Rank)>| {
                other.as_ref().is_some_and(|(it, rank)| *rank == parameter.rank && spelled(it) == text)
            };
            passed.arguments.push(argument.clone());
            if let Some(other) = passed.cells.iter().position(is_same) {
                passed.adjoints.push(AdjointPassing::SameAs(other));
                passed.cells.push(None);
                return;
            }
            let overlaps =
                passed.cells.iter().flatten().any(|(other, _)| may_overlap(&self.fresh, other, argument));
            let is_read_only = parameter.passing == Passing::In;
            let n = passed.cells.len();
            match (is_read_only && overlaps).then(|| self.collected(n, argument)).flatten() {
                Some(collected) => {
                    passed.before.extend(collected.before);
                    passed.arguments.push(collected.passed);
                    passed.after.push(collected.after);
                }
                None => passed.arguments.push(adjoint_of(&self.fresh, argument)),
            }
            passed.adjoints.push(AdjointPassing::Own);
            passed.cells.push(Some((argument.clone(), parameter.rank)));
            return;
        }
        let n = passed.cells.len();
        let (local, adjoint) = self.argument(n, argument, &mut passed.before, &mut passed.after);
        passed.arguments.extend([local, adjoint]);
        passed.adjoints.push(AdjointPassing::Own);
        passed.cells.push(None);
    }

    /// Returns the name of a variant, which is written later.
    pub(super) fn variant(&mut self, variant: Variant) -> CompactString {
        if let Some(name) = self.variants.get(&variant) {
            return name.clone();
        }
        let adjoint = self.fresh.adjoint(&variant.name);
        let wanted = match (variant.is_forward, self.mode) {
            _ if !variant.is_on => format_compact!("{}_with{}", variant.name, self.fresh.adjoint("")),
            (true, Mode::Adjoint) => format_compact!("{adjoint}_forward"),
            _ => adjoint,
        };
        let name = self.fresh.fresh(&wanted);
        self.variants.insert(variant.clone(), name.clone());
        self.pending.push((variant, name.clone()));
        name
    }

    /// Writes all variants that statements need, in the order in which they were requested.
    pub(super) fn write_variants(&mut self) -> Body {
        let mut made = Body::new();
        loop {
            let (variants, rules) =
                (std::mem::take(&mut self.pending), std::mem::take(&mut self.pending_rules));
            let macros = std::mem::take(&mut self.pending_macros);
            if variants.is_empty() && rules.is_empty() && macros.is_empty() {
                return made;
            }
            for (variant, name) in macros {
                made.extend(self.write_macro(&variant, &name));
            }
            for (variant, name) in variants {
                made.extend(self.write_variant(&variant, &name));
            }
            for (variant, name) in rules {
                made.extend(self.write_rule(&variant, &name));
            }
        }
    }

    fn write_variant(&mut self, variant: &Variant, name: &CompactString) -> Body {
        let Some(procedure) = self.procedures.get(&variant.name).cloned() else { return Body::new() };
        let body = match variant.is_forward {
            true => Ok(procedure.body.clone()),
            false => invert_body(&procedure.body),
        };
        let body = match body {
            Ok(body) => body,
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                return Body::new();
            }
        };
        self.begin(&procedure.parameters, variant);
        self.begin_mode(variant.is_on);
        let mut statements = self.statements(&body);
        self.check_mode(variant.is_on, procedure.name.span, "the procedure");
        if self.mode == Mode::Adjoint && variant.is_on {
            self.drop_frame(&mut statements);
        }
        self.complete(&mut statements);
        let about = match (self.mode, variant.is_forward) {
            _ if !variant.is_on => format!(" `{}` with adjoints.", variant.name),
            (Mode::Tangent, _) => format!(" `{}` with tangents.", variant.name),
            (_, true) => format!(" `{}` in gradient mode, forward.", variant.name),
            (_, false) => format!(" `{}` in gradient mode, backward.", variant.name),
        };
        self.procedure(&about, name, (&procedure, variant), statements)
    }

    /// Begins the body of a procedure: its parameters become visible. A parameter without its own adjoint is bound to the
    /// adjoint that it shares.
    pub(super) fn begin(&mut self, parameters: &[ParameterNode], variant: &Variant) {
        self.names.begin(&variant.name, scopes::parameters(parameters));
        let shared =
            variant.adjoints.iter().zip(parameters).filter_map(|(passing, parameter)| match passing {
                AdjointPassing::SameAs(other) => {
                    Some((parameter.name.text.clone(), parameters.get(*other)?.name.text.clone()))
                }
                _ => None,
            });
        self.begin_body(&shared.collect::<Vec<_>>());
    }

    /// Begins the body of a procedure or a macro. `shared` has the names whose adjoints are those of other names.
    pub(super) fn begin_body(&mut self, shared: &[(CompactString, CompactString)]) {
        self.frame.clear();
        self.labels.clear();
        self.fresh.share(shared);
    }

    pub(super) fn procedure(
        &mut self,
        about: &str,
        name: &CompactString,
        (original, variant): (&ProcedureNode, &Variant),
        body: Body,
    ) -> Body {
        let mut all = Vec::new();
        for (parameter, passing) in original.parameters.iter().zip(&variant.adjoints) {
            all.push(parameter.clone());
            if *passing == AdjointPassing::Own {
                let name = build::name(&self.fresh.adjoint(&parameter.name.text));
                // Adjoints of parameters that are only read change, and their tangents don't.
                let passing = if self.mode == Mode::Tangent { parameter.passing } else { Passing::InOut };
                all.push(ParameterNode { passing, name, ..parameter.clone() });
            }
        }
        let tree = ProcedureNode {
            name: build::name(name),
            parameters: all,
            rule: None,
            tangent: None,
            body,
            end_comment: None,
            end: self.end_like(original.end),
        };
        let mut made =
            vec![build::blank(), build::heading(about), build::node(Statement::Procedure(Box::new(tree)))];
        self.place(&mut made, original.name.span);
        made
    }

    /// Appends statements that drop the adjoints of the frame's variables.
    pub(super) fn drop_frame(&mut self, body: &mut Body) {
        for (adjoint, lengths) in std::mem::take(&mut self.frame) {
            self.drop_array(&adjoint, &lengths, body);
        }
    }

    /// Returns the declaration of the adjoint of a declared real.
    pub(super) fn adjoint_declaration(&self, declaration: &DeclarationNode) -> DeclarationNode {
        DeclarationNode {
            record: None,
            name: build::name(&self.fresh.adjoint(&declaration.name.text)),
            shape: ShapeNode::Lengths(declaration.shape.lengths().to_vec()),
            class: Some(Class::Real),
            initial: None,
            is_shared: false,
            default: None,
        }
    }
}

/// Arguments of a call of an adjoint procedure.
#[derive(Default)]
pub(super) struct PassedArguments {
    /// Statements before the call, and groups of statements after it in reverse order.
    pub before: Body,
    pub after: Vec<Body>,
    pub arguments: Vec<Expression>,
    pub adjoints: Vec<AdjointPassing>,
    /// The arguments that are real cells with separate adjoints, by parameter.
    cells: Vec<Option<(Expression, Rank)>>,
}

impl PassedArguments {
    /// Returns the call between the statements before and after it.
    pub fn around(self, call: StatementNode) -> Body {
        let mut made = self.before;
        made.push(call);
        made.extend(self.after.into_iter().rev().flatten());
        made
    }
}
