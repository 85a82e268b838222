//! Replaces lossy statements by reversible ones, which push the lost values onto the machine's stacks.
//!
//! An assignment exchanges the old value for the new one, and pushes the old one. At a join without a condition (`fi
//! forgotten`, `from forgotten`), a bit or a count of iterations records the path that was taken, and is pushed. If
//! reals are floats, every update of a float becomes such an assignment, because undoing the update would round. This
//! module keeps the values of statements; it depends neither on the use that is made of them nor on the whole program.
//!
//! | module | purpose |
//! |---|---|
//! | `class` | the class of an expression |
//! | `make`, `names` | constructors of statements, and names that shadow no others |

pub mod class;
pub mod make;
pub mod names;

use std::collections::{HashMap, HashSet};

use crate::diagnostic::Diagnostic;
use crate::invert::body::invert_body;
use crate::rewrite::at_place;
use crate::tree::{
    BinaryOperator, Body, CallNode, Compute, Condition, ConditionKind, Expression, If, InstructionNode,
    Local, Loop, Operands, Statement, StatementNode,
};
use compact_str::CompactString;
use reviver_isa::arith::Order;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::update::{Action, Direction, Update};

use self::class::{Classes, class_of};
use self::make::{node, noted};
use self::names::UnusedNames;

/// The lossy procedures, each with the name of its inverse.
pub type LossyProcedures = HashMap<CompactString, CompactString>;

/// The settings that all routines of a program share.
#[derive(Clone, Copy)]
pub struct Rules<'p> {
    /// True if arithmetic on reals is exact.
    pub exact: bool,
    /// The magnitude up to which a real counts as 0 when it is freed.
    pub tolerance: &'p Expression,
    /// The procedures whose calls lose bits.
    pub losing: &'p LossyProcedures,
    /// True if `compute` blocks stay blocks, whose `uncompute` pops what the first body has pushed. Otherwise a block whose
    /// first body loses bits becomes a sequence, because the parts of main can't be cut within a block.
    pub blocks_stay: bool,
}

/// Replaces the lossy statements of one routine.
pub struct Keeper<'p> {
    /// The settings of the program.
    pub rules: Rules<'p>,
    /// The classes of the routine's names.
    pub classes: &'p Classes,
    /// The names in use, to which those of new variables are added.
    pub names: UnusedNames,
    /// Names of the lossy procedures that an `uncall` executes backward, so that inverse procedures must be generated
    /// for them.
    pub undone: HashSet<CompactString>,
    /// The errors that were found.
    pub problems: Vec<Diagnostic>,
    /// Names of the variables that this module adds, by purpose. If several variables of one purpose are open at
    /// once, the outermost is first.
    words: HashMap<&'static str, Vec<CompactString>>,
    open: HashMap<&'static str, usize>,
}

