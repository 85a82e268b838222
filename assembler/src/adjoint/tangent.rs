//! The statements of a program in tangent mode, as plain statements. Each statement is accompanied by the one that computes
//! the tangent of its target. Statements without reals, blocks and calls are those of [`super::gradient`].
//!
//! The inverse of a statement in tangent mode is the inverse statement in tangent mode. So `uncompute`, `uncall` and `undo`
//! need no counterparts, and a cell's tangent is vacated by the statements that vacate the cell.

use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::update::{Action, Store, Update};

use super::chain::Chain;
use super::chain::forward::Tangent;
use super::emitter::Emitter;
use crate::build;
use crate::fresh::adjoint_of;
use crate::scopes::{Bound, CellShape};
use crate::source::Span;
use crate::tree::{Body, Expression, InstructionNode, Local, Statement, StatementNode};

impl Emitter {
    /// Appends a statement that changes reals, with the statements of the tangents.
    pub(super) fn tangent_instruction(
        &mut self,
        node: &StatementNode,
        instruction: &InstructionNode,
        (target, sources): (&Expression, &[Expression]),
        made: &mut Body,
    ) {
        let own = StatementNode { label: None, ..node.clone() };
        let update = instruction.update;
        let dot = adjoint_of(&self.fresh, target);
        let same = |update: Update| build::update(update, Function::Copy, vec![dot.clone()]);
        match update.action() {
            Action::Accumulate => {
                let tangent = self.tangent(instruction.function, sources, instruction.mnemonic);
                made.push(own);
                made.extend(tangent.map_or_else(Body::new, |tangent| tangent.update(update, dot)));
            }
            Action::Replace => {
                let tangent = self.tangent(instruction.function, sources, instruction.mnemonic);
                // The new tangent may depend on the old value of the target.
                made.extend(self.replaced(dot, tangent));
                made.push(own);
            }
            Action::Exchange => {
                let dots = std::iter::once(target).chain(sources);
                let dots = dots.map(|cell| adjoint_of(&self.fresh, cell)).collect();
                made.extend([own, build::update(update, Function::Copy, dots)]);
            }
            Action::Map | Action::Clear | Action::Erase(_) => made.extend([own, same(update)]),
            Action::Rotate => self.tangent_rotation(own, instruction, (target, sources), made),
            // The input tape holds no tangents.
            Action::Put(Store::Input) if self.names.receives(target) => self.refuse(
                node.span,
                "the tangent of a real that moves back to the input tape can't be written as a program",
                "moves a real that may depend on the direction",
                "keep the real in an array",
            ),
            Action::Put(Store::Input) => made.push(own),
            Action::Take(Store::Input) => made.extend([same(Update::Vacate), own]),
            Action::Put(_) => made.extend([own, same(update)]),
            Action::Take(_) => made.extend([same(update), own]),
            // The other actions change no reals.
            _ => made.push(own),
        }
    }

    /// Returns the tangent of an expression. Reports a function whose derivative the language can't express.
    fn tangent(&mut self, function: Function, sources: &[Expression], place: Span) -> Option<Tangent> {
        let tangent = Chain::new(&self.names, function, sources).tangent(&mut self.fresh);
        tangent.unwrap_or_else(|function| {
            self.expressed(Err(function), place);
            None
        })
    }

    /// Returns the statements that replace the tangent of a cell.
    fn replaced(&mut self, dot: Expression, tangent: Option<Tangent>) -> Body {
        let overwritten = |value| build::update(Update::Overwrite, Function::Copy, vec![dot.clone(), value]);
        let Some(tangent) = tangent else {
            return vec![build::update(Update::Erase, Function::Copy, vec![dot])];
        };
        if let Some(value) = tangent.expression() {
            return vec![overwritten(value)];
        }
        // Helper cells may depend on the old tangent, so they are uncomputed before the replacement.
        let name = self.fresh.argument(0);
        let (new, local) = (build::cell(&name), Box::new(build::local(&name, Vec::new(), None)));
        let mut body = vec![build::node(Statement::Local(local.clone()))];
        body.extend(tangent.update(Update::Add, new.clone()));
        body.push(build::update(Update::Swap, Function::Copy, vec![dot, new.clone()]));
        body.push(build::update(Update::Erase, Function::Copy, vec![new]));
        body.push(build::node(Statement::Delocal(local)));
        body
    }

