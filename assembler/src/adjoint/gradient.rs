//! The statements of a program in gradient mode, as plain statements. Each statement is followed (or preceded) by the
//! updates of adjoints that the machine would make in gradient mode. This module receives statements in the order in
//! which they are executed, and inverts nothing.
//!
//! In tangent mode, the same functions visit the statements, and [`super::tangent`] writes those that change reals.

use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::update::{Action, Store, Update};

use super::chain::Chain;
use super::emitter::Emitter;
use super::request::Mode;
use crate::build;
use crate::diagnostic::Diagnostic;
use crate::fresh::adjoint_of;
use crate::invert::invert_body;
use crate::scopes::{Bound, CellShape};
use crate::source::Span;
use crate::tree::{
    Body, CallNode, Comment, Compute, Directive, Expression, For, If, InstructionNode, Local, Loop, Name,
    Operands, Statement, StatementNode, Subscript,
};

impl Emitter {
    /// Returns the statements of a block in gradient mode.
    pub(super) fn block(&mut self, body: &[StatementNode]) -> Body {
        self.enter_block(body);
        let made = self.statements(body);
        self.leave_block();
        made
    }

    pub(super) fn statements(&mut self, body: &[StatementNode]) -> Body {
        let mut made = Body::new();
        for node in body {
            let first = made.len();
            match self.is_on() {
                true => self.in_mode(node, &mut made),
                false => self.outside(node, &mut made),
            }
            self.place(made.get_mut(first..).unwrap_or_default(), node.span);
            self.label(node, first, &mut made);
        }
        made
    }

    /// Moves the label of a statement to the first of the statements that replace it.
    fn label(&mut self, node: &StatementNode, first: usize, made: &mut Body) {
        let Some(label) = &node.label else { return };
        let label = Box::new(Name { text: self.label_name(&label.text), span: label.span });
        let is_statement = |node: &StatementNode| !matches!(node.statement, Statement::Empty);
        match made.iter_mut().skip(first).find(|node| is_statement(node)) {
            Some(node) => node.label = Some(label),
            None => made.push(StatementNode { label: Some(label), ..build::blank() }),
        }
    }

    /// Appends a statement in gradient mode or tangent mode. Blocks are the same outside of the mode.
    pub(super) fn in_mode(&mut self, node: &StatementNode, made: &mut Body) {
        match &node.statement {
            Statement::Empty if self.mode == Mode::Adjoint => {}
            Statement::Empty => made.push(StatementNode { label: None, ..node.clone() }),
            Statement::Directive(directive) => self.directive(node, directive, made),
            Statement::Instruction(instruction) => self.instruction(node, instruction, made),
            Statement::If(tree) => {
                let tree = self.branching(tree, node.span);
                made.push(self.like(node, Statement::If(Box::new(tree))));
            }
            Statement::Loop(tree) => {
                let tree = self.repetition(tree, node.span);
                made.push(self.like(node, Statement::Loop(Box::new(tree))));
            }
            Statement::For(tree) => {
                let tree = self.counted(tree, node.span);
                made.push(self.like(node, Statement::For(Box::new(tree))));
            }
            Statement::Compute(tree) => match self.mode {
                Mode::Adjoint => self.compute(tree, node.span, made),
                Mode::Tangent => self.compute_block(node, tree, made),
            },
            Statement::Local(local) => match self.mode {
                Mode::Adjoint => self.open(local, made),
                Mode::Tangent => self.open_with_tangent(self.own_statement(node), local, made),
            },
            Statement::Delocal(local) if self.mode == Mode::Tangent => {
                self.close_with_tangent(self.own_statement(node), local, made);
            }
            Statement::Delocal(local) => self.close(node, local, made),
            // The adjoints of arguments that tasks share would be changed by several tasks, so the tasks run in order.
            Statement::Tasks(tasks) => made.extend(self.statements(&tasks.in_order())),
            Statement::MacroUse { name, arguments, undo } => {
                self.macro_use(node, (name, *undo), arguments, made);
            }
            Statement::CallVia(call) => self.refuse(
                call.cell.span,
                &format!("the {} of `callvia` can't be written as a program", self.mode.noun()),
                "the called procedure isn't known",
                "write an `if` with a `call` of each procedure",
            ),
            Statement::Procedure(_) | Statement::Macro(_) => {}
        }
    }

