//! Detection of cancelling pairs: a statement and a later inverse of the statement, between which no cell that they
//! access changes. The module depends on no program: statements are numbers, and cells are numbers.
//!
//! Every cell has a version, a number for its content. A statement gives the cells that it changes new versions. A
//! later statement cancels it if the later statement is its inverse, and if all cells that both access have the versions
//! that they had after the first statement. Then the cells get back the versions that they had before the first
//! statement. So pairs can be nested: in `a b b⁻¹ a⁻¹` the inner pair restores the versions that the outer pair needs.
//!
//! A loop or an `if` is one statement for the statements around it. Statements in a body form pairs only with
//! statements of the same body, because a body may run never or several times.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::identity::Identity;

/// The number of a cell, or of a part of an array.
pub type CellNumber = u32;

/// The cells that a statement accesses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effect {
    /// The cells that a statement and its inverse must find unchanged, ascending.
    pub needs: Vec<CellNumber>,
    /// The cells that the statement changes, ascending.
    pub changes: Vec<CellNumber>,
    /// The cells that are 0 after the statement.
    pub clears: Vec<CellNumber>,
}

/// The numbers of a statement and of its inverse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Undoing {
    pub own: Identity,
    /// `None` if no statement undoes this one.
    pub inverse: Option<Identity>,
}

/// A statement without a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Single {
    /// The row of the statement.
    pub row: usize,
    pub undoing: Undoing,
    pub effect: Effect,
    /// False for a check, which forms no pairs: its inverse is the same check again.
    pub pairs: bool,
    /// True if the statement may jump. Statements before and after it form no pairs.
    pub jumps: bool,
}

/// A statement with bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Compound {
    /// The rows of the statement.
    pub rows: RangeInclusive<usize>,
    /// The index of its [`Step::Close`] in the list of steps.
    pub closes: usize,
    pub undoing: Undoing,
    /// The accesses of the statement with its bodies.
    pub effect: Effect,
    /// True if each body may run never or several times; false if the bodies run once, one after the other.
    pub branches: bool,
}

/// A part of a procedure, in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Single(Single),
    /// The beginning of a compound statement.
    Open(Compound),
    /// The boundary between two bodies of the innermost open statement.
    Turn,
    /// The end of the innermost open statement.
    Close,
}

/// A statement and the later statement that undoes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancellingPair {
    pub first: RangeInclusive<usize>,
    pub second: RangeInclusive<usize>,
}

/// Returns the pairs of a procedure in the order of their second statements. `vacant` contains for each cell whether it
/// is 0 at the beginning of the procedure.
pub fn cancelling_pairs(steps: &[Step], vacant: &[bool]) -> Vec<CancellingPair> {
    let versions: Vec<u64> =
        (1..).zip(vacant).map(|(n, is_vacant)| if *is_vacant { VACANT } else { n }).collect();
    let mut search = Search { next: versions.len() as u64 + 1, versions, ..Search::default() };
    for step in steps {
        match step {
            Step::Single(single) => search.single(single),
            Step::Open(compound) => search.open(compound),
            Step::Turn => search.turn(),
            Step::Close => search.close(),
        }
    }
    search.pairs
}

/// The version of every cell that is 0.
const VACANT: u64 = 0;

/// Cells with their versions.
type Versions = Vec<(CellNumber, u64)>;

/// The condition under which a statement cancels an earlier one: the place of both, the number of the statement, and
/// the versions of the cells that it needs.
type Expected = (u64, Identity, Versions);

/// A statement that a later statement may cancel.
struct Candidate {
    rows: RangeInclusive<usize>,
    before: Versions,
    after: Versions,
}

/// A compound statement whose end isn't reached.
struct Open<'s> {
    compound: &'s Compound,
    /// The sequence of statements that contains the compound statement.
    sequence: u64,
    /// The earlier statement that this one cancels.
    cancelled: Option<Candidate>,
    /// The versions before the statement, of all cells that it changes.
    entry: Versions,
    /// The versions at the beginning of the current body, of the same cells.
    start: Versions,
    /// The cells that a body has changed so far.
    changed: Vec<CellNumber>,
}

#[derive(Default)]
struct Search<'s> {
    versions: Vec<u64>,
    next: u64,
    /// The number of the current sequence: statements that run one after the other.
    sequence: u64,
    candidates: HashMap<Expected, Candidate>,
    open: Vec<Open<'s>>,
    pairs: Vec<CancellingPair>,
}

