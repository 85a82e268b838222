//! Sources that are separate from the target. The fields of a target are changed one after the other, so a source must not
//! have a field of the target.

use reviver_isa::arith::Order;

use crate::build;
use crate::format::spelled;
use crate::source::Span;
use crate::tree::{Condition, Expression, ExpressionKind, Subscript};
use crate::visit;

/// Returns the conditions under which a value doesn't depend on the target: other elements of the same array have other
/// indices.
///
/// # Errors
/// Returns the place of a source that has a field of the target.
pub(super) fn separated(target: &Expression, value: &Expression) -> Result<Vec<Condition>, Span> {
    let mut conditions: Vec<Condition> = Vec::new();
    let mut place = None;
    visit::in_expression(value, &mut |part| {
        if record_name(part).is_none() || record_name(part) != record_name(target) {
            return;
        }
        match relation(target, part) {
            ElementRelation::Separate => {}
            ElementRelation::SeparateIf(condition) => conditions.push(*condition),
            ElementRelation::Same => place = Some(part.span),
        }
    });
    place.map_or(Ok(conditions), Err)
}

/// The relation of two elements of an array: different ones, the same, or one of both.
enum ElementRelation {
    Separate,
    SeparateIf(Box<Condition>),
    Same,
}

/// Returns the name of a record, also for its fields.
fn record_name(cell: &Expression) -> Option<&str> {
    let name = match &cell.kind {
        ExpressionKind::Name { name, .. } => name,
        ExpressionKind::Element(element) => &element.name,
        _ => return None,
    };
    Some(name.split_once('.').map_or(name.as_str(), |(record, _)| record))
}

/// Compares the indices of two elements of the same array.
fn relation(a: &Expression, b: &Expression) -> ElementRelation {
    let (ExpressionKind::Element(a), ExpressionKind::Element(b)) = (&a.kind, &b.kind) else {
        return ElementRelation::Same;
    };
    let mut found: Option<Condition> = None;
    for pair in a.subscripts.iter().zip(&b.subscripts) {
        let (Subscript::At(i), Subscript::At(k)) = pair else { return ElementRelation::Same };
        match (&i.kind, &k.kind) {
            (ExpressionKind::Int { value: i, .. }, ExpressionKind::Int { value: k, .. }) => {
                if i != k {
                    return ElementRelation::Separate;
                }
            }
            _ if spelled(i) == spelled(k) => {}
            _ => {
                let mut condition = build::compared(Order::Ne, i.clone(), k.clone());
                condition.span = k.span;
                found = Some(match found {
                    Some(other) => build::either(other, condition),
                    None => condition,
                });
            }
        }
    }
    found.map_or(ElementRelation::Same, |condition| ElementRelation::SeparateIf(Box::new(condition)))
}