    fn directive(&mut self, node: &StatementNode, directive: &Directive, made: &mut Body) {
        let Directive::Ancillas(declarations) = directive else {
            made.push(self.own_statement(node));
            return;
        };
        self.names.bind_ancillas(declarations);
        let own = declarations.iter().cloned();
        let reals = declarations.iter().filter(|declaration| declaration.class == Some(Class::Real));
        let adjoints: Vec<_> = reals.map(|declaration| self.adjoint_declaration(declaration)).collect();
        self.frame.extend(adjoints.iter().map(|it| (it.name.text.clone(), it.shape.lengths().to_vec())));
        let all = own.chain(adjoints).collect();
        made.push(self.like(node, Statement::Directive(Directive::Ancillas(all))));
    }

    fn instruction(&mut self, node: &StatementNode, instruction: &InstructionNode, made: &mut Body) {
        if self.special(node, made) {
            return;
        }
        let cells = match &instruction.operands {
            Operands::Cells(cells) => cells,
            Operands::Call(call) => return self.call(node, (instruction.update, call), made),
            Operands::Branch { .. } => return self.branch(node, made),
            Operands::Condition(_) => return made.push(self.own_statement(node)),
        };
        let own = self.own_statement(node);
        let is_real = cells.first().is_some_and(|target| self.names.is_real_cell(target));
        match (instruction.update.action(), cells.split_first()) {
            (Action::Show, _) if self.mode == Mode::Adjoint && self.own.is_none() => {}
            (_, None) => made.push(own),
            _ if !is_real => made.push(own),
            (_, Some(operands)) if self.mode == Mode::Tangent => {
                self.tangent_instruction(node, instruction, operands, made);
            }
            (Action::Accumulate, Some((target, sources))) => {
                let chain = Chain::new(&self.names, instruction.function, sources);
                if chain.changes_what_it_reads() {
                    self.refuse(
                        node.span,
                        "this statement reads an adjoint within a function, and passes adjoints on",
                        "an adjoint would change while it is read",
                        "compute the function of the adjoint into a `local` first",
                    );
                    return;
                }
                // The shares of the sources have the opposite sign of the update of the target.
                let shares = chain.statements(
                    adjoint_of(&self.fresh, target),
                    instruction.update.inverse(),
                    &mut self.fresh,
                );
                let shares = shares.map_err(|function| (function, instruction.mnemonic));
                self.quoted(node, made, std::iter::once(own).collect(), shares);
            }
            (Action::Exchange | Action::Map, _) => {
                let adjoints = cells.iter().map(|cell| adjoint_of(&self.fresh, cell)).collect();
                let adjoints = build::update(instruction.update, Function::Copy, adjoints);
                self.quoted(node, made, vec![own], Ok(vec![adjoints]));
            }
            (Action::Rotate, _) => self.rotation(node, instruction, cells, made),
            (Action::Clear, Some((target, _))) => {
                let mut dropped = Body::new();
                self.drop_adjoint(adjoint_of(&self.fresh, target), &mut dropped);
                self.quoted(node, made, vec![own], Ok(dropped));
            }
            (Action::Put(store) | Action::Take(store), Some((cell, _))) => {
                let adjoint = adjoint_of(&self.fresh, cell);
                self.moved(node, (instruction.update, store), adjoint, made);
            }
            // The inverter has refused statements that lose bits; the other actions change no cells.
            _ => made.push(own),
        }
    }

    /// Appends a branch, whose label has another name.
    pub(super) fn branch(&mut self, node: &StatementNode, made: &mut Body) {
        let Statement::Instruction(instruction) = &node.statement else { return };
        let Operands::Branch { partner, condition } = &instruction.operands else { return };
        self.check_branch(node, partner);
        let partner = Box::new(Name { text: self.label_name(&partner.text), span: partner.span });
        let operands = Operands::Branch { partner, condition: condition.clone() };
        let renamed = InstructionNode { operands, ..instruction.clone() };
        made.push(self.like(node, Statement::Instruction(renamed)));
    }

    /// Returns a statement without its label. In tangent mode the comment stays, because the statement stays in its
    /// place.
    pub(super) fn own_statement(&self, node: &StatementNode) -> StatementNode {
        self.like(node, node.statement.clone())
    }

    /// Returns a statement that replaces another one.
    fn like(&self, node: &StatementNode, statement: Statement) -> StatementNode {
        StatementNode { comment: self.comment(&node.comment), ..build::node(statement) }
    }

    /// Returns the comment of a statement in tangent mode. In gradient mode, comments quote the statements.
    fn comment(&self, comment: &Option<Comment>) -> Option<Comment> {
        comment.clone().filter(|_| self.mode == Mode::Tangent)
    }

