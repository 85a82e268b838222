//! Errors for programs that can't be transformed, each with its place and a suggestion. The input is text
//! after macro expansion.

use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::source::Span;
use reviver_assembler::tree::{
    Body, Condition, ConditionKind, Expression, ExpressionKind, InstructionNode, Operands,
};
use reviver_assembler::tree::{ShapeNode, Statement, Subscript};
use reviver_isa::codes::ProblemCode;
use reviver_isa::update::{Action, Store};

use crate::program::SortedProgram;

/// Returns an error for each declaration that the transformation doesn't support.
pub fn declarations(program: &SortedProgram) -> Vec<Diagnostic> {
    let stacks = program.globals.iter().filter(|global| matches!(global.declaration.shape, ShapeNode::Stack));
    stacks.map(|global| stack(global.declaration.name.span)).collect()
}

/// Returns an error for each statement that the transformation doesn't support. `exact` is true if arithmetic on
/// reals is exact.
pub fn statements(body: &Body, exact: bool) -> Vec<Diagnostic> {
    let mut refusals = Refusals { exact, found: Vec::new() };
    refusals.body(body);
    refusals.found
}

fn stack(place: Span) -> Diagnostic {
    let message = "a program that uses a stack can't be cut into segments";
    Diagnostic::error(
        ProblemCode::NotTransformed,
        message,
        place,
        "a stack can't be copied, and segments store lost values on the stacks",
    )
    .help("keep the values in an array, whose length is known")
}

fn tape(place: Span) -> Diagnostic {
    Diagnostic::error(
        ProblemCode::NotTransformed,
        "a program with tapes can't be cut into segments",
        place,
        "segments run several times, but a tape is read or written only once",
    )
    .help("declare `.in` and `.out` arrays instead of using the tapes")
}

fn adjoint(place: Span) -> Diagnostic {
    let message = "a program that computes adjoints itself can't be cut into segments";
    let label = "segments run several times, so the adjoints would be wrong";
    Diagnostic::error(ProblemCode::NotTransformed, message, place, label)
        .help("remove this statement, and compute the gradient with `reviver grad`")
}

fn computed_call(place: Span) -> Diagnostic {
    let message = "a `callvia` can't be transformed";
    Diagnostic::error(
        ProblemCode::NotTransformed,
        message,
        place,
        "the called procedure is known only at run time, and it may lose bits",
    )
    .help("write an `if` with a `call` for each value of the cell")
}

fn rotation(place: Span) -> Diagnostic {
    let message = "a rotation of floats can't be made exact";
    Diagnostic::error(
        ProblemCode::NotTransformed,
        message,
        place,
        "the inverse rotation doesn't restore the bits",
    )
    .help(
        "write `.real fixed`, where rotations lose nothing, or overwrite both cells with the rotated values",
    )
}

struct Refusals {
    exact: bool,
    found: Vec<Diagnostic>,
}

impl Refusals {
    fn body(&mut self, body: &Body) {
        for node in body {
            self.statement(&node.statement);
            node.statement.bodies().into_iter().for_each(|inner| self.body(inner));
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Instruction(instruction) => self.instruction(instruction),
            Statement::If(tree) => {
                [&tree.entry, &tree.exit].into_iter().for_each(|part| self.condition(part))
            }
            Statement::Loop(tree) => {
                [&tree.entry, &tree.exit].into_iter().for_each(|part| self.condition(part))
            }
            Statement::For(tree) => {
                [&tree.from, &tree.to].into_iter().chain(&tree.step).for_each(|part| self.expression(part));
            }
            Statement::Local(local) | Statement::Delocal(local) => self.all(&local.sources),
            Statement::CallVia(call) => self.found.push(computed_call(call.cell.span)),
            _ => {}
        }
    }

    fn instruction(&mut self, instruction: &InstructionNode) {
        let place = instruction.mnemonic;
        match instruction.update.action() {
            Action::Put(Store::Stack) | Action::Take(Store::Stack) => self.found.push(stack(place)),
            Action::Put(_) | Action::Take(_) => self.found.push(tape(place)),
            Action::Switch(_) => self.found.push(adjoint(place)),
            Action::Rotate if !self.exact => self.found.push(rotation(place)),
            _ => {}
        }
        match &instruction.operands {
            Operands::Cells(cells) => self.all(cells),
            Operands::Condition(condition) | Operands::Branch { condition, .. } => self.condition(condition),
            Operands::Call(call) => self.all(&call.arguments),
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match &condition.kind {
            ConditionKind::Always | ConditionKind::Forgotten => {}
            ConditionKind::Compare(_, left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ConditionKind::Not(inner) => self.condition(inner),
            ConditionKind::And(left, right) | ConditionKind::Or(left, right) => {
                self.condition(left);
                self.condition(right);
            }
        }
    }

    fn all(&mut self, list: &[Expression]) {
        list.iter().for_each(|part| self.expression(part));
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Name { name, adjoint: is_adjoint } if *is_adjoint || name.as_str() == "mode" => {
                self.found.push(adjoint(expression.span));
            }
            ExpressionKind::Element(element) => {
                if element.adjoint {
                    self.found.push(adjoint(expression.span));
                }
                for subscript in &element.subscripts {
                    match subscript {
                        Subscript::At(index) => self.expression(index),
                        Subscript::All => {}
                        Subscript::Span { from, to, step } => {
                            [from, to].into_iter().chain(step).for_each(|part| self.expression(part));
                        }
                    }
                }
            }
            ExpressionKind::Unary(_, operand) => self.expression(operand),
            ExpressionKind::Binary(_, sides) => self.all(&**sides),
            ExpressionKind::Apply(application) => self.all(&application.sources),
            _ => {}
        }
    }
}
