//! Constructors of syntax tree nodes. Each function is named after the text of its node. The functions depend on no
//! program.

use std::rc::Rc;

use crate::source::Span;
use crate::tree::{
    Application, BinaryOperator, Body, Condition, ConditionKind, Element, Expression, ExpressionKind, For,
    If, InstructionNode, Local, Name, Operands, Statement, StatementNode, Subscript,
};
use reviver_isa::arith::Order;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

/// Returns a statement as a line without a comment.
pub fn node(statement: Statement) -> StatementNode {
    StatementNode { label: None, statement, comment: None, span: Span::default() }
}

/// Returns a statement as a line with a comment at its end.
pub fn noted(statement: Statement, comment: &str) -> StatementNode {
    StatementNode { comment: Some(format!(" {comment}").into()), ..node(statement) }
}

/// Returns a name without a place.
pub fn name(text: &str) -> Name {
    Name { text: text.into(), span: Span::default() }
}

fn expression(kind: ExpressionKind) -> Expression {
    Expression { kind, span: Span::default() }
}

/// Returns the expression that names a scalar or a whole array.
pub fn cell(text: &str) -> Expression {
    expression(ExpressionKind::Name { name: Rc::new(text.into()), adjoint: false })
}

/// Returns an integer literal.
pub fn int(value: u64) -> Expression {
    expression(ExpressionKind::Int { value, pattern: false })
}

/// Returns a real literal.
pub fn real(value: f64) -> Expression {
    expression(ExpressionKind::Real(value))
}

/// Returns `array[indices]` as an expression.
pub fn element(array: &str, indices: impl IntoIterator<Item = Expression>) -> Expression {
    let subscripts = indices.into_iter().map(Subscript::At).collect();
    let element = Element { name: Rc::new(array.into()), adjoint: false, subscripts };
    expression(ExpressionKind::Element(Box::new(element)))
}

/// Returns `left operator right`.
pub fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    expression(ExpressionKind::Binary(operator, Box::new([left, right])))
}

/// Returns `function(sources)`, or the source itself for a copy.
pub fn applied(function: Function, sources: &[Expression]) -> Expression {
    match sources {
        [source] if function == Function::Copy => source.clone(),
        _ => expression(ExpressionKind::Apply(Box::new(Application { function, sources: sources.to_vec() }))),
    }
}

/// Returns a comparison as a condition.
pub fn compare(order: Order, left: Expression, right: Expression) -> Condition {
    Condition { kind: ConditionKind::Compare(order, Box::new(left), Box::new(right)), span: Span::default() }
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