    /// Appends a statement and the statements of its adjoint, under a comment that quotes the statement.
    fn quoted(
        &mut self,
        node: &StatementNode,
        made: &mut Body,
        own: Body,
        shares: Result<Body, (Function, Span)>,
    ) {
        match shares {
            Ok(shares) if shares.is_empty() => made.extend(own),
            Ok(shares) => {
                made.push(self.quote(node));
                made.extend(own);
                made.extend(shares);
            }
            Err((function, place)) => {
                self.expressed(Err(function), place);
            }
        }
    }

    /// Returns the statements of a chain. Reports a function whose derivative the language can't express.
    pub(super) fn expressed(&mut self, shares: Result<Body, Function>, place: Span) -> Body {
        shares.unwrap_or_else(|function| {
            self.refuse(
                place,
                &format!("the derivative of `{}` can't be written as an expression", function.name()),
                "differentiated here",
                match self.mode {
                    Mode::Adjoint => {
                        "compute the value in a procedure with a `rule` that computes the derivative"
                    }
                    Mode::Tangent => {
                        "use `jacobian --times`, which computes the derivative with dual numbers"
                    }
                },
            );
            Body::new()
        })
    }

    /// Returns a comment with the line and the text of a statement.
    pub(super) fn quote(&self, node: &StatementNode) -> StatementNode {
        let text = self.sources.text(node.span);
        let text = match node.label.is_some() {
            true => text.split_once(':').map_or(text, |(_, rest)| rest),
            false => text,
        };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = self.sources.line(node.span.file, node.span.start);
        build::comment(&format!(" {line}: {text}"))
    }

    /// Returns the comment above the statements that replace a call or the use of a macro. In tangent mode, it is the
    /// comment of the statement itself.
    pub(super) fn quote_above(&self, node: &StatementNode) -> Option<StatementNode> {
        match self.mode {
            Mode::Adjoint => Some(self.quote(node)),
            Mode::Tangent => node.comment.as_deref().map(build::comment),
        }
    }

    /// Appends a move between a cell and a store in gradient mode. The adjoint of a real is pushed after it
    /// ([`super::stacks`]). Tapes hold no adjoints.
    fn moved(
        &mut self,
        node: &StatementNode,
        (update, store): (Update, Store),
        adjoint: Expression,
        made: &mut Body,
    ) {
        let own = build::node(node.statement.clone());
        let moves_adjoint = |adjoint: Expression| build::update(update, Function::Copy, vec![adjoint]);
        match (update, store) {
            (_, Store::Input | Store::Output) if self.own.is_some() => self.refuse(
                node.span,
                "gradient mode moves a real to or from a tape, so the program can't be differentiated again",
                "moves a real",
                "keep the reals in an array, or move them while gradient mode is off",
            ),
            (_, Store::Stack) if self.in_macro => self.refuse(
                node.span,
                "the adjoint of a real that a macro moves to or from the stack can't be written as a program",
                "moves a real",
                "write a procedure instead of the macro",
            ),
            (Update::Push, _) => self.quoted(node, made, vec![own], Ok(vec![moves_adjoint(adjoint)])),
            (Update::Pop, _) => {
                // The cell was vacant, and so had no influence on later values.
                let mut statements = Body::new();
                self.drop_adjoint(adjoint.clone(), &mut statements);
                statements.extend([moves_adjoint(adjoint), own]);
                self.quoted(node, made, Body::new(), Ok(statements));
            }
            (Update::Unread, _) => {
                let mut dropped = Body::new();
                match self.tape_derivatives {
                    Some(update) => dropped.push(build::update(update, Function::Copy, vec![adjoint])),
                    None => self.drop_adjoint(adjoint, &mut dropped),
                }
                self.quoted(node, made, vec![own], Ok(dropped));
            }
            // The output tape was empty before the primal part, so its values have no adjoints in the reverse part.
            (Update::Unwrite, _) if self.drops.update() != Some(Update::Write) => {
                let mut dropped = Body::new();
                self.drop_adjoint(adjoint, &mut dropped);
                self.quoted(node, made, vec![own], Ok(dropped));
            }
            _ => self.refuse(
                node.span,
                "the adjoint of a real on a tape can't be written as a program",
                "moves a real",
                "keep the reals in an array",
            ),
        }
    }

