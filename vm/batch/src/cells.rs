//! What cells hold where lanes begin, and which of them have a word of the lane's own: those that computed addresses reach, or that are changed before
//! the way's end. All others are values, and so are the few cells of a small array that nobody changes: an address chooses among them. Words lie in
//! memory, but for a few that no computed address reaches. Knows no text.

use std::collections::{BTreeMap, BTreeSet};

use reviver_compile::bounded::BoundedCalls;
use reviver_compile::form::{SsaEnd, SsaForm};
use reviver_compile::op::{OpKind, Space, SsaOp};
use reviver_compile::passes::range_where_it_counts;
use reviver_compile::range::IntRange;
use reviver_compile::written::TextPlan;
use reviver_vm::{Program, State};

/// A cell, by its space and address.
pub(crate) type SpacedCell = (Space, u32);

/// What is in a cell where lanes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartWord {
    /// What each lane is given as its word of this number.
    Given(u32),
    /// The same bits in each lane.
    Same(u64),
}

/// What all cells hold where lanes begin.
#[derive(Debug)]
pub(crate) struct StartCells<'s> {
    pub state: &'s State,
    /// By cell the number of the word.
    pub given: BTreeMap<SpacedCell, u32>,
}

impl StartCells<'_> {
    pub fn word(&self, (space, address): SpacedCell) -> StartWord {
        if let Some(&word) = self.given.get(&(space, address)) {
            return StartWord::Given(word);
        }
        let at = address as usize;
        // What lies behind the cells of the program is 0.
        StartWord::Same(match space {
            Space::Ints | Space::StartInts => self.state.ints.get(at).map_or(0, |&value| value as u64),
            Space::Reals | Space::StartReals => self.state.reals.get(at).copied().unwrap_or(0),
            Space::Adjoints => {
                let adjoints = self.state.adjoints.as_ref();
                adjoints.and_then(|adjoints| adjoints.cells.get(at)).copied().unwrap_or(0)
            }
            Space::References | Space::Results => 0,
        })
    }
}

/// Cells that follow each other in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryRun {
    pub space: Space,
    /// From the first cell to behind the last.
    pub first: u32,
    pub end: u32,
    /// The word of a lane in which the first one lies.
    pub word: u32,
}

impl MemoryRun {
    pub fn cells(&self) -> u32 {
        self.end - self.first
    }
}

/// How many cells of each space a lane may have, whatever calls are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellCounts {
    pub ints: u32,
    pub reals: u32,
    /// Those of all rows.
    pub adjoints: u32,
    pub references: u32,
}

impl CellCounts {
    /// Those of a program, and of calls on either of a lane's ways.
    pub fn of(program: &Program, calls: &[BoundedCalls]) -> CellCounts {
        let (ints, reals) = program.flow().layout().static_cells();
        let own = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let most = |of: fn(&BoundedCalls) -> u32| calls.iter().map(of).max().unwrap_or(0);
        CellCounts {
            ints: own(ints).saturating_add(most(|calls| calls.ints)),
            reals: own(reals).saturating_add(most(|calls| calls.reals)),
            adjoints: own(reals).saturating_add(most(|calls| calls.reals)),
            references: most(|calls| calls.references),
        }
    }

    /// The same with so many adjoints of each real.
    pub fn with_rows(self, rows: u32) -> CellCounts {
        CellCounts { adjoints: self.reals.saturating_mul(rows), ..self }
    }

    /// The cells of a space that an address may be.
    fn clipped(self, space: Space, range: IntRange) -> Option<(u32, u32)> {
        let cells = match space {
            Space::Ints | Space::StartInts => self.ints,
            Space::Reals | Space::StartReals => self.reals,
            Space::Adjoints => self.adjoints,
            Space::References => self.references,
            Space::Results => 0,
        };
        let first = range.low.clamp(0, cells.into());
        let end = range.high.saturating_add(1).clamp(0, cells.into());
        let (first, end) = (u32::try_from(first).ok()?, u32::try_from(end).ok()?);
        (first < end).then_some((first, end))
    }
}

/// The cells that stay in memory: words of each lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneMemory {
    /// How many cells there are, in memory or not.
    pub counts: CellCounts,
    /// In order.
    pub runs: Vec<MemoryRun>,
    /// How many words there are.
    pub words: u64,
    /// Words that no computed address reaches, if they are few: a shader has them in variables, and in memory only while a lane is kept.
    pub variables: BTreeSet<u32>,
}

impl LaneMemory {
    /// Those of the forms that lanes go through.
    pub fn of(forms: &[Option<&SsaForm>], counts: CellCounts) -> LaneMemory {
        let accesses = forms.iter().flatten().flat_map(|form| accesses(form, counts)).collect();
        let mut memory = LaneMemory { counts, ..LaneMemory::default() };
        let accesses = in_memory(accesses);
        for &CellAccess { space, first, end, .. } in &accesses {
            match memory.runs.last_mut().filter(|run| run.space == space && first <= run.end) {
                Some(run) => run.end = run.end.max(end),
                None => memory.runs.push(MemoryRun { space, first, end, word: 0 }),
            }
        }
        for run in &mut memory.runs {
            run.word = u32::try_from(memory.words).unwrap_or(u32::MAX);
            memory.words += u64::from(run.cells());
        }
        memory.variables = memory.unreached(&accesses).take(MOST_VARIABLES + 1).collect();
        if memory.variables.len() > MOST_VARIABLES {
            memory.variables.clear();
        }
        memory
    }

