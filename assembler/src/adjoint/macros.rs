//! Adjoint macros and tangent macros: a macro whose body is that of another macro in gradient mode or tangent mode. A use
//! with other kinds of arguments needs another variant.

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use super::chain::Chain;
use super::emitter::Emitter;
use super::own::involved::is_adjoint;
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
        if self.is_switching(&name.text) {
            return self.macro_outside((name, undo), arguments, made);
        }
        // In tangent mode, the inverse of a macro is the inverse of its only variant.
        let (turned, undo) = if self.mode == Mode::Tangent { (false, undo) } else { (undo, false) };
        let passed = self.macro_arguments(arguments);
        let variant = MacroVariant {
            name: name.text.clone(),
            undo: turned,
            is_on: true,
            arguments: passed.kinds.clone(),
        };
        let name = Box::new(build::name(&self.macro_variant(variant)));
        made.extend(self.quote_above(node));
        let arguments = passed.passed.clone().into();
        let used = build::node(Statement::MacroUse { name, arguments, undo });
        made.extend(passed.around(used));
    }

    /// Returns the arguments of a macro with their adjoints or tangents.
    pub(super) fn macro_arguments(&mut self, arguments: &[Expression]) -> MacroArguments {
        let mut all = MacroArguments::default();
        for (n, argument) in arguments.iter().enumerate() {
            let kind = self.names.kind(argument);
            if is_adjoint(argument) {
                all.passed.push(argument.clone());
                all.kinds.push(MacroArgument::Adjoint);
            } else if self.names.is_real_cell(argument) {
                let is_scalar = self.names.is_scalar(argument);
                all.passed.extend([argument.clone(), adjoint_of(&self.fresh, argument)]);
                all.kinds.push(MacroArgument::Real { is_scalar });
            } else if kind.class == Class::Real && self.names.is_computed(argument) {
                let (local, adjoint) = self.argument(n, argument, &mut all.before, &mut all.after);
                all.passed.extend([local, adjoint]);
                all.kinds.push(MacroArgument::Real { is_scalar: true });
            } else {
                all.passed.push(argument.clone());
                all.kinds.push(match self.names.is_constant(argument) {
                    true => {
                        MacroArgument::Constant { class: kind.class, stands_for_real: kind.stands_for_real }
                    }
                    false => MacroArgument::Int,
                });
            }
        }
        all
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
        let mut closing = Body::new();
        if self.is_on() {
            let chain = Chain::new(&self.names, Function::Copy, std::slice::from_ref(value));
            let shares = chain.statements(build::cell(&adjoint), Update::Add, &mut self.fresh);
            closing = self.expressed(shares, value.span);
            self.drop_adjoint(build::cell(&adjoint), &mut closing);
        }
        closing.push(build::node(Statement::Delocal(zero)));
        let end = build::local(&name, Vec::new(), Some(value.clone()));
        closing.push(build::node(Statement::Delocal(Box::new(end))));
        after.push(closing);
        (build::cell(&name), build::cell(&adjoint))
    }

    pub(super) fn macro_variant(&mut self, variant: MacroVariant) -> CompactString {
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
        let mut body = match body {
            Ok(body) => body,
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                return Body::new();
            }
        };
        self.adjoint_parameters(variant, &tree.parameters, &mut body);
        let bound = tree.parameters.iter().zip(&variant.arguments).map(|(parameter, argument)| {
            let bound = match *argument {
                MacroArgument::Constant { class, stands_for_real } => Bound::constant(class, stands_for_real),
                MacroArgument::Int => Bound::cell(Class::Int, true),
                MacroArgument::Adjoint => Bound::cell(Class::Real, true),
                MacroArgument::Real { is_scalar } => Bound::cell(Class::Real, is_scalar),
            };
            (parameter.text.clone(), bound)
        });
        self.names.begin(&variant.name, bound.collect());
        let parameters = tree.parameters.iter().map(|parameter| parameter.text.as_str());
        self.names.vary(parameters);
        self.begin_body(&[]);
        self.begin_mode(variant.is_on);
        self.in_macro = true;
        let mut body = self.statements(&body);
        self.in_macro = false;
        self.complete(&mut body);
        let mut parameters = Vec::new();
        for (parameter, argument) in tree.parameters.iter().zip(&variant.arguments) {
            if !matches!(argument, MacroArgument::Adjoint) {
                parameters.push(parameter.clone());
            }
            if matches!(argument, MacroArgument::Real { .. } | MacroArgument::Adjoint) {
                parameters.push(build::name(&self.fresh.adjoint(&parameter.text)));
            }
        }
        let about = match (self.mode, variant.undo) {
            (Mode::Tangent, _) => format!(" `{}` with tangents.", variant.name),
            _ if !variant.is_on => format!(" `{}` with adjoints.", variant.name),
            (_, true) => format!(" The inverse of `{}` in gradient mode.", variant.name),
            (_, false) => format!(" `{}` in gradient mode.", variant.name),
        };
        let end = self.end_like(tree.end);
        let place = tree.name.span;
        let tree = Macro { name: build::name(name), parameters, body, end_comment: None, end };
        let mut made =
            vec![build::blank(), build::heading(&about), build::node(Statement::Macro(Box::new(tree)))];
        self.place(&mut made, place);
        made
    }
}

/// Arguments of a macro with their adjoints or tangents.
#[derive(Default)]
pub(super) struct MacroArguments {
    /// Statements before the use, and groups of statements after it in reverse order.
    before: Body,
    after: Vec<Body>,
    pub passed: Vec<Expression>,
    pub kinds: Vec<MacroArgument>,
}

impl MacroArguments {
    /// Returns the use between the statements before and after it.
    pub fn around(self, used: StatementNode) -> Body {
        let mut made = self.before;
        made.push(used);
        made.extend(self.after.into_iter().rev().flatten());
        made
    }
}
