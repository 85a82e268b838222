//! The order of lines in an inverted body. The lines before a statement (comments, separate labels) move with
//! the statement. Blank lines separate the same statements as before. Reversing the order twice restores the
//! original order.

use std::collections::HashMap;

use compact_str::CompactString;
use reviver_isa::instruction::Class;

use crate::tree::{Statement, StatementNode};

/// The kind of a group of lines: it is reversed with others, or it keeps its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placement {
    Moves,
    /// A declaration or definition, which keeps its place because it isn't executed.
    Stays,
}

impl Placement {
    fn of(node: &StatementNode) -> Placement {
        match node.statement {
            Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_) => Placement::Stays,
            _ => Placement::Moves,
        }
    }
}

/// A group of lines: a statement, and the lines before it that belong to it.
#[derive(Clone, Copy)]
struct StatementLines<'b> {
    /// The blank lines before the lines in `lead`.
    gap: &'b [StatementNode],
    /// The comments and labels before the statement, with the blank lines among them.
    lead: &'b [StatementNode],
    statement: &'b StatementNode,
}

/// Returns the lines in reverse order, with `map` applied to each statement. The second argument of `map` is
/// the class that a `local` or a `delocal` must state in the inverse: the class that the other half of its pair
/// states in the program.
pub(super) fn turned(
    body: &[StatementNode],
    mut map: impl FnMut(&StatementNode, Option<Class>) -> StatementNode,
) -> Vec<StatementNode> {
    let (groups, tail) = groups(body);
    let classes = stated_classes(&groups);
    let places: Vec<Placement> = groups.iter().map(|group| Placement::of(group.statement)).collect();
    let mut lines = Vec::with_capacity(body.len());
    for (from, gap) in order(&places).into_iter().zip(gap_order(&places)) {
        let Some(group) = groups.get(from) else { continue };
        lines.extend(groups.get(gap).map_or(&[][..], |group| group.gap).iter().cloned());
        lines.extend(group.lead.iter().cloned());
        lines.push(map(group.statement, classes.get(&from).copied().unwrap_or(own_class(group.statement))));
    }
    lines.extend(tail.iter().cloned());
    lines
}

/// Returns the statements of a body with their lines, and the lines after the last statement.
fn groups(body: &[StatementNode]) -> (Vec<StatementLines<'_>>, &[StatementNode]) {
    let mut groups = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.iter().position(|node| !matches!(node.statement, Statement::Empty)) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        let Some((statement, after)) = from.split_first() else { break };
        let blanks = before.iter().take_while(|node| node.is_blank()).count();
        let (gap, lead) = before.split_at_checked(blanks).unwrap_or((&[], before));
        groups.push(StatementLines { gap, lead, statement });
        rest = after;
    }
    (groups, rest)
}

/// Returns, for each place in the new order, the index of the group that it gets. Executable statements are
/// reversed; declarations and definitions keep their places.
fn order(places: &[Placement]) -> Vec<usize> {
    let turning = |(slot, place): (usize, &Placement)| (*place == Placement::Moves).then_some(slot);
    let mut last_first = places.iter().enumerate().rev().filter_map(turning);
    let from = |(slot, place): (usize, &Placement)| match place {
        Placement::Moves => last_first.next().unwrap_or(slot),
        Placement::Stays => slot,
    };
    places.iter().enumerate().map(from).collect()
}

/// Returns, for each place in the new order, the index of the group whose blank lines the place gets. In a sequence of
/// reversed statements, these are the blank lines at the mirrored place.
fn gap_order(places: &[Placement]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    let mut start = 0;
    for run in places.chunk_by(|a, b| a == b) {
        let end = start + run.len();
        if run.first() == Some(&Placement::Moves)
            && let Some(inner) = order.get_mut(start + 1..end)
        {
            inner.reverse();
        }
        start = end;
    }
    order
}

fn own_class(node: &StatementNode) -> Option<Class> {
    match &node.statement {
        Statement::Local(local) | Statement::Delocal(local) => local.class,
        _ => None,
    }
}

/// Returns a map from the index of the group of each `local` and `delocal` to the class that the other half of its pair
/// states. A `local` of the inverse states a class if either half does.
fn stated_classes(groups: &[StatementLines<'_>]) -> HashMap<usize, Option<Class>> {
    let mut open: HashMap<&CompactString, (usize, Option<Class>)> = HashMap::new();
    let mut classes = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        match &group.statement.statement {
            Statement::Local(local) => {
                open.insert(&local.name.text, (at, local.class));
            }
            Statement::Delocal(end) => {
                if let Some((start, class)) = open.remove(&end.name.text) {
                    classes.insert(at, class.or(end.class));
                    classes.insert(start, end.class);
                }
            }
            _ => {}
        }
    }
    classes
}
