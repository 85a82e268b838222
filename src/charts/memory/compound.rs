//! Statements with bodies, while their text is read: the statements in each body, and the cells that they access.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::{Identities, Identity, Tag};
use super::pairs::{CellNumber, Compound, Effect, Undoing};

/// The kind of a compound statement, with the numbers of its conditions or bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// An `if`: its conditions in the order of execution, `None` if a condition is forgotten.
    If(Option<[Identity; 2]>),
    /// A loop with two conditions, in the order of execution, `None` if a condition is forgotten.
    Loop(Option<[Identity; 2]>),
    /// A loop over a counter, with its bounds.
    For { from: Identity, to: Identity, step: u32, reversed: bool, counter: CellNumber },
    /// Bodies that run once, one after the other: those of `compute`, of a macro, or parallel calls.
    Sequence,
}

/// The beginnings and ends of a variable within a statement.
#[derive(Clone, Copy, Debug, Default)]
struct Scopes {
    /// True if the variable's first scope begins before the statement.
    begins_outside: bool,
    /// The number of `local`s minus the number of `delocal`s.
    open: i64,
}

/// A compound statement whose end isn't reached.
#[derive(Debug)]
pub struct OpenCompound {
    pub kind: Kind,
    pub head: usize,
    /// The index of its step.
    pub step: usize,
    bodies: Vec<Vec<Undoing>>,
    needs: BTreeSet<CellNumber>,
    changes: BTreeSet<CellNumber>,
    scopes: BTreeMap<CellNumber, Scopes>,
}

impl OpenCompound {
    /// Begins a statement. `reads` are the accesses of its conditions or bounds.
    pub fn new(kind: Kind, head: usize, step: usize, reads: Effect) -> OpenCompound {
        OpenCompound {
            kind,
            head,
            step,
            bodies: vec![Vec::new()],
            needs: reads.needs.into_iter().collect(),
            changes: reads.changes.into_iter().collect(),
            scopes: BTreeMap::new(),
        }
    }

    /// Begins the next body.
    pub fn turn(&mut self) {
        self.bodies.push(Vec::new());
    }

    /// Adds a statement to the current body.
    pub fn add(&mut self, undoing: Undoing, effect: &Effect) {
        self.bodies.last_mut().into_iter().for_each(|body| body.push(undoing));
        self.access(effect);
    }

    /// Adds the accesses of a condition or a bound.
    pub fn access(&mut self, effect: &Effect) {
        self.needs.extend(&effect.needs);
        self.changes.extend(&effect.changes);
    }

    /// Records a `local` (1) or a `delocal` (-1).
    pub fn scope(&mut self, variable: CellNumber, change: i64) {
        let scopes = self.scopes.entry(variable).or_default();
        scopes.open += change;
        scopes.begins_outside |= scopes.open < 0;
    }

    /// Ends the statement. The effect omits counters and variables that exist only within the statement: they are 0
    /// before and after it.
    pub fn close(mut self, last: usize, closes: usize, identities: &mut Identities) -> Compound {
        let scopes = std::mem::take(&mut self.scopes).into_iter();
        let within = scopes.filter(|(_, scopes)| scopes.open == 0 && !scopes.begins_outside);
        let counter = match self.kind {
            Kind::For { counter, .. } => Some(counter),
            _ => None,
        };
        for variable in within.map(|(variable, _)| variable).chain(counter) {
            self.needs.remove(&variable);
            self.changes.remove(&variable);
        }
        let undoing = self.undoing(identities);
        let effect = Effect {
            needs: self.needs.into_iter().collect(),
            changes: self.changes.into_iter().collect(),
            clears: Vec::new(),
        };
        let branches = self.kind != Kind::Sequence;
        Compound { rows: self.head..=last, closes, undoing, effect, branches }
    }

    fn undoing(&self, identities: &mut Identities) -> Undoing {
        let both = |own: Vec<u64>, inverse: Vec<u64>| [Some(own), Some(inverse)];
        let (tag, [own, inverse]) = match self.kind {
            Kind::If(None) | Kind::Loop(None) => (Tag::Unique, [None, None]),
            Kind::If(Some([entry, exit])) => (Tag::If, both(vec![entry, exit], vec![exit, entry])),
            Kind::Loop(Some([entry, exit])) => (Tag::Loop, both(vec![entry, exit], vec![exit, entry])),
            Kind::For { from, to, step, reversed, .. } => {
                let head = |reversed| vec![from, to, u64::from(step), u64::from(reversed)];
                (Tag::For, both(head(reversed), head(!reversed)))
            }
            Kind::Sequence => (Tag::Sequence, both(Vec::new(), Vec::new())),
        };
        let Some(own) = own.map(|head| head.into_iter().chain(self.statements()).collect()) else {
            return Undoing { own: identities.unique(), inverse: None };
        };
        let inverse =
            inverse.zip(self.undone()).map(|(head, bodies)| head.into_iter().chain(bodies).collect());
        Undoing {
            own: identities.number(tag, own),
            inverse: inverse.map(|inverse| identities.number(tag, inverse)),
        }
    }

    /// Returns the bodies of an `if` or a loop. The bodies of other statements are one body.
    fn joined(&self) -> Vec<Vec<Undoing>> {
        match self.kind {
            Kind::Sequence => vec![self.bodies.concat()],
            _ => self.bodies.clone(),
        }
    }

    /// Returns the numbers of all statements, with the length of each body before its statements.
    fn statements(&self) -> Vec<u64> {
        let joined = self.joined();
        joined.iter().flat_map(|body| words(body.iter().map(|undoing| undoing.own).collect())).collect()
    }

    /// Returns the same for the inverse: each body is reversed, and its statements are inverted. Returns `None` if a
    /// statement has no inverse.
    fn undone(&self) -> Option<Vec<u64>> {
        let mut found = Vec::new();
        for body in self.joined() {
            let inverses: Option<Vec<u64>> = body.iter().rev().map(|undoing| undoing.inverse).collect();
            found.extend(words(inverses?));
        }
        Some(found)
    }
}

fn words(numbers: Vec<u64>) -> impl Iterator<Item = u64> {
    std::iter::once(numbers.len() as u64).chain(numbers)
}
