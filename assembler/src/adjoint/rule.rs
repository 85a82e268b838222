//! Calls of procedures whose derivative a rule computes. The procedure changes values only, and its rule is called on the
//! state at the procedure's entry. In gradient mode the rule computes adjoints, in tangent mode tangents. Both are written
//! with primes.

use std::collections::HashSet;

use compact_str::CompactString;
use reviver_isa::update::Update;

use super::emitter::Emitter;
use super::own::involved::adjoint_name;
use super::procedure::PassedArguments;
use super::variants::{AdjointPassing, Variant};
use crate::build;
use crate::rewrite::rewrite;
use crate::scopes::{Bound, CellShape, Names};
use crate::tree::{
    Body, CallNode, DeclarationNode, Directive, Expression, ProcedureNode, Statement, StatementNode,
};
use crate::visit;

impl Emitter {
    /// Returns the statements for a call of a procedure with a rule: the call is executed, and then the rule on the
    /// state at the procedure's entry.
    pub(super) fn by_rule(
        &mut self,
        update: Update,
        call: &CallNode,
        procedure: &ProcedureNode,
        rule: &CompactString,
    ) -> Body {
        let PassedByRule { before, own, arguments, adjoints, after } = self.passed_by_rule(procedure, call);
        let name = procedure.name.text.clone();
        let executed = match self.is_involved(&name) {
            // The procedure changes values only, and adjoints that it names.
            true => {
                let adjoints = adjoints.clone();
                let variant = self.variant(Variant { name, is_forward: true, is_on: false, adjoints });
                build::call(update, &variant, arguments.clone())
            }
            false => build::call(update, &name, own),
        };
        let name = self.rule_variant(rule, adjoints);
        let mut made = before;
        match update {
            Update::Uncall => made.extend([executed, build::call(Update::Call, &name, arguments)]),
            _ => made.extend([build::call(Update::Uncall, &name, arguments), executed]),
        }
        made.extend(after.into_iter().rev().flatten());
        made
    }

    /// Returns the statements for a call of a procedure with a tangent rule: the rule on the state at the procedure's
    /// entry, and the call.
    pub(super) fn by_tangent_rule(
        &mut self,
        update: Update,
        call: &CallNode,
        procedure: &ProcedureNode,
    ) -> Body {
        let Some(rule) = &procedure.tangent else {
            self.refuse_rule(call);
            return Body::new();
        };
        let PassedByRule { before, own, arguments, adjoints, after } = self.passed_by_rule(procedure, call);
        let executed = build::call(update, &procedure.name.text, own);
        let name = self.rule_variant(&rule.text, adjoints);
        let rule = build::call(update, &name, arguments);
        let mut made = before;
        made.extend(if update == Update::Uncall { [executed, rule] } else { [rule, executed] });
        made.extend(after.into_iter().rev().flatten());
        made
    }

    fn passed_by_rule(&mut self, procedure: &ProcedureNode, call: &CallNode) -> PassedByRule {
        let passed = self.passed(&procedure.parameters, &call.arguments);
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
        PassedByRule { before, own, arguments, adjoints, after }
    }

    /// Reports the call of a procedure with a rule that computes adjoints only.
    fn refuse_rule(&mut self, call: &CallNode) {
        let name = &call.procedure.text;
        self.refuse(
            call.procedure.span,
            &format!("the tangents of `{name}` can't be written as a program: its derivative is given by a rule"),
            "a rule computes adjoints",
            "write `rule q tangent t`, where `t` computes the tangents; or use `grad --emit` or `jacobian --times`, which \
             apply the rule",
        );
    }

    fn rule_variant(&mut self, rule: &CompactString, adjoints: Vec<AdjointPassing>) -> CompactString {
        let variant = Variant { name: rule.clone(), is_forward: true, is_on: true, adjoints };
        if let Some(name) = self.rules.get(&variant) {
            return name.clone();
        }
        let name = self.fresh.fresh(&self.fresh.adjoint(rule));
        self.rules.insert(variant.clone(), name.clone());
        self.pending_rules.push((variant, name.clone()));
        name
    }

    /// Writes a rule: its statements name adjoints, which become the adjoint parameters.
    pub(super) fn write_rule(&mut self, variant: &Variant, name: &CompactString) -> Body {
        let Some(procedure) = self.procedures.get(&variant.name).cloned() else { return Body::new() };
        self.begin(&procedure.parameters, variant);
        let mut body = procedure.body.clone();
        self.declare_named(&mut body);
        self.lower_depths(&mut body);
        let about = format!(" The rule `{}`.", variant.name);
        self.procedure(&about, name, (&procedure, variant), body)
    }

    /// Declares the adjoints of a rule's own variables, as far as the rule names them.
    fn declare_named(&self, body: &mut Body) {
        let mut named = HashSet::new();
        visit::statements(body, &mut |statement| {
            visit::expressions(statement, &mut |expression| {
                named.extend(adjoint_name(expression).cloned());
            });
        });
        if named.is_empty() {
            return;
        }
        *body = rewrite(
            &mut self.names.clone(),
            std::mem::take(body),
            &mut |names: &Names, mut node: StatementNode, made: &mut Body| match &mut node.statement {
                Statement::Directive(Directive::Ancillas(declarations)) => {
                    let is_named = |it: &&DeclarationNode| named.contains(&it.name.text);
                    let own: Vec<_> =
                        declarations.iter().filter(is_named).map(|it| self.adjoint_declaration(it)).collect();
                    declarations.extend(own);
                    made.push(node);
                }
                Statement::Local(local) if named.contains(&local.name.text) => {
                    let own = build::local(&self.fresh.adjoint(&local.name.text), local.shape.clone(), None);
                    made.extend([node, build::node(Statement::Local(Box::new(own)))]);
                }
                Statement::Delocal(local) if named.contains(&local.name.text) => {
                    let shape = match names.find(&local.name.text) {
                        Some(Bound::Cells { shape: CellShape::Lengths(lengths), .. }) => lengths,
                        _ => Vec::new(),
                    };
                    let own = build::local(&self.fresh.adjoint(&local.name.text), shape, None);
                    made.extend([build::node(Statement::Delocal(Box::new(own))), node]);
                }
                _ => made.push(node),
            },
        );
    }
}

/// The arguments of a call of a procedure with a rule.
struct PassedByRule {
    /// Statements before the call, and groups of statements after it in reverse order.
    before: Body,
    after: Vec<Body>,
    /// The arguments of the procedure itself, and those of its rule, with adjoints or tangents.
    own: Vec<Expression>,
    arguments: Vec<Expression>,
    adjoints: Vec<AdjointPassing>,
}
