//! Divides main into parts. Main is cut at two kinds of places: at the heads of lossy loops, and where paths of control
//! meet before or after such loops.
//!
//! A part runs from its beginning to the beginning of another part, and stores the number of that part in a cell; 0
//! means the end. This module determines the parts and their successors. Other modules group parts into segments.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_assembler::source::Span;
use reviver_assembler::tree::{
    Body, Compute, Condition, Expression, ExpressionKind, For, If, Local, Loop, Statement, StatementNode,
};
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use reviver_assembler::keep::class::class_of;
use reviver_assembler::keep::make::{self, node};
use reviver_assembler::keep::{Keeper, has_branches, is_forgotten};

/// A part of main. Its number is its position in the list of parts, counted from 1.
#[derive(Debug, Default)]
pub struct ProgramPart {
    /// Short description of the source text at which the part begins, for a comment.
    pub about: &'static str,
    pub place: Span,
    pub body: Body,
}

/// A local variable that is used in several parts, so that it becomes a cell of the program.
#[derive(Clone, Debug)]
pub struct Promoted {
    pub name: CompactString,
    pub class: Class,
    pub shape: Vec<Expression>,
}

/// A transition to another part: the part's number, and the statements to run before the transition.
struct PartEdge {
    body: Body,
    to: usize,
}

impl PartEdge {
    fn to(part: usize) -> PartEdge {
        PartEdge { body: Body::new(), to: part }
    }
}

/// The transition at the end of a part.
enum PartExit {
    To(usize),
    /// The first transition if the condition holds, otherwise the second one.
    Choice(Condition, PartEdge, PartEdge),
}

/// The statements of a body up to the first one that must be cut.
#[derive(Default)]
struct StraightRun<'t> {
    /// True if the body has a statement to cut, which follows these statements.
    is_cut: bool,
    /// The locals that end within these statements, each with the position of its last `delocal`.
    ends: HashMap<&'t CompactString, usize>,
}

/// State while main is being divided into parts.
pub struct Cutter<'k, 'p> {
    keeper: &'k mut Keeper<'p>,
    /// The cell in which a part stores the number of its successor.
    next: CompactString,
    pub parts: Vec<ProgramPart>,
    pub promoted: Vec<Promoted>,
    /// The names of the variables that became cells of the program.
    known: HashSet<CompactString>,
}

impl<'k, 'p> Cutter<'k, 'p> {
    pub fn new(keeper: &'k mut Keeper<'p>, next: &str) -> Cutter<'k, 'p> {
        let (parts, promoted) = (Vec::new(), Vec::new());
        Cutter { keeper, next: next.into(), parts, promoted, known: HashSet::new() }
    }

    /// Divides the body of main into parts. The body begins with part 1.
    pub fn main(&mut self, body: &Body) {
        let first = self.reserve("the beginning", body.first().map(|node| node.span).unwrap_or_default());
        self.fill(first, body, PartExit::To(0));
    }

    fn reserve(&mut self, about: &'static str, place: Span) -> usize {
        self.parts.push(ProgramPart { about, place, body: Body::new() });
        self.parts.len()
    }

    fn fill(&mut self, number: usize, statements: &[StatementNode], exit: PartExit) {
        let body = self.run(statements, exit, has_branches(statements));
        self.put(number, body);
    }

    fn put(&mut self, number: usize, body: Body) {
        if let Some(part) = number.checked_sub(1).and_then(|at| self.parts.get_mut(at)) {
            part.body = body;
        }
    }

    /// Returns true if a statement must be cut: a lossy loop, or a statement with a body that contains a statement to
    /// cut.
    fn is_cut(&self, statement: &Statement) -> bool {
        let is_loop = matches!(statement, Statement::Loop(_) | Statement::For(_));
        is_loop && self.keeper.loses(statement)
            || statement.bodies().into_iter().any(|body| !has_branches(body) && self.any_cut(body))
    }

    fn any_cut(&self, statements: &[StatementNode]) -> bool {
        statements.iter().any(|node| self.is_cut(&node.statement))
    }

