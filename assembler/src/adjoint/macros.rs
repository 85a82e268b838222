//! Adjoint macros and tangent macros: a macro whose body is that of another macro in gradient mode or tangent mode. A use
//! with other kinds of arguments needs another variant.

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use super::chain::Chain;
use super::emitter::Emitter;
use super::request::Mode;
use super::variants::{MacroArgument, MacroVariant};
use crate::build;
use crate::fresh::adjoint_of;
use crate::invert::invert_body;
use crate::scopes::Bound;
use crate::tree::{Body, Expression, Local, Macro, Name, Statement, StatementNode};

impl Emitter {
    /// Appends the use of a macro in gradient mode or tangent mode.
    pub(super) fn macro_use(
        &mut self,
        node: &StatementNode,
        (name, undo): (&Name, bool),
        arguments: &[Expression],
        made: &mut Body,
    ) {
        let (mut before, mut after) = (Body::new(), Vec::new());
        let (mut passed, mut kinds) = (Vec::new(), Vec::new());
        for (n, argument) in arguments.iter().enumerate() {
            let kind = self.names.kind(argument);
            if self.names.is_real_cell(argument) {
                let is_scalar = self.names.is_scalar(argument);
                passed.extend([argument.clone(), adjoint_of(&self.fresh, argument)]);
                kinds.push(MacroArgument::Real { is_scalar });
            } else if kind.class == Class::Real && self.names.is_computed(argument) {
                let (local, adjoint) = self.argument(n, argument, &mut before, &mut after);
                passed.extend([local, adjoint]);
                kinds.push(MacroArgument::Real { is_scalar: true });
            } else {
                passed.push(argument.clone());
                kinds.push(match self.names.is_constant(argument) {
                    true => {
                        MacroArgument::Constant { class: kind.class, stands_for_real: kind.stands_for_real }
                    }
                    false => MacroArgument::Int,
                });
            }
        }
        // In tangent mode, the inverse of a macro is the inverse of its only variant.
        let (turned, undo) = if self.mode == Mode::Tangent { (false, undo) } else { (undo, false) };
        let variant = MacroVariant { name: name.text.clone(), undo: turned, arguments: kinds };
        let name = self.macro_variant(variant);
        made.extend(self.quote_above(node));
        made.extend(before);
        let name = Box::new(build::name(&name));
        made.push(build::node(Statement::MacroUse { name, arguments: passed.into(), undo }));
        made.extend(after.into_iter().rev().flatten());
    }

    /// Computes the value of an argument into a local before the statement, and passes the local's adjoint on to the
    /// cells of the expression after the statement. Returns the local and its adjoint; in tangent mode its tangent.
    pub(super) fn argument(
        &mut self,
        n: usize,
        value: &Expression,
        before: &mut Body,
        after: &mut Vec<Body>,
    ) -> (Expression, Expression) {
        if self.mode == Mode::Tangent {
            return self.argument_with_tangent(n, value, before, after);
        }
        let name = self.fresh.argument(n);
        let adjoint = self.fresh.adjoint(&name);
        let own = Local { class: Some(Class::Real), ..build::local(&name, Vec::new(), Some(value.clone())) };
        let zero = Box::new(build::local(&adjoint, Vec::new(), None));
        before.push(build::node(Statement::Local(Box::new(own))));
        before.push(build::node(Statement::Local(zero.clone())));
        let chain = Chain::new(&self.names, Function::Copy, std::slice::from_ref(value));
        let shares = chain.statements(build::cell(&adjoint), Update::Add, &mut self.fresh);
        let mut closing = self.expressed(shares, value.span);
        self.drop_adjoint(build::cell(&adjoint), &mut closing);
        closing.push(build::node(Statement::Delocal(zero)));
        let end = build::local(&name, Vec::new(), Some(value.clone()));
        closing.push(build::node(Statement::Delocal(Box::new(end))));
        after.push(closing);
        (build::cell(&name), build::cell(&adjoint))
    }

    fn macro_variant(&mut self, variant: MacroVariant) -> CompactString {
        if let Some(name) = self.macro_variants.get(&variant) {
            return name.clone();
        }
        let name = self.fresh.fresh(&self.fresh.adjoint(&variant.name));
        self.macro_variants.insert(variant.clone(), name.clone());
        self.pending_macros.push((variant, name.clone()));
        name
    }

    /// Writes a variant of a macro.
    pub(super) fn write_macro(&mut self, variant: &MacroVariant, name: &CompactString) -> Body {
        let Some(tree) = self.macros.get(&variant.name).cloned() else { return Body::new() };
        let body = if variant.undo { invert_body(&tree.body) } else { Ok(tree.body.clone()) };
        let body = match body {
            Ok(body) => body,
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                return Body::new();
            }
        };
        let bound = tree.parameters.iter().zip(&variant.arguments).map(|(parameter, argument)| {
            let bound = match *argument {
                MacroArgument::Constant { class, stands_for_real } => Bound::constant(class, stands_for_real),
                MacroArgument::Int => Bound::cell(Class::Int, true),
                MacroArgument::Real { is_scalar } => Bound::cell(Class::Real, is_scalar),
            };
            (parameter.text.clone(), bound)
        });
        self.names.begin(&variant.name, bound.collect());
        let parameters = tree.parameters.iter().map(|parameter| parameter.text.as_str());
        self.names.vary(parameters);
        self.begin_body(&[]);
        self.in_macro = true;
        let body = self.statements(&body);
        self.in_macro = false;
        let mut parameters = Vec::new();
        for (parameter, argument) in tree.parameters.iter().zip(&variant.arguments) {
            parameters.push(parameter.clone());
            if matches!(argument, MacroArgument::Real { .. }) {
                parameters.push(build::name(&self.fresh.adjoint(&parameter.text)));
            }
        }
        let about = match (self.mode, variant.undo) {
            (Mode::Tangent, _) => format!(" `{}` with tangents.", variant.name),
            (_, true) => format!(" The inverse of `{}` in gradient mode.", variant.name),
            (_, false) => format!(" `{}` in gradient mode.", variant.name),
        };
        let end = build::NOWHERE;
        let tree = Macro { name: build::name(name), parameters, body, end_comment: None, end };
        vec![build::blank(), build::heading(&about), build::node(Statement::Macro(Box::new(tree)))]
    }
}