    /// The words that no computed address reaches, in order.
    fn unreached(&self, accesses: &[CellAccess]) -> impl Iterator<Item = u32> {
        let computed = accesses.iter().filter(|access| access.of != AccessKind::KnownStore);
        let parts = computed.flat_map(|access| self.parts(access.space, access.first, access.end));
        let end_of = |part: &MemoryRun| part.word.saturating_add(part.cells());
        let mut reached: Vec<(u32, u32)> = parts.map(|part| (part.word, end_of(&part))).collect();
        let words = u32::try_from(self.words).unwrap_or(u32::MAX);
        reached.push((words, words));
        reached.sort_unstable();
        let mut begin = 0;
        reached.into_iter().flat_map(move |(first, end)| {
            let unreached = begin..first;
            begin = begin.max(end);
            unreached
        })
    }

    /// The word of a cell, if it is in memory.
    pub fn word(&self, (space, address): SpacedCell) -> Option<u32> {
        let run =
            self.runs.iter().find(|run| run.space == space && (run.first..run.end).contains(&address))?;
        Some(run.word + (address - run.first))
    }

    /// What is in memory of some cells that follow each other.
    pub fn parts(&self, space: Space, first: u32, end: u32) -> Vec<MemoryRun> {
        let own = self.runs.iter().filter(|run| run.space == space && run.first < end && first < run.end);
        let clipped = own.map(|run| {
            let (from, to) = (run.first.max(first), run.end.min(end));
            MemoryRun { first: from, end: to, word: run.word + (from - run.first), ..*run }
        });
        clipped.collect()
    }

    /// The cells, none of them in memory, that an address chooses among of which only this is known.
    pub fn chosen(&self, space: Space, range: IntRange) -> Option<std::ops::Range<u32>> {
        let (first, end) = self.counts.clipped(space, range)?;
        let is_chosen = end - first <= MOST_CHOSEN && self.parts(space, first, end).is_empty();
        is_chosen.then_some(first..end)
    }

    /// The cells that an address may lie in, of which only this is known.
    pub fn within(&self, space: Space, range: IntRange) -> Option<MemoryRun> {
        let (first, end) = self.counts.clipped(space, range)?;
        let run = self.runs.iter().find(|run| run.space == space && run.first <= first && end <= run.end)?;
        Some(MemoryRun { first, end, word: run.word + (first - run.first), ..*run })
    }
}

/// The address that a value is, if it is known.
pub(crate) fn literal(form: &SsaForm, op: &SsaOp) -> Option<u32> {
    match form.op(*op.operands.first()?)?.kind {
        OpKind::Int(address) => u32::try_from(address).ok(),
        _ => None,
    }
}

/// Each has lines of its own wherever all words are gone through.
const MOST_VARIABLES: usize = 128;
/// A lane loads one of so many cells faster by asking which one it is than from memory.
const MOST_CHOSEN: u32 = 8;

/// Cells that an operation may load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CellAccess {
    space: Space,
    first: u32,
    end: u32,
    of: AccessKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AccessKind {
    /// A load at a computed address.
    Load,
    /// A store at a computed address.
    Store,
    /// A store at a known address before the end of the way.
    KnownStore,
    /// One where the way ends.
    LastStore,
}

impl CellAccess {
    fn meets(&self, other: &CellAccess) -> bool {
        self.space == other.space && self.first < other.end && other.first < self.end
    }

    /// Whether its cells may be values all the same.
    fn may_choose(&self) -> bool {
        self.of == AccessKind::Load && self.end - self.first <= MOST_CHOSEN
    }
}

/// The accesses to memory, in order: all but last stores, and but loads that choose among cells which nobody changes and which are in memory
/// for nobody else.
fn in_memory(accesses: Vec<CellAccess>) -> Vec<CellAccess> {
    let (mut choosing, mut others): (Vec<_>, Vec<_>) = accesses.into_iter().partition(CellAccess::may_choose);
    loop {
        let (met, left): (Vec<_>, Vec<_>) =
            choosing.into_iter().partition(|access| others.iter().any(|other| other.meets(access)));
        choosing = left;
        if met.is_empty() {
            break;
        }
        others.extend(met);
    }
    others.retain(|access| access.of != AccessKind::LastStore);
    others.sort_unstable();
    others.dedup();
    others
}

/// Cells that are loaded at computed addresses, or stored.
fn accesses(form: &SsaForm, counts: CellCounts) -> Vec<CellAccess> {
    let mut found = Vec::new();
    for &number in &TextPlan::of(form).order {
        let Some(block) = form.blocks.get(number as usize) else { continue };
        let is_last = matches!(block.end, SsaEnd::Exit { .. });
        for op in block.ops.iter().filter_map(|&value| form.op(value)) {
            let (OpKind::Load(space) | OpKind::Store(space)) = op.kind else { continue };
            let is_store = matches!(op.kind, OpKind::Store(_));
            match (literal(form, op), op.operands.first()) {
                (Some(first), _) if is_store => {
                    let of = if is_last { AccessKind::LastStore } else { AccessKind::KnownStore };
                    found.push(CellAccess { space, first, end: first + 1, of });
                }
                (None, Some(&address)) => {
                    let of = if is_store { AccessKind::Store } else { AccessKind::Load };
                    let range = range_where_it_counts(form, address);
                    let cells = counts.clipped(space, range);
                    found.extend(cells.map(|(first, end)| CellAccess { space, first, end, of }));
                }
                (Some(_) | None, _) => {}
            }
        }
    }
    found
}