impl<'p> Keeper<'p> {
    /// Begins the statements of a routine.
    pub fn new(rules: Rules<'p>, classes: &'p Classes, names: UnusedNames) -> Keeper<'p> {
        Keeper {
            rules,
            classes,
            names,
            undone: HashSet::new(),
            problems: Vec::new(),
            words: HashMap::new(),
            open: HashMap::new(),
        }
    }

    /// Returns true if arithmetic on this cell rounds.
    fn rounds(&self, cell: &Expression) -> bool {
        !self.rules.exact && class_of(cell, self.classes) == Class::Real
    }

    /// Returns true if undoing a statement requires saved values.
    pub fn loses(&self, statement: &Statement) -> bool {
        match statement {
            Statement::Instruction(instruction) => self.instruction_loses(instruction),
            Statement::If(tree) => is_forgotten(&tree.exit) || self.any_loses(statement),
            Statement::Loop(tree) => is_forgotten(&tree.entry) || self.any_loses(statement),
            Statement::Compute(tree) => {
                self.any_loses(statement)
                    || invert_body(&tree.body).is_ok_and(|undone| self.body_loses(&undone))
            }
            Statement::Delocal(local) => self.rounds(&make::cell(&local.name.text)),
            _ => self.any_loses(statement),
        }
    }

    fn any_loses(&self, statement: &Statement) -> bool {
        statement.bodies().into_iter().any(|body| self.body_loses(body))
    }

    /// Returns true if undoing any of the statements requires saved values.
    pub fn body_loses(&self, body: &Body) -> bool {
        body.iter().any(|node| self.loses(&node.statement))
    }

    fn instruction_loses(&self, instruction: &InstructionNode) -> bool {
        let target_rounds = || target(instruction).is_some_and(|target| self.rounds(target));
        match instruction.update.action() {
            Action::Replace | Action::Erase(_) => true,
            Action::Accumulate | Action::Clear => target_rounds(),
            Action::Call(_) => {
                calls(instruction).iter().any(|call| self.rules.losing.contains_key(&call.procedure.text))
            }
            _ => false,
        }
    }

    /// Returns statements that lose nothing.
    pub fn body(&mut self, body: &Body) -> Body {
        let mut kept = Body::with_capacity(body.len());
        body.iter().for_each(|node| self.statement(node, &mut kept));
        kept
    }

    /// Emits the replacement of a statement.
    pub fn statement(&mut self, from: &StatementNode, to: &mut Body) {
        if !self.loses(&from.statement) {
            to.push(from.clone());
            return;
        }
        let first = to.len();
        match &from.statement {
            Statement::Instruction(instruction) => self.instruction(instruction, to),
            Statement::If(tree) => self.branching(tree, to),
            Statement::Loop(tree) => self.repetition(tree, to),
            Statement::For(tree) => {
                let mut tree = tree.clone();
                tree.body = self.body(&tree.body);
                to.push(node(Statement::For(tree)));
            }
            Statement::Compute(tree) => self.compute(tree, to),
            Statement::Delocal(local) => self.delocal(local, to),
            other => to.push(node(other.clone())),
        }
        if let Some(first) = to.get_mut(first) {
            first.comment = from.comment.clone().or_else(|| first.comment.take());
            first.label.clone_from(&from.label);
        }
        at_place(to.get_mut(first..).unwrap_or_default(), from.span);
    }

    fn instruction(&mut self, instruction: &InstructionNode, to: &mut Body) {
        match (instruction.update.action(), &instruction.operands) {
            (Action::Replace, Operands::Cells(cells)) => {
                let Some((target, sources)) = cells.split_first() else { return };
                self.assign(target, instruction.function, sources, to);
            }
            (Action::Accumulate, Operands::Cells(cells)) => {
                let Some((target, sources)) = cells.split_first() else { return };
                let by = make::applied(instruction.function, sources);
                let operator = if instruction.update == Update::Sub {
                    BinaryOperator::Subtract
                } else {
                    BinaryOperator::Add
                };
                let value = make::binary(operator, target.clone(), by);
                self.assign(target, Function::Copy, &[value], to);
            }
            (Action::Clear, Operands::Cells(cells)) => {
                cells.iter().for_each(|cell| self.cleared(cell, None, to));
            }
            (Action::Erase(erasure), Operands::Cells(cells)) => {
                let is_whole = erasure.bits(2) == 2;
                for cell in cells {
                    if is_whole {
                        to.push(node(make::update(Update::Push, [cell.clone()])));
                    } else {
                        self.forget(cell, to);
                    }
                }
            }
            (Action::Call(direction), Operands::Call(call)) => self.call(direction, instruction, call, to),
            // Updates other than those above lose no information.
            _ => to.push(node(Statement::Instruction(instruction.clone()))),
        }
    }

    /// Emits an assignment: the new value is computed, exchanged for the old one, and the old one is pushed.
    fn assign(&mut self, target: &Expression, function: Function, sources: &[Expression], to: &mut Body) {
        let class = class_of(target, self.classes);
        let new = self.word("new");
        to.push(node(Statement::Local(make::variable(&new, class, function, sources))));
        to.push(node(make::update(Update::Swap, [target.clone(), make::cell(&new)])));
        to.push(node(make::update(Update::Push, [make::cell(&new)])));
        to.push(node(Statement::Delocal(make::nothing(&new, class))));
        self.done_with("new");
    }

    fn forget(&mut self, cell: &Expression, to: &mut Body) {
        let bit = self.word("bit");
        let lowest = make::binary(BinaryOperator::And, cell.clone(), make::int(1));
        to.push(node(Statement::Local(make::variable(&bit, Class::Int, Function::Copy, &[lowest]))));
        to.push(node(make::update(Update::Xor, [cell.clone(), make::cell(&bit)])));
        to.push(node(make::update(Update::Push, [make::cell(&bit)])));
        to.push(node(Statement::Delocal(make::nothing(&bit, Class::Int))));
        self.done_with("bit");
    }

    /// Emits an assertion that a real is within the tolerance of `value`, or of 0, and a push of the real.
    pub fn cleared(&self, cell: &Expression, value: Option<Expression>, to: &mut Body) {
        let off = match value {
            Some(value) => make::binary(BinaryOperator::Subtract, cell.clone(), value),
            None => cell.clone(),
        };
        let size = make::applied(Function::Abs, &[off]);
        to.push(node(make::assert(make::compare(Order::Le, size, self.rules.tolerance.clone()))));
        to.push(noted(
            make::update(Update::Push, [cell.clone()]),
            "including the remainder that rounding left",
        ));
    }

    fn delocal(&mut self, local: &Local, to: &mut Body) {
        if local.shape.is_empty() {
            let value = (!local.sources.is_empty()).then(|| make::applied(local.function, &local.sources));
            self.cleared(&make::cell(&local.name.text), value, to);
            to.push(node(Statement::Delocal(make::nothing(&local.name.text, Class::Real))));
        } else {
            self.cleared_array(&local.name.text, &local.shape, to);
            to.push(node(Statement::Delocal(Box::new(local.clone()))));
        }
    }

    /// Emits [`Keeper::cleared`] for each element of a real array.
    pub fn cleared_array(&mut self, array: &str, shape: &[Expression], to: &mut Body) {
        self.each_element(array, shape, to, |this, element| {
            let mut body = Body::new();
            this.cleared(&element, None, &mut body);
            body
        });
    }

    /// Emits loops that run statements for each element of an array.
    pub fn each_element(
        &mut self,
        array: &str,
        shape: &[Expression],
        to: &mut Body,
        make: impl Fn(&Keeper, Expression) -> Body,
    ) {
        let counters: Vec<CompactString> = shape.iter().map(|_| self.word("cell")).collect();
        let mut body = make(self, make::element(array, counters.iter().map(|counter| make::cell(counter))));
        for (counter, length) in counters.iter().zip(shape).rev() {
            body = vec![node(make::counted(counter, length.clone(), body))];
            self.done_with("cell");
        }
        to.append(&mut body);
    }

    fn call(&mut self, direction: Direction, instruction: &InstructionNode, call: &CallNode, to: &mut Body) {
        let mut call = call.clone();
        if self.rules.blocks_stay {
            let operands = Operands::Call(Box::new(call));
            return to
                .push(node(Statement::Instruction(InstructionNode { operands, ..instruction.clone() })));
        }
        if direction == Direction::Backward
            && let Some(other) = self.rules.losing.get(&call.procedure.text)
        {
            self.undone.insert(call.procedure.text.clone());
            call.procedure.text = other.clone();
        }
        let operands = Operands::Call(Box::new(call));
        let call = InstructionNode { update: Update::Call, operands, ..instruction.clone() };
        to.push(node(Statement::Instruction(call)));
    }

    /// Emits a branch. If its end is `fi forgotten`, a bit records which body ran, and is pushed after the join.
    fn branching(&mut self, tree: &If, to: &mut Body) {
        if !is_forgotten(&tree.exit) {
            let (then, otherwise) =
                (self.body(&tree.then), tree.otherwise.as_ref().map(|body| self.body(body)));
            to.push(node(Statement::If(Box::new(If { then, otherwise, chained: false, ..tree.clone() }))));
            return;
        }
        let way = self.word("way");
        let mut then = self.body(&tree.then);
        let otherwise = tree.otherwise.as_ref().map(|body| self.body(body));
        then.push(node(make::update(Update::Add, [make::cell(&way), make::int(1)])));
        let exit = make::compare(Order::Eq, make::cell(&way), make::int(1));
        let joined = If { then, otherwise, chained: false, exit, ..tree.clone() };
        self.counted(&way, Statement::If(Box::new(joined)), to);
        self.done_with("way");
    }

    /// Emits a loop. If its entry is `from forgotten`, a counter counts the iterations, and is pushed after the loop.
    fn repetition(&mut self, tree: &Loop, to: &mut Body) {
        if !is_forgotten(&tree.entry) {
            let (first, again) = (self.body(&tree.first), tree.again.as_ref().map(|body| self.body(body)));
            to.push(node(Statement::Loop(Box::new(Loop { first, again, ..tree.clone() }))));
            return;
        }
        let rounds = self.word("rounds");
        let (first, again) = (self.body(&tree.first), tree.again.as_ref().map(|body| self.body(body)));
        let mut again = again.unwrap_or_default();
        again.push(node(make::update(Update::Add, [make::cell(&rounds), make::int(1)])));
        let entry = make::compare(Order::Eq, make::cell(&rounds), make::int(0));
        let joined = Loop { entry, first, again: Some(again), ..tree.clone() };
        self.counted(&rounds, Statement::Loop(Box::new(joined)), to);
        self.done_with("rounds");
    }

    /// Emits the declaration of a counter, then the statement, then a push of the counter's final value.
    fn counted(&mut self, count: &str, statement: Statement, to: &mut Body) {
        to.push(node(Statement::Local(make::nothing(count, Class::Int))));
        to.push(node(statement));
        to.push(node(make::update(Update::Push, [make::cell(count)])));
        to.push(node(Statement::Delocal(make::nothing(count, Class::Int))));
    }

    /// Emits a `compute` block. If its first body loses nothing, it stays a block. Otherwise both bodies are emitted in
    /// sequence, followed by the inverse of the first body.
    fn compute(&mut self, tree: &Compute, to: &mut Body) {
        if self.rules.blocks_stay && !self.splits(tree) {
            let (body, apply) = (self.body(&tree.body), self.body(&tree.apply));
            return to.push(node(Statement::Compute(Box::new(Compute { body, apply, ..tree.clone() }))));
        }
        match self.undoing(tree) {
            Some(undoing) => {
                to.extend(self.body(&tree.body));
                to.extend(self.body(&tree.apply));
                to.extend(self.body(&undoing));
            }
            None => {
                let apply = self.body(&tree.apply);
                to.push(node(Statement::Compute(Box::new(Compute { apply, ..tree.clone() }))));
            }
        }
    }

    /// Returns true if a block can't stay, because both bodies keep values: its `uncompute` would take back those of the
    /// second body. If the first body keeps old values of floats only, the block becomes a sequence. Otherwise this is an
    /// error.
    fn splits(&mut self, tree: &Compute) -> bool {
        if !self.body_loses(&tree.body) || !self.body_loses(&tree.apply) {
            return false;
        }
        if self.body_discards(&tree.body) {
            let message =
                "both bodies of this `compute` discard values, so the first can't be undone after the second";
            let problem =
                Diagnostic::error(ProblemCode::NotTransformed, message, tree.middle, "the second body");
            self.problems.push(
                problem.help(
                    "copy the results to other cells in the second body, and assign them after the block",
                ),
            );
            return false;
        }
        true
    }

    /// Returns true if statements discard values, not only the rounding of floats.
    fn body_discards(&self, body: &Body) -> bool {
        body.iter().any(|node| match &node.statement {
            Statement::Instruction(InstructionNode { update, operands: Operands::Call(call), .. }) => {
                !update.is_reversible() || self.rules.losing.contains_key(&call.procedure.text)
            }
            Statement::Instruction(instruction) => !instruction.update.is_reversible(),
            Statement::If(tree) if is_forgotten(&tree.exit) => true,
            Statement::Loop(tree) if is_forgotten(&tree.entry) => true,
            other => other.bodies().into_iter().any(|body| self.body_discards(body)),
        })
    }

    /// Returns the inverse of a block's first body as statements if this inverse or the body itself is lossy. Returns
    /// `None` if neither is, so that the block can stay.
    fn undoing(&mut self, tree: &Compute) -> Option<Body> {
        let undoing = self.undo(&tree.body)?;
        let loses = self.body_loses(&tree.body) || self.body_loses(&undoing);
        if loses && has_labels(&tree.body) {
            self.problems.push(labelled(tree));
        }
        loses.then_some(undoing)
    }

    /// Returns the inverse of some statements. A statement without an inverse is recorded in `problems`.
    pub fn undo(&mut self, body: &Body) -> Option<Body> {
        match invert_body(body) {
            Ok(undoing) => Some(undoing),
            Err(problems) => {
                self.problems.extend(problems);
                None
            }
        }
    }

    /// Returns the name of a variable that this module adds for the purpose `word`.
    fn word(&mut self, word: &'static str) -> CompactString {
        let open = self.open.entry(word).or_default();
        let known = self.words.entry(word).or_default();
        let name = match known.get(*open) {
            Some(name) => name.clone(),
            None => {
                let name = self.names.fresh(word);
                known.push(name.clone());
                name
            }
        };
        *open += 1;
        name
    }

    fn done_with(&mut self, word: &'static str) {
        if let Some(open) = self.open.get_mut(word) {
            *open = open.saturating_sub(1);
        }
    }
}

