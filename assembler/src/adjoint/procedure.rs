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
        if let Some(rule) = &procedure.rule {
            if self.mode == Mode::Tangent {
                self.refuse_rule(call);
                return Some(Body::new());
            }
            return Some(self.by_rule(update, call, &procedure, &rule.text));
        }
        let mut passed = PassedArguments::default();
        for (parameter, argument) in procedure.parameters.iter().zip(&call.arguments) {
            self.pass(parameter, argument, &mut passed);
        }
        let variant = Variant { name: call.procedure.text.clone(), is_forward, adjoints: passed.adjoints };
        let name = self.variant(variant);
        let update = if self.mode == Mode::Tangent { update } else { Update::Call };
        let call = build::call(update, &name, passed.arguments);
        let mut made = passed.before;
        made.push(call);
        made.extend(passed.after.into_iter().rev().flatten());
        Some(made)
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

    /// Returns the statements for a call of a procedure with a rule: the call is executed, and then the rule on the
    /// state at the procedure's entry.
    fn by_rule(
        &mut self,
        update: Update,
        call: &CallNode,
        procedure: &ProcedureNode,
        rule: &CompactString,
    ) -> Body {
        let mut passed = PassedArguments::default();
        for (parameter, argument) in procedure.parameters.iter().zip(&call.arguments) {
            self.pass(parameter, argument, &mut passed);
        }
        let PassedArguments { before, arguments, adjoints, after, .. } = passed;
        // The arguments of the procedure itself are those without adjoints.
        let mut own = Vec::new();
        let mut rest = arguments.iter();
        for passing in &adjoints {
            own.extend(rest.next().cloned());
            if *passing == AdjointPassing::Own {
                rest.next();
            }
        }
        let name = self.rule_variant(rule, adjoints);
        let executed = build::call(update, &procedure.name.text, own);
        let mut made = before;
        match update {
            Update::Uncall => made.extend([executed, build::call(Update::Call, &name, arguments)]),
            _ => made.extend([build::call(Update::Uncall, &name, arguments), executed]),
        }
        made.extend(after.into_iter().rev().flatten());
        made
    }

    /// Reports the call of a procedure with a rule. A rule computes adjoints, not tangents.
    fn refuse_rule(&mut self, call: &CallNode) {
        let name = &call.procedure.text;
        self.refuse(
            call.procedure.span,
            &format!("the tangents of `{name}` can't be written as a program: its derivative is given by a rule"),
            "a rule computes adjoints",
            "use `grad --emit` or `jacobian --times`, which apply the rule; or remove `rule`, so that the procedure itself is \
             differentiated",
        );
    }

    /// Returns the name of a variant, which is written later.
    fn variant(&mut self, variant: Variant) -> CompactString {
        if let Some(name) = self.variants.get(&variant) {
            return name.clone();
        }
        let adjoint = self.fresh.adjoint(&variant.name);
        let wanted = if variant.is_forward && self.mode == Mode::Adjoint {
            format_compact!("{adjoint}_forward")
        } else {
            adjoint
        };
        let name = self.fresh.fresh(&wanted);
        self.variants.insert(variant.clone(), name.clone());
        self.pending.push((variant, name.clone()));
        name
    }

    fn rule_variant(&mut self, rule: &CompactString, adjoints: Vec<AdjointPassing>) -> CompactString {
        let variant = Variant { name: rule.clone(), is_forward: true, adjoints };
        if let Some(name) = self.rules.get(&variant) {
            return name.clone();
        }
        let name = self.fresh.fresh(&self.fresh.adjoint(rule));
        self.rules.insert(variant.clone(), name.clone());
        self.pending_rules.push((variant, name.clone()));
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
        let mut statements = self.statements(&body);
        if self.mode == Mode::Adjoint {
            self.drop_frame(&mut statements);
        }
        let about = match (self.mode, variant.is_forward) {
            (Mode::Tangent, _) => format!(" `{}` with tangents.", variant.name),
            (_, true) => format!(" `{}` in gradient mode, forward.", variant.name),
            (_, false) => format!(" `{}` in gradient mode, backward.", variant.name),
        };
        self.procedure(&about, name, (&procedure.parameters, variant), statements)
    }

    /// Writes a rule: its statements name adjoints, which become the adjoint parameters.
    fn write_rule(&mut self, variant: &Variant, name: &CompactString) -> Body {
        let Some(procedure) = self.procedures.get(&variant.name).cloned() else { return Body::new() };
        self.begin(&procedure.parameters, variant);
        let mut body = procedure.body.clone();
        self.name_adjoints(&mut body);
        let about = format!(" The rule `{}`.", variant.name);
        self.procedure(&about, name, (&procedure.parameters, variant), body)
    }

    /// Begins the body of a procedure: its parameters become visible. A parameter without its own adjoint is bound to the
    /// adjoint that it shares.
    fn begin(&mut self, parameters: &[ParameterNode], variant: &Variant) {
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

    fn procedure(
        &mut self,
        about: &str,
        name: &CompactString,
        (parameters, variant): (&[ParameterNode], &Variant),
        body: Body,
    ) -> Body {
        let mut all = Vec::new();
        for (parameter, passing) in parameters.iter().zip(&variant.adjoints) {
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
            body,
            end_comment: None,
            end: build::NOWHERE,
        };
        vec![build::blank(), build::heading(about), build::node(Statement::Procedure(Box::new(tree)))]
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
struct PassedArguments {
    /// Statements before the call, and groups of statements after it in reverse order.
    before: Body,
    after: Vec<Body>,
    arguments: Vec<Expression>,
    adjoints: Vec<AdjointPassing>,
    /// The arguments that are real cells with separate adjoints, by parameter.
    cells: Vec<Option<(Expression, Rank)>>,
}