    /// Appends a rotation in gradient mode: the point's adjoint is rotated with the point. The angle gets the cross
    /// product of the point and its adjoint, before a `rot` or after an `irot`.
    fn rotation(
        &mut self,
        node: &StatementNode,
        instruction: &InstructionNode,
        cells: &[Expression],
        made: &mut Body,
    ) {
        let [x, y, angle] = cells else { return };
        let own = build::node(node.statement.clone());
        let bars = [x, y].map(|cell| adjoint_of(&self.fresh, cell));
        let turned = build::update(
            instruction.update,
            Function::Copy,
            bars.iter().cloned().chain([angle.clone()]).collect(),
        );
        let [x_bar, y_bar] = bars;
        let product = |a: &Expression, b: Expression| build::applied(Function::Mul, vec![a.clone(), b]);
        let cross = build::applied(Function::Diff, vec![product(x, y_bar), product(y, x_bar)]);
        let is_forward = instruction.update == Update::Rot;
        let update = if is_forward { Update::Sub } else { Update::Add };
        let chain = Chain::new(&self.names, Function::Copy, std::slice::from_ref(angle));
        let shares = match chain.is_active() {
            true => chain.statements(cross, update, &mut self.fresh),
            false => Ok(Body::new()),
        };
        let shares = shares.map_err(|function| (function, instruction.mnemonic));
        match (is_forward, shares) {
            (true, Ok(mut shares)) => {
                shares.push(own);
                self.quoted(node, made, shares, Ok(vec![turned]));
            }
            (_, shares) => self.quoted(node, made, vec![own, turned], shares),
        }
    }

    fn branching(&mut self, tree: &If, place: Span) -> If {
        let before = self.is_on();
        let then = self.block(&tree.then);
        let after = self.is_on();
        self.set_on(before);
        let otherwise = tree.otherwise.as_ref().map(|body| self.block(body));
        self.check_mode(after, place, "the other branch of this `if`");
        If {
            then,
            otherwise,
            else_comment: self.comment(&tree.else_comment),
            end_comment: self.comment(&tree.end_comment),
            ..tree.clone()
        }
    }

    fn repetition(&mut self, tree: &Loop, place: Span) -> Loop {
        let before = self.is_on();
        let first = self.block(&tree.first);
        let after = self.is_on();
        let again = tree.again.as_ref().map(|body| self.block(body));
        self.check_mode(before, place, "the body of this loop");
        self.set_on(after);
        Loop {
            first,
            again,
            loop_comment: self.comment(&tree.loop_comment),
            end_comment: self.comment(&tree.end_comment),
            ..tree.clone()
        }
    }

    fn counted(&mut self, tree: &For, place: Span) -> For {
        let before = self.is_on();
        self.enter_block(&tree.body);
        self.names.bind(&tree.counter.text, Bound::cell(Class::Int, true));
        let body = self.block(&tree.body);
        self.leave_block();
        self.check_mode(before, place, "the body of this loop");
        For { body, end_comment: self.comment(&tree.end_comment), ..tree.clone() }
    }

    /// Appends a `compute` block. If its first body drops adjoints in gradient mode, then the inverse of the body in
    /// gradient mode isn't the inverted body in gradient mode, so the block is written as three sequences.
    fn compute(&mut self, tree: &Compute, place: Span, made: &mut Body) {
        // The locals of the first body stay open up to the end of the block.
        let whole: Body = tree.body.iter().chain(&tree.apply).cloned().collect();
        self.enter_block(&whole);
        let before = self.is_on();
        self.open_computes(|count| *count += 1);
        let body = self.statements(&tree.body);
        self.open_computes(|count| *count -= 1);
        let after = self.is_on();
        let apply = self.block(&tree.apply);
        self.check_mode(after, place, "this `apply`");
        self.set_on(before);
        let is_on_throughout = before && after;
        if !is_on_throughout || !self.drops(&tree.body) {
            let tree = Compute { body, apply, apply_comment: None, end_comment: None, ..tree.clone() };
            made.push(build::node(Statement::Compute(Box::new(tree))));
        } else {
            made.extend(body);
            made.extend(apply);
            match invert_body(&tree.body) {
                Ok(inverse) => {
                    let labels = std::mem::take(&mut self.labels);
                    made.extend(self.statements(&inverse));
                    self.labels = labels;
                }
                Err(diagnostics) => self.diagnostics.extend(diagnostics),
            }
        }
        self.leave_block();
    }

    /// Appends a `compute` block in tangent mode.
    fn compute_block(&mut self, node: &StatementNode, tree: &Compute, made: &mut Body) {
        // The locals of the first body stay open up to the end of the block.
        self.names.enter();
        let body = self.statements(&tree.body);
        let apply = self.block(&tree.apply);
        self.names.leave();
        let tree = Compute { body, apply, ..tree.clone() };
        made.push(self.like(node, Statement::Compute(Box::new(tree))));
    }

