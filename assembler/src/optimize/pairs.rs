//! Pairs: a statement and its inverse, if no statement between them is affected. NiLang draws such pairs as grey boxes
//! (Liu and Zhao, "Differentiate everything with a reversible embedded domain-specific language", 2020, Fig. 1); for moves
//! to and from a stack, Tangent removes them (van Merriënboer et al., "Tangent", 2018, section 5.3).
//!
//! ```text
//! add  y, a*b
//! add  z, c        ; doesn't access y, and changes neither a nor b
//! sub  y, a*b      ; undoes the first statement
//! ```
//!
//! The pass reads a body once. For each name, it keeps the statements that access the name and haven't been removed. A
//! statement can be paired with a later one if all later accesses to the cells that it writes to, and all later writes to
//! the cells that it reads, were removed. So the pairs of `a b b⁻¹ a⁻¹` are found from the inside to the outside.
//!
//! In floats, `x + a - a` isn't always x. So this pass changes the last bits of results.

use std::collections::HashMap;

use compact_str::CompactString;

use super::effects::{Effects, ProgramEffects};
use super::program::ProgramInPasses;
use crate::format::print;
use crate::invert::invert_body;
use crate::rewrite::{Rewriter, without};
use crate::scopes::Names;
use crate::tree::{Body, Statement, StatementNode};

/// Removes statements with their inverses. Returns true if the program has changed.
pub(super) fn run(program: &mut ProgramInPasses) -> bool {
    let definitions = program.definitions();
    let mut pairs = Pairs { effects: ProgramEffects::new(&definitions), changed: false };
    program.rewrite(&definitions.names, &mut pairs);
    pairs.changed
}

struct Pairs<'d> {
    effects: ProgramEffects<'d>,
    changed: bool,
}

impl Rewriter for Pairs<'_> {
    /// Replaces a `compute` block by its second body if the first one doesn't affect it.
    fn statement(&mut self, names: &Names, node: StatementNode, made: &mut Body) {
        match node.statement {
            Statement::Compute(tree)
                if node.label.is_none() && self.is_idle(names, &tree.body, &tree.apply) =>
            {
                self.changed = true;
                made.extend(tree.apply);
            }
            _ => made.push(node),
        }
    }

    fn body(&mut self, names: &Names, body: Body) -> Body {
        let removed = self.paired(names, &body);
        if removed.is_empty() {
            return body;
        }
        self.changed = true;
        without(body, &removed)
    }
}

impl Pairs<'_> {
    /// Returns true if the first body of a `compute` block doesn't affect the second one.
    fn is_idle(&mut self, names: &Names, body: &Body, apply: &Body) -> bool {
        let opens = apply.iter().any(|node| matches!(node.statement, Statement::Local(_)));
        let has_label = body.iter().chain(apply).any(|node| node.label.is_some());
        if opens || has_label {
            return false;
        }
        let computed = self.effects.of_body(names.owner(), body);
        computed.is_pure && computed.commutes_with(&self.effects.of_body(names.owner(), apply))
    }

    /// Returns the indices of the statements to remove, in ascending order.
    fn paired(&mut self, names: &Names, body: &Body) -> Vec<usize> {
        let mut found = Candidates::default();
        let mut removed = Vec::new();
        for (n, node) in body.iter().enumerate() {
            if node.label.is_some() {
                found = Candidates::default();
                continue;
            }
            if matches!(
                node.statement,
                Statement::Empty | Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_)
            ) {
                continue;
            }
            let effects = self.effects.of(names.owner(), &node.statement);
            if effects.accesses_all {
                found = Candidates::default();
                continue;
            }
            let bare = without_comments(node);
            if let Some(partner) =
                effects.is_pure.then(|| found.partner(&print(&vec![bare.clone()]))).flatten()
            {
                found.remove(partner);
                removed.extend([partner, n]);
                continue;
            }
            let inverse = effects.is_pure.then(|| invert_body(&vec![bare]).ok()).flatten();
            found.add(n, effects, inverse.map(|inverse| print(&inverse)));
        }
        removed.sort_unstable();
        removed
    }
}

/// The statements that a later statement may undo.
#[derive(Default)]
struct Candidates {
    /// The effects of each statement that hasn't been removed.
    effects: HashMap<usize, Effects>,
    /// The statements by the text of their inverses.
    by_inverse: HashMap<String, Vec<usize>>,
    /// For each name, the statements that access it and those that write to it, oldest first. Removed statements at the
    /// end are dropped when they are met.
    accesses: HashMap<CompactString, Vec<usize>>,
    writes: HashMap<CompactString, Vec<usize>>,
}

impl Candidates {
    fn add(&mut self, n: usize, effects: Effects, inverse: Option<String>) {
        for (name, is_written) in &effects.accesses {
            self.accesses.entry(name.clone()).or_default().push(n);
            if *is_written {
                self.writes.entry(name.clone()).or_default().push(n);
            }
        }
        self.effects.insert(n, effects);
        if let Some(inverse) = inverse {
            self.by_inverse.entry(inverse).or_default().push(n);
        }
    }

    fn remove(&mut self, n: usize) {
        self.effects.remove(&n);
    }

    /// Returns the statement that a statement with this text undoes.
    fn partner(&mut self, text: &str) -> Option<usize> {
        let statements = self.by_inverse.get_mut(text)?;
        let n = last_present(statements, &self.effects)?;
        let effects = self.effects.get(&n)?;
        let is_free = effects.accesses.iter().all(|(name, is_written)| {
            let later = if *is_written { &mut self.accesses } else { &mut self.writes };
            let last = later.get_mut(name).and_then(|list| last_present(list, &self.effects));
            last.is_none_or(|last| last <= n)
        });
        is_free.then_some(n)
    }
}

/// Returns the last statement of a list that hasn't been removed. Drops the removed ones after it.
fn last_present(list: &mut Vec<usize>, present: &HashMap<usize, Effects>) -> Option<usize> {
    while list.last().is_some_and(|n| !present.contains_key(n)) {
        list.pop();
    }
    list.last().copied()
}

/// Returns a statement without comments and blank lines, so that statements can be compared as text.
fn without_comments(node: &StatementNode) -> StatementNode {
    let mut node = node.clone();
    remove_comments(&mut node);
    node
}

fn remove_comments(node: &mut StatementNode) {
    node.comment = None;
    match &mut node.statement {
        Statement::If(tree) => (tree.else_comment, tree.end_comment) = (None, None),
        Statement::Loop(tree) => (tree.loop_comment, tree.end_comment) = (None, None),
        Statement::For(tree) => tree.end_comment = None,
        Statement::Compute(tree) => (tree.apply_comment, tree.end_comment) = (None, None),
        _ => {}
    }
    for body in node.statement.bodies_mut() {
        body.retain(|node| !matches!(node.statement, Statement::Empty) || node.label.is_some());
        body.iter_mut().for_each(remove_comments);
    }
}