/// Returns true if a join doesn't record the path on which control reached it (`fi forgotten`, `from forgotten`).
pub fn is_forgotten(condition: &Condition) -> bool {
    matches!(condition.kind, ConditionKind::Forgotten)
}

/// Returns true if the statements contain branches between labels. A body with such branches is never cut.
pub fn has_branches(body: &[StatementNode]) -> bool {
    body.iter().any(|node| match &node.statement {
        Statement::Instruction(instruction) => matches!(instruction.operands, Operands::Branch { .. }),
        _ => false,
    })
}

fn has_labels(body: &Body) -> bool {
    body.iter().any(|node| node.label.is_some() || node.statement.bodies().into_iter().any(has_labels))
}

fn target(instruction: &InstructionNode) -> Option<&Expression> {
    match &instruction.operands {
        Operands::Cells(cells) => cells.first(),
        _ => None,
    }
}

/// Returns the procedure calls of an instruction: one for a call, otherwise none.
pub fn calls(instruction: &InstructionNode) -> &[CallNode] {
    match &instruction.operands {
        Operands::Call(call) => std::slice::from_ref(call),
        _ => &[],
    }
}

fn labelled(tree: &Compute) -> Diagnostic {
    let message = "a `compute` that loses bits can't contain labels";
    Diagnostic::error(
        ProblemCode::NotTransformed,
        message,
        tree.middle,
        "the statements of the `compute` are repeated here to be undone, but a label can be declared only once",
    )
    .help("write `if`, `from` or `for` instead of labels")
}
