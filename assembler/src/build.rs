//! Construction of syntax trees that have no source text: their spans are empty.

use std::rc::Rc;

use reviver_isa::arith::Order;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::Update;

use crate::source::Span;
use crate::tree::{
    Application, Body, CallNode, Condition, ConditionKind, Element, Expression, ExpressionKind, For, If,
    InstructionNode, Local, Name, Operands, Statement, StatementNode, Subscript, TextApplication,
    TextFunction, UnaryOperator,
};

pub(crate) fn expression(kind: ExpressionKind) -> Expression {
    Expression { kind, span: NOWHERE }
}

/// Returns a real literal.
pub fn real(value: f64) -> Expression {
    expression(ExpressionKind::Real(value))
}

/// Returns an integer literal.
pub fn int(value: u64) -> Expression {
    expression(ExpressionKind::Int { value, pattern: false })
}

/// Returns the expression that names a scalar or a whole array.
pub fn cell(name: &str) -> Expression {
    expression(ExpressionKind::Name { name: Rc::new(name.into()), adjoint: false })
}

pub(crate) fn element(name: &str, subscripts: Vec<Subscript>) -> Expression {
    let element = Element { name: Rc::new(name.into()), adjoint: false, subscripts };
    expression(ExpressionKind::Element(Box::new(element)))
}

pub(crate) fn negated(operand: Expression) -> Expression {
    expression(ExpressionKind::Unary(UnaryOperator::Negate, Box::new(operand)))
}

/// Returns a function of whole arrays.
pub(crate) fn in_text(function: TextFunction, sources: Vec<Expression>) -> Expression {
    expression(ExpressionKind::InText(Box::new(TextApplication { function, sources })))
}

/// Returns `left operator right`.
pub fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    expression(ExpressionKind::Binary(operator, Box::new([left, right])))
}

/// Returns an operation with other sources, each computed from the one in its place. Returns `None` if one of them can't be
/// computed, or if the expression is no operation.
pub(crate) fn with_sources(
    operation: &Expression,
    mut source: impl FnMut(&Expression) -> Option<Expression>,
) -> Option<Expression> {
    let kind = match &operation.kind {
        ExpressionKind::Unary(operator, inner) => ExpressionKind::Unary(*operator, Box::new(source(inner)?)),
        ExpressionKind::Binary(operator, sides) => {
            let [left, right] = &**sides;
            ExpressionKind::Binary(*operator, Box::new([source(left)?, source(right)?]))
        }
        ExpressionKind::Apply(application) => {
            let sources = application.sources.iter().map(source).collect::<Option<_>>()?;
            ExpressionKind::Apply(Box::new(Application { function: application.function, sources }))
        }
        _ => return None,
    };
    Some(Expression { kind, span: operation.span })
}

/// Returns a function of some sources, by its operator if there is one.
pub(crate) fn applied(function: Function, mut sources: Vec<Expression>) -> Expression {
    match (BinaryOperator::of(function), sources.len()) {
        (Some(operator), 2) => {
            let right = sources.pop().unwrap_or_else(|| real(0.0));
            let left = sources.pop().unwrap_or_else(|| real(0.0));
            expression(ExpressionKind::Binary(operator, Box::new([left, right])))
        }
        _ => match (function, sources.len()) {
            (Function::Copy, 1) => sources.pop().unwrap_or_else(|| real(0.0)),
            _ => expression(ExpressionKind::Apply(Box::new(Application { function, sources }))),
        },
    }
}

/// Returns a name without a place.
pub fn name(text: &str) -> Name {
    Name { text: text.into(), span: Span::default() }
}

/// Returns a statement as a line without a comment.
pub fn node(statement: Statement) -> StatementNode {
    StatementNode { label: None, statement, comment: None, span: Span::default() }
}

/// Returns a line that has only a comment, which is indented like the next statement.
pub(crate) fn comment(text: &str) -> StatementNode {
    StatementNode { label: None, statement: Statement::Empty, comment: Some(text.into()), span: NOWHERE }
}

/// Returns a line that has only a comment, at the margin.
pub(crate) fn heading(text: &str) -> StatementNode {
    // The formatter leaves a comment at the margin if its span begins a line.
    StatementNode { span: Span::default(), ..comment(text) }
}

/// A span in no file.
pub(crate) const NOWHERE: Span = Span { file: crate::source::FileId(u32::MAX), start: 0, end: 0 };

pub(crate) fn blank() -> StatementNode {
    node(Statement::Empty)
}

pub(crate) fn update(update: Update, function: Function, cells: Vec<Expression>) -> StatementNode {
    let operands = Operands::Cells(cells.into());
    node(Statement::Instruction(InstructionNode { update, function, mnemonic: Span::default(), operands }))
}

pub(crate) fn call(update: Update, procedure: &str, arguments: Vec<Expression>) -> StatementNode {
    let call = CallNode { procedure: name(procedure), arguments, span: Span::default() };
    let operands = Operands::Call(Box::new(call));
    let (function, mnemonic) = (Function::Copy, Span::default());
    node(Statement::Instruction(InstructionNode { update, function, mnemonic, operands }))
}

/// Returns a `local` of class real, which is 0 if there is no value.
pub(crate) fn local(text: &str, shape: Vec<Expression>, value: Option<Expression>) -> Local {
    let class = value.is_none().then_some(Class::Real);
    let sources = value.into_iter().collect();
    Local { name: name(text), shape, class, record: None, function: Function::Copy, sources }
}

/// Returns a comparison as a condition.
pub fn compared(order: Order, left: Expression, right: Expression) -> Condition {
    Condition { kind: ConditionKind::Compare(order, Box::new(left), Box::new(right)), span: Span::default() }
}

/// Returns the condition that holds if one of two conditions does.
pub(crate) fn either(first: Condition, second: Condition) -> Condition {
    Condition { kind: ConditionKind::Or(Box::new(first), Box::new(second)), span: Span::default() }
}

/// Returns an `if` whose body runs if a condition holds, which the body doesn't change.
pub(crate) fn guarded(entry: Condition, then: Body) -> StatementNode {
    let exit = entry.clone();
    let tree = If {
        entry,
        then,
        otherwise: None,
        chained: false,
        exit,
        else_comment: None,
        end_comment: None,
        middle: Span::default(),
    };
    node(Statement::If(Box::new(tree)))
}

/// Returns a loop over all indices of a dimension.
pub(crate) fn for_each(counter: &str, length: Expression, body: Body) -> StatementNode {
    let tree = For {
        counter: name(counter),
        from: int(0),
        to: length,
        step: None,
        reversed: false,
        is_of_arrays: false,
        body,
        end_comment: None,
        end: Span::default(),
    };
    node(Statement::For(Box::new(tree)))
}

/// Returns true if an expression is a cell or a literal.
pub(crate) fn is_operand(expression: &Expression) -> bool {
    !matches!(
        expression.kind,
        ExpressionKind::Unary(..)
            | ExpressionKind::Binary(..)
            | ExpressionKind::Apply(_)
            | ExpressionKind::Length(_)
            | ExpressionKind::InText(_)
    )
}