impl<'s> Search<'s> {
    fn single(&mut self, single: &Single) {
        let Single { undoing, effect, .. } = single;
        if single.jumps {
            let cells: Vec<CellNumber> = (0..).take(self.versions.len()).collect();
            self.renew(&cells);
            self.sequence = self.fresh();
            return;
        }
        let can_pair = single.pairs && !effect.changes.is_empty();
        let cancelled =
            if can_pair { self.candidates.remove(&self.expected(undoing.own, effect)) } else { None };
        match cancelled {
            Some(candidate) => {
                self.restore(&candidate);
                self.pairs.push(CancellingPair { first: candidate.rows, second: single.row..=single.row });
            }
            None => {
                let before = self.current(&effect.changes);
                self.renew(&effect.changes);
                if let Some(inverse) = undoing.inverse.filter(|_| can_pair) {
                    self.offer(inverse, effect, single.row..=single.row, before);
                }
            }
        }
        effect.clears.iter().for_each(|cell| self.set(*cell, VACANT));
    }

    fn open(&mut self, compound: &'s Compound) {
        let Compound { undoing, effect, .. } = compound;
        let can_pair = !effect.changes.is_empty();
        let cancelled =
            if can_pair { self.candidates.remove(&self.expected(undoing.own, effect)) } else { None };
        let (entry, sequence) = (self.current(&effect.changes), self.sequence);
        let start = entry.clone();
        let mut open = Open { compound, sequence, cancelled, entry, start, changed: Vec::new() };
        if compound.branches || open.cancelled.is_some() {
            self.begin_body(&mut open);
        }
        self.open.push(open);
    }

    /// Begins a body that forms no pairs with statements around it. The content of the cells that the body changes
    /// is unknown, because the body may have run before.
    fn begin_body(&mut self, open: &mut Open) {
        let cells = &open.compound.effect.changes;
        self.renew(cells);
        open.start = self.current(cells);
        self.sequence = self.fresh();
    }

    fn turn(&mut self) {
        if let Some(mut open) = self.open.pop() {
            if open.compound.branches {
                self.end_body(&mut open);
                self.begin_body(&mut open);
            }
            self.open.push(open);
        }
    }

    /// Records the cells that a body changed, and returns to the versions before the compound statement.
    fn end_body(&mut self, open: &mut Open) {
        for ((cell, entry), (_, start)) in open.entry.iter().zip(&open.start) {
            if self.version(*cell) != *start {
                open.changed.push(*cell);
            }
            self.set(*cell, *entry);
        }
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.pop() else { return };
        let Compound { rows, undoing, effect, branches, .. } = open.compound;
        if let Some(candidate) = open.cancelled.take() {
            self.end_body(&mut open);
            self.restore(&candidate);
            self.pairs.push(CancellingPair { first: candidate.rows, second: rows.clone() });
            self.sequence = open.sequence;
            return;
        }
        if *branches {
            self.end_body(&mut open);
            open.changed.sort_unstable();
            open.changed.dedup();
            self.renew(&open.changed);
            self.sequence = open.sequence;
        }
        let is_changed = |(cell, version): &(CellNumber, u64)| self.version(*cell) != *version;
        let before: Versions = open.entry.iter().copied().filter(is_changed).collect();
        if let Some(inverse) = undoing.inverse.filter(|_| !before.is_empty()) {
            self.offer(inverse, effect, rows.clone(), before);
        }
    }

    /// Adds a statement that a later statement with the number `inverse` may cancel.
    fn offer(&mut self, inverse: Identity, effect: &Effect, rows: RangeInclusive<usize>, before: Versions) {
        let cells: Vec<CellNumber> = before.iter().map(|(cell, _)| *cell).collect();
        let after = self.current(&cells);
        let expected = self.expected(inverse, effect);
        self.candidates.insert(expected, Candidate { rows, before, after });
    }

    fn expected(&self, identity: Identity, effect: &Effect) -> Expected {
        (self.sequence, identity, self.current(&effect.needs))
    }

    /// Restores the versions before a cancelled statement. A cell that another statement changed gets a new version. It
    /// can only be a cell that the pair doesn't need, such as the rest of an array.
    fn restore(&mut self, candidate: &Candidate) {
        for ((cell, before), (_, after)) in candidate.before.iter().zip(&candidate.after) {
            let version = if self.version(*cell) == *after { *before } else { self.fresh() };
            self.set(*cell, version);
        }
    }

    fn renew(&mut self, cells: &[CellNumber]) {
        for cell in cells {
            let version = self.fresh();
            self.set(*cell, version);
        }
    }

    fn current(&self, cells: &[CellNumber]) -> Versions {
        cells.iter().map(|cell| (*cell, self.version(*cell))).collect()
    }

    fn version(&self, cell: CellNumber) -> u64 {
        self.versions.get(cell as usize).copied().unwrap_or(VACANT)
    }

    fn set(&mut self, cell: CellNumber, version: u64) {
        self.versions.get_mut(cell as usize).into_iter().for_each(|found| *found = version);
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}