    /// Returns the locals that end before the first statement to cut.
    fn straight_run<'t>(&self, statements: &'t [StatementNode]) -> StraightRun<'t> {
        let mut run = StraightRun::default();
        for (at, node) in statements.iter().enumerate() {
            if self.is_cut(&node.statement) {
                run.is_cut = true;
                break;
            }
            if let Statement::Delocal(local) = &node.statement {
                run.ends.insert(&local.name.text, at);
            }
        }
        run
    }

    /// Returns the statements before the first one to cut, followed by the transition to the next part. The statement
    /// to cut and all later ones are put into further parts. If `whole` is true, nothing is cut.
    fn run(&mut self, statements: &[StatementNode], exit: PartExit, whole: bool) -> Body {
        let mut body = Body::new();
        let run = if whole { StraightRun::default() } else { self.straight_run(statements) };
        for (at, from) in statements.iter().enumerate() {
            let after = statements.get(at + 1..).unwrap_or_default();
            if !run.is_cut || !self.is_cut(&from.statement) {
                self.straight(from, at, &run, &mut body);
                continue;
            }
            if let Statement::Compute(tree) = &from.statement {
                let Some(spliced) = self.spliced(tree, after) else { return body };
                body.extend(self.run(&spliced, exit, has_branches(&spliced)));
                return body;
            }
            let behind = self.behind(from, after, exit);
            self.cut(from, behind, &mut body);
            return body;
        }
        self.leave(exit, &mut body);
        body
    }

    /// Returns the number of the part that begins after a cut statement, and creates the part if necessary.
    fn behind(&mut self, from: &StatementNode, after: &[StatementNode], exit: PartExit) -> usize {
        let said = after.iter().find(|node| !matches!(node.statement, Statement::Empty));
        match (said, exit) {
            (None, PartExit::To(part)) => part,
            (said, exit) => {
                // Statements that the transformation added have no position in the text.
                let place = said.map(|node| node.span).filter(|place| *place != Span::default());
                let part = self.reserve("the statements that follow", place.unwrap_or(from.span));
                // A body that is cut contains no branches between labels, so the statements after the cut may be cut,
                // too.
                let body = self.run(after, exit, false);
                self.put(part, body);
                part
            }
        }
    }

    /// Returns the statements that replace a `compute` block that must be cut: both bodies, the inverse of the first
    /// body, and the statements in `after`.
    fn spliced(&mut self, tree: &Compute, after: &[StatementNode]) -> Option<Vec<StatementNode>> {
        let undoing = self.keeper.undo(&tree.body)?;
        Some(tree.body.iter().chain(&tree.apply).chain(&undoing).chain(after).cloned().collect())
    }

    /// Emits a statement that isn't cut. A variable that lives across a cut becomes a cell of the program.
    fn straight(&mut self, from: &StatementNode, at: usize, run: &StraightRun<'_>, to: &mut Body) {
        match &from.statement {
            Statement::Local(local) if self.lives_on(local, at, run) => self.promote(local, from, to),
            Statement::Delocal(local) if self.known.contains(&local.name.text) => self.end(local, from, to),
            _ => self.keeper.statement(from, to),
        }
    }

    /// Returns true if the local at this position is used after the end of `run`, in another part.
    fn lives_on(&self, local: &Local, at: usize, run: &StraightRun<'_>) -> bool {
        let ends = run.ends.get(&local.name.text).is_some_and(|end| *end > at);
        // Variables with the same name share a cell. So if one of them becomes a cell of the program, the others
        // become that cell, too.
        self.known.contains(&local.name.text) || run.is_cut && !ends
    }

    fn promote(&mut self, local: &Local, from: &StatementNode, to: &mut Body) {
        let class = class_of(&make::cell(&local.name.text), self.keeper.classes);
        self.remember(&local.name.text, class, &local.shape);
        if !local.sources.is_empty() {
            let value = make::applied(local.function, &local.sources);
            let begun = make::update(Update::Add, [make::cell(&local.name.text), value]);
            to.push(StatementNode { statement: begun, ..from.clone() });
        }
    }

    fn remember(&mut self, name: &CompactString, class: Class, shape: &[Expression]) {
        if self.known.insert(name.clone()) {
            self.promoted.push(Promoted { name: name.clone(), class, shape: shape.to_vec() });
        }
    }

    /// Emits the end of a variable that became a cell: the cell must be 0 again.
    fn end(&mut self, local: &Local, from: &StatementNode, to: &mut Body) {
        let cell = make::cell(&local.name.text);
        let is_real = class_of(&cell, self.keeper.classes) == Class::Real;
        let value = (!local.sources.is_empty()).then(|| make::applied(local.function, &local.sources));
        match (&*local.shape, is_real && !self.keeper.rules.exact) {
            ([], true) => self.keeper.cleared(&cell, value, to),
            ([], false) => {
                let undone = value.map(|value| make::update(Update::Sub, [cell.clone(), value]));
                to.extend(undone.map(|statement| StatementNode { statement, ..from.clone() }));
                to.push(node(make::update(Update::Vacate, [cell])));
            }
            (shape, true) => self.keeper.cleared_array(&local.name.text, shape, to),
            (shape, false) => self.keeper.each_element(&local.name.text, shape, to, |_, element| {
                vec![node(make::update(Update::Vacate, [element]))]
            }),
        }
    }

    fn cut(&mut self, from: &StatementNode, behind: usize, to: &mut Body) {
        match &from.statement {
            Statement::If(tree) => self.branching(tree, from.span, behind, to),
            Statement::Loop(tree) => self.repetition(tree, from.span, behind, to),
            Statement::For(tree) => self.counted(tree, from.span, behind, to),
            _ => {}
        }
    }

    fn branching(&mut self, tree: &If, place: Span, behind: usize, to: &mut Body) {
        let (holds, fails) = match is_forgotten(&tree.exit) {
            true => (None, None),
            false => (Some(tree.exit.clone()), Some(make::not(&tree.exit))),
        };
        let claimed = |body: &[StatementNode], claim: Option<Condition>| -> Body {
            body.iter().cloned().chain(claim.map(|claim| node(make::assert(claim)))).collect()
        };
        let then = claimed(&tree.then, holds);
        let otherwise = claimed(tree.otherwise.as_deref().unwrap_or_default(), fails);
        let first = self.reserve("the first body of the `if`", place);
        let other = if otherwise.is_empty() {
            behind
        } else {
            self.reserve("the second body of the `if`", tree.middle)
        };
        self.leave(PartExit::Choice(tree.entry.clone(), PartEdge::to(first), PartEdge::to(other)), to);
        self.fill(first, &then, PartExit::To(behind));
        if other != behind {
            self.fill(other, &otherwise, PartExit::To(behind));
        }
    }

    fn repetition(&mut self, tree: &Loop, place: Span, behind: usize, to: &mut Body) {
        let head = self.reserve("an iteration of the loop", place);
        let mut again: Body = tree.again.clone().unwrap_or_default();
        if !is_forgotten(&tree.entry) {
            to.push(node(make::assert(tree.entry.clone())));
            again.push(node(make::assert(make::not(&tree.entry))));
        }
        self.leave(PartExit::To(head), to);
        let turn =
            if says_something(&again) { self.reserve("between two iterations", tree.middle) } else { head };
        self.fill(
            head,
            &tree.first,
            PartExit::Choice(tree.exit.clone(), PartEdge::to(behind), PartEdge::to(turn)),
        );
        if turn != head {
            self.fill(turn, &again, PartExit::To(head));
        }
    }

    /// Emits a counted loop. The counter starts at one bound; at the end the other bound is subtracted and
    /// must leave 0.
    fn counted(&mut self, tree: &For, place: Span, behind: usize, to: &mut Body) {
        let name = &tree.counter.text;
        self.remember(name, Class::Int, &[]);
        let counter = || make::cell(name);
        let (start, end) = if tree.reversed { (&tree.to, &tree.from) } else { (&tree.from, &tree.to) };
        let head = self.reserve("an iteration of the loop", place);

        let begun: Body = changed_by(Update::Add, counter(), start).into_iter().collect();
        let is_empty = make::compare(Order::Ge, tree.from.clone(), tree.to.clone());
        match is_literally_empty(tree) {
            Some(true) => self.leave(PartExit::To(behind), to),
            Some(false) => {
                to.extend(begun);
                self.leave(PartExit::To(head), to);
            }
            None => self.leave(
                PartExit::Choice(is_empty, PartEdge::to(behind), PartEdge { body: begun, to: head }),
                to,
            ),
        }

        let step = tree.step.clone().unwrap_or_else(|| make::int(1));
        let (update, order) = if tree.reversed { (Update::Sub, Order::Gt) } else { (Update::Add, Order::Lt) };
        let moved = node(make::update(update, [counter(), step]));
        let mut round = tree.body.clone();
        round.insert(if tree.reversed { 0 } else { round.len() }, moved);
        let taken = changed_by(Update::Sub, counter(), end).into_iter();
        let ended = taken.chain([node(make::update(Update::Vacate, [counter()]))]).collect();
        let goes_on = make::compare(order, counter(), end.clone());
        self.fill(
            head,
            &round,
            PartExit::Choice(goes_on, PartEdge::to(head), PartEdge { body: ended, to: behind }),
        );
    }

    /// Emits the transition to the next part.
    fn leave(&self, exit: PartExit, to: &mut Body) {
        match exit {
            PartExit::To(part) => to.extend(self.go(part)),
            PartExit::Choice(condition, yes, no) => {
                let arrived = make::compare(Order::Eq, make::cell(&self.next), make::int(yes.to as u64));
                let body =
                    |edge: PartEdge| -> Body { edge.body.into_iter().chain(self.go(edge.to)).collect() };
                to.push(node(make::branches(condition, body(yes), Some(body(no)), arrived)));
            }
        }
    }

    /// Returns the statement that stores the number of the next part. The cell holds 0 already, so the number 0 (the
    /// end of the program) needs no statement.
    fn go(&self, part: usize) -> Option<StatementNode> {
        let number = make::int(part as u64);
        (part > 0).then(|| node(make::update(Update::Add, [make::cell(&self.next), number])))
    }
}

/// Returns a statement that adds a bound to a counter, or subtracts the bound from the counter. Returns `None` if the
/// bound is the literal 0.
fn changed_by(update: Update, counter: Expression, bound: &Expression) -> Option<StatementNode> {
    let is_nothing = matches!(bound.kind, ExpressionKind::Int { value: 0, .. });
    (!is_nothing).then(|| node(make::update(update, [counter, bound.clone()])))
}

/// Returns true if the loop has no iteration. Returns `None` if a bound of the loop isn't a literal. Literal bounds are
/// compared here, because a comparison of two literals isn't valid in the generated text.
fn is_literally_empty(tree: &For) -> Option<bool> {
    match (&tree.from.kind, &tree.to.kind) {
        (ExpressionKind::Int { value: from, .. }, ExpressionKind::Int { value: to, .. }) => Some(from >= to),
        _ => None,
    }
}

fn says_something(body: &[StatementNode]) -> bool {
    body.iter().any(|node| !matches!(node.statement, Statement::Empty))
}