    /// Appends a rotation: the point's tangent is rotated with the point. The tangent of the angle moves the point at a
    /// right angle to it, after a `rot` or before an `irot`.
    fn tangent_rotation(
        &mut self,
        own: StatementNode,
        instruction: &InstructionNode,
        (x, sources): (&Expression, &[Expression]),
        made: &mut Body,
    ) {
        let [y, angle] = sources else { return };
        let update = instruction.update;
        let [x_dot, y_dot] = [x, y].map(|cell| adjoint_of(&self.fresh, cell));
        let cells = vec![x_dot.clone(), y_dot.clone(), angle.clone()];
        let turned = build::update(update, Function::Copy, cells);
        let tangent = self.tangent(Function::Copy, std::slice::from_ref(angle), instruction.mnemonic);
        let moved = tangent.map_or_else(Body::new, |tangent| {
            tangent.used(|is_negative, magnitude| {
                let shift = |update: Update, target: &Expression, by: &Expression| {
                    let update = if is_negative { update.inverse() } else { update };
                    let product = build::applied(Function::Mul, vec![magnitude.clone(), by.clone()]);
                    build::update(update, Function::Copy, vec![target.clone(), product])
                };
                match update {
                    Update::Rot => vec![shift(Update::Sub, &x_dot, y), shift(Update::Add, &y_dot, x)],
                    _ => vec![shift(Update::Sub, &y_dot, x), shift(Update::Add, &x_dot, y)],
                }
            })
        });
        match update {
            Update::Rot => {
                made.extend([own, turned]);
                made.extend(moved);
            }
            _ => {
                made.extend(moved);
                made.extend([turned, own]);
            }
        }
    }

    /// Opens a local, and a local for its tangent.
    pub(super) fn open_with_tangent(&mut self, own: StatementNode, local: &Local, made: &mut Body) {
        made.push(own);
        let class = self.names.class_of_local(local);
        if class == Class::Real {
            let tangent = self.tangent_of_local(local);
            made.extend(self.opened(local, tangent));
        }
        self.names.bind_local(local);
    }

    /// Closes a local, after the local of its tangent.
    pub(super) fn close_with_tangent(&mut self, own: StatementNode, local: &Local, made: &mut Body) {
        if let Some(Bound::Cells { class: Class::Real, shape: CellShape::Lengths(lengths) }) =
            self.names.find(&local.name.text)
        {
            let tangent = self.tangent_of_local(local);
            let local = Local { shape: lengths, ..local.clone() };
            made.extend(self.closed(&local, tangent));
        }
        made.push(own);
    }

    /// Returns the tangent of the value of a local.
    fn tangent_of_local(&mut self, local: &Local) -> Option<Tangent> {
        match local.sources.is_empty() {
            true => None,
            false => self.tangent(local.function, &local.sources, local.name.span),
        }
    }

    /// Returns the statements that open the tangent of a local with a value's tangent.
    fn opened(&mut self, local: &Local, tangent: Option<Tangent>) -> Body {
        let dot = self.fresh.adjoint(&local.name.text);
        let opened =
            |value| build::node(Statement::Local(Box::new(build::local(&dot, local.shape.clone(), value))));
        match tangent {
            None => vec![opened(None)],
            Some(tangent) => match tangent.expression() {
                Some(value) => vec![opened(Some(value))],
                None => {
                    let mut body = vec![opened(None)];
                    body.extend(tangent.update(Update::Add, build::cell(&dot)));
                    body
                }
            },
        }
    }

    /// Returns the statements that undo those of [`Emitter::opened`].
    fn closed(&mut self, local: &Local, tangent: Option<Tangent>) -> Body {
        let dot = self.fresh.adjoint(&local.name.text);
        let closed =
            |value| build::node(Statement::Delocal(Box::new(build::local(&dot, local.shape.clone(), value))));
        match tangent {
            None => vec![closed(None)],
            Some(tangent) => match tangent.expression() {
                Some(value) => vec![closed(Some(value))],
                None => {
                    let mut body = tangent.update(Update::Sub, build::cell(&dot));
                    body.push(closed(None));
                    body
                }
            },
        }
    }

    /// Computes the value of an argument and its tangent into locals before a statement, and uncomputes them after the
    /// statement. Returns the locals.
    pub(super) fn argument_with_tangent(
        &mut self,
        n: usize,
        value: &Expression,
        before: &mut Body,
        after: &mut Vec<Body>,
    ) -> (Expression, Expression) {
        let name = self.fresh.argument(n);
        let own = Local { class: Some(Class::Real), ..build::local(&name, Vec::new(), Some(value.clone())) };
        let sources = std::slice::from_ref(value);
        let tangent = self.tangent(Function::Copy, sources, value.span);
        before.push(build::node(Statement::Local(Box::new(own.clone()))));
        before.extend(self.opened(&own, tangent));
        let tangent = self.tangent(Function::Copy, sources, value.span);
        let mut closing = self.closed(&own, tangent);
        closing.push(build::node(Statement::Delocal(Box::new(own))));
        after.push(closing);
        (build::cell(&name), build::cell(&self.fresh.adjoint(&name)))
    }
}