    /// Opens a local, and a local for its adjoint.
    fn open(&mut self, local: &Local, made: &mut Body) {
        made.push(build::node(Statement::Local(Box::new(local.clone()))));
        made.extend(self.open_adjoint(local));
    }

    /// Makes an open local known, and opens its adjoint if it is a real.
    pub(super) fn open_adjoint(&mut self, local: &Local) -> Option<StatementNode> {
        let class = self.names.class_of_local(local);
        self.names.bind_local(local);
        (class == Class::Real).then(|| {
            let adjoint = self.fresh.adjoint(&local.name.text);
            let own = build::local(&adjoint, local.shape.clone(), None);
            build::node(Statement::Local(Box::new(own)))
        })
    }

    /// Closes a local: passes its adjoint on to the sources of its value, and drops the adjoint.
    fn close(&mut self, node: &StatementNode, local: &Local, made: &mut Body) {
        let own = build::node(Statement::Delocal(Box::new(local.clone())));
        let Some(Bound::Cells { class: Class::Real, shape: CellShape::Lengths(lengths) }) =
            self.names.find(&local.name.text)
        else {
            return made.push(own);
        };
        let adjoint = self.fresh.adjoint(&local.name.text);
        let mut closing = match local.sources.is_empty() {
            true => Ok(Body::new()),
            false => Chain::new(&self.names, local.function, &local.sources)
                .statements(build::cell(&adjoint), Update::Add, &mut self.fresh)
                .map_err(|function| (function, local.name.span)),
        };
        if let Ok(closing) = &mut closing {
            self.drop_array(&adjoint, &lengths, closing);
            let end = build::local(&adjoint, lengths, None);
            closing.push(build::node(Statement::Delocal(Box::new(end))));
            closing.push(own);
        }
        self.quoted(node, made, Body::new(), closing);
    }

    /// Appends statements that move the adjoint of a cell that becomes vacant to the dropped adjoints.
    pub(super) fn drop_adjoint(&mut self, adjoint: Expression, made: &mut Body) {
        self.has_dropped = true;
        if let Some(update) = self.drops.update() {
            made.push(build::update(update, Function::Copy, vec![adjoint]));
        } else if let Some(own) = &self.own {
            made.extend(own.kept_in_array(adjoint));
        }
    }

    /// Appends statements that drop all adjoints of an array.
    pub(super) fn drop_array(&mut self, adjoint: &str, lengths: &[Expression], made: &mut Body) {
        made.extend(self.for_all(lengths, |this, indices| {
            let cell = match indices.is_empty() {
                true => build::cell(adjoint),
                false => build::element(adjoint, indices.iter().cloned().map(Subscript::At).collect()),
            };
            let mut dropped = Body::new();
            this.drop_adjoint(cell, &mut dropped);
            dropped
        }));
    }

    /// Returns loops over all indices of an array around the statements for an element; the statements alone for a
    /// scalar.
    pub(super) fn for_all(
        &mut self,
        lengths: &[Expression],
        statements: impl FnOnce(&mut Self, &[Expression]) -> Body,
    ) -> Body {
        let counters: Vec<_> = (0..lengths.len()).map(|n| self.fresh.counter(n)).collect();
        let indices: Vec<Expression> = counters.iter().map(|counter| build::cell(counter)).collect();
        let mut body = statements(self, &indices);
        for (counter, length) in counters.iter().zip(lengths).rev() {
            body = vec![build::for_each(counter, length.clone(), body)];
        }
        body
    }

    /// Returns true if a body drops adjoints in gradient mode.
    fn drops(&self, body: &[StatementNode]) -> bool {
        body.iter().any(|node| match &node.statement {
            Statement::Local(_) | Statement::Delocal(_) | Statement::MacroUse { .. } => true,
            Statement::Instruction(InstructionNode { update, operands, .. }) => {
                matches!(update.action(), Action::Clear) || matches!(operands, Operands::Call(_))
            }
            Statement::Tasks(_) | Statement::CallVia(_) => true,
            other => other.bodies().into_iter().any(|body| self.drops(body)),
        })
    }

    /// Appends the call of a procedure's adjoint procedure.
    fn call(&mut self, node: &StatementNode, (update, call): (Update, &CallNode), made: &mut Body) {
        let Some(called) = self.called(update, call) else {
            return made.push(self.own_statement(node));
        };
        made.extend(self.quote_above(node));
        made.extend(called);
    }

    /// Reports a statement without an adjoint program.
    pub(super) fn refuse(&mut self, place: Span, message: &str, label: &str, help: &str) {
        self.diagnostics
            .push(Diagnostic::error(ProblemCode::NoAdjointProgram, message, place, label).help(help));
    }
}
