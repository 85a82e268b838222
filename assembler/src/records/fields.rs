//! Fields of cells, and instructions with other operands.

use std::rc::Rc;

use compact_str::format_compact;
use reviver_isa::function::Function;
use reviver_isa::update::Update;

use crate::build;
use crate::source::Span;
use crate::tree::{Condition, Expression, ExpressionKind, FieldNode, InstructionNode, Operands, Statement};

/// Returns a field of a variable or of an element.
pub(super) fn of_field(record: &Expression, field: &FieldNode) -> Expression {
    let mut made = record.clone();
    if field.name.text.is_empty() {
        return made;
    }
    match &mut made.kind {
        ExpressionKind::Name { name, .. } => *name = Rc::new(format_compact!("{name}.{}", field.name.text)),
        ExpressionKind::Element(element) => {
            element.name = Rc::new(format_compact!("{}.{}", element.name, field.name.text));
        }
        _ => {}
    }
    made
}

/// Sets the place of an expression that has none, after those of its parts. A literal keeps its empty place: the formatter
/// reads its spelling there. An operation begins where its left operand does, so the formatter adds no parentheses.
pub(super) fn place_at(part: &mut Expression, place: Span) {
    if part.span != build::NOWHERE {
        return;
    }
    part.span = match &part.kind {
        ExpressionKind::Int { .. } | ExpressionKind::Real(_) => return,
        ExpressionKind::Binary(_, sides) if sides[0].span != build::NOWHERE => sides[0].span,
        _ => place,
    };
}

/// Returns an instruction with one target and a value.
pub(super) fn with_value(instruction: &InstructionNode, target: &Expression, value: Expression) -> Statement {
    let operands = Operands::Cells([target.clone(), value].into());
    Statement::Instruction(InstructionNode { function: Function::Copy, operands, ..instruction.clone() })
}

/// Returns an `assert` at the place of an instruction.
pub(super) fn assertion(instruction: &InstructionNode, condition: Condition) -> Statement {
    let operands = Operands::Condition(Box::new(condition));
    let (update, function) = (Update::Assert, Function::Copy);
    Statement::Instruction(InstructionNode { update, function, operands, ..instruction.clone() })
}

/// Returns an instruction with one target only.
pub(super) fn single(instruction: &InstructionNode, update: Update, target: Expression) -> Statement {
    let operands = Operands::Cells([target].into());
    let function = Function::Copy;
    Statement::Instruction(InstructionNode { update, function, operands, ..instruction.clone() })
}

/// Returns a field of a cell, of an element or of an array.
pub(super) fn field(cell: &Expression, name: &str) -> Expression {
    of_field(cell, &FieldNode { name: build::name(name), class: None })
}
