//! Declarations of a derived program: globals, and the tolerance.

use reviver_isa::instruction::Class;
use reviver_isa::module::Role;

use crate::build;
use crate::tree::{DeclarationNode, Directive, ShapeNode, Statement, StatementNode};

/// The tolerance of float programs that set none.
const TOLERANCE: f64 = 1e-9;

/// Returns the tolerance for a float program that sets none: rounding leaves remainders of the values that the reverse
/// part uncomputes.
pub(super) fn tolerance(body: &[StatementNode]) -> Option<StatementNode> {
    let is_set = body.iter().any(|node| match &node.statement {
        Statement::Directive(Directive::Tolerance { .. }) => true,
        Statement::Directive(Directive::Real { system }) => system.is_exact(),
        _ => false,
    });
    let value = Box::new(build::real(TOLERANCE));
    (!is_set).then(|| build::node(Statement::Directive(Directive::Tolerance { value })))
}

/// Returns the declaration of a real.
pub(super) fn declaration(name: &str, shape: ShapeNode) -> DeclarationNode {
    let (name, class) = (build::name(name), Some(Class::Real));
    DeclarationNode { name, shape, class, record: None, initial: None, is_shared: false, default: None }
}

/// Returns a line that declares globals.
pub(super) fn globals(role: Role, declarations: Vec<DeclarationNode>, comment: &str) -> StatementNode {
    let comment = (!comment.is_empty()).then(|| comment.into());
    StatementNode { comment, ..build::node(Statement::Directive(Directive::Globals { role, declarations })) }
}
