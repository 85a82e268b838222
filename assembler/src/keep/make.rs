//! Constructors of syntax tree nodes, beside those of [`crate::build`]. Each function is named after the text of its node.
//! The functions depend on no program.

pub use crate::build::{binary, cell, compared as compare, int, name, node, real};

use crate::build;
use crate::source::Span;
use crate::tree::{
    Application, Body, Condition, ConditionKind, Expression, ExpressionKind, For, If, InstructionNode, Local,
    Operands, Statement, StatementNode, Subscript,
};
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

/// Returns a statement as a line with a comment at its end.
pub fn noted(statement: Statement, comment: &str) -> StatementNode {
    StatementNode { comment: Some(format!(" {comment}").into()), ..node(statement) }
}

/// Returns `array[indices]` as an expression.
pub fn element(array: &str, indices: impl IntoIterator<Item = Expression>) -> Expression {
    build::element(array, indices.into_iter().map(Subscript::At).collect())
}

/// Returns `function(sources)`, or the source itself for a copy.
pub fn applied(function: Function, sources: &[Expression]) -> Expression {
    match sources {
        [source] if function == Function::Copy => source.clone(),
        _ => build::expression(ExpressionKind::Apply(Box::new(Application {
            function,
            sources: sources.to_vec(),
        }))),
    }
}

/// Returns the negation of a condition.
pub fn not(condition: &Condition) -> Condition {
    Condition { kind: ConditionKind::Not(Box::new(condition.clone())), span: Span::default() }
}

fn instruction(update: Update, operands: Operands) -> Statement {
    Statement::Instruction(InstructionNode {
        update,
        function: Function::Copy,
        mnemonic: Span::default(),
        operands,
    })
}

/// Returns `update operands` as a statement.
pub fn update(update: Update, operands: impl IntoIterator<Item = Expression>) -> Statement {
    instruction(update, Operands::Cells(operands.into_iter().collect()))
}

/// Returns `assert condition` as a statement.
pub fn assert(condition: Condition) -> Statement {
    instruction(Update::Assert, Operands::Condition(Box::new(condition)))
}

/// Returns `name: class = function(sources)`, for a `local` or a `delocal`.
pub fn variable(text: &str, class: Class, function: Function, sources: &[Expression]) -> Box<Local> {
    let class = (class == Class::Real).then_some(Class::Real);
    let sources = sources.to_vec();
    Box::new(Local { record: None, name: name(text), shape: Vec::new(), class, function, sources })
}

/// Returns `name = 0`, for a `local` or a `delocal`.
pub fn nothing(text: &str, class: Class) -> Box<Local> {
    variable(text, class, Function::Copy, &[])
}

/// Returns `if entry … else … fi exit`.
pub fn branches(entry: Condition, then: Body, otherwise: Option<Body>, exit: Condition) -> Statement {
    Statement::If(Box::new(If {
        entry,
        then,
        otherwise,
        chained: false,
        exit,
        else_comment: None,
        end_comment: None,
        middle: Span::default(),
    }))
}

/// Returns `for counter in 0..to … rof`.
pub fn counted(counter: &str, to: Expression, body: Body) -> Statement {
    Statement::For(Box::new(For {
        counter: name(counter),
        from: int(0),
        to,
        step: None,
        reversed: false,
        is_of_arrays: false,
        body,
        end_comment: None,
        end: Span::default(),
    }))
}
