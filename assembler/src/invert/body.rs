//! The inverse of statements, one function per kind.

use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use super::arrange::turned;
use crate::diagnostic::{Diagnostic, in_order};
use crate::source::Span;
use crate::tree::{
    Body, CallVia, Compute, Condition, ConditionKind, For, If, InstructionNode, Local, Loop, Statement,
    StatementNode, TaskKind, Tasks,
};

/// Returns the body that undoes another one: its statements in reverse order, each inverted. Tape
/// instructions keep their tapes: `read` becomes `unread`.
pub fn invert_body(body: &Body) -> Result<Body, Vec<Diagnostic>> {
    let mut inverter = Inverter::default();
    let inverse = inverter.body(body);
    inverter.finish(inverse)
}

/// The state of an inversion. A statement without an inverse is reported and left unchanged.
#[derive(Default)]
pub(super) struct Inverter {
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Inverter {
    pub(super) fn finish(mut self, inverse: Body) -> Result<Body, Vec<Diagnostic>> {
        in_order(&mut self.diagnostics);
        if self.diagnostics.is_empty() { Ok(inverse) } else { Err(self.diagnostics) }
    }

    fn body(&mut self, body: &Body) -> Body {
        turned(body, |node, class| self.node(node, class))
    }

    /// Returns the inverse of a statement. `class` is the class that the inverse must state if the statement
    /// is a `local` or a `delocal`.
    pub(super) fn node(&mut self, node: &StatementNode, class: Option<Class>) -> StatementNode {
        let mut comment = node.comment.clone();
        let statement = match &node.statement {
            Statement::Empty | Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_) => {
                node.statement.clone()
            }
            Statement::Instruction(instruction) => Statement::Instruction(self.instruction(instruction)),
            Statement::MacroUse { name, arguments, undo } => {
                Statement::MacroUse { name: name.clone(), arguments: arguments.clone(), undo: !undo }
            }
            Statement::If(tree) => {
                let mut inverse = self.branching(tree);
                // The first and the last line of the block exchange their conditions, so they also exchange
                // their comments.
                std::mem::swap(&mut comment, &mut inverse.end_comment);
                Statement::If(Box::new(inverse))
            }
            Statement::Loop(tree) => {
                let mut inverse = self.repetition(tree);
                std::mem::swap(&mut comment, &mut inverse.end_comment);
                Statement::Loop(Box::new(inverse))
            }
            Statement::For(tree) => Statement::For(Box::new(self.counted(tree))),
            Statement::Compute(tree) => Statement::Compute(Box::new(self.compute(tree))),
            Statement::Tasks(tree) => Statement::Tasks(Box::new(self.tasks(tree))),
            Statement::CallVia(tree) => {
                Statement::CallVia(Box::new(CallVia { undo: !tree.undo, ..(**tree).clone() }))
            }
            Statement::Local(tree) => Statement::Delocal(half(tree, class)),
            Statement::Delocal(tree) => Statement::Local(half(tree, class)),
        };
        StatementNode { label: node.label.clone(), statement, comment, span: node.span }
    }

    fn instruction(&mut self, instruction: &InstructionNode) -> InstructionNode {
        if !instruction.update.is_reversible() {
            self.diagnostics.push(irreversible(instruction.update, instruction.mnemonic));
        }
        InstructionNode { update: instruction.update.inverse(), ..instruction.clone() }
    }

    /// Reports a join that is `forgotten`: its inverse would be a branch without a condition.
    fn joined(&mut self, condition: &Condition) {
        if matches!(condition.kind, ConditionKind::Forgotten) {
            let message = "a join with `forgotten` has no inverse";
            let problem = Diagnostic::error(
                ProblemCode::NoInverseProgram,
                message,
                condition.span,
                "this join doesn't record which path was taken",
            );
            self.diagnostics.push(
                problem.help("write a condition that is true after one path and false after the other one"),
            );
        }
    }

    fn branching(&mut self, tree: &If) -> If {
        self.joined(&tree.exit);
        If {
            entry: tree.exit.clone(),
            then: self.body(&tree.then),
            otherwise: tree.otherwise.as_ref().map(|body| self.body(body)),
            chained: tree.chained,
            exit: tree.entry.clone(),
            else_comment: tree.else_comment.clone(),
            end_comment: tree.end_comment.clone(),
            middle: tree.middle,
        }
    }

    fn repetition(&mut self, tree: &Loop) -> Loop {
        self.joined(&tree.entry);
        Loop {
            entry: tree.exit.clone(),
            first: self.body(&tree.first),
            again: tree.again.as_ref().map(|body| self.body(body)),
            exit: tree.entry.clone(),
            loop_comment: tree.loop_comment.clone(),
            end_comment: tree.end_comment.clone(),
            middle: tree.middle,
        }
    }

    fn counted(&mut self, tree: &For) -> For {
        For {
            counter: tree.counter.clone(),
            from: tree.from.clone(),
            to: tree.to.clone(),
            step: tree.step.clone(),
            reversed: !tree.reversed,
            is_of_arrays: tree.is_of_arrays,
            body: self.body(&tree.body),
            end_comment: tree.end_comment.clone(),
            end: tree.end,
        }
    }

    fn tasks(&mut self, tree: &Tasks) -> Tasks {
        let kind = match &tree.kind {
            TaskKind::Calls(calls) => TaskKind::Calls(calls.clone()),
            TaskKind::Rounds(rounds) => TaskKind::Rounds(Box::new(self.counted(rounds))),
        };
        Tasks { undo: !tree.undo, kind }
    }

    /// Inverts a `compute` block. Only the body after `apply` is inverted: in both directions, the first body
    /// is computed at the beginning and uncomputed at the end.
    fn compute(&mut self, tree: &Compute) -> Compute {
        Compute {
            body: tree.body.clone(),
            middle: tree.middle,
            apply: self.body(&tree.apply),
            apply_comment: tree.apply_comment.clone(),
            end_comment: tree.end_comment.clone(),
            end: tree.end,
        }
    }
}

/// Returns a `local` as the `delocal` of the inverse, or vice versa. The half that is the `local` in the
/// inverse states the class.
fn half(tree: &Local, class: Option<Class>) -> Box<Local> {
    Box::new(Local { class, ..tree.clone() })
}

/// Returns the error for an instruction without an inverse.
pub(super) fn irreversible(update: Update, place: Span) -> Diagnostic {
    let message = format!("`{}` has no inverse", update.name());
    Diagnostic::error(
        ProblemCode::NoInverseProgram,
        message,
        place,
        "irreversible: it erases the target's value",
    )
    .help("undo the statements that computed the old value, `push` the old value, or keep it in a `.garbage` cell")
}
