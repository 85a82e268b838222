//! The order of a body's lines turned around, so that people like to read the result: what leads to
//! a statement (comments, labels on lines of their own) moves with it, and blank lines keep apart
//! what they kept apart. TakesPart twice gives the first order.

use std::collections::HashMap;

use compact_str::CompactString;
use reviver_isa::instruction::Class;

use crate::tree::{Statement, StatementNode};

/// Whether a statement takes part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TakesPart {
    Turns,
    /// Declarations and definitions: they don't run.
    Stays,
}

impl TakesPart {
    fn of(node: &StatementNode) -> TakesPart {
        match node.statement {
            Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_) => TakesPart::Stays,
            _ => TakesPart::Turns,
        }
    }
}

/// A statement and the lines that belong to it.
#[derive(Clone, Copy)]
struct StatementLines<'b> {
    /// Blank lines before it.
    gap: &'b [StatementNode],
    /// Comments and labels before it, with blank lines among them.
    lead: &'b [StatementNode],
    statement: &'b StatementNode,
}

/// The lines in the opposite order, each statement mapped. The map's second argument is the class
/// that a `local` or `delocal` is to state: that of the other half.
pub(super) fn turned(
    body: &[StatementNode],
    mut map: impl FnMut(&StatementNode, Option<Class>) -> StatementNode,
) -> Vec<StatementNode> {
    let (groups, tail) = groups(body);
    let classes = stated_classes(&groups);
    let places: Vec<TakesPart> = groups.iter().map(|group| TakesPart::of(group.statement)).collect();
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

/// The statements of a body, and the lines after the last one.
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

/// Which group comes into each slot: those that turn, in the opposite order; the others stay.
fn order(places: &[TakesPart]) -> Vec<usize> {
    let turning = |(slot, place): (usize, &TakesPart)| (*place == TakesPart::Turns).then_some(slot);
    let mut last_first = places.iter().enumerate().rev().filter_map(turning);
    let from = |(slot, place): (usize, &TakesPart)| match place {
        TakesPart::Turns => last_first.next().unwrap_or(slot),
        TakesPart::Stays => slot,
    };
    places.iter().enumerate().map(from).collect()
}

/// Whose blank lines come before each slot: within a run of statements that turn, those of the
/// mirrored place.
fn gap_order(places: &[TakesPart]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    let mut start = 0;
    for run in places.chunk_by(|a, b| a == b) {
        let end = start + run.len();
        if run.first() == Some(&TakesPart::Turns)
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

/// For each half of a `local` pair, by its group: the class that the other half states.
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
                    classes.insert(at, class);
                    classes.insert(start, end.class);
                }
            }
            _ => {}
        }
    }
    classes
}
