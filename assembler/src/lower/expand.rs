//! Macro expansion: the bodies of macros are lowered where they are used.
//!
//! A macro's parameters are names in the scope of its body, and denote what the arguments denote. So a body
//! is lowered without substituting text, at any depth. The body can't refer by accident to names that are
//! visible at the use of the macro.

use std::rc::Rc;

use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::{Operand, Place};
use reviver_isa::structure::BlockKind;

use super::Lowering;
use super::applied::Checking;
use super::applied::Source;
use super::scope::{Meaning, ScopeKind, ScopedName};
use crate::diagnostic::Diagnostic;
use crate::invert::invert_body;
use crate::source::Span;
use crate::tree::{self, Expression, Name};

impl<'t> Lowering<'t> {
    /// Begins a copy of a body, which has separate labels and is counted.
    pub(super) fn enter_copy(&mut self) {
        self.expansion.enter(self.code.here());
        self.current.labels.enter_copy();
    }

    pub(super) fn leave_copy(&mut self) {
        self.expansion.leave(self.code.here());
        self.current.labels.leave_copy();
    }

    /// Lowers `name arguments` or `undo name arguments`.
    pub(super) fn expand(&mut self, name: &Name, arguments: &[Expression], undo: bool, span: Span) {
        let Some((number, tree)) = self.declared.macro_named(name, arguments, &mut self.report) else {
            self.code.stand_in(span);
            return;
        };
        if self.expansion.open.contains(&number) {
            let message = format!("the macro `{}` uses itself", tree.name.text);
            let diagnostic = Diagnostic::error(
                ProblemCode::MacroInItself,
                message,
                name.span,
                "used again while it is being expanded",
            );
            self.report.add(
                diagnostic.help("write a loop with `from` or `for`, or a procedure, which may call itself"),
            );
            return;
        }
        let (parameters, temporaries) = self.collect(|this| this.arguments(tree, name, arguments));
        let Some(parameters) = parameters else { return self.release_temporaries(temporaries) };
        let start = self.code.here();
        self.between(temporaries, Checking::Watched, span, |this| {
            this.use_macro((tree, number), parameters, undo, span);
        });
        if self.expansion.open.is_empty() {
            self.code.uses.push((start..self.code.here(), span));
        }
    }

    /// Lowers the body of a macro in a scope in which its parameters denote the arguments.
    fn use_macro(
        &mut self,
        (tree, number): (&'t tree::Macro, usize),
        parameters: Vec<ScopedName>,
        undo: bool,
        span: Span,
    ) {
        let written = undo != self.undone;
        let mut seam = self.open_block(BlockKind::Macro { name: tree.name.text.to_string(), undo: written });
        self.seam(&seam, span);
        let undone = std::mem::replace(&mut self.undone, undo);
        self.expansion.open.push(number);
        self.report.enter_use(tree.name.text.clone(), span);
        self.enter_copy();
        self.current.scopes.enter(ScopeKind::Macro);
        for (parameter, local) in tree.parameters.iter().zip(parameters) {
            self.current.scopes.insert(parameter.text.clone(), local);
        }
        self.macro_body(tree, number, undo);
        self.leave_scope();
        self.leave_copy();
        self.report.leave_use();
        self.expansion.open.pop();
        self.undone = undone;
        seam.start = self.code.here();
        self.seam(&seam, span);
        self.code.close(seam.block);
    }

    fn macro_body(&mut self, tree: &'t tree::Macro, number: usize, undo: bool) {
        if !undo {
            return self.nodes(&tree.body);
        }
        if let Some(inverse) = self.expansion.inverses.get(&number).cloned() {
            return self.nodes(&inverse);
        }
        match invert_body(&tree.body) {
            Ok(inverse) => {
                let inverse = Rc::new(inverse);
                self.expansion.inverses.insert(number, Rc::clone(&inverse));
                self.nodes(&inverse);
            }
            Err(diagnostics) => diagnostics.into_iter().for_each(|d| self.report.add(d)),
        }
    }

    /// Returns what an argument denotes: a cell, an array or a constant. For any other expression, returns the
    /// temporary that holds the expression's value.
    fn macro_argument(&mut self, argument: &Expression) -> Option<Meaning> {
        match self.evaluate(argument)? {
            Meaning::Computed(formula) => match self.spill(&formula, argument.span)? {
                Source::Cell(Operand::Place(Place { base, .. }), _) => {
                    Some(Meaning::Variable { base, adjoint: false })
                }
                _ => None,
            },
            meaning => Some(meaning),
        }
    }

    /// Returns what each parameter of a macro denotes in this use.
    fn arguments(
        &mut self,
        tree: &tree::Macro,
        name: &Name,
        arguments: &[Expression],
    ) -> Option<Vec<ScopedName>> {
        let (wanted, given) = (tree.parameters.len(), arguments.len());
        if wanted != given {
            let noun = if wanted == 1 { "argument" } else { "arguments" };
            let message = format!("the macro `{}` takes {wanted} {noun}", name.text);
            let diagnostic = Diagnostic::error(
                ProblemCode::WrongNumberOfArguments,
                message,
                name.span,
                format!("{given} given"),
            );
            return self.report.fail(diagnostic.with(tree.name.span, "defined here"));
        }
        let meanings: Vec<_> = arguments.iter().map(|argument| self.macro_argument(argument)).collect();
        let bind = |(meaning, argument): (Option<_>, &Expression)| {
            meaning.map(|meaning| ScopedName { meaning, span: argument.span, open: None })
        };
        meanings.into_iter().zip(arguments).map(bind).collect()
    }
}
